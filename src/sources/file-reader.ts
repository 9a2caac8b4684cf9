/**
 * The work of the file source, one step at a time and without a timer: when names are to be looked at again, how a turn is shared out,
 * and up to which event time everything was delivered. It must not wait, and must not look into lines.
 *
 * Watermark: the minimum, over the files that are unread or delivered an event within `idleMs`, of the latest event time of each;
 * when there is no such file, and at most, the wall time of the last look at all files. It never decreases.
 */
import type { UnstableBirth } from './file-identity.ts';
import { createFileReport } from './file-report.ts';
import { createFileSet } from './file-set.ts';
import { type FileTailState, STATE_VERSION } from './file-state.ts';
import type { FileTailOptions } from './file-tail.ts';
import { createGlobScan, type Listing } from './glob-scan.ts';
import { TURN_MS } from './next-turn.ts';
import { createSegmentRemover } from './segment-remover.ts';
import type { LineSink, SourceStatus } from './source.ts';

/** Those of the whole source, with its defaults filled in. */
export type FileReaderOptions = Required<Omit<FileTailOptions, 'resume'>> & Pick<FileTailOptions, 'resume'>;

/** What the folder watch makes of a listing. */
export type Watched = (folders: ReadonlySet<string>) => { complete: boolean; added: boolean };

export interface FileReader {
  /** Looks at the files that may have changed, at all names when that is due. */
  look(sink: LineSink, watched?: Watched): Promise<void>;
  /** Names came or went: the next look goes through all of them. */
  scanSoon(): void;
  /** The content of what this name leads to changed. */
  touch(path: string): void;
  /** Reads what one turn of the event loop allows, and says how far time has come; false: nothing is left to read. */
  turn(sink: LineSink): boolean;
  status(): SourceStatus;
  state(): FileTailState;
  committed(state: FileTailState): void;
  closeAll(): void;
}

/** To open and read a file with one short line takes about as long as to read so much of a long one. */
const FILE_COST_BYTES = 8192;
/** At the start of a process the same bytes take twenty times as long as later: the first turns are small, and each says how large the next may be. */
const FIRST_BYTES = 4 * 1024;
/** To look at so many files for the watermark takes less time than a turn of reading. */
const FEW_FILES = 256;
/** Looks at what changes for each look at all names: seldom where events tell of what changed, else often. */
const LOOKS_PER_SCAN = { watched: 20, unwatched: 4 };

const timeOrNull = (time: number): number | null => (Number.isFinite(time) ? time : null);

