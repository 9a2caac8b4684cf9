/**
 * A sleep that an event cuts short, but never to less than `gapMs`: a burst of events costs one awakening. It must not know what
 * the events are.
 */
export interface Waker {
  /** One sleeper at a time. Woken while nobody slept: the next sleep is a short one. */
  sleep(ms: number): Promise<void>;
  wake(): void;
  /** Ends this and every later sleep at once. */
  stop(): void;
}

export function createWaker(gapMs: number): Waker {
  let isWoken = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let end: (() => void) | undefined;

  function arm(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isWoken = false;
      end?.();
      end = undefined;
    }, ms);
  }

  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        end = resolve;
        arm(isStopped ? 0 : isWoken ? gapMs : ms);
      }),
    wake() {
      if (isWoken) return;
      isWoken = true;
      if (end) arm(gapMs);
    },
    stop() {
      isStopped = true;
      if (end) arm(0);
    },
  };
}
