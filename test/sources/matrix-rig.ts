/**
 * One case of the rotation matrix in its variants: what the reader is doing while files are renamed, cut and removed.
 * idle: it has read all; busy: a part of it; stopped: it has read all and is not running; killed: it had read on since its state was
 * kept, and goes on from that state.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createDrivenRig, createNumbers, type DrivenOptions, numberOf } from './driven-rig.ts';
import { tempFolder } from './tail-rig.ts';

export const VARIANTS = ['idle', 'busy', 'stopped', 'killed'] as const;
export type Variant = (typeof VARIANTS)[number];

export function createCase(t: TestContext, variant: Variant, options: Partial<DrivenOptions> = {}) {
  const small = variant === 'busy' || variant === 'killed' ? { sliceBytes: 4096 } : {};
  const rig = createDrivenRig({ folder: tempFolder(t), ...small, ...options });
  t.after(rig.stop);
  const numbers = createNumbers(rig);
  let kept: ReturnType<typeof rig.keep> | undefined;

  return {
    ...rig,
    ...numbers,
    t,
    variant,
    /** Brings the reader to where the variant wants it. */
    async read() {
      if (variant === 'busy' || variant === 'killed') {
        await rig.look();
        rig.turn();
      } else await rig.settle();
      if (variant === 'idle' || variant === 'busy') return;
      kept = rig.keep();
      if (variant === 'killed') rig.turn();
      rig.stop();
    },
    /** Lets the reader see what happened, if it runs. */
    async seen() {
      if (kept === undefined) await rig.look();
    },
    /** Starts it again, if it does not run, and lets it read all. */
    async finish() {
      if (kept !== undefined) rig.resume(kept);
      kept = undefined;
      await rig.settle();
    },
    /** Each line from 0 on exactly once, but for those that are `missing`. */
    assertOnce(missing: readonly number[] = []) {
      const gone = new Set(missing);
      const wanted = Array.from({ length: numbers.count() }, (_, n) => n).filter((n) => !gone.has(n));
      assert.deepEqual(
        rig.delivered.map(numberOf).sort((a, b) => a - b),
        wanted,
      );
    },
  };
}

export type Case = ReturnType<typeof createCase>;

export interface MatrixOptions extends Partial<DrivenOptions> {
  readonly variants?: readonly Variant[];
}

/** A test for each variant, with the id of the matrix first in its name. */
export function matrix(id: string, what: string, run: (c: Case) => Promise<void>, options: MatrixOptions = {}): void {
  const { variants = VARIANTS, ...rest } = options;
  for (const variant of variants) {
    test(`${id} ${what}, reader ${variant}`, async (t) => run(createCase(t, variant, rest)));
  }
}
