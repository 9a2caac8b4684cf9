/** The numbers: cells, buckets, budgets of label values, and series that exist before anything happens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLabelBudget } from '../../src/core/measures/budget.ts';
import { CATALOG } from '../../src/core/measures/catalog.ts';
import { type Cells, createCells } from '../../src/core/measures/cells.ts';
import { OTHER } from '../../src/core/measures/domains.ts';
import { LIMITS } from '../../src/core/model/limits.ts';
import { RESULTS } from '../../src/core/model/operation.ts';
import { ANSWERED, close, discovery, type Fields, policyOf, runLines, sampleSum } from '../support/build-event.ts';

const sum = (cells: Cells, name: string, labels?: Fields) => sampleSum(cells.families(), name, labels);
const familyOf = (cells: Cells, name: string) => [...cells.families()].find(({ spec }) => spec.name === name);
const labelValues = (cells: Cells, label: string, name?: string): Set<string> => {
  const found = new Set<string>();
  for (const { spec, cells: all } of cells.families()) {
    const at = spec.labels.findIndex(([each]) => each === label);
    if (at >= 0 && (name === undefined || spec.name === name))
      for (const { values } of all) found.add(values[at] as string);
  }
  return found;
};

test('cells: a label set has one cell, in catalog order', () => {
  const cells = createCells();
  cells.add('parse_bytes', 5, ['a', 'result', 'ok']);
  cells.add('parse_bytes', 7, ['a', 'result', 'ok']);
  cells.add('parse_bytes', 1, ['a', 'result', 'cut']);
  cells.touch('parse_bytes', ['b', 'message', 'ok']);
  assert.equal(cells.series, 3);
  assert.equal(sum(cells, 'tailfin_parse_bytes_total', { server: 'a', result: 'ok' }), 12);
  assert.equal(sum(cells, 'tailfin_parse_bytes_total'), 13);
  cells.touch('parse_bytes', ['a', 'result', 'ok']);
  assert.equal(sum(cells, 'tailfin_parse_bytes_total'), 13, 'a touch changes nothing');
});

test('cells: a value outside a closed set is a compile error', () => {
  const cells = createCells();
  // @ts-expect-error no such result
  cells.add('parse_bytes', 1, ['a', 'result', 'okay']);
  // @ts-expect-error a label is missing
  cells.add('parse_bytes', 1, ['a', 'result']);
  // @ts-expect-error no such metric
  assert.throws(() => cells.add('parse_bites', 1, ['a']));
});

test('cells: gauges are set, and their label sets may go', () => {
  const cells = createCells();
  cells.set('streams_open', 5, ['a', 'listen']);
  cells.set('streams_open', 3, ['a', 'listen']);
  cells.set('streams_open', 1, ['b', 'response']);
  assert.equal(sum(cells, 'tailfin_streams_open'), 4);
  cells.clear('streams_open');
  assert.equal(cells.series, 0);
  cells.set('streams_open', 2, ['a', 'listen']);
  assert.equal(sum(cells, 'tailfin_streams_open'), 2);
});

test('cells: a bucket holds its upper bound; the sum and the last bucket hold the rest', () => {
  const cells = createCells();
  const { buckets } = CATALOG.stream_bytes;
  const values = [0, 1024, 1025, 4096, 8_388_608, 8_388_609];
  for (const value of values) cells.observe('stream_bytes', value, ['a', 'clean']);
  const [cell] = familyOf(cells, 'tailfin_stream_bytes')?.cells ?? [];
  assert.deepEqual(cell?.buckets, [2, 2, ...buckets.slice(2, -1).map(() => 0), 1, 1]);
  assert.equal(
    cell?.value,
    values.reduce((a, b) => a + b),
  );
  assert.equal(cells.series, buckets.length + 3, 'the buckets, +Inf, sum and count');
});

test('cells: past the series cap a sample goes to the `_other` server, and totals stay exact', () => {
  const cells = createCells(50);
  for (let i = 0; i < 200; i++) cells.add('endpoint_closes', 1, [`s${i % 100}`, `10.0.0.${i}:80`, 'clean']);
  assert.equal(sum(cells, 'tailfin_endpoint_closes_total'), 200);
  assert.equal(sum(cells, 'tailfin_endpoint_closes_total', { server: OTHER, endpoint: OTHER }), 150);
  assert.equal(sum(cells, 'tailfin_label_overflow_total', { label: 'series' }), 150);
  assert.equal(familyOf(cells, 'tailfin_endpoint_closes_total')?.cells.length, 51);
  cells.add('endpoint_closes', 1, ['s0', '10.0.0.0:80', 'clean']);
  assert.equal(sum(cells, 'tailfin_endpoint_closes_total', { server: 's0' }), 2, 'a known series keeps its name');
});

test('cells: own health has room past the cap', () => {
  const cells = createCells(1);
  cells.add('findings', 1, ['a', 'masked_retry']);
  cells.add('findings', 1, ['b', 'masked_retry']);
  cells.add('events_rejected', 4, ['files', 'not_json']);
  assert.equal(sum(cells, 'tailfin_events_rejected_total', { source: 'files', reason: 'not_json' }), 4);
  assert.equal(sum(cells, 'tailfin_findings_total', { server: OTHER, rule: 'masked_retry' }), 1);
});

test('budget: the first names keep theirs, `_other` is one of the 64', () => {
  const cells = createCells();
  const budget = createLabelBudget(cells, new Map());
  const labels = Array.from({ length: 100 }, (_, i) => budget.server(`s${i}`));
  assert.equal(new Set(labels).size, LIMITS.servers);
  assert.equal(labels[0], 's0');
  assert.equal(budget.server('s0'), 's0');
  assert.equal(budget.server('s99'), OTHER);
  assert.equal(sum(cells, 'tailfin_label_overflow_total', { label: 'server' }), 100 - (LIMITS.servers - 1) + 1);
});

test('budget: `_other` is one of the 32 endpoints of a server, and each server has its own', () => {
  const cells = createCells();
  const budget = createLabelBudget(cells, new Map());
  for (const server of ['a', 'b']) {
    budget.server(server);
    const labels = Array.from({ length: 50 }, (_, i) => budget.endpoint(server, `10.0.0.${i}:80`));
    assert.equal(new Set(labels).size, LIMITS.endpointsPerServer, server);
    assert.equal(budget.endpoint(server, '10.0.0.0:80'), '10.0.0.0:80');
  }
  assert.equal(budget.endpoint('a', null), 'unknown');
  assert.ok(sum(cells, 'tailfin_label_overflow_total', { label: 'endpoint' }) > 0);
});

test('budget: past it the totals are exact, by pipeline', () => {
  const lines = Array.from({ length: 300 }, (_, i) => {
    const endpoint = `http://10.0.${i % 100}.${Math.floor(i / 100)}:80/`;
    return close(`x${i}`, i, { ...ANSWERED, server: `s${i % 100}`, endpoint, args_digest: `a${i}` });
  });
  const { pipeline, samples } = runLines(lines);
  for (const name of ['tailfin_stream_closes_total', 'tailfin_operations_total', 'tailfin_endpoint_closes_total'])
    assert.equal(samples(name), 300, name);
  assert.ok(samples('tailfin_operations_total', { server: OTHER }) >= 3 * 36);
  assert.ok(labelValues(pipeline.cells, 'server').size <= LIMITS.servers, 'server labels');
});

test('zero values: what alerts use exists at 0 as soon as a server and a revision are seen', () => {
  const { pipeline, samples } = runLines([close('x', 0, { ...ANSWERED, method: 'ping' })]);
  const at = { server: 'srv', protocol_version: '2025-11-25' };
  const series = (name: string, labels: Fields) =>
    familyOf(pipeline.cells, name)?.cells.filter(({ values }) =>
      Object.values(labels).every((v) => values.includes(v as string)),
    );
  for (const cut of ['none', 'boundary', 'mid', 'unknown'])
    for (const cause of ['no_evidence', 'not_resumed'])
      assert.ok(
        (series('tailfin_stream_closes_total', { ...at, stream: 'response', outcome: 'ambiguous', cause, cut })
          ?.length ?? 0) > 0,
        `${cause} ${cut}`,
      );
  for (const result of RESULTS)
    assert.equal(series('tailfin_operations_total', { ...at, method: 'tools/call', result })?.length, 1, result);
  for (const hint of ['none', 'declared'])
    assert.equal(series('tailfin_uncertain_writes_total', { ...at, hint })?.length, 1);
  for (const rule of ['ambiguous_close', 'masked_retry', 'uncertain_write', 'id_mismatch'])
    assert.equal(series('tailfin_findings_total', { server: 'srv', rule })?.length, 1, rule);
  assert.equal(samples('tailfin_operations_total', { method: 'tools/call' }), 0);
  assert.equal(samples('tailfin_findings_total'), 0);
});

test('zero values: by a discovery line alone, for the revision that it names', () => {
  const { pipeline } = runLines([discovery(0, { protocol_version: '2026-07-28' })]);
  assert.deepEqual([...labelValues(pipeline.cells, 'protocol_version', 'tailfin_operations_total')], ['2026-07-28']);
});

test('regime: known as soon as a contract is, by configuration or discovery', () => {
  const regimes = (run: { samples(name: string, labels?: Fields): number }, server: string) =>
    ['A', 'B', 'C'].map((regime) => run.samples('tailfin_stream_regime', { server, regime })).join('');
  const policy = policyOf({
    a: { sentinel: 'mandated' },
    b: { selfDelimiting: true },
    c: { sentinel: 'optional' },
    d: {},
  });
  const configured = runLines([], { policy });
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((server) => regimes(configured, server)),
    ['100', '010', '001', '000'],
  );
  const told = runLines(
    [
      discovery(0, { server: 'a', sentinel: 'optional' }),
      discovery(0, { server: 'd', sentinel: 'mandated' }),
      discovery(0, { server: 'e', sentinel: 'mandated', self_delimiting: true }),
      discovery(1, { server: 'e', sentinel: 'optional' }),
      discovery(0, { server: 'f', sentinel: null, self_delimiting: false }),
    ],
    { policy },
  );
  assert.deepEqual(
    ['a', 'd', 'e', 'f'].map((server) => regimes(told, server)),
    ['100', '100', '001', '001'],
  );
});
