/** The sliding window of the parse detectors: once per crossing, re-armed, forgetting, and r and z as computed directly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { correlation, createTrendWindows, type WindowTotals } from '../../src/core/detectors/trend-window.ts';
import type { TrendFact } from '../../src/core/model/facts.ts';
import { LIMITS } from '../../src/core/model/limits.ts';
import { createStoreHealth } from '../../src/core/store.ts';
import { type Line, parse, runLines, T0 } from '../support/build-event.ts';
import { SEED } from '../support/property.ts';
import { dice } from '../support/random.ts';

const MINUTE = 60_000;

const fact = (at: number, length: number | null, failed: boolean, more: Partial<TrendFact> = {}): TrendFact => ({
  ...{ is: 'trend', server: 'srv', of: 'result', exchange: null, trace: null, ts: T0 + at, origin: null, line: 0 },
  ...{ failed, length, received: length ?? 100, ...more },
});

/** What the window holds after each fact, whatever the condition. */
function watch() {
  let last: WindowTotals | undefined;
  const add = createTrendWindows('trend_windows', createStoreHealth(), (totals) => {
    last = totals;
    return false;
  });
  return (each: TrendFact): WindowTotals => {
    add(each);
    return last as WindowTotals;
  };
}

/** Pearson's r between log2(length) and failing, from its definition. */
function pearson(samples: readonly { readonly length: number; readonly failed: boolean }[]): number {
  const xs = samples.map(({ length }) => Math.log2(length));
  const ys = samples.map(({ failed }) => (failed ? 1 : 0));
  const mean = (all: readonly number[]) => all.reduce((a, b) => a + b, 0) / all.length;
  const [mx, my] = [mean(xs), mean(ys)];
  const cov = mean(xs.map((x, i) => (x - mx) * ((ys[i] as number) - my)));
  const spread = Math.sqrt(mean(xs.map((x) => (x - mx) ** 2)) * mean(ys.map((y) => (y - my) ** 2)));
  return spread === 0 ? 0 : cov / spread;
}

test('trend window: r and z of sums agree with a direct computation (property)', () => {
  const sample = fc.record({
    length: fc.integer({ min: 1, max: 1 << 24 }),
    failed: fc.boolean(),
    at: fc.nat(MINUTE * 20),
  });
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 60 }), (samples) => {
      const add = watch();
      const totals = samples.map(({ at, length, failed }) => add(fact(at, length, failed))).at(-1) as WindowTotals;
      const r = pearson(samples);
      // A spread that is only rounding has no direction.
      const xs = samples.map(({ length }) => Math.log2(length));
      if (Math.max(...xs) - Math.min(...xs) < 0.1) return;
      assert.ok(Math.abs(totals.r - r) < 1e-6, `${totals.r} is not ${r}`);
      assert.ok(Math.abs(totals.z - r * Math.sqrt(samples.length)) < 1e-5);
      assert.equal(totals.failed, samples.filter(({ failed }) => failed).length);
      assert.equal(totals.ok + totals.failed, samples.length);
    }),
    { seed: SEED },
  );
});

test('trend window: without spread there is no trend', () => {
  for (const sums of [
    { n: 0, failed: 0, x: 0, xx: 0, xFailed: 0 },
    { n: 9, failed: 0, x: 90, xx: 1000, xFailed: 0 },
    { n: 9, failed: 9, x: 90, xx: 1000, xFailed: 90 },
    { n: 4, failed: 2, x: 40, xx: 400, xFailed: 20 },
  ])
    assert.deepEqual(correlation(sums), { r: 0, z: 0 });
});

test('trend window: a failure of unknown length counts as a failure, with what arrived as its least size', () => {
  const add = watch();
  add(fact(0, 50, false));
  add(fact(0, 80, false));
  add(fact(0, null, true, { received: 100 }));
  const totals = add(fact(0, 500, true, { received: 90 }));
  assert.deepEqual([totals.ok, totals.failed, totals.nFailed], [2, 2, 1]);
  assert.deepEqual([totals.largestOk, totals.smallestFailed], [80, 100]);
});

test('trend window: slides by minutes over 30 of them', () => {
  const add = watch();
  add(fact(0, 1, true));
  add(fact(5 * MINUTE, 1, true));
  assert.equal(add(fact(29 * MINUTE, 1, false)).failed, 2);
  assert.equal(add(fact(31 * MINUTE, 1, false)).failed, 1);
  const later = add(fact(36 * MINUTE, 1, false));
  assert.deepEqual([later.failed, later.ok], [0, 3]);
});

test('trend window: a late sample counts in its own minute, one from before the window not at all', () => {
  const add = watch();
  add(fact(40 * MINUTE, 1, false));
  assert.equal(add(fact(20 * MINUTE, 1, true)).failed, 1);
  const totals = add(fact(9 * MINUTE, 1, true));
  assert.deepEqual([totals.failed, totals.ok], [1, 1]);
});

