/**
 * A strict reader of OpenMetrics 1.0.0, by its specification and not by our exporter: what it does not allow is an error. Counters,
 * gauges and histograms only, which is all that we expose.
 */
import assert from 'node:assert/strict';
import { NUMBER, readLabels, type Sample } from './exposition.ts';

export interface Exemplar {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Unix seconds. */
  readonly ts: number;
}
export interface OpenMetricsSample extends Sample {
  readonly family: string;
  readonly exemplar: Exemplar | undefined;
}
export interface OpenMetricsFamily {
  readonly type: string;
  readonly unit: string | undefined;
  /** As it stands behind undoing the escapes. */
  readonly help: string | undefined;
}
export interface OpenMetricsText {
  readonly families: ReadonlyMap<string, OpenMetricsFamily>;
  readonly samples: readonly OpenMetricsSample[];
}

const LABELS = String.raw`\{((?:[^"}]|"(?:[^"\\\n]|\\[\\n"])*")*)\}`;
const SAMPLE = new RegExp(`^([a-zA-Z_:][\\w:]*)(?:${LABELS})? (\\S+)(?: # ${LABELS} (\\S+)(?: (\\S+))?)?$`);
const ESCAPED = /^(?:[^"\\\n]|\\[\\n"])*$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

const numberOf = (text: string, line: string): number => {
  assert.match(text, NUMBER, line);
  return Number(text.replace('Inf', 'Infinity'));
};
const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));

function readExemplar(labelText: string, value: string, ts: string | undefined, line: string): Exemplar {
  const labels = readLabels(labelText, line);
  const length = [...Object.entries(labels).flat().join('')].length;
  assert.ok(length <= 128, `${length} characters in an exemplar: ${line}`);
  assert.ok(ts !== undefined, `an exemplar without its time: ${line}`);
  return { labels, value: numberOf(value, line), ts: numberOf(ts, line) };
}

/** The buckets of one label set stand in order, grow, and end with +Inf, which is the count. */
function checkHistogram(name: string, samples: readonly OpenMetricsSample[]): void {
  const bySet = new Map<string, OpenMetricsSample[]>();
  for (const sample of samples) {
    const { le: _, ...own } = sample.labels;
    const key = JSON.stringify(own);
    bySet.set(key, [...(bySet.get(key) ?? []), sample]);
  }
  for (const [key, set] of bySet) {
    const buckets = set.filter((each) => each.name === `${name}_bucket`);
    let below = { bound: Number.NEGATIVE_INFINITY, count: 0 };
    for (const { labels, value, exemplar } of buckets) {
      const bound = Number((labels.le as string).replace('Inf', 'Infinity'));
      assert.ok(bound > below.bound && value >= below.count, `${name}${key}: buckets in order`);
      if (exemplar !== undefined)
        assert.ok(exemplar.value > below.bound && exemplar.value <= bound, `${name}${key}: exemplar in its bucket`);
      below = { bound, count: value };
    }
    assert.equal(below.bound, Number.POSITIVE_INFINITY, `${name}${key}`);
    const count = set.find((each) => each.name === `${name}_count`);
    assert.equal(count?.value, below.count, `${name}${key}`);
    assert.ok(
      set.some((each) => each.name === `${name}_sum`),
      `${name}${key}`,
    );
  }
}

export function readOpenMetrics(text: string): OpenMetricsText {
  assert.ok(text.endsWith('\n# EOF\n') || text === '# EOF\n', 'it ends with # EOF and a line feed');
  const families = new Map<string, { type: string; unit: string | undefined; help: string | undefined }>();
  const samples: OpenMetricsSample[] = [];
  const series = new Set<string>();
  let family = '';
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    const [, word, name = '', rest = ''] = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][\w:]*) (.*)$/.exec(line) ?? [];
    if (word === 'TYPE') {
      assert.ok(!families.has(name), `${name} stands twice`);
      assert.ok(rest in SUFFIXES, line);
      family = name;
      families.set(name, { type: rest, unit: undefined, help: undefined });
      continue;
    }
    const known = families.get(family);
    assert.ok(known, `nothing says what this is: ${line}`);
    if (word !== undefined) {
      assert.equal(name, family, `metadata in the midst of another family: ${line}`);
      assert.ok(samples.at(-1)?.family !== family, `metadata behind samples: ${line}`);
      const key = word === 'UNIT' ? 'unit' : 'help';
      assert.equal(known[key], undefined, `twice: ${line}`);
      if (word === 'UNIT') assert.ok(family.endsWith(`_${rest}`), `the unit is no end of the name: ${line}`);
      else assert.match(rest, ESCAPED, `not escaped: ${line}`);
      known[key] = word === 'HELP' ? unescaped(rest) : rest;
      continue;
    }
    const match = SAMPLE.exec(line);
    assert.ok(match, `no sample line: ${line}`);
    const [, sample, labelText = '', value, exemplarLabels, exemplarValue, exemplarTs] = match as unknown as string[];
    const suffix = (SUFFIXES[known.type] as string[]).find((each) => sample === family + each);
    assert.ok(suffix !== undefined, `stands outside of its family: ${line}`);
    const labels = readLabels(labelText, line);
    const key = JSON.stringify([sample, Object.entries(labels).sort()]);
    assert.ok(!series.has(key), `the series comes twice: ${line}`);
    series.add(key);
    const exemplar =
      exemplarLabels === undefined
        ? undefined
        : readExemplar(exemplarLabels, exemplarValue as string, exemplarTs, line);
    if (exemplar !== undefined) assert.match(suffix, /^_(?:total|bucket)$/, `no place for an exemplar: ${line}`);
    samples.push({ family, name: sample as string, labels, value: numberOf(value as string, line), exemplar });
  }
  for (const [name, { type, help }] of families) {
    assert.ok(help !== undefined && help !== '', `${name} has no HELP`);
    if (type !== 'histogram') continue;
    checkHistogram(
      name,
      samples.filter((each) => each.family === name),
    );
  }
  return { families, samples };
}
