/**
 * The statistics behind r and z: quiet on data without a correlation, loud on the rise that was measured, and the same number whether
 * it is computed directly from the samples or by PromQL from the counters of the pipeline, on one pod and summed over five.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { measures, trendOf, trendSums } from '../../dashboards/measures.ts';
import { queries } from '../../dashboards/queries.ts';
import { correlation } from '../../src/core/detectors/trend-window.ts';
import type { Pipeline } from '../../src/core/pipeline.ts';
import { parse, runLines } from '../support/build-event.ts';
import { tempFolder } from '../support/cli.ts';
import { promtool, promtoolTest } from '../support/promtool.ts';
import { random } from '../support/random.ts';

interface Payload {
  readonly bytes: number;
  readonly failed: boolean;
}

/** Pearson's r by its definition, from the samples themselves: no sums that PromQL or the detector would use. */
function direct(samples: readonly Payload[]): { readonly r: number; readonly z: number } {
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  const xs = samples.map(({ bytes }) => Math.log2(bytes));
  const ys = samples.map(({ failed }) => (failed ? 1 : 0) as number);
  const [mx, my] = [mean(xs), mean(ys)];
  const product = mean(xs.map((x, i) => (x - mx) * ((ys[i] as number) - my)));
  const spread = (values: readonly number[], m: number): number => Math.sqrt(mean(values.map((v) => (v - m) ** 2)));
  const r = product / (spread(xs, mx) * spread(ys, my));
  return { r, z: r * Math.sqrt(samples.length) };
}

/** Lengths from 256 B to 1 MiB, evenly over their logarithm; a failure is the same chance for all. */
function uncorrelated(seed: number, n: number, chance = 0.05): readonly Payload[] {
  const next = random(seed);
  return Array.from({ length: n }, () => ({ bytes: Math.round(2 ** (8 + 12 * next())), failed: next() < chance }));
}

/** Failures in per cent by full length in KiB, as they were measured. */
const RISE = [
  [4, 2.8],
  [16, 8.6],
  [48, 29.5],
  [96, 50],
  [144, 37.5],
] as const;
function rising(seed: number, each: number): readonly Payload[] {
  const next = random(seed);
  return RISE.flatMap(([kib, percent]) =>
    Array.from({ length: each }, () => ({ bytes: kib * 1024, failed: next() < percent / 100 })),
  );
}

describe('z', () => {
  test('on data without a correlation: 200 seeds, 2,000 samples each', () => {
    const zs = Array.from({ length: 200 }, (_, i) => direct(uncorrelated(i + 1, 2000)).z);
    const beyond = (limit: number): number => zs.filter((z) => Math.abs(z) > limit).length;
    const square = zs.reduce((sum, z) => sum + z * z, 0) / zs.length;
    assert.ok(beyond(3) <= 4, `${beyond(3)} beyond 3`);
    assert.equal(beyond(4.5), 0);
    assert.ok(square > 0.75 && square < 1.25, `mean of z squared is ${square}`);
  });

  test('on the measured rise: 200 seeds, 2,000 samples each; the expected one with 200', () => {
    const least = Math.min(...Array.from({ length: 200 }, (_, i) => direct(rising(i + 1, 400)).z));
    assert.ok(least > 4, `the least z is ${least}`);
    // As many failures as measured, to the sample.
    const expected = RISE.flatMap(([kib, percent]) =>
      Array.from({ length: 40 }, (_, i) => ({ bytes: kib * 1024, failed: i < Math.round(0.4 * percent) })),
    );
    assert.ok(direct(expected).z > 4, `${direct(expected).z}`);
  });

  test('the detector computes the same', () => {
    for (const samples of [uncorrelated(3, 2000), rising(5, 100)]) {
      const xs = samples.map(({ bytes }) => Math.log2(bytes));
      const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
      const { r, z } = correlation({
        n: samples.length,
        failed: samples.filter(({ failed }) => failed).length,
        x: sum(xs),
        xx: sum(xs.map((x) => x * x)),
        xFailed: sum(xs.filter((_, i) => samples[i]?.failed === true)),
      });
      const expected = direct(samples);
      assert.ok(Math.abs(r - expected.r) < 1e-9 && Math.abs(z - expected.z) < 1e-6);
    }
  });
});

