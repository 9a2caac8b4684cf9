/**
 * Follows the files that match some globs: decides when to look, how the work is shared out, and up to which event time everything
 * was delivered. It reads in slices and gives the event loop a turn after each, so that an answer is never held up by a backlog.
 * It must not look into lines, and no file can make `run` fail: what cannot be read is a fault in `status()` and is tried again.
 *
 * Watermark: the minimum, over the files that are unread or delivered an event within `idleMs`, of the latest event time of each.
 * When there is no such file it is the wall time at which that was seen. It never decreases.
 */
import { LIMITS } from '../core/model/limits.ts';
import type { Log } from './fault-list.ts';
import { createFileSet } from './file-set.ts';
import { createFolderWatch, type FolderWatch } from './folder-watch.ts';
import { createGlobScan, type Listing } from './glob-scan.ts';
import { nextTurn } from './next-turn.ts';
import type { FilePosition, LineSink, Source } from './source.ts';
import { createWaker } from './waker.ts';

export interface FileTailOptions {
  readonly name: string;
  /** Host of lines that name none. */
  readonly host: string;
  readonly globs: readonly string[];
  /** For files that are there at the first start; one that appears later is read from its beginning. */
  readonly from: 'beginning' | 'end';
  /** Where an earlier run stood. Given (even if empty), this is no first start, and `from` does not apply. */
  readonly restore?: readonly FilePosition[];
  readonly maxLineBytes: number;
  readonly log: Log;
  /** What one turn reads of one file at most; of short lines it is less. */
  readonly sliceBytes?: number;
  readonly pollMs?: number;
  readonly idleMs?: number;
  /** How long a renamed or removed file must be quiet before it is given up. */
  readonly graceMs?: number;
  readonly maxOpenFiles?: number;
  /** How long a file must be watched without a change to be silent. */
  readonly silentMs?: number;
  /** Wall clock, Unix ms. */
  readonly now?: () => number;
}

export interface FileTail extends Source {
  /** All that a checkpoint has to keep to go on from here; consistent with what the sink was given between two turns. */
  positions(): FilePosition[];
}

const DEFAULTS = {
  sliceBytes: 256 * 1024,
  pollMs: 250,
  idleMs: LIMITS.idleSourceMs,
  graceMs: 5000,
  maxOpenFiles: 256,
  silentMs: LIMITS.writerSilentMs,
  now: Date.now,
};
/** Shortest time between two looks, however many events the folders report. */
const WAKE_GAP_MS = 20;
/** To open and read a file with one short line takes about as long as to read so much of a long one. */
const FILE_COST_BYTES = 8192;
/** Looks by descriptor for each look by name: seldom where events tell of what changed, else often. */
const LOOKS_PER_SCAN = { watched: 20, unwatched: 4 };

