/** Evidence as log records: severity, event name, trace, and a body that is the evidence record to the letter; and the queue they wait in. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOutbox } from '../../src/app/otel/outbox.ts';
import { evidenceOf, subjectOf } from '../../src/exporters/evidence.ts';
import { ANSWERED, close, type Line, RESET, runLines, settle, T0 } from '../support/build-event.ts';
import { type ReceivedLog, startReceiver } from '../support/otlp-receiver.ts';
import { startRig } from './rig.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const LINES: readonly Line[] = [
  close('a1', 1000, { ...RESET, open_ts: T0, trace: `00-${TRACE}-${SPAN}-01` }),
  close('a2', 3000, { ...ANSWERED, open_ts: T0 + 1500, trace: `00-${TRACE}-${SPAN}-01` }),
  close('b1', 5000, { open_ts: T0 + 4000, args_digest: 'b', target: 'https://canary/' }),
  close('c1', 7000, { ...RESET, open_ts: T0 + 6000, args_digest: 'c', method: 'tools/list', target: undefined }),
  settle('c1', 7001, 'cancelled'),
];

for (const otelProtocol of ['http/protobuf', 'http/json'])
  test(`the records, by ${otelProtocol}`, async (t) => {
    const receiver = await startReceiver(t);
    const flags = { otelMetrics: 'none', otelTraces: 'auto', otelLogs: 'auto', otelTracesShare: '0', otelProtocol };
    const rig = startRig(t, receiver, { flags });
    const records: Record<string, unknown>[] = [];
    runLines(LINES, {
      onFact(fact, cause) {
        rig.otel.onFact(fact);
        if (subjectOf(fact) === null) return;
        records.push(evidenceOf(fact, cause));
        rig.otel.onRecord(fact, records.at(-1)!);
      },
    });
    await rig.turn(2);
    const logs = receiver.logs();
    assert.deepEqual(
      logs.map(({ body }) => body),
      JSON.parse(JSON.stringify(records)),
    );
    assert.doesNotMatch(JSON.stringify(logs), /canary/);
    const said = (log: ReceivedLog): string => {
      const { attributes, severityText, eventName } = log;
      const { 'tailfin.record': record, 'tailfin.server': server, ...own } = attributes;
      assert.equal(eventName, `tailfin.${record}`);
      assert.equal(server, 'srv');
      return `${severityText} ${record} ${Object.values(own).join()}`;
    };
    assert.deepEqual([...new Set(logs.map(said))].sort(), [
      'ERROR finding uncertain_write',
      'ERROR finding unsafe_retry',
      'ERROR operation masked',
      'ERROR operation surfaced',
      'INFO operation cancelled',
      'WARN finding ambiguous_close',
      'WARN finding masked_retry',
      'WARN finding silent_hang',
      'WARN verdict abandoned',
      'WARN verdict ambiguous',
    ]);
    for (const { severity, severityText } of logs)
      assert.equal(severity, { INFO: 9, WARN: 13, ERROR: 17 }[severityText], severityText);
    // An operation is logged on its own span; what is said of one exchange on the span of the host.
    const spans = receiver.spans().filter(({ name }) => name !== 'POST');
    for (const log of logs) {
      const { record, exchange } = log.body as { readonly record: string; readonly exchange: string };
      const span = spans.find(({ name, endMs }) => name !== 'POST' && endMs === log.atMs);
      if (record === 'operation') assert.deepEqual([log.traceId, log.spanId], [span?.traceId, span?.spanId], exchange);
      else if (/^a/.test(exchange)) assert.deepEqual([log.traceId, log.spanId], [TRACE, SPAN], exchange);
      else assert.deepEqual([log.traceId, log.spanId], ['', ''], exchange);
    }
    assert.equal(logs[0]!.atMs, T0 + 1000);
  });

describe('what waits', () => {
  test('is bounded by number and by bytes; what is new is refused', () => {
    const outbox = createOutbox(10, 100);
    assert.deepEqual(
      [outbox.offer('a', 4), outbox.offer('b', 6), outbox.offer('c', 1), outbox.size],
      [true, true, false, 10],
    );
    outbox.done(1);
    assert.deepEqual([outbox.offer('x'.repeat(99), 1), outbox.size], [true, 7]);
    assert.equal(outbox.offer('', 1), true);
    assert.equal(outbox.offer('y', 1), false);
  });
  test('goes in order, in batches of about so much, one at least', () => {
    const outbox = createOutbox(100);
    for (const [text, weight] of [
      ['a', 3],
      ['b', 2],
      ['c', 50],
      ['d', 1],
    ] as const)
      outbox.offer(text, weight);
    assert.deepEqual(outbox.batch(5), ['a', 'b']);
    assert.deepEqual(outbox.batch(5), ['a', 'b'], 'until it is done');
    outbox.done(2);
    assert.deepEqual(outbox.batch(5), ['c']);
    outbox.done(1);
    assert.deepEqual(outbox.batch(5), ['d']);
    outbox.done(1);
    assert.deepEqual([outbox.batch(5), outbox.size], [[], 0]);
  });
  test('goes through a checkpoint, past the bound not at all', () => {
    const before = createOutbox(1000);
    for (let i = 0; i < 300; i++) before.offer(`t${i}`, 1);
    const saved = structuredClone([...before.part.save()]);
    const after = createOutbox(1000);
    after.part.load(saved);
    assert.deepEqual(after.batch(1000), before.batch(1000));
    const small = createOutbox(128);
    small.part.load(saved);
    assert.deepEqual([small.size, small.batch(1000).at(-1)], [128, 't127']);
  });
});

test('what waits in a form that this version cannot read is dropped and counted, and ends nothing', async (t) => {
  const receiver = await startReceiver(t);
  const saved = ['{', '[{"name":"x"}]', 'null'].map((text) => ['otlp_traces', [{ text, weight: 1 }]] as const);
  const rig = startRig(t, receiver, {
    flags: { otelMetrics: 'none', otelTraces: 'auto', otelLogs: 'none' },
    otel: { saved },
  });
  await rig.otel.flush(60_000);
  const { sum } = await rig.scrape();
  assert.equal(sum('tailfin_otlp_dropped_total', { signal: 'traces', reason: 'refused' }), 3);
  assert.equal(sum('tailfin_otlp_queue_entries', { signal: 'traces' }), 0);
});
