/**
 * What prom-client would get wrong if it held our numbers (its traps, measured: concurrent scrapes that add up, counters that lose
 * their `_total`, histograms that cannot be set, exemplars of the wrong value) must not happen to ours.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CATALOG, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { type Cells, createCells } from '../../src/core/measures/cells.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { CONTENT_TYPES, createPrometheusExporter } from '../../src/exporters/prometheus.ts';
import { readExposition } from '../support/cli.ts';

const render = (cells: Cells): Promise<string> => createPrometheusExporter(cells, { process: false }).render();
const exposed = async (cells: Cells) => readExposition(await render(cells));

/** A few numbers of each kind. */
function fill(cells: Cells): Cells {
  cells.add('events', 7, ['files', 'close']);
  cells.add('label_overflow', 1, ['server']);
  cells.add('findings', 2, ['shop', 'ambiguous_close']);
  cells.set('streams_open', 3, ['shop', 'listen']);
  for (const seconds of [0.003, 0.01, 0.4, 7, 1000]) {
    cells.observe('operation_duration', seconds, ['tools/call', '2026-07-28', '', 'shop']);
  }
  return cells;
}

describe('scrapes change nothing', () => {
  test('repeated scrapes are equal, and every name keeps its form', async () => {
    const exporter = createPrometheusExporter(fill(createCells()), { process: false });
    const first = await exporter.render();
    for (let i = 0; i < 5; i++) assert.equal(await exporter.render(), first);
    assert.match(first, /^tailfin_events_total\{source="files",type="close"\} 7$/m);
    assert.match(first, /^# TYPE tailfin_events_total counter$/m);
    assert.equal(await render(fill(createCells())), first, 'a function of the cells alone');
  });

  test('two exporters over the same cells agree: none of them owns a number', async () => {
    const cells = fill(createCells());
    const [a, b] = [1, 2].map(() => createPrometheusExporter(cells, { process: false }));
    assert.equal(await a!.render(), await b!.render());
    cells.add('events', 1, ['files', 'close']);
    assert.equal(await a!.render(), await b!.render());
    assert.match(await a!.render(), /^tailfin_events_total\{.*\} 8$/m);
  });

  test('concurrent scrapes are equal', async () => {
    const exporter = createPrometheusExporter(fill(createCells()), { process: false });
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => exporter.render()));
    for (const other of others) assert.equal(other, first);
    assert.equal(readExposition(first!).sum('tailfin_events_total'), 7);
    assert.equal(await exporter.render(), first);
  });

  test('scrapes that overlap, with events between them, each show a moment of the cells', async () => {
    const cells = createCells();
    const exporter = createPrometheusExporter(cells, { process: false });
    const texts: Promise<string>[] = [];
    for (let i = 1; i <= 50; i++) {
      both(cells);
      texts.push(exporter.render());
      if (i % 7 === 0) await Promise.resolve();
      if (i % 11 === 0) await texts.at(-1);
    }
    let last = 0;
    for (const text of await Promise.all(texts)) {
      const count = momentOf(text);
      assert.ok(count >= last, 'time does not run backwards');
      last = count;
    }
    assert.equal(momentOf(await exporter.render()), 50);
  });

  test('one exposition is one moment, whatever happens while it is rendered', async () => {
    const cells = createCells();
    both(cells);
    for (const process of [false, true]) {
      const exporter = createPrometheusExporter(cells, { process });
      const before = momentOf(await exporter.render());
      let done = false;
      const rendering = exporter.render().finally(() => {
        done = true;
      });
      let turns = 0;
      while (!done) {
        both(cells);
        turns++;
        // Promise jobs first: that is where prom-client waits for its metrics.
        await (turns % 50 === 0 ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve());
      }
      assert.ok(turns > 1, 'there was a chance to interfere');
      assert.equal(momentOf(await rendering), before);
      assert.equal(momentOf(await exporter.render()), before + turns);
    }
  });

  test('a scrape that failed leaves the next one whole', async () => {
    const cells = fill(createCells());
    const exporter = createPrometheusExporter(cells, { process: false });
    const good = await exporter.render();
    const families = cells.families;
    cells.families = () => {
      throw new Error('no numbers');
    };
    await assert.rejects(exporter.render(), /no numbers/);
    cells.families = families;
    assert.equal(await exporter.render(), good);
  });

  /** One event that moves metrics all over the exposition at once: first and last families, counter, gauge and histogram. */
  function both(cells: Cells): void {
    cells.add('stream_closes', 1, ['shop', '2026-07-28', 'response', 'clean', 'A', 'terminal_seen', 'none']);
    cells.observe('stream_bytes', 100, ['shop', 'clean']);
    cells.observe('operation_duration', 0.1, ['tools/call', '2026-07-28', '', 'shop']);
    cells.add('state_evictions', 1, ['clients']);
    cells.add('label_overflow', 1, ['server']);
  }

  function momentOf(text: string): number {
    const { sum } = readExposition(text);
    const count = sum('tailfin_stream_closes_total');
    for (const name of [
      'tailfin_stream_bytes_count',
      'mcp_client_operation_duration_seconds_count',
      'tailfin_state_evictions_total',
      'tailfin_label_overflow_total',
    ]) {
      assert.equal(sum(name), count, `${name} is of another moment`);
    }
    assert.equal(sum('tailfin_stream_bytes_sum'), 100 * count);
    assert.equal(sum('tailfin_stream_bytes_bucket', { le: '+Inf' }), count);
    return count;
  }
});