/** A pod's pipeline on these payloads. A failure stopped halfway; its full length was announced. */
function pipelineOf(samples: readonly Payload[]): Pipeline {
  const lines = samples.map(({ bytes, failed }, i) =>
    parse(undefined, i * 10, {
      ...{ server: 'reports', of: 'message', ok: !failed, bytes: failed ? Math.ceil(bytes / 2) : bytes },
      ...{ expected_bytes: bytes, ...(failed ? { at_end: true } : {}) },
    }),
  );
  return runLines(lines).pipeline;
}

const q = queries({ target: ['job="tailfin"'], server: [] });
const FAMILIES = ['trend_samples', 'trend_log2', 'trend_log2_squared'];
/** Every counter of the trend of one pod, as a name and what it holds. */
function* counters({ cells }: Pipeline, pod: number): Generator<readonly [series: string, value: number]> {
  for (const { key, spec, cells: own } of cells.families())
    if (FAMILIES.includes(key))
      for (const { values, value } of own) {
        const labels = spec.labels.map(([name], i) => `${name}="${values[i]}"`).join(', ');
        yield [`${spec.name}{job="tailfin", pod="p${pod}", ${labels}}`, value];
      }
}

type InputSeries = readonly { readonly series: string; readonly values: string }[];

/** Evaluates expressions in the engine of Prometheus; each must be as close to its value as asked for. */
function evaluate(
  folder: string,
  input_series: InputSeries,
  eval_time: string,
  checks: readonly (readonly [expr: string, expected: number, tolerance: number])[],
): ReturnType<typeof promtool> {
  const file = join(folder, 'test.yaml');
  const promql_expr_test = checks.map(([expr, expected, tolerance]) => ({
    expr: `abs((${expr}) - (${expected})) < bool ${tolerance}`,
    eval_time,
    exp_samples: [{ labels: '{}', value: 1 }],
  }));
  writeFileSync(file, stringify({ tests: [{ interval: '1m', input_series, promql_expr_test }] }));
  return promtool(['test', 'rules', file]);
}

const POD_DATA = [1, 2, 3, 4, 5].map((seed) => rising(seed, 40 + 20 * seed));

for (const pods of [1, 5])
  promtoolTest(`PromQL on the counters of ${pods} pod(s) is the direct computation within 1e-6`, async (t) => {
    const data = POD_DATA.slice(0, pods);
    const input = data.flatMap((samples, pod) => [...counters(pipelineOf(samples), pod)]);
    const all = direct(data.flat());
    const { r, z } = trendOf(
      trendSums([], (key, failed) => q.series(key, failed ? ({ result: 'failed' } as never) : {})),
    );
    const series = input.map(([name, value]) => ({ series: name, values: `${value}` }));
    assert.equal(series.length, 6 * pods);
    const folder = tempFolder(t);
    const { status, text } = evaluate(folder, series, '0m', [
      [r, all.r, 1e-6],
      [z, all.z, 1e-6],
    ]);
    assert.equal(status, 0, text);
    assert.equal(evaluate(folder, series, '0m', [[z, all.z + 2e-6, 1e-6]]).status, 1, 'a difference is found');
  });

promtoolTest('increase() over an hour of five pods is the direct computation within 2 %', async (t) => {
  const minutes = 60;
  // What each counter had reached at every minute: the samples of a pod come in at an even pace, in random order.
  const shuffled = POD_DATA.map((samples, pod) => {
    const next = random(`order ${pod}`);
    return samples
      .map((each) => ({ each, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ each }) => each);
  });
  const values = new Map<string, number[]>();
  for (const [pod, samples] of shuffled.entries())
    for (let minute = 0; minute <= minutes; minute++) {
      const sofar = samples.slice(0, Math.round((samples.length * minute) / minutes));
      for (const [name, value] of counters(pipelineOf(sofar), pod)) {
        const known = values.get(name) ?? new Array<number>(minutes + 1).fill(0);
        known[minute] = value;
        values.set(name, known);
      }
    }
  const input = [...values].map(([series, each]) => ({ series, values: each.join(' ') }));
  const all = direct(POD_DATA.flat());
  const { r, z } = measures(q).trend([], '1h');
  const { status, text } = evaluate(tempFolder(t), input, '60m', [
    [r, all.r, 0.02 * all.r],
    [z, all.z, 0.02 * all.z],
  ]);
  assert.equal(status, 0, text);
});
