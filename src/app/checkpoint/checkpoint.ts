/**
 * When a record is written and what it holds: everything that the sources and the pipeline know, taken at one moment while nothing is
 * delivered. Whoever asks while a record is being written gets the next one, together with all others who ask. It must not decide
 * what is shown meanwhile (exposition.ts) or what a record looks like (record.ts, slots.ts).
 */
import type { Cells } from '../../core/measures/cells.ts';
import type { Pipeline } from '../../core/pipeline.ts';
import type { Saved } from '../../core/state.ts';
import type { Source, SourceState } from '../../sources/source.ts';
import { reasonOf } from '../exit.ts';
import { SlowDisk } from './patience.ts';
import { encodeRecord } from './record.ts';
import type { Slots } from './slots.ts';

/** Form of a record's head and of the parts of the core, all together. Change it with any of them, and give restore.ts the way there. */
export const STATE_FORMAT = 2;

export interface RecordHead {
  readonly format: number;
  /** By name of the source. */
  readonly sources: Readonly<Record<string, SourceState>>;
  /** When the counters began at 0, Unix ms. Earlier versions did not say. */
  readonly since?: number;
  /** When it was taken, Unix ms. Earlier versions did not say. */
  readonly at?: number;
}

/** Holds the sources while a record is taken or an answer is made: until all who closed it have opened it. */
export interface Gate {
  pause(): Promise<void> | undefined;
  close(): () => void;
}

export function createGate(): Gate {
  const holders = new Set<() => void>();
  let closed: Promise<void> | undefined;
  let resolve = (): void => {};
  return {
    pause: () => closed,
    close() {
      closed ??= new Promise<void>((done) => {
        resolve = done;
      });
      const open = (): void => {
        if (!holders.delete(open) || holders.size > 0) return;
        closed = undefined;
        resolve();
      };
      holders.add(open);
      return open;
    },
  };
}

export interface CheckpointOptions {
  readonly slots: Slots;
  readonly pipeline: Pipeline;
  readonly sources: readonly Source[];
  readonly gate: Gate;
  readonly say: (level: 'info' | 'warn' | 'error', message: string, kind: string) => void;
  /** When the counters began at 0, Unix ms. */
  readonly since: number;
  /** Newer numbers than those of the start were shown in an earlier life. */
  readonly isBehind?: boolean;
  /** What others than the sources and the pipeline keep. */
  readonly more?: () => Saved;
  /** A clock that never jumps, ms. */
  readonly elapsed?: () => number;
}

export type Moment = () => void | Promise<void>;

export interface Checkpoint {
  /**
   * Has everything up to now in a durable record: false where that failed, which was said and counted. `moment` is called when the
   * record is taken: what it looks at is what the record holds, which waits for it.
   */
  commit(moment?: Moment): Promise<boolean>;
  /** The same, soon: many who ask share one record, and records never take more than a tenth of the time. */
  commitSoon(): Promise<boolean>;
  /**
   * Numbers that no record holds are about to be shown: a restart must not show older ones. False: better not yet, since the disk, which has
   * not answered for a while, may still keep that promise.
   */
  exposeUncommitted(): Promise<boolean>;
  /** What an earlier life showed is read again, or given up: until now no record holds it, and a start from one must know that. */
  caughtUp(): void;
  /** Has what has changed committed now and then, by `renew`. */
  start(renew?: () => Promise<unknown>): void;
  /** After it nothing touches the folder, which may be somebody else's by then: who asks late hears false. */
  stop(): Promise<void>;
  /** Age in ms of the newest record of this process; undefined where there is none. */
  age(): number | undefined;
}

const EVERY_MS = 5000;
const GROUP_MS = 100;
/** For so long a disk that hangs may keep back numbers; then they are shown without it. */
const HANG_MS = 60_000;
/** A record that no scrape waits for comes after so many times the time that the one before took: many senders wait, or nobody. */
const REST = 10;
const REST_UNASKED = 100;
/** A crash must not cost more work than that. */
const MAX_REST_MS = 60_000;

/** What moves because numbers are shown or kept is no news, and moves while a record is taken. */
const isOfExport = (key: string): boolean => key.startsWith('checkpoint_') || key.startsWith('otlp_');

/** Grows with every sample: while it is the same, no counter has moved. */
export function movement(cells: Cells): number {
  let sum = 0;
  for (const { spec, key, cells: all } of cells.families())
    if (spec.kind !== 'gauge' && !isOfExport(key))
      // One for the series itself: one that came to be at 0 is news too.
      for (const { value, buckets } of all) sum += 1 + (buckets === null ? value : buckets.reduce((a, b) => a + b, 0));
  return sum;
}

interface Request {
  readonly moments: Moment[];
  readonly done: Promise<boolean>;
}

