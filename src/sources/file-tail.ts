/**
 * Follows the files that match some globs: decides when to look and when to sleep, and gives the event loop a turn after each slice,
 * so that an answer is never held up by a backlog. It must not look into lines, and no file can make `run` fail: what cannot be read is
 * a fault in `status()` and is tried again. What one step does is in file-reader.ts.
 */
import { LIMITS } from '../core/model/limits.ts';
import type { Log } from './fault-list.ts';
import { createFileReader } from './file-reader.ts';
import type { Count } from './file-report.ts';
import type { FileTailState } from './file-state.ts';
import { createFolderWatch } from './folder-watch.ts';
import { nextTurn } from './next-turn.ts';
import type { LineSink, Source } from './source.ts';
import { createWaker } from './waker.ts';

export interface FileTailOptions {
  readonly name: string;
  /** Host of lines that name none. */
  readonly host: string;
  readonly globs: readonly string[];
  /** For files that are there at the first start; one that appears later is read from its beginning. */
  readonly from: 'beginning' | 'end';
  /** Where an earlier run stood (file-state.ts). Given, this is no first start, and `from` does not apply. */
  readonly resume?: FileTailState | undefined;
  readonly maxLineBytes: number;
  readonly log: Log;
  /** Losses and the like, as they happen. */
  readonly count?: Count;
  /** What one turn reads of one file at most; of short lines it is less. */
  readonly sliceBytes?: number;
  readonly pollMs?: number;
  readonly idleMs?: number;
  /** How long a removed file must be quiet before it is given up; one that has another name now, `renamedGraceMs`. */
  readonly graceMs?: number;
  readonly renamedGraceMs?: number;
  readonly maxOpenFiles?: number;
  /** How long a file must be watched without a change to be silent. */
  readonly silentMs?: number;
  /** Segments of a tap that were read are removed `keepMs` after their end, `deadMs` after the last sign of life. */
  readonly removesSegments?: boolean;
  readonly keepMs?: number;
  readonly deadMs?: number;
  /** `committed` will be called: what was read but is not committed is still needed. */
  readonly hasCommits?: boolean;
  /** Wall clock, Unix ms. */
  readonly now?: () => number;
  /** A clock that never jumps, ms. */
  readonly elapsed?: () => number;
}

export interface FileTail extends Source {
  state(): FileTailState;
  committed(state: FileTailState): void;
}

const MINUTE = 60_000;

export const TAIL_DEFAULTS = {
  sliceBytes: 256 * 1024,
  pollMs: 250,
  idleMs: LIMITS.idleSourceMs,
  graceMs: 5000,
  renamedGraceMs: MINUTE,
  maxOpenFiles: 256,
  silentMs: LIMITS.writerSilentMs,
  removesSegments: false,
  keepMs: 10 * MINUTE,
  deadMs: 15 * MINUTE,
  hasCommits: false,
  count: () => {},
  now: Date.now,
  elapsed: () => performance.now(),
};
/** Shortest time between two looks, however many events the folders report. */
const WAKE_GAP_MS = 20;

export function createFileTail(options: FileTailOptions): FileTail {
  const settings = { ...TAIL_DEFAULTS, ...options };
  const { name, pollMs } = settings;
  const reader = createFileReader(settings);

  /** Until all is read (true) or time is up. */
  async function readAll(sink: LineSink, isOver: () => boolean): Promise<boolean> {
    while (!isOver()) {
      while (sink.pause?.() !== undefined) await sink.pause?.();
      if (!reader.turn(sink)) return true;
      await nextTurn();
    }
    return false;
  }

  return {
    name,
    /** Descriptors stay open when it ends: a removed file can still be drained. */
    async run(sink, signal) {
      const waker = createWaker(Math.min(WAKE_GAP_MS, pollMs));
      const watch = createFolderWatch((what, path) => {
        if (what === 'names') reader.scanSoon();
        else reader.touch(path);
        waker.wake();
      });
      signal.addEventListener('abort', waker.stop, { once: true });
      try {
        while (!signal.aborted) {
          await reader.look(sink, watch.update);
          const lookAgainAt = performance.now() + pollMs;
          const isDone = await readAll(sink, () => signal.aborted || performance.now() >= lookAgainAt);
          if (isDone && !signal.aborted) await waker.sleep(pollMs);
        }
      } finally {
        watch.close();
        signal.removeEventListener('abort', waker.stop);
      }
    },
    async drain(sink, budgetMs) {
      const endsAt = performance.now() + budgetMs;
      reader.scanSoon();
      await reader.look(sink);
      await readAll(sink, () => performance.now() >= endsAt);
      reader.closeAll();
    },
    status: reader.status,
    state: reader.state,
    committed: reader.committed,
  };
}