export function createFileReader(options: FileReaderOptions): FileReader {
  const { name, globs, from, resume, pollMs, sliceBytes, idleMs, now, elapsed, log } = options;
  const report = createFileReport(log, options.count, elapsed);
  const unstable: UnstableBirth = new Set(resume?.unstableBirth);
  const scan = createGlobScan(globs);
  const files = createFileSet({
    ...options,
    ...{ retryMs: pollMs, positions: resume?.files ?? [], unstable, report },
    remover: options.removesSegments ? createSegmentRemover({ ...options, report }) : undefined,
  });
  const startedAt = now();
  let isFirstScan = true;
  let isScanDue = true;
  /** What changed by name. */
  const touched = new Set<string>();
  let nextScanAt = 0;
  let isCaughtUp = false;
  let isUp = false;
  let waitingFor = '';
  /** Bytes that were there at start. */
  let backlog = 0;
  /** Wall time of the last look at all files: what was written later may not have been seen. */
  let scannedAt = Number.NEGATIVE_INFINITY;
  let publishedAt = Number.NEGATIVE_INFINITY;
  /** How much a turn may read now. */
  let turnBytes = Math.min(FIRST_BYTES, sliceBytes);
  let newestTs = resume?.newestTs ?? Number.NEGATIVE_INFINITY;
  let watermark = resume?.watermark ?? Number.NEGATIVE_INFINITY;

  function sayOnceIfWaiting(listing: Listing): void {
    const missing = [...listing.errors].filter(([, error]) => error.code === 'ENOENT').map(([folder]) => folder);
    const reason = missing.length > 0 ? `${missing.join(', ')} does not exist` : `nothing matches ${globs.join(', ')}`;
    const waiting = files.count() === 0 ? reason : '';
    if (waiting !== '' && waiting !== waitingFor) log('info', `${name} is waiting: ${waiting} yet`, 'source_waiting');
    waitingFor = waiting;
  }

  async function scanNames(sink: LineSink, watched?: Watched): Promise<void> {
    const at = now();
    isScanDue = false;
    const listing = await scan();
    while (sink.pause?.() !== undefined) await sink.pause?.();
    await files.reconcile(listing, isFirstScan && from === 'end' && resume === undefined, sink);
    isUp = listing.errors.size === 0;
    sayOnceIfWaiting(listing);
    const { complete, added } = watched?.(listing.folders) ?? { complete: false, added: false };
    isScanDue ||= added;
    nextScanAt = elapsed() + pollMs * LOOKS_PER_SCAN[complete && isUp ? 'watched' : 'unwatched'];
    if (isFirstScan) backlog = remaining();
    isFirstScan = false;
    scannedAt = at;
  }

  function remaining(): number {
    let sum = 0;
    for (const file of files.live()) sum += file.replayBytes;
    return sum;
  }

  function publish(sink: LineSink): void {
    publishedAt = elapsed();
    let low = Number.POSITIVE_INFINITY;
    let isReplaying = false;
    const activeSince = now() - idleMs;
    for (const file of files.live()) {
      newestTs = Math.max(newestTs, file.newestTs);
      // What cannot be read must not stop time for the others.
      if (file.isBlocked) continue;
      isReplaying ||= file.replayBytes > 0;
      if (file.isDue || file.deliveredAt > activeSince) low = Math.min(low, file.newestTs);
    }
    isCaughtUp ||= files.count() > 0 && !isReplaying;
    watermark = Math.max(watermark, Math.min(low, scannedAt));
    sink.advance(name, watermark);
  }

  function unreadBytes(): { all: number; rotated: number } {
    const sum = { all: 0, rotated: 0 };
    for (const file of files.live()) {
      sum.all += file.unreadBytes;
      if (file.goneSince !== undefined) sum.rotated += file.unreadBytes;
    }
    return sum;
  }

  return {
    async look(sink, watched) {
      const isScan = isScanDue || files.hasAstray() || elapsed() >= nextScanAt;
      if (isScan) await scanNames(sink, watched);
      while (sink.pause?.() !== undefined) await sink.pause?.();
      for (const path of touched) files.glance(path);
      touched.clear();
      files.check(sink, isScan);
    },
    scanSoon() {
      isScanDue = true;
    },
    touch: (path) => void touched.add(path),
    turn(sink) {
      let hasMore = true;
      const beganAt = elapsed();
      for (let budget = turnBytes; budget > 0 && hasMore; ) {
        const cost = files.readNext(sink, turnBytes);
        hasMore = cost !== undefined;
        budget -= (cost ?? 0) + FILE_COST_BYTES;
      }
      const tookMs = elapsed() - beganAt;
      if (tookMs > TURN_MS) turnBytes = Math.min(sliceBytes, Math.max(FIRST_BYTES, turnBytes >> 1));
      else if (tookMs < TURN_MS / 2) turnBytes = Math.min(sliceBytes, 2 * turnBytes);
      // Of many files it would take longer than the reading.
      if (!hasMore || files.liveCount() <= FEW_FILES || elapsed() - publishedAt >= pollMs) publish(sink);
      return hasMore;
    },
    status() {
      const { all: lagBytes, rotated } = unreadBytes();
      const since = newestTs === Number.NEGATIVE_INFINITY ? startedAt : newestTs;
      return {
        name,
        state: files.count() === 0 ? 'waiting' : isCaughtUp ? 'following' : 'replaying',
        faults: files.faults(),
        isUp,
        files: files.count(),
        lagBytes,
        lagSeconds: lagBytes > 0 ? Math.max(0, now() - since) / 1000 : 0,
        tail: {
          openFiles: files.openCount(),
          unreadRotatedBytes: rotated,
          backlogRatio: isFirstScan ? 0 : backlog === 0 || isCaughtUp ? 1 : Math.max(0, 1 - remaining() / backlog),
        },
      };
    },
    state: () => ({
      version: STATE_VERSION,
      watermark: timeOrNull(watermark),
      newestTs: timeOrNull(newestTs),
      unstableBirth: [...unstable],
      files: files.positions(),
    }),
    committed: (state) => files.committed(state.files),
    closeAll: files.closeAll,
  };
}
