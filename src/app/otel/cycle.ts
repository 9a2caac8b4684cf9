/** Does something again and again, one at a time, until it is stopped: a clock that a test can drive. It does not know what. */

export interface Clock {
  /** Unix ms. */
  now(): number;
  /** Calls once, after so long; the result takes that back. */
  after(ms: number, run: () => void): () => void;
}

export const CLOCK: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    // Nothing that waits to be exported keeps a process alive: the stop exports it.
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export interface Cycle {
  /** No further turn; resolves when the one under way is over. */
  stop(): Promise<void>;
}

/** `turn` says how long to wait at least before the next one; it never rejects. */
export function createCycle(everyMs: number, clock: Clock, turn: () => Promise<number>): Cycle {
  let isStopped = false;
  let running: Promise<unknown> = Promise.resolve();
  let cancel = (): void => {};
  const schedule = (ms: number): void => {
    cancel = clock.after(ms, () => {
      running = turn().then((atLeastMs) => {
        if (!isStopped) schedule(Math.max(everyMs, atLeastMs));
      });
    });
  };
  schedule(everyMs);
  return {
    async stop() {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
