/** Properties with a seed: TEST_SEED repeats a run, and fast-check prints it, with the shrunk input, when a property fails. */
import { test } from 'node:test';
import fc from 'fast-check';

export const SEED = Number(process.env.TEST_SEED ?? 20261129);

/** A test that `check` holds for whatever the arbitraries give, at most 9 s long on a slow machine. */
export function holds<Ts extends [unknown, ...unknown[]]>(
  name: string,
  numRuns: number,
  arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  check: (...args: Ts) => void | Promise<void>,
): void {
  test(name, async () => {
    const property = fc.asyncProperty(...arbitraries, async (...args: Ts) => check(...args));
    await fc.assert(property, { seed: SEED, numRuns, interruptAfterTimeLimit: 9000, markInterruptAsFailure: false });
  });
}
