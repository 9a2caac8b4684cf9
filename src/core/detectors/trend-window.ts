/**
 * A sliding window over parse attempts per server and payload, as sums in one-minute steps: enough for Pearson's r between
 * log2(length) and failure, its z = r * sqrt(n) (the Cochran-Armitage trend statistic), and for a hard size step.
 */
import type { TrendFact } from '../model/facts.ts';
import { LIMITS, type StoreName } from '../model/limits.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';

interface Step {
  index: number;
  ok: number;
  failed: number;
  /** Sums over x = log2(full length): all samples of known length, and the failed ones among them. */
  n: number;
  nFailed: number;
  x: number;
  xx: number;
  xFailed: number;
  largestOk: number;
  smallestFailed: number;
}

export interface WindowTotals {
  readonly ok: number;
  readonly failed: number;
  readonly nFailed: number;
  readonly r: number;
  readonly z: number;
  readonly largestOk: number;
  /** Smallest size of a failure: its full length, or at least what arrived of it. */
  readonly smallestFailed: number;
}

export interface Series {
  readonly ts: number;
  readonly server: string;
  readonly steps: Step[];
  /** The condition held at the last sample: a finding fires once per crossing. */
  armed: boolean;
}

const emptyStep = (index: number): Step => ({
  index,
  ok: 0,
  failed: 0,
  n: 0,
  nFailed: 0,
  x: 0,
  xx: 0,
  xFailed: 0,
  largestOk: 0,
  smallestFailed: Number.POSITIVE_INFINITY,
});

function addTo(step: Step, fact: TrendFact): void {
  if (fact.failed) {
    step.failed++;
    step.smallestFailed = Math.min(step.smallestFailed, Math.max(fact.length ?? 0, fact.received));
  } else {
    step.ok++;
    step.largestOk = Math.max(step.largestOk, fact.received);
  }
  if (fact.length === null) return;
  const x = Math.log2(Math.max(1, fact.length));
  step.n++;
  step.x += x;
  step.xx += x * x;
  if (!fact.failed) return;
  step.nFailed++;
  step.xFailed += x;
}

/** Pearson's r between x and failing, and its z = r * sqrt(n) (design section 7). 0 where there is no spread. */
export function correlation(sums: {
  readonly n: number;
  readonly failed: number;
  readonly x: number;
  readonly xx: number;
  readonly xFailed: number;
}): { r: number; z: number } {
  const { n, failed, x, xx, xFailed } = sums;
  const spread = (n * xx - x * x) * (n * failed - failed * failed);
  const r = spread > 0 ? (n * xFailed - x * failed) / Math.sqrt(spread) : 0;
  return { r, z: r * Math.sqrt(n) };
}

export function totals(steps: readonly Step[]): WindowTotals {
  const sum = emptyStep(0);
  for (const step of steps) {
    sum.ok += step.ok;
    sum.failed += step.failed;
    sum.n += step.n;
    sum.nFailed += step.nFailed;
    sum.x += step.x;
    sum.xx += step.xx;
    sum.xFailed += step.xFailed;
    sum.largestOk = Math.max(sum.largestOk, step.largestOk);
    sum.smallestFailed = Math.min(sum.smallestFailed, step.smallestFailed);
  }
  return { ...sum, ...correlation({ ...sum, failed: sum.nFailed }) };
}

/** One window per server and payload kind; `test` decides on its totals whenever a failure or a success was added. */
export function createTrendWindows(
  store: StoreName,
  health: StoreHealth,
  test: (totals: WindowTotals) => boolean,
): (fact: TrendFact) => WindowTotals | null {
  const windows = new BoundedMap<Series>(store, LIMITS.trendServers, health);
  return (fact) => {
    const key = `${fact.of}\n${fact.server}`;
    const series = windows.get(key) ?? { ts: fact.ts, server: fact.server, steps: [], armed: true };
    windows.set(key, series);
    const index = Math.floor(fact.ts / LIMITS.trendStepMs);
    let step = series.steps.find((s) => s.index === index);
    if (step === undefined) {
      step = emptyStep(index);
      series.steps.push(step);
    }
    addTo(step, fact);
    const newest = Math.max(...series.steps.map((s) => s.index));
    // One step more than the window: the oldest one is only partly past.
    const oldest = newest - LIMITS.trendWindowMs / LIMITS.trendStepMs - 1;
    for (let i = series.steps.length - 1; i >= 0; i--)
      if ((series.steps[i] as Step).index <= oldest) series.steps.splice(i, 1);
    const now = totals(series.steps);
    if (!test(now)) {
      series.armed = true;
      return null;
    }
    if (!series.armed) return null;
    series.armed = false;
    return now;
  };
}