test('trend window: servers and payloads are told apart, and the oldest windows are given up', () => {
  const health = createStoreHealth();
  let last: WindowTotals | undefined;
  const add = createTrendWindows('trend_windows', health, (totals) => {
    last = totals;
    return false;
  });
  add(fact(0, 1, true));
  add(fact(0, 1, true, { of: 'message' }));
  add(fact(0, 1, true, { server: 'other' }));
  assert.equal(last?.failed, 1);
  for (let i = 0; i < LIMITS.trendServers; i++) add(fact(0, 1, true, { server: `s${i}` }));
  assert.equal(health.sizes.get('trend_windows')?.(), LIMITS.trendServers);
  assert.equal(health.evictions.get('trend_windows'), 3);
});

test('trend window: once per crossing, armed again when the condition no longer holds', () => {
  const add = createTrendWindows('trend_windows', createStoreHealth(), ({ failed }) => failed >= 3);
  const fired = (each: TrendFact) => add(each) !== null;
  const fails = (at: number) => fired(fact(at, 1, true));
  assert.deepEqual([fails(0), fails(1), fails(2), fails(3)], [false, false, true, false]);
  assert.equal(fired(fact(29 * MINUTE, 1, false)), false);
  // The window has slid past them: the condition fails, and may be met anew.
  assert.equal(fired(fact(31 * MINUTE, 1, false)), false);
  assert.deepEqual([fails(32 * MINUTE), fails(32 * MINUTE), fails(32 * MINUTE)], [false, false, true]);
});

/** Parse lines of sizes 1..512 KiB; `p` tells how likely one of a size fails. */
function parses(count: number, p: (size: number) => number, at = 0, expected = true): Line[] {
  const roll = dice(`${count} ${at}`);
  return Array.from({ length: count }, (_, i) => {
    const size = 1024 * 2 ** roll.int(10);
    if (!roll.chance(p(size))) return parse(undefined, at + i, { bytes: size });
    const bad = { ok: false, at_end: true, bytes: Math.floor(size / 2) };
    return parse(undefined, at + i, expected ? { ...bad, expected_bytes: size } : bad);
  });
}
const rules = (lines: readonly Line[]) =>
  runLines(lines)
    .findings()
    .map(({ rule }) => rule);
const growing = (size: number): number => (Math.log2(size) - 10) / 9;

test('parse_failure_trend: fires on failures that grow with the length, once', () => {
  // Good ones of every size, then failures of the larger half: z only grows, and the sizes overlap.
  const good = parses(200, () => 0);
  const run = runLines([...good, ...parses(100, (size) => (size >= 64 * 1024 ? 1 : 0), 1000)]);
  const [finding, ...more] = run.findings('parse_failure_trend');
  assert.equal(more.length, 0);
  assert.ok(finding !== undefined);
  const { r, z, failed, ok, of } = finding.evidence as Record<string, number>;
  assert.equal(of, 'result');
  assert.ok((r as number) > 0.1 && (z as number) > 4 && (failed as number) >= 10, JSON.stringify(finding.evidence));
  assert.equal(finding.server, 'srv');
  assert.ok((ok as number) + (failed as number) <= 300);
  assert.equal(run.findings('parse_failure_size_step').length, 0);
});

test('parse_failure_trend: silent on failures of any length, too few of them, or of unknown length', () => {
  assert.deepEqual(rules(parses(400, () => 0.2)), []);
  assert.deepEqual(rules(parses(400, () => 0)), []);
  assert.deepEqual(rules(parses(400, growing, 0, false)), []);
  const few = [
    ...Array.from({ length: 9 }, (_, i) =>
      parse(undefined, i, { ok: false, at_end: true, bytes: 10, expected_bytes: 1e6 }),
    ),
    ...Array.from({ length: 100 }, (_, i) => parse(undefined, 100 + i, { bytes: 100 * (1 + (i % 7)) })),
  ];
  assert.ok(!rules(few).includes('parse_failure_trend'), '9 failures');
  assert.deepEqual(rules(parses(400, (size) => 1 - growing(size))), [], 'shorter ones fail');
});

const step = (failed: number, ok: number, largestOk = 4000, smallestFailed = 4001): Line[] => [
  ...Array.from({ length: ok }, (_, i) => parse(undefined, i, { bytes: largestOk - i })),
  ...Array.from({ length: failed }, (_, i) =>
    parse(undefined, 100 + i, { ok: false, at_end: true, bytes: smallestFailed + i }),
  ),
];

test('parse_failure_size_step: fires at 10 failures at or above a size and 20 good ones below it, once', () => {
  const run = runLines(step(12, 20));
  const findings = run.findings('parse_failure_size_step');
  assert.equal(findings.length, 1);
  assert.deepEqual(findings[0]?.evidence, {
    ...{ of: 'result', largest_ok_bytes: 4000, smallest_failed_bytes: 4001, failed: 10, ok: 20 },
  });
});

test('parse_failure_size_step: silent when there are too few, or the sizes overlap', () => {
  for (const lines of [step(9, 20), step(12, 19), step(12, 20, 4001, 4001), step(12, 20, 5000, 4001)])
    assert.ok(!rules(lines).includes('parse_failure_size_step'));
});
