/**
 * Faults come in crowds: a folder of unreadable files, a file that comes and goes. Of each kind of message so many lines are written
 * in a window; the rest is counted and said in one line when the window ends. It must not hold a line back or change one.
 */
import type { Level, Logger } from './log.ts';

const LINES = 10;
const WINDOW_MS = 60_000;

export interface LogLimit {
  /** `message` may be a function, for one that is dear to make. */
  say(kind: string, level: Level, message: string | (() => string)): void;
  /** Says what is suppressed now. */
  close(): void;
}

export interface LogLimitOptions {
  readonly lines?: number;
  readonly windowMs?: number;
}

export function createLogLimit(log: Logger, { lines = LINES, windowMs = WINDOW_MS }: LogLimitOptions = {}): LogLimit {
  const windows = new Map<string, { level: Level; said: number; suppressed: number; timer: NodeJS.Timeout }>();

  const end = (kind: string): void => {
    const window = windows.get(kind);
    if (window === undefined) return;
    windows.delete(kind);
    clearTimeout(window.timer);
    const { level, suppressed } = window;
    if (suppressed > 0) log(level, `${suppressed} more lines like "${kind}" were suppressed`, { kind, suppressed });
  };

  return {
    say(kind, level, message) {
      let window = windows.get(kind);
      if (window === undefined) {
        const timer = setTimeout(() => end(kind), windowMs);
        timer.unref();
        window = { level, said: 0, suppressed: 0, timer };
        windows.set(kind, window);
      }
      if (window.said < lines) {
        window.said++;
        log(level, typeof message === 'string' ? message : message(), { kind });
      } else window.suppressed++;
    },
    close() {
      for (const kind of [...windows.keys()]) end(kind);
    },
  };
}