describe('names and labels', () => {
  const HARD = [
    'a "quoted" name',
    'back\\slash',
    'new\nline',
    '\\n is no line end',
    'all "of\\ them\n"\\',
    'carriage\rreturn',
    'tab\tand , { } = # signs',
    'http://[::1]:80/',
    'käse, 寿司, 🐟, \u00a0, \u2028',
    '"',
    '\\',
    '\n',
    ' ',
  ];

  test('quotes, backslashes, line ends and unicode in a label value parse back, in each scrape', async () => {
    const cells = createCells();
    for (const [i, server] of HARD.entries()) {
      cells.add('findings', i + 1, [server, 'ambiguous_close']);
      cells.observe('stream_bytes', 5, [server, 'clean']);
    }
    const exporter = createPrometheusExporter(cells, { process: false });
    for (let scrape = 0; scrape < 2; scrape++) {
      const { samples } = readExposition(await exporter.render());
      const found = samples.filter(({ name }) => name === 'tailfin_findings_total');
      assert.deepEqual(
        found.map(({ labels, value }) => [labels.server, labels.rule, value]),
        HARD.map((server, i) => [server, 'ambiguous_close', i + 1]),
      );
      const counts = samples.filter(({ name }) => name === 'tailfin_stream_bytes_count');
      assert.deepEqual(
        counts.map(({ labels }) => labels.server),
        HARD,
      );
    }
  });

  test('any text in a label value parses back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), async (servers) => {
        const cells = createCells();
        for (const server of servers) cells.add('findings', 1, [server, 'id_mismatch']);
        const { samples } = await exposed(cells);
        assert.deepEqual(
          samples.map(({ labels }) => labels.server),
          servers,
        );
      }),
      { numRuns: 200, seed: 19640 },
    );
  });

  test('names that differ as events still differ as bytes: no series comes twice', async () => {
    const pipeline = createPipeline();
    const origin = { source: 'files', writer: 'files', host: 'h' };
    // Half a surrogate pair is a JSON string, but no UTF-8: both become the same three bytes.
    for (const [i, server] of ['"\\ud800"', '"\\udbff"', '"\\ufffd"'].entries()) {
      const line = `{"v":1,"type":"close","ts":1,"exchange":"x${i}","how":"eof","status":200,"server":${server}}`;
      pipeline.line(line, origin, i + 1, 0);
    }
    for (const [i, endpoint] of ['"\\ud800:80"', '"\\udbff:80"', '"\\ufffd:80"'].entries()) {
      const line = `{"v":1,"type":"close","ts":1,"exchange":"y${i}","how":"eof","status":200,"server":"s","endpoint":${endpoint}}`;
      pipeline.line(line, origin, i + 1, 0);
    }
    const bytes = Buffer.from(await render(pipeline.cells));
    const { samples } = readExposition(bytes.toString());
    assert.ok(samples.length > 0);
    const closes = samples.filter(
      ({ name, labels }) => name === 'tailfin_endpoint_closes_total' && labels.server === 's',
    );
    assert.deepEqual(
      closes.map(({ labels, value }) => [labels.endpoint, value]),
      [['\ufffd:80', 3]],
    );
  });

  test('an empty label value is written, and tells a series from others', async () => {
    const cells = createCells();
    cells.observe('operation_duration', 0.1, ['tools/call', '2026-07-28', '', 'shop']);
    cells.observe('operation_duration', 0.1, ['tools/call', '2026-07-28', 'timeout', 'shop']);
    const text = await render(cells);
    assert.match(text, /^mcp_client_operation_duration_seconds_count\{.*error_type="".*\} 1$/m);
    const { samples } = readExposition(text);
    const counts = samples.filter(({ name }) => name.endsWith('_count')).map(({ labels }) => labels.error_type);
    assert.deepEqual(counts, ['', 'timeout']);
  });

  test('every metric of the catalog has its HELP and TYPE before it has a sample', async () => {
    const { samples, help, type } = await exposed(createCells());
    assert.deepEqual(samples, []);
    const specs: readonly MetricSpec[] = Object.values(CATALOG);
    assert.deepEqual(
      [...type],
      specs.map(({ name, kind }) => [name, kind]),
    );
    for (const spec of specs) {
      // Escaped as the format demands; the parser does not undo it.
      assert.equal(help.get(spec.name), spec.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n'));
      assert.equal(spec.kind === 'counter', spec.name.endsWith('_total'), spec.name);
    }
  });

  test('the label names of a sample are those of the catalog, in its order', async () => {
    const { samples } = await exposed(fill(createCells()));
    const specs: readonly MetricSpec[] = Object.values(CATALOG);
    for (const { name, labels } of samples) {
      const spec = specs.find((each) => each.name === name.replace(/_(bucket|sum|count)$/, ''))!;
      const names = spec.labels.map(([label]) => label);
      assert.deepEqual(Object.keys(labels), name.endsWith('_bucket') ? [...names, 'le'] : names, name);
    }
  });
});

