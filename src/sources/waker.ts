/**
 * A sleep that an event cuts short: at once, but never sooner than `gapMs` after the last awakening, so that a burst of events
 * costs one. It must not know what the events are.
 */
export interface Waker {
  /** One sleeper at a time. Woken while nobody slept: the next sleep is cut short. */
  sleep(ms: number): Promise<void>;
  wake(): void;
  /** Ends this and every later sleep at once. */
  stop(): void;
}

export function createWaker(gapMs: number): Waker {
  let isWoken = false;
  let isStopped = false;
  let endedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let end: (() => void) | undefined;

  function arm(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isWoken = false;
      endedAt = performance.now();
      end?.();
      end = undefined;
    }, ms);
  }

  const restOfGap = () => Math.max(0, endedAt + gapMs - performance.now());

  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        end = resolve;
        arm(isStopped ? 0 : isWoken ? restOfGap() : ms);
      }),
    wake() {
      if (isWoken) return;
      isWoken = true;
      if (end) arm(restOfGap());
    },
    stop() {
      isStopped = true;
      if (end) arm(0);
    },
  };
}