export function createCheckpoint(options: CheckpointOptions): Checkpoint {
  const { slots, pipeline, sources, gate, say, since, more, elapsed = () => performance.now() } = options;
  const { cells } = pipeline;
  cells.add('checkpoint_commits', 0, []);
  /** Where it fails, the record that needs it says so. */
  const makeRoom = (): Promise<void> => slots.makeRoom().catch(() => {});
  let running: Promise<unknown> = makeRoom();
  let waiting: Request | undefined;
  let soon: Promise<boolean> | undefined;
  let committedAt: number | undefined;
  let committedMovement = Number.NaN;
  let tookMs = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let hangsSince: number | undefined;
  let isBehind = options.isBehind === true;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let endSoon = (): void => {};

  const states = (): Record<string, SourceState> =>
    Object.fromEntries(
      sources.flatMap((source) => (source.state === undefined ? [] : [[source.name, source.state()]])),
    );

  function* parts(): Generator<readonly [part: string, value: unknown]> {
    yield* pipeline.save();
    if (more !== undefined) yield* more();
  }

  /** What is taken must not change while it is taken: a source that does not wait is a fault, and this record is void. */
  function* guarded(pieces: Iterable<Buffer>, before: number): Generator<Buffer> {
    for (const piece of pieces) yield piece;
    if (movement(cells) !== before) throw new Error('lines were delivered while the record was taken');
  }

  async function write(moments: readonly Moment[]): Promise<boolean> {
    const startedAt = elapsed();
    const open = gate.close();
    try {
      for (const moment of moments) await moment();
      const head: RecordHead = { format: STATE_FORMAT, sources: states(), since, at: Date.now() };
      const moved = movement(cells);
      const bytes = await slots.write(guarded(encodeRecord(head, parts()), moved), open, isBehind);
      committedMovement = moved;
      committedAt = startedAt;
      for (const source of sources) {
        const state = head.sources[source.name];
        if (state !== undefined) source.committed?.(state);
      }
      cells.add('checkpoint_commits', 1, []);
      cells.set('checkpoint_bytes', bytes, []);
      if (isFailing) say('info', 'checkpoints are written again', 'checkpoint_recovered');
      isFailing = false;
      hangsSince = undefined;
      return true;
    } catch (error) {
      open();
      isFailing = true;
      cells.add('checkpoint_failures', 1, [failureOf(error)]);
      say(
        'error',
        `no checkpoint: ${reasonOf(error)}; going on without, the next try is the next scrape`,
        'checkpoint_failed',
      );
      return false;
    } finally {
      endedAt = elapsed();
      tookMs = endedAt - startedAt;
    }
  }

  function commit(moment: Moment = () => {}): Promise<boolean> {
    if (isStopped) return Promise.resolve(false);
    if (waiting !== undefined) {
      waiting.moments.push(moment);
      return waiting.done;
    }
    const moments = [moment];
    const done = running.then(() => {
      waiting = undefined;
      return write(moments);
    });
    waiting = { moments, done };
    // Who waits for this record does not wait for the room of the next one. Where it failed, the slots have a mark to write meanwhile.
    running = done.then((isDone) => (isDone ? makeRoom() : undefined));
    return done;
  }

  const restMs = (least: number, rest: number): number =>
    Math.max(least, Math.min(MAX_REST_MS, endedAt + rest * tookMs - elapsed()));

  function schedule(renew: () => Promise<unknown>): void {
    timer = setTimeout(
      async () => {
        if (movement(cells) !== committedMovement) await renew();
        if (timer !== undefined) schedule(renew);
      },
      restMs(EVERY_MS, REST_UNASKED),
    );
    timer.unref();
  }

  return {
    commit,
    commitSoon() {
      if (isStopped) return Promise.resolve(false);
      soon ??= new Promise((resolve) => {
        const wait = setTimeout(
          () => {
            soon = undefined;
            commit().then(resolve);
          },
          restMs(GROUP_MS, REST),
        );
        endSoon = () => {
          clearTimeout(wait);
          resolve(false);
        };
      });
      return soon;
    },
    async exposeUncommitted() {
      if (isStopped) return false;
      try {
        await slots.markExposed();
        hangsSince = undefined;
        return true;
      } catch (error) {
        if (error instanceof SlowDisk) {
          hangsSince ??= elapsed();
          if (elapsed() - hangsSince < HANG_MS) return false;
        }
        say('warn', 'a crash before the next checkpoint may count twice what is shown now', 'checkpoint_mark_failed');
        return true;
      }
    },
    caughtUp() {
      isBehind = false;
    },
    start: (renew = commit) => schedule(renew),
    async stop() {
      isStopped = true;
      endSoon();
      clearTimeout(timer);
      timer = undefined;
      await running.catch(() => {});
      await slots.close();
    },
    age: () => (committedAt === undefined ? undefined : elapsed() - committedAt),
  };
}

/** The closed words of the `reason` label. */
function failureOf(error: unknown): 'no_space' | 'permission' | 'io' | 'slow' | 'internal' {
  if (error instanceof SlowDisk) return 'slow';
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'no_space';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'permission';
  return code === undefined ? 'internal' : 'io';
}