describe('values', () => {
  test('buckets are cumulative, the last one is the count, a bound belongs to its bucket', async () => {
    const cells = createCells();
    const bounds: readonly number[] = (CATALOG.stream_bytes as MetricSpec).buckets!;
    // On each bound, just above it, and beyond the last.
    const values = [0, ...bounds.flatMap((bound) => [bound, bound + 1]), 1e12];
    for (const value of values) cells.observe('stream_bytes', value, ['shop', 'clean']);
    const { samples, sum } = await exposed(cells);
    const buckets = samples.filter(({ name }) => name === 'tailfin_stream_bytes_bucket');
    assert.deepEqual(
      buckets.map(({ labels }) => labels.le),
      [...bounds.map(String), '+Inf'],
    );
    assert.deepEqual(
      buckets.map(({ value }) => value),
      [...bounds.map((bound) => values.filter((value) => value <= bound).length), values.length],
    );
    assert.equal(sum('tailfin_stream_bytes_count'), values.length);
    assert.equal(
      sum('tailfin_stream_bytes_sum'),
      values.reduce((a, b) => a + b),
    );
  });

  test('an observation without a bucket below +Inf, and a histogram at zero', async () => {
    const cells = createCells();
    cells.observe('operation_duration', 1e6, ['ping', 'unknown', '', 'a']);
    cells.touch('operation_duration', ['ping', 'unknown', '', 'b']);
    const { sum } = await exposed(cells);
    const name = 'mcp_client_operation_duration_seconds';
    assert.equal(sum(`${name}_bucket`, { server: 'a', le: '300' }), 0);
    assert.equal(sum(`${name}_bucket`, { server: 'a', le: '+Inf' }), 1);
    assert.equal(sum(`${name}_count`, { server: 'b' }), 0);
    assert.equal(sum(`${name}_bucket`, { server: 'b' }), 0);
  });

  test('numbers keep their value as text', async () => {
    const numbers = [0, 0.1 + 0.2, 2 ** 53 - 1, 1e21, 1e-7, Number.MAX_VALUE, -1, Number.POSITIVE_INFINITY];
    for (const number of numbers) {
      const cells = createCells();
      cells.set('source_lag_seconds', number, ['files']);
      assert.equal((await exposed(cells)).sum('tailfin_source_lag_seconds'), number);
    }
  });

  test('a gauge that was cleared is gone, and comes back', async () => {
    const cells = createCells();
    const exporter = createPrometheusExporter(cells, { process: false });
    cells.set('streams_open', 3, ['shop', 'listen']);
    assert.equal(readExposition(await exporter.render()).samples.length, 1);
    cells.clear('streams_open');
    assert.equal(readExposition(await exporter.render()).samples.length, 0);
    cells.set('streams_open', 4, ['shop', 'listen']);
    assert.equal(readExposition(await exporter.render()).sum('tailfin_streams_open'), 4);
  });
});