export function createFileTail(options: FileTailOptions): FileTail {
  const { name, globs, from, restore, log } = options;
  const settings = { ...DEFAULTS, ...options };
  const { pollMs, sliceBytes, idleMs, now } = settings;
  const scan = createGlobScan(globs);
  const files = createFileSet({ ...settings, retryMs: pollMs, restore: restore ?? [] });
  const startedAt = now();
  let isFirstScan = true;
  let isScanDue = true;
  /** What changed by name, of interest for files without a descriptor. */
  const touched = new Set<string>();
  let nextScanAt = 0;
  let isCaughtUp = false;
  let waitingFor = '';
  /** Wall time of the last look at all files: what was written later may not have been seen. */
  let lookedAt = startedAt;
  let newestTs = Number.NEGATIVE_INFINITY;
  let watermark = Number.NEGATIVE_INFINITY;

  function sayOnceIfWaiting(listing: Listing): void {
    const missing = [...listing.errors].filter(([, error]) => error.code === 'ENOENT').map(([folder]) => folder);
    const reason = missing.length > 0 ? `${missing.join(', ')} does not exist` : `nothing matches ${globs.join(', ')}`;
    const waiting = files.count() === 0 ? reason : '';
    if (waiting !== '' && waiting !== waitingFor) log('info', `${name} is waiting: ${waiting} yet`, 'source_waiting');
    waitingFor = waiting;
  }

  async function look(sink: LineSink, watch?: FolderWatch): Promise<void> {
    lookedAt = now();
    if (isScanDue || performance.now() >= nextScanAt) {
      isScanDue = false;
      const listing = await scan();
      files.reconcile(listing, isFirstScan && from === 'end' && restore === undefined, sink);
      isFirstScan = false;
      sayOnceIfWaiting(listing);
      const { complete, added } = watch?.update(listing.folders) ?? { complete: false, added: false };
      isScanDue ||= added;
      const isWatched = complete && listing.errors.size === 0;
      nextScanAt = performance.now() + pollMs * LOOKS_PER_SCAN[isWatched ? 'watched' : 'unwatched'];
    }
    for (const path of touched) files.glance(path);
    touched.clear();
    files.check(sink);
  }

  function publish(sink: LineSink): void {
    let low = Number.POSITIVE_INFINITY;
    let isReplaying = false;
    const activeSince = now() - idleMs;
    for (const file of files.all()) {
      newestTs = Math.max(newestTs, file.newestTs);
      // What cannot be read must not stop time for the others.
      if (file.isBlocked) continue;
      isReplaying ||= file.isReplaying;
      if (file.isDue || file.deliveredAt > activeSince) low = Math.min(low, file.newestTs);
    }
    isCaughtUp ||= files.count() > 0 && !isReplaying;
    watermark = Math.max(watermark, low === Number.POSITIVE_INFINITY ? lookedAt : low);
    sink.advance(name, watermark);
  }

  /** What the event loop waits for: one slice, or small ones of several files that are no more work together. */
  function readTurn(sink: LineSink): boolean {
    for (let budget = sliceBytes; budget > 0; ) {
      const cost = files.readNext(sink);
      if (cost === undefined) return false;
      budget -= cost + FILE_COST_BYTES;
    }
    return true;
  }

  /** Until all is read (true) or time is up. */
  async function readAll(sink: LineSink, isOver: () => boolean): Promise<boolean> {
    while (!isOver()) {
      const hasMore = readTurn(sink);
      publish(sink);
      if (!hasMore) return true;
      await nextTurn();
    }
    return false;
  }

  async function follow(sink: LineSink, signal: AbortSignal): Promise<void> {
    const waker = createWaker(Math.min(WAKE_GAP_MS, pollMs));
    const watch = createFolderWatch((what, path) => {
      if (what === 'names') isScanDue = true;
      else if (files.hasClosed()) touched.add(path);
      waker.wake();
    });
    signal.addEventListener('abort', waker.stop, { once: true });
    try {
      while (!signal.aborted) {
        await look(sink, watch);
        const lookAgainAt = performance.now() + pollMs;
        const isDone = await readAll(sink, () => signal.aborted || performance.now() >= lookAgainAt);
        if (isDone && !signal.aborted) await waker.sleep(pollMs);
      }
    } finally {
      watch.close();
      signal.removeEventListener('abort', waker.stop);
    }
  }

  function unreadBytes(): number {
    let sum = 0;
    for (const file of files.all()) sum += file.unreadBytes;
    return sum;
  }

  return {
    name,
    /** Descriptors stay open when it ends: a removed file can still be drained. */
    run: follow,
    async drain(sink, budgetMs) {
      const endsAt = performance.now() + budgetMs;
      isScanDue = true;
      await look(sink);
      await readAll(sink, () => performance.now() >= endsAt);
      files.closeAll();
    },
    status() {
      const lagBytes = unreadBytes();
      const since = newestTs === Number.NEGATIVE_INFINITY ? startedAt : newestTs;
      return {
        name,
        state: files.count() === 0 ? 'waiting' : isCaughtUp ? 'following' : 'replaying',
        faults: files.faults(),
        files: files.count(),
        lagBytes,
        lagSeconds: lagBytes > 0 ? Math.max(0, now() - since) / 1000 : 0,
      };
    },
    positions: () => files.positions(),
  };
}
