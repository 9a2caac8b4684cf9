/**
 * What holds for any traffic: each stream is judged once, each call counted once, and the numbers do not depend on how the input
 * was cut, merged, ticked or repeated. TEST_SEED repeats a run; it is printed with a failure.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LIMITS } from '../src/core/model/limits.ts';
import { createPipeline, type Pipeline } from '../src/core/pipeline.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { createLineSplitter } from '../src/sources/line-splitter.ts';
import { type Line, ORIGIN, type Run, runLines } from './support/build-event.ts';
import { holds } from './support/property.ts';
import { type Rendered, render } from './support/traffic.ts';
import { plans } from './support/traffic-plan.ts';

/** Every series that is not 0, but for those of names that begin with one of `without`. */
function totals({ cells }: Pipeline, without: readonly string[] = []): Record<string, number | string> {
  const out: [string, number | string][] = [];
  for (const { spec, cells: all } of cells.families()) {
    if (['tailfin_state_entries', ...without].some((name) => spec.name.startsWith(name))) continue;
    for (const { values, value, buckets } of all) {
      // Sums of logarithms depend on their order in the last digits.
      const rounded = Number(value.toPrecision(9));
      if (rounded !== 0)
        out.push([`${spec.name}{${values.join(',')}}`, buckets === null ? rounded : `${buckets.join(' ')} ${rounded}`]);
    }
  }
  return Object.fromEntries(out.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const sortedIds = (ids: Iterable<string>): string[] => [...ids].sort();

function checkJudgedOnce(run: Run, { closed, attempts, operations }: Rendered): void {
  const wanted = [...closed].filter(([, kind]) => kind !== null);
  assert.deepEqual(sortedIds(run.verdicts.map(({ exchange }) => exchange.id)), sortedIds(wanted.map(([id]) => id)));
  for (const { exchange, kind } of run.verdicts) assert.equal(kind, closed.get(exchange.id), exchange.id);
  const counted = run.operations.flatMap(({ operation }) => operation.attempts.map(({ exchange }) => exchange));
  assert.deepEqual(sortedIds(counted), sortedIds(attempts), 'each attempt in exactly one operation');
  assert.equal(run.samples('tailfin_operations_total'), run.operations.length);
  assert.equal(run.operations.length, operations);
  const judged = run.verdicts.length;
  assert.equal(run.samples('tailfin_endpoint_closes_total'), judged);
  assert.equal(run.samples('tailfin_stream_closes_total'), run.verdicts.filter(({ verdict }) => verdict.head).length);
  const edges = run.operations.flatMap((fact) => fact.edges);
  assert.equal(run.samples('tailfin_retries_total'), edges.length);
  assert.equal(run.samples('tailfin_state_evictions_total'), 0);
}

holds('every stream gets exactly one verdict, every call exactly one result', 400, [plans('any')], (plan) => {
  const rendered = render(plan);
  checkJudgedOnce(runLines(rendered.lines), rendered);
});

/** What a file may hold beside lines. */
const NOISE = [
  '',
  '  ',
  '\r',
  '\0\0\0',
  '{"v":1,"type":"close"',
  'not json',
  '[]',
  '{"v":1,"type":"new","ts":1}',
  '\u{1F600}',
];

holds(
  'the exposition does not depend on how the bytes were cut',
  150,
  [
    plans('any', 8),
    fc.array(fc.tuple(fc.nat(1000), fc.constantFrom(...NOISE))),
    fc.infiniteStream(fc.integer({ min: 1, max: 3000 })),
    fc.boolean(),
  ],
  async (plan, noise, sizes, isEnded) => {
    const texts = render(plan).lines.map((line, i) => `${JSON.stringify(line)}${i % 5 === 0 ? '\r' : ''}`);
    for (const [at, text] of noise) texts.splice(at % (texts.length + 1), 0, text);
    const bytes = Buffer.from(`${texts.join('\n')}${isEnded ? '\n' : ''}`);
    // A byte that is no UTF-8, inside a string.
    const broken = bytes.indexOf('"tool"');
    if (broken > 0) bytes[broken + 1] = 0xff;
    const feed = async (next: () => number): Promise<string> => {
      const pipeline = createPipeline();
      const splitter = createLineSplitter({ maxLineBytes: LIMITS.maxLineBytes, origin: ORIGIN });
      const sink = {
        line: (text: string, origin: typeof ORIGIN, line: number, offset: number) =>
          pipeline.line(text, origin, line, offset),
        reject: pipeline.reject,
        invalidUtf8: pipeline.invalidUtf8,
      };
      for (let at = 0; at < bytes.length; ) {
        const size = next();
        splitter.push(Buffer.from(bytes.subarray(at, at + size)), sink);
        at += size;
      }
      splitter.end(sink);
      pipeline.finish();
      pipeline.refresh();
      return createPrometheusExporter(pipeline.cells, { process: false }).render();
    };
    const whole = await feed(() => bytes.length);
    assert.equal(await feed(() => sizes.next().value as number), whole);
    if (bytes.length < 20_000) assert.equal(await feed(() => 1), whole);
  },
);

/** Rules that look at the order of samples: a trend is crossed when it is crossed. */
const ORDERED = /^tailfin_findings_total\{\w*,parse_failure_/;
const unordered = (all: Record<string, number | string>) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !ORDERED.test(name)));

/** Lines late by up to their group's skew, in the order in which a reader of several files may meet them. */
function interleave({ lines, groups }: Rendered, skews: readonly number[]): Line[] {
  const late = (i: number): number => (lines[i] as Line).ts + (skews[groups[i] as number] ?? 0);
  return lines
    .map((_, i) => i)
    .sort((a, b) => late(a) - late(b) || a - b)
    .map((i) => lines[i] as Line);
}

holds(
  'interleavings that keep the order of each client give equal totals (skew below 5 s)',
  250,
  [plans('clear'), fc.array(fc.nat(4999), { minLength: 6, maxLength: 6 })],
  (plan, skews) => {
    const rendered = render(plan);
    const shuffled = interleave(rendered, skews);
    assert.deepEqual(
      unordered(totals(runLines(shuffled).pipeline)),
      unordered(totals(runLines(rendered.lines).pipeline)),
    );
  },
);

holds(
  'coarse ticks give the same totals as a tick per event',
  400,
  [
    plans('any'),
    fc.oneof(
      fc.record({ tickEach: fc.integer({ min: 0, max: 40 }) }),
      fc.record({ tickMs: fc.constantFrom(1000, 10_000, 100_000) }),
    ),
  ],
  (plan, ticks) => {
    const { lines } = render(plan, { loose: true });
    assert.deepEqual(unordered(totals(runLines(lines, ticks).pipeline)), unordered(totals(runLines(lines).pipeline)));
  },
);

/** What counts lines: a payload line that is delivered twice was parsed twice, as far as anybody can tell. */
const COUNTS_LINES = ['tailfin_events_', 'tailfin_parse_', 'tailfin_length_trend_'];

holds(
  'lines that are delivered twice change nothing but what counts lines',
  300,
  [plans('any'), fc.double({ min: 0, max: 1, noNaN: true })],
  (plan, from) => {
    // A settle line that came too early to be kept for its exchange would be in time when it comes again.
    const { lines } = render(plan, { loose: true, maxEarlyMs: 20_000 });
    const twice = [...lines, ...lines.slice(Math.floor(from * lines.length))];
    const once = runLines(lines);
    const again = runLines(twice);
    assert.deepEqual(unordered(totals(again.pipeline, COUNTS_LINES)), unordered(totals(once.pipeline, COUNTS_LINES)));
    assert.equal(again.samples('tailfin_events_total'), twice.length);
  },
);