describe('the process itself', () => {
  test("prom-client's default metrics are there, without the three misnamed ones and the dear one", async () => {
    const { type } = readExposition(await createPrometheusExporter(createCells(), { process: true }).render());
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'nodejs_active_handles',
      'nodejs_version_info',
    ]) {
      assert.ok(type.has(name), name);
    }
    assert.ok(!type.has('nodejs_gc_duration_seconds'));
    // promtool: non-counter metrics should not have "_total" suffix.
    for (const [name, kind] of type) assert.equal(name.endsWith('_total'), kind === 'counter', `${kind} ${name}`);
  });

  test('they are not in a replay', async () => {
    assert.doesNotMatch(await render(createCells()), /^# TYPE (process|nodejs)_/m);
  });

  test('two exporters in one process do not disturb each other', async () => {
    const [a, b] = [1, 2].map(() => createPrometheusExporter(fill(createCells()), { process: true }));
    const names = (text: string) => [...readExposition(text).type.keys()];
    assert.deepEqual(names(await a!.render()), names(await b!.render()));
  });

  test('the content types name version and charset', () => {
    assert.deepEqual(CONTENT_TYPES, {
      text: 'text/plain; version=0.0.4; charset=utf-8',
      openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    });
  });
});

describe('size', () => {
  test('ten thousand series', async () => {
    const cells = createCells();
    for (let i = 0; i < 10_000; i++) cells.add('endpoint_closes', i, [`s${i % 64}`, `10.0.0.${i}:80`, 'clean']);
    const exporter = createPrometheusExporter(cells, { process: false });
    for (let scrape = 0; scrape < 2; scrape++) {
      const { samples } = readExposition(await exporter.render());
      assert.equal(samples.length, 10_000);
      assert.ok(samples.every(({ value }, i) => value === i));
      cells.add('endpoint_closes', 0, ['s0', '10.0.0.0:80', 'clean']);
    }
  });

  test('past the cap the totals stay whole, in the _other server', async () => {
    const cells = createCells(100);
    for (let i = 0; i < 1000; i++) cells.add('findings', 1, [`s${i}`, 'id_mismatch']);
    const { sum, samples } = await exposed(cells);
    assert.equal(sum('tailfin_findings_total'), 1000);
    assert.equal(sum('tailfin_findings_total', { server: '_other' }), 900);
    assert.equal(sum('tailfin_label_overflow_total', { label: 'series' }), 900);
    assert.equal(samples.length, 102);
  });
});
