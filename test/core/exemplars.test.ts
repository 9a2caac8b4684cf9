/** Which samples leave a trace behind: the catalog decides, a valid traceparent only, the newest by event time, one per place. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CATALOG, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { type Cell, createCells } from '../../src/core/measures/cells.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { isTraceparent, spanIdOf, traceIdOf } from '../../src/core/protocol/traceparent.ts';
import { SEED } from '../support/property.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const traceparent = (n: number): string => `00-${n.toString(16).padStart(32, '0')}-${SPAN}-01`;

describe('a traceparent', () => {
  const rows: readonly (readonly [string, boolean])[] = [
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, true],
    [`01-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, true],
    [`00-${TRACE}-${SPAN}-01-more`, false],
    [`01-${TRACE}-${SPAN}-01more`, false],
    [`ff-${TRACE}-${SPAN}-01`, false],
    [`00-${'0'.repeat(32)}-${SPAN}-01`, false],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, false],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`, false],
    [`00-${TRACE.slice(1)}-${SPAN}-01`, false],
    [`00-${TRACE}-${SPAN}`, false],
    [`00-${TRACE}-${SPAN}-01\n`, false],
    [` 00-${TRACE}-${SPAN}-01`, false],
    [`00-${TRACE.slice(0, 31)}g-${SPAN}-01`, false],
    [TRACE, false],
    ['', false],
    [`00-${TRACE}"} 1 1\n# EOF-${SPAN}-01`, false],
  ];
  for (const [text, valid] of rows)
    test(`${JSON.stringify(text)} is ${valid ? 'valid' : 'none'}`, () => assert.equal(isTraceparent(text), valid));

  test('its ids', () => {
    assert.equal(traceIdOf(`00-${TRACE}-${SPAN}-01`), TRACE);
    assert.equal(spanIdOf(`00-${TRACE}-${SPAN}-01`), SPAN);
  });
});

describe('a place keeps one', () => {
  const cellsOf = (key: string, cells: ReturnType<typeof createCells>): Cell[] =>
    [...cells.families()].find((family) => family.key === key)!.cells;

  test('of any samples: the newest by event time, the later of two at one time, and no invalid one', () => {
    const sample = fc.record({
      ts: fc.integer({ min: 1, max: 20 }),
      valid: fc.boolean(),
      amount: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 30 }), (samples) => {
        const cells = createCells();
        for (const [i, { ts, valid, amount }] of samples.entries())
          cells.add('findings', amount, ['s', 'id_mismatch'], valid ? traceparent(i + 1) : `bad ${i}`, ts);
        const [cell] = cellsOf('findings', cells);
        const newest = samples
          .map((each, i) => ({ ...each, i }))
          .filter(({ valid }) => valid)
          .sort((a, b) => a.ts - b.ts || a.i - b.i)
          .at(-1);
        const expected = newest && { traceparent: traceparent(newest.i + 1), value: newest.amount, ts: newest.ts };
        assert.deepEqual(cell?.exemplars?.[0], expected);
        assert.equal(
          cell?.value ?? 0,
          samples.reduce((sum, { amount }) => sum + amount, 0),
        );
        assert.ok((cell?.exemplars?.length ?? 1) === 1);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('each bucket of a histogram has its own', () => {
    const cells = createCells();
    const seconds = [0.005, 0.3, 0.4, 1e4];
    for (const [i, value] of seconds.entries())
      cells.observe('operation_duration', value, ['ping', 'unknown', '', 's'], traceparent(i + 1), i + 1);
    const [cell] = cellsOf('operation_duration', cells);
    const bounds = CATALOG.operation_duration.buckets;
    assert.equal(cell?.exemplars?.length, bounds.length + 1);
    const shown = cell.exemplars.flatMap((each, i) => (each === undefined ? [] : [[i, each.value, each.ts]]));
    assert.deepEqual(shown, [
      [0, 0.005, 1],
      [bounds.indexOf(0.5), 0.4, 3],
      [bounds.length, 1e4, 4],
    ]);
  });

  test('the catalog names counters and histograms only, and labels and values that exist', () => {
    const specs: readonly MetricSpec[] = Object.values(CATALOG);
    const named = specs.filter(({ exemplars }) => exemplars !== undefined);
    assert.ok(named.length > 5);
    for (const { name, kind, labels, exemplars } of named) {
      assert.notEqual(kind, 'gauge', name);
      if (exemplars === 'all' || exemplars === undefined) continue;
      const [, domain] = labels.find(([label]) => label === exemplars.label) ?? [];
      for (const value of exemplars.except) assert.ok(domain?.includes(value), `${name}: no ${value}`);
    }
  });
});

describe('what the pipeline leaves behind', () => {
  /** {metric: [trace number, value, event time]} of every series that has an exemplar, by metric and first telling label. */
  function exemplarsOf(lines: readonly Record<string, unknown>[]): string[] {
    const pipeline = createPipeline({ ownClock: true });
    const origin = { source: 'files', writer: 'files', host: 'h' };
    for (const [i, line] of lines.entries()) pipeline.line(JSON.stringify({ v: 1, ...line }), origin, i + 1, 0);
    pipeline.finish();
    return [...pipeline.cells.families()]
      .flatMap(({ spec, cells }) =>
        cells.flatMap((cell) =>
          (cell.exemplars ?? []).flatMap((each) =>
            each === undefined
              ? []
              : [
                  `${spec.name} ${cell.values.join(' ')}: ${Number(`0x${traceIdOf(each.traceparent)}`)} ${each.value} ${each.ts}`,
                ],
          ),
        ),
      )
      .map((text) => text.replaceAll(' 2026-07-28', ''));
  }
  const close = { type: 'close', server: 's', protocol_version: '2026-07-28', method: 'tools/call', status: 200 };
  const clean = { ...close, how: 'eof', terminal: true, terminal_kind: 'result' };

  test('a quiet success: its duration, and nothing else', () => {
    const line = { ...clean, exchange: 'a', ts: 5000, open_ts: 4000, trace: traceparent(7) };
    assert.deepEqual(exemplarsOf([line]), ['mcp_client_operation_duration_seconds tools/call  s: 7 1 5000']);
  });

  test('an ambiguous close that a retry hides: close, operation, retry, write and findings', () => {
    const common = { ...close, content_type: 'text/event-stream', args_digest: 'd', sent: 'body' };
    const lines = [
      {
        ...common,
        exchange: 'a',
        ts: 5000,
        open_ts: 4000,
        how: 'eof',
        by: 'peer',
        terminal: false,
        cut: 'mid',
        trace: traceparent(1),
      },
      {
        ...common,
        exchange: 'b',
        ts: 7000,
        open_ts: 6000,
        how: 'eof',
        terminal: true,
        terminal_kind: 'result',
        trace: traceparent(2),
      },
    ];
    assert.deepEqual(exemplarsOf(lines).sort(), [
      'mcp_client_operation_duration_seconds tools/call  s: 2 3 7000',
      'tailfin_findings_total s ambiguous_close: 1 1 5000',
      'tailfin_findings_total s masked_retry: 2 1 7000',
      'tailfin_findings_total s uncertain_write: 2 1 7000',
      'tailfin_findings_total s unsafe_retry: 2 1 6000',
      'tailfin_operations_total s tools/call masked_unknown: 2 1 7000',
      'tailfin_retries_total s ambiguous unknown delivered unsafe: 1 1 6000',
      'tailfin_stream_closes_total s response ambiguous C no_evidence mid: 1 1 5000',
      'tailfin_uncertain_writes_total s none: 2 1 7000',
    ]);
  });

  test('an abandoned exchange, and an operation whose last attempt tells no trace', () => {
    const broken = { ...close, how: 'error', by: 'peer', error: 'ECONNRESET', sent: 'body', args_digest: 'd' };
    const lines = [
      { ...broken, exchange: 'a', ts: 5000, open_ts: 4000, trace: traceparent(3) },
      { ...broken, exchange: 'b', ts: 7000, open_ts: 6000 },
    ];
    const found = exemplarsOf(lines);
    for (const start of [
      'tailfin_exchange_failures_total s between_events peer sent: 3 1 5000',
      'tailfin_operations_total s tools/call surfaced: 3 1 7000',
      'tailfin_retries_total s abandoned unknown failed unsafe: 3 1 6000',
    ])
      assert.ok(found.includes(start), `${start} is not in\n${found.join('\n')}`);
  });

  test('a parse failure: of its own line, else of its exchange, also after the operation was counted', () => {
    const exchange = { ...clean, exchange: 'a', ts: 5000, trace: traceparent(4) };
    const parse = { type: 'parse', server: 's', exchange: 'a', of: 'result', ok: false, bytes: 10 };
    const at = (size: string, rest: string) => `tailfin_parse_attempts_total s result malformed ${size}: ${rest}`;
    assert.ok(exemplarsOf([exchange, { ...parse, ts: 5001 }]).includes(at('<1KiB', '4 1 5001')));
    assert.ok(exemplarsOf([exchange, { ...parse, ts: 5001, trace: traceparent(5) }]).includes(at('<1KiB', '5 1 5001')));
    const failed = { ...close, how: 'error', by: 'peer', sent: 'body', args_digest: 'd', open_ts: 1 };
    const lines = [
      { ...failed, exchange: 'x', ts: 5000, trace: traceparent(6) },
      { ...clean, exchange: 'y', ts: 7000, open_ts: 6000, args_digest: 'd', trace: traceparent(7) },
      { ...clean, exchange: 'z', ts: 60_000, args_digest: 'e' },
      { ...parse, exchange: 'x', ts: 61_000 },
    ];
    assert.ok(exemplarsOf(lines).includes(at('<1KiB', '6 1 61000')), exemplarsOf(lines).join('\n'));
    const good = exemplarsOf([exchange, { ...parse, ok: true, ts: 5001 }]);
    assert.ok(!good.some((each) => each.startsWith('tailfin_parse')), good.join('\n'));
  });

  test('no trace, or no valid one: no exemplar', () => {
    for (const trace of [undefined, null, 'secret', `00-${'0'.repeat(32)}-${SPAN}-01`, 7])
      assert.deepEqual(
        exemplarsOf([{ ...close, exchange: 'a', ts: 1, how: 'error', ...(trace === undefined ? {} : { trace }) }]),
        [],
      );
  });
});
