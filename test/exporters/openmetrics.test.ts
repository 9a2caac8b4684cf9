/**
 * OpenMetrics shows the numbers of the text format, by its own rules: held against the specification (support/openmetrics.ts), an
 * independent parser (Python's prometheus_client) and the goldens of all scenarios.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfig, toPolicy } from '../../src/app/config.ts';
import { replay } from '../../src/app/replay.ts';
import { CATALOG, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { type Cells, createCells } from '../../src/core/measures/cells.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { createPrometheusExporter } from '../../src/exporters/prometheus.ts';
import { casesIn } from '../check-cases.mjs';
import { readExposition, SCENARIOS } from '../support/cli.ts';
import { parseExposition, type Sample } from '../support/exposition.ts';
import { type OpenMetricsText, readOpenMetrics } from '../support/openmetrics.ts';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const both = async (cells: Cells, process = false) => {
  const exporter = createPrometheusExporter(cells, { process });
  const [text, openMetrics] = await Promise.all([exporter.render(), exporter.render('openmetrics')]);
  return { exporter, text, openMetrics };
};
const valuesOf = (samples: readonly Sample[]): string[] =>
  samples.map(({ name, labels, value }) => JSON.stringify([name, labels, value]));

/** Python that has the parser; undefined: none here. */
const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import prometheus_client.openmetrics.parser']).status === 0,
);
interface Parsed {
  readonly error?: string;
  readonly families: readonly [name: string, type: string, unit: string, help: string][];
  readonly samples: readonly [
    string,
    Record<string, string>,
    string,
    [Record<string, string>, number, number] | null,
  ][];
}
function parseByPython(texts: readonly string[]): Parsed[] {
  const script = fileURLToPath(new URL('../support/parse_openmetrics.py', import.meta.url));
  const { status, stdout, stderr } = spawnSync(python as string, [script], {
    input: JSON.stringify(texts),
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 2 ** 28,
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Parsed[];
}
/** A test that is marked as skipped where no Python has the parser. */
const pythonTest = (name: string, body: () => Promise<void>): void => {
  test(name, async (t) => (python === undefined ? t.skip('skipped: needs python3-prometheus-client') : body()));
};
/** The independent parser reads what our own reader of the format read. */
function assertSameReading(parsed: Parsed | undefined, own: OpenMetricsText, what: string): void {
  assert.equal(parsed?.error, undefined, what);
  assert.deepEqual(
    parsed?.samples.map(([name, labels, value, exemplar]) => [
      name,
      labels,
      Number(value.replace('inf', 'Infinity')),
      exemplar,
    ]),
    own.samples.map(({ name, labels, value, exemplar }) => [
      ...[name, labels, value],
      exemplar === undefined ? null : [exemplar.labels, exemplar.value, exemplar.ts],
    ]),
    what,
  );
  assert.deepEqual(
    parsed?.families,
    [...own.families].map(([name, { type, unit = '', help }]) => [name, type, unit, help]),
    what,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'tailfin-openmetrics-'));
after(() => rmSync(folder, { recursive: true }));

/** Every line that tells no trace gets one of its own: the line number. */
const traced = (events: string): string =>
  events
    .split('\n')
    .map((line, i) =>
      line.includes('"trace"')
        ? line
        : line.replace('"v":1,', `"v":1,"trace":"00-${(i + 1).toString(16).padStart(32, '0')}-00f067aa0ba902b7-01",`),
    )
    .join('\n');

async function exposed(scenario: string) {
  const config = join(scenario, 'tailfin.yaml');
  const file = join(folder, `${basename(scenario)}.ndjson`);
  // Byte for byte: some scenarios are no UTF-8.
  writeFileSync(file, traced(readFileSync(join(scenario, 'events.ndjson'), 'latin1')), 'latin1');
  const policy = toPolicy(loadConfig(existsSync(config) ? { file: config } : {}));
  const pipeline = await replay({ files: [file], host: 'files', policy });
  pipeline.refresh();
  return both(pipeline.cells);
}

const scenarios = casesIn(SCENARIOS);
describe('every scenario', () => {
  for (const scenario of scenarios)
    test(`${basename(scenario)}: the values of its golden, traced or not`, async () => {
      const { text, openMetrics } = await exposed(scenario);
      assert.equal(text, readFileSync(join(scenario, 'expected.prom'), 'utf8'));
      const read = readOpenMetrics(openMetrics);
      assert.deepEqual(valuesOf(read.samples), valuesOf(parseExposition(text)));
      const lines = readFileSync(join(scenario, 'events.ndjson'), 'latin1').split('\n').length;
      for (const { name, labels, exemplar } of read.samples) {
        if (exemplar === undefined) continue;
        const specs: readonly MetricSpec[] = Object.values(CATALOG);
        const { exemplars } = specs.find((spec) => spec.name === name.replace(/_bucket$/, ''))!;
        assert.ok(exemplars !== undefined, `${name} has no exemplars`);
        if (exemplars !== 'all') assert.ok(!exemplars.except.includes(labels[exemplars.label] as string), name);
        const line = Number(`0x${exemplar.labels.trace_id}`);
        assert.ok(line >= 1 && line <= lines && exemplar.labels.span_id === '00f067aa0ba902b7', name);
      }
    });

  pythonTest("all pass Python's parser, which reads the same", async () => {
    const texts = await Promise.all(scenarios.map(async (scenario) => (await exposed(scenario)).openMetrics));
    const parsed = parseByPython(texts);
    for (const [i, text] of texts.entries())
      assertSameReading(parsed[i], readOpenMetrics(text), scenarios[i] as string);
    assert.ok(texts.join('').split(' # {').length > 100, 'with exemplars');
  });
});

describe('the rules of the format', () => {
  test('counters: the family without _total, its samples with it; the text format keeps its names', async () => {
    const cells = createCells();
    cells.add('events', 7, ['files', 'close']);
    const { exporter, text } = await both(cells);
    for (let scrape = 0; scrape < 3; scrape++) {
      const openMetrics = await exporter.render('openmetrics');
      assert.match(
        openMetrics,
        /^# TYPE tailfin_events counter\n# HELP tailfin_events Accepted lines\.\ntailfin_events_total\{source="files",type="close"\} 7$/m,
      );
      assert.equal(await exporter.render(), text);
    }
  });

  test('units: seconds and bytes, where the name ends so', async () => {
    const { families } = readOpenMetrics((await both(createCells(), true)).openMetrics);
    const units = (unit: string) => [...families].filter(([, family]) => family.unit === unit).map(([name]) => name);
    for (const name of ['mcp_client_operation_duration_seconds', 'process_cpu_seconds', 'tailfin_source_lag_seconds'])
      assert.ok(units('seconds').includes(name), name);
    for (const name of ['tailfin_stream_bytes', 'tailfin_parse_bytes', 'process_resident_memory_bytes'])
      assert.ok(units('bytes').includes(name), name);
    assert.equal(families.get('tailfin_length_trend_log2_bytes')?.unit, undefined, 'a logarithm has no unit');
  });

  test('the time of an exemplar is in seconds, its value that of the sample', async () => {
    const cells = createCells();
    cells.add('findings', 1, ['shop', 'ambiguous_close'], TRACE, 1_790_000_001_234);
    const { openMetrics } = await both(cells);
    assert.match(
      openMetrics,
      / 1 # \{trace_id="4bf92f3577b34da6a3ce929d0e0e4736",span_id="00f067aa0ba902b7"\} 1 1790000001\.234$/m,
    );
  });

  test('HELP texts are those of the catalog, quotes escaped', async () => {
    const { openMetrics } = await both(createCells());
    const { families } = readOpenMetrics(openMetrics);
    const specs: readonly MetricSpec[] = Object.values(CATALOG);
    assert.deepEqual(
      [...families].map(([name, { type, help }]) => [name, type, help]),
      specs.map(({ name, kind, help }) => [kind === 'counter' ? name.replace(/_total$/, '') : name, kind, help]),
    );
    assert.match(openMetrics, /hint=\\"declared\\"/);
  });

  const HARD = [
    'a "quoted" name',
    'back\\slash',
    'new\nline',
    'x # {a="b"} 1 1',
    '# EOF',
    'käse 🐟',
    '}',
    '{',
    ' ',
    '"',
  ];
  const hard = (): Cells => {
    const cells = createCells();
    for (const [i, server] of HARD.entries()) {
      cells.add('findings', i + 1, [server, 'ambiguous_close'], TRACE, i);
      cells.observe('operation_duration', 0.2, ['ping', 'unknown', '', server], TRACE, i);
    }
    return cells;
  };
  test('names that need every escape parse back', async () => {
    const { samples } = readOpenMetrics((await both(hard())).openMetrics);
    const found = samples.filter(({ name }) => name === 'tailfin_findings_total');
    assert.deepEqual(
      found.map(({ labels, value, exemplar }) => [labels.server, value, exemplar?.ts]),
      HARD.map((server, i) => [server, i + 1, i / 1000]),
    );
  });
  pythonTest("Python's parser: names that need every escape, the process itself, nothing at all", async () => {
    const texts = await Promise.all(
      [both(hard()), both(createPipeline().cells, true), both(createCells())].map(
        async (each) => (await each).openMetrics,
      ),
    );
    const [escapes, own, nothing] = parseByPython(texts);
    assertSameReading(escapes, readOpenMetrics(texts[0] as string), 'escapes');
    assert.equal(own?.error, undefined);
    assert.ok(own?.families.some(([name]) => name === 'process_cpu_seconds'));
    assertSameReading(nothing, readOpenMetrics(texts[2] as string), 'nothing');
  });
  pythonTest("Python's parser does complain, about what it should", async () => {
    const broken = ['# TYPE a counter\na 1\n# EOF\n', 'a 1\n', '# TYPE a gauge\n# TYPE a gauge\n# EOF\n'];
    for (const parsed of parseByPython(broken)) assert.ok(parsed.error !== undefined);
    for (const text of broken) assert.throws(() => readOpenMetrics(text));
  });
});

describe('the process itself', () => {
  test('the families of the text format, with the same labels', async () => {
    const { text, openMetrics } = await both(createCells(), true);
    const { families, samples } = readOpenMetrics(openMetrics);
    const inText = readExposition(text);
    const full = (name: string) => (families.get(name)?.type === 'counter' ? `${name}_total` : name);
    assert.deepEqual([...families.keys()].map(full), [...inText.type.keys()]);
    const stable = (name: string) => !/^nodejs_active_resources/.test(name);
    const series = (all: readonly Sample[]) =>
      all.filter(({ name }) => stable(name)).map(({ name, labels }) => JSON.stringify([name, labels]));
    assert.deepEqual(series(samples), series(inText.samples));
  });

  test('scrapes in both formats leave each other whole', async () => {
    const exporter = createPrometheusExporter(createCells(), { process: true });
    const names = async () => [...readExposition(await exporter.render()).type.keys()];
    const before = await names();
    for (let i = 0; i < 3; i++) readOpenMetrics(await exporter.render('openmetrics'));
    assert.deepEqual(await names(), before);
  });
});

describe('scrapes that overlap', () => {
  test('in both formats, with events between them, each show one moment of the cells', async () => {
    const cells = createCells();
    const exporter = createPrometheusExporter(cells, { process: false });
    const scrapes: { readonly text: Promise<string>; readonly openMetrics: Promise<string> }[] = [];
    for (let i = 1; i <= 50; i++) {
      cells.add('findings', 1, ['shop', 'ambiguous_close'], TRACE, i);
      cells.observe('operation_duration', 0.1, ['ping', 'unknown', '', 'shop'], TRACE, i);
      cells.add('label_overflow', 1, ['server']);
      const [text, openMetrics] = [exporter.render(), exporter.render('openmetrics')];
      scrapes.push({ text, openMetrics });
      if (i % 7 === 0) await Promise.resolve();
      if (i % 11 === 0) await Promise.all([text, openMetrics]);
    }
    let last = 0;
    for (const { text, openMetrics } of scrapes) {
      const { samples } = readOpenMetrics(await openMetrics);
      const findings = samples.find(({ name }) => name === 'tailfin_findings_total')!;
      assert.equal(findings.exemplar?.ts, findings.value / 1000, 'the exemplar is of the same moment');
      assert.deepEqual(
        ['mcp_client_operation_duration_seconds_count', 'tailfin_label_overflow_total'].map(
          (each) => samples.find(({ name }) => name === each)?.value,
        ),
        [findings.value, findings.value],
      );
      assert.ok(findings.value >= last, 'time does not run backwards');
      last = findings.value;
      const ofText = parseExposition(await text).find(({ name }) => name === 'tailfin_findings_total')!;
      assert.ok(ofText.value > 0 && ofText.value <= 50);
    }
    assert.deepEqual(
      valuesOf(readOpenMetrics(await exporter.render('openmetrics')).samples),
      valuesOf(parseExposition(await exporter.render())),
    );
  });
});
