/** OTLP from the real exporters of OpenTelemetry: the same totals whichever encoding, packed or not, sent once or twice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SpanKind } from '@opentelemetry/api';
import {
  CODECS,
  conventional,
  createOtlpRig,
  exportLogs,
  exportSpans,
  type OtlpRig,
  PYTHON_SPANS,
  totalsOf,
} from '../support/otlp.ts';

const PYTHON = Object.values(PYTHON_SPANS).map((span, i) => ({ ...span, at: 1000 * i }));
const EDGES = { server: 'unknown', protocol_version: 'unknown' };
const results = (rig: OtlpRig, labels = {}): Record<string, number> => {
  rig.pipeline.finish();
  return Object.fromEntries(
    ['first_try', 'surfaced', 'cancelled', 'unresolved', 'unproven', 'masked']
      .map((result) => [result, rig.sum('tailfin_operations_total', { result, ...labels })] as const)
      .filter(([, count]) => count > 0),
  );
};
const startOf = (rig: OtlpRig) => rig.clock.now - 60_000;

describe('spans of the Python SDK', () => {
  test('what they prove, and nothing else', async (t) => {
    const rig = await createOtlpRig(t);
    await exportSpans(rig.url, 'protobuf', PYTHON, { startAt: startOf(rig) });
    assert.equal(rig.sum('tailfin_events_total', { source: 'otlp', type: 'close' }), 10);
    assert.deepEqual(results(rig, EDGES), { first_try: 1, surfaced: 3, unresolved: 6 });
    assert.equal(rig.sum('tailfin_operations_total', { method: 'tools/call', result: 'surfaced' }), 3);
    // An error, a cut stream and a timeout of a tools/call: it may have run.
    assert.equal(rig.sum('tailfin_uncertain_writes_total'), 3);
    const ended = (error_type: string) => rig.sum('mcp_client_operation_duration_seconds', { error_type });
    assert.deepEqual(['timeout', 'rpc_error', '_OTHER', ''].map(ended), [1, 1, 2, 6]);
    // The one whose answer is proven: an error that no SDK makes up.
    assert.equal(rig.sum('tailfin_stream_closes_total'), 1);
    assert.equal(
      rig.sum('tailfin_stream_closes_total', { outcome: 'clean', cause: 'terminal_seen', cut: 'unknown' }),
      1,
    );
    for (const none of ['tailfin_exchange_failures_total', 'tailfin_retries_total', 'tailfin_findings_total'])
      assert.equal(rig.sum(none), none === 'tailfin_findings_total' ? 3 : 0, none);
    assert.equal(rig.sum('tailfin_findings_total', { rule: 'uncertain_write' }), 3);
    assert.doesNotMatch(rig.delivered.join('\n') + rig.logs.join('\n'), /SECRET|Server returned|SSE stream/);
  });

  test('the tool is in the name of the span, the process is the host', async (t) => {
    const rig = await createOtlpRig(t);
    await exportSpans(rig.url, 'json', [PYTHON_SPANS['a result']], { startAt: startOf(rig) });
    const line = JSON.parse(rig.delivered[0] as string);
    const { ts, open_ts, exchange, trace, ...rest } = line;
    assert.equal(ts, startOf(rig) + 100);
    assert.equal(open_ts, startOf(rig));
    assert.match(exchange, /^[0-9a-f]{48}$/);
    assert.equal(trace, `00-${exchange.slice(0, 32)}-${exchange.slice(32)}-01`);
    const host = '6f4b8252-70c3-46e3-94c4-4c3c669ba3f3';
    assert.deepEqual(rest, { v: 1, type: 'close', how: 'unknown', method: 'tools/call', target: 'ok', host });
  });
});

describe('whichever way they are sent', () => {
  const mixed = [
    ...PYTHON,
    { ...conventional('tools/call', 'a'), status: 'ok' as const, at: 11_000 },
    { ...conventional('tools/call', 'b', { 'error.type': 'tool_error' }), status: 'error' as const, at: 12_000 },
    { ...conventional('tools/call', 'c', { 'http.response.status_code': 503 }), at: 13_000 },
    { ...conventional('tools/list', '', { 'error.type': 'timeout' }), status: 'error' as const, at: 14_000 },
    { ...conventional('tools/list', ''), status: 'ok' as const, at: 15_000 },
    { name: 'tools/call a', attributes: { 'mcp.method.name': 'tools/call' }, kind: SpanKind.SERVER, at: 16_000 },
    { name: 'GET', attributes: { 'http.request.method': 'GET' }, at: 17_000 },
    { name: 'x', attributes: { 'mcp.method.name': 'notifications/initialized' }, at: 18_000 },
  ];

  test('the totals are the same, by every metric', async (t) => {
    const seen: unknown[] = [];
    for (const codec of CODECS)
      for (const gzip of [false, true]) {
        const rig = await createOtlpRig(t);
        await exportSpans(rig.url, codec, mixed, { gzip, startAt: startOf(rig) });
        assert.deepEqual(
          rig.logs.filter((line) => line.startsWith('warn')),
          [],
          `${codec} ${gzip}`,
        );
        seen.push(totalsOf(rig));
      }
    for (const totals of seen) assert.deepEqual(totals, seen[0]);
  });

  test('conventional ones: answers, endpoints, versions, a masked retry', async (t) => {
    const rig = await createOtlpRig(t);
    await exportSpans(rig.url, 'protobuf', mixed.slice(PYTHON.length), { startAt: startOf(rig), scope: 'other' });
    const known = { server: '10.0.0.1:8080', protocol_version: '2025-11-25' };
    assert.deepEqual(results(rig, known), { first_try: 2, surfaced: 1, masked: 1 });
    assert.equal(
      rig.sum('tailfin_retries_total', { ...known, after: 'timeout', endpoint: 'same', outcome: 'delivered' }),
      1,
    );
    assert.equal(rig.sum('tailfin_status_meaning_total', { status: '503', meaning: 'upstream_error' }), 1);
    assert.equal(rig.sum('tailfin_endpoint_closes_total', { endpoint: '10.0.0.1:8080', outcome: 'clean' }), 3);
    const rejected = (reason: string) => rig.sum('tailfin_events_rejected_total', { source: 'otlp', reason });
    assert.deepEqual([rejected('not_mcp'), rejected('not_client')], [1, 1]);
    assert.equal(rig.sum('tailfin_events_rejected_total'), 2);
  });
});

describe('log records', () => {
  const gap = (seq: number) => ({
    v: 1,
    type: 'gap',
    ts: 1_790_000_000_000 + seq,
    writer: 'w',
    seq,
    dropped: 2,
    reason: 'test',
  });
  const whole = {
    ...gap(3),
    type: 'close',
    exchange: 'x',
    how: 'eof',
    status: 200,
    connection: { id: 'c', reused: true },
  };

  for (const codec of CODECS)
    test(`${codec}: a line as text or as a map is the line; others are passed over`, async (t) => {
      const rig = await createOtlpRig(t);
      const bodies = [
        JSON.stringify(gap(1)),
        ` ${JSON.stringify(gap(2))}\n`,
        whole,
        gap(4),
        'hello',
        '{"level":"info"}',
        { msg: 'x' },
      ];
      await exportLogs(rig.url, codec, [...bodies, '{"v":1', { v: 2, type: 'gap' }], codec === 'json');
      // The SDK sends several requests at a time.
      const bySeq = (a: { seq: number }, b: { seq: number }): number => a.seq - b.seq;
      const events = rig.delivered.filter((line) => line.includes('"seq"')).map((line) => JSON.parse(line));
      assert.deepEqual(events.sort(bySeq), [gap(1), gap(2), whole, gap(4)]);
      assert.equal(rig.sum('tailfin_events_total', { type: 'gap' }), 3);
      assert.equal(rig.sum('tailfin_events_total', { type: 'close' }), 1);
      assert.equal(rig.sum('tailfin_events_missing_total'), 6);
      const rejected = (reason: string) => rig.sum('tailfin_events_rejected_total', { source: 'otlp', reason });
      assert.deepEqual([rejected('not_event'), rejected('not_json'), rejected('bad_version')], [3, 1, 1]);
    });

  test('a line that comes again counts once, as by POST /v1/events', async (t) => {
    const rig = await createOtlpRig(t);
    for (let i = 0; i < 3; i++) await exportLogs(rig.url, 'protobuf', [gap(1)]);
    assert.equal(rig.sum('tailfin_events_total'), 1);
    assert.equal(rig.sum('tailfin_events_rejected_total', { reason: 'duplicate' }), 2);
  });
});
