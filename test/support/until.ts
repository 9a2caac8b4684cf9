/** Waits for a condition instead of a time: quick on a fast machine, patient on a loaded one. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** What was waited for, for the failure; a function is asked at that time and can show the state. */
  readonly what?: string | (() => string);
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = 10_000, everyMs = 10, what = 'the condition' }: UntilOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) {
      throw new Error(`not within ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(everyMs);
  }
}
