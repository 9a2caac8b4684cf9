/** What spans alone can show: each row of the table of proofs by the metrics that it moves, and the page that says so. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { SpanKind } from '@opentelemetry/api';
import type { Fact } from '../../src/core/model/facts.ts';
import type { OperationFact } from '../../src/core/model/operation.ts';
import { spansOf } from '../../src/exporters/otel-trace.ts';
import { EXCEPTION_ATTRIBUTES, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES } from '../../src/sources/otlp/attributes.ts';
import { MADE_UP_CODES, PROOFS } from '../../src/sources/otlp/proof.ts';
import { close, runLines, settle } from '../support/build-event.ts';
import { send } from '../support/ingest-rig.ts';
import { createOtlpRig, jsonRequest, jsonSpan, type OtlpRig, type SpanSpec } from '../support/otlp.ts';

const DOC = readFileSync(new URL('../../docs/opentelemetry-in.md', import.meta.url), 'utf8');

const span = (attributes: object = {}, more: Partial<SpanSpec> = {}): SpanSpec => ({
  name: 'tools/call t',
  attributes: { 'mcp.method.name': 'tools/call', ...attributes },
  ...more,
});
const failed = (type: string, more: object = {}) => span({ 'error.type': type, ...more }, { status: 'error' });
const coded = (code: string | number) => failed(String(code), { 'rpc.response.status_code': code });

async function post(rig: OtlpRig, specs: readonly SpanSpec[], own: object = {}): Promise<void> {
  const at = rig.clock.now - 60_000;
  const spans = specs.map((spec, i) => jsonSpan(i, { at: 1000 * i, ...spec }, at, own));
  const { status } = await send(`${rig.url}v1/traces`, jsonRequest(spans), {
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(status, 200);
}

/** result, error type, next action, verdict */
type Shown = readonly [result: string, errorType: string, action: string | null, isJudged: boolean];

/** One row of the table of proofs, in its order, and spans that it decides. */
const ROWS: readonly (readonly [Shown, readonly SpanSpec[]])[] = [
  [
    ['first_try', 'rpc_error', null, true],
    [
      coded('-32602'),
      coded(-32002),
      coded('-1'),
      coded('1234'),
      failed('-32042'),
      span({ 'rpc.response.status_code': '-32602' }),
    ],
  ],
  [
    ['first_try', 'tool_error', null, true],
    [failed('tool_error'), span({ 'error.type': 'tool_error' })],
  ],
  [
    ['surfaced', 'timeout', 'confirm_outcome', false],
    [
      ...['timeout', 'TimeoutError', 'asyncio.exceptions.TimeoutError', 'httpx.ReadTimeout', 'ETIMEDOUT'].map((type) =>
        failed(type),
      ),
      span({}, { status: 'error', exception: 'TimeoutError' }),
      span({ 'rpc.response.status_code': -32001 }, { exception: 'TimeoutError' }),
    ],
  ],
  [
    ['cancelled', 'cancelled', 'confirm_outcome', false],
    [
      failed('cancelled'),
      failed('AbortError'),
      span({}, { status: 'error', exception: 'asyncio.exceptions.CancelledError' }),
    ],
  ],
  [
    ['surfaced', '_OTHER', 'confirm_outcome', false],
    [
      ...[...MADE_UP_CODES].map(coded),
      span({}, { status: 'error' }),
      failed('500'),
      failed('httpx.ReadError'),
      failed('CANARY connection to 10.0.0.1 failed'),
      span({ 'error.type': 'x' }, { status: 'ok' }),
    ],
  ],
  [
    ['first_try', '', null, true],
    [span({}, { status: 'ok' }), span({ 'gen_ai.tool.call.result': 'x' })],
  ],
  [
    ['unresolved', '', null, false],
    [
      span(),
      span({ 'rpc.response.status_code': 'OK' }),
      span({ 'http.response.status_code': 200 }),
      span({}, { exception: 'TimeoutError' }),
    ],
  ],
];

describe('the table of proofs', () => {
  test('each row has its cases', () => assert.equal(ROWS.length, PROOFS.length));

  for (const [i, [[result, error_type, action, isJudged], specs]] of ROWS.entries())
    for (const [n, spec] of specs.entries())
      test(`${PROOFS[i]?.says}: ${n + 1}`, async (t) => {
        const rig = await createOtlpRig(t);
        await post(rig, [spec]);
        rig.pipeline.finish();
        assert.equal(rig.sum('tailfin_operations_total', { result, method: 'tools/call' }), 1);
        assert.equal(rig.sum('mcp_client_operation_duration_seconds', { error_type }), 1);
        assert.equal(rig.sum('tailfin_next_actions_total'), action === null ? 0 : 1);
        if (action !== null)
          assert.equal(rig.sum('tailfin_next_actions_total', { next_action: action as 'confirm_outcome' }), 1);
        assert.equal(rig.sum('tailfin_uncertain_writes_total'), action === null ? 0 : 1);
        assert.equal(rig.sum('tailfin_stream_closes_total'), isJudged ? 1 : 0);
        const judged = {
          outcome: 'clean',
          cause: 'terminal_seen',
          regime: 'A',
          cut: 'unknown',
          stream: 'response',
        } as const;
        assert.equal(rig.sum('tailfin_stream_closes_total', judged), isJudged ? 1 : 0);
        for (const never of NEVER) assert.equal(rig.sum(never), 0, never);
        assert.doesNotMatch(rig.delivered.join(), /CANARY/);
      });
});

/** Metrics of which a single span moves none (docs/opentelemetry-in.md). */
const NEVER = [
  'tailfin_exchange_failures_total',
  'tailfin_parse_attempts_total',
  'tailfin_length_trend_samples_total',
  'tailfin_whatif_sentinel_total',
  'tailfin_undelivered_total',
  'tailfin_collateral_failures_total',
  'tailfin_retries_total',
  'tailfin_stream_bytes',
  'tailfin_streams_open',
];

describe('more than one span', () => {
  const list = (more: Partial<SpanSpec> = {}): SpanSpec => ({
    name: 'x',
    attributes: { 'mcp.method.name': 'tools/list' },
    ...more,
  });
  const results = (rig: OtlpRig, result: string) => rig.sum('tailfin_operations_total', { result });

  test('a failed list and one that is proven: a masked retry; of a tools/call nothing says that it is the same', async (t) => {
    const rig = await createOtlpRig(t);
    await post(rig, [list({ status: 'error' }), list({ status: 'ok' })]);
    await post(rig, [failed('x'), span({}, { status: 'ok' })], { traceId: 'c'.repeat(32) });
    rig.pipeline.finish();
    assert.deepEqual([results(rig, 'masked_unknown'), results(rig, 'surfaced'), results(rig, 'first_try')], [1, 1, 1]);
    assert.equal(rig.sum('tailfin_findings_total', { rule: 'masked_retry' }), 1);
    assert.equal(rig.sum('tailfin_retries_total'), 1);
  });

  test('a failed list and one of which nothing is known: no retry', async (t) => {
    const rig = await createOtlpRig(t);
    await post(rig, [list({ status: 'error' }), list(), list()]);
    rig.pipeline.finish();
    assert.deepEqual([results(rig, 'surfaced'), results(rig, 'unresolved')], [1, 2]);
    assert.equal(rig.sum('tailfin_retries_total'), 0);
  });

  test('the same span again, in whatever request: once', async (t) => {
    const rig = await createOtlpRig(t);
    const specs = [span(), failed('timeout'), span({}, { status: 'ok' })];
    for (let i = 0; i < 3; i++) await post(rig, specs);
    rig.pipeline.finish();
    assert.equal(rig.sum('tailfin_operations_total'), 3);
    assert.equal(rig.sum('tailfin_events_late_total', { source: 'otlp' }), 6);
  });

  test('what has no answer is none: notifications and subscriptions', async (t) => {
    const rig = await createOtlpRig(t);
    const ok = (method: string): SpanSpec => ({
      name: 'x',
      attributes: { 'mcp.method.name': method, 'rpc.response.status_code': -32602 },
      status: 'ok',
    });
    await post(rig, [ok('notifications/cancelled'), ok('subscriptions/listen')]);
    rig.pipeline.finish();
    assert.equal(rig.sum('tailfin_events_total'), 2);
    assert.equal(rig.sum('tailfin_operations_total') + rig.sum('tailfin_stream_closes_total'), 0);
  });

  test('spans of Tailfin itself, which a Collector sends to all its exporters: passed over, or they would go in circles', async (t) => {
    const rig = await createOtlpRig(t);
    const facts: OperationFact[] = [];
    const keep = (fact: Fact) => fact.is === 'operation' && facts.push(fact);
    runLines([close('a', 1), settle('a', 2, 'surfaced')], { onFact: keep });
    const own = facts.flatMap((fact) => spansOf(fact, 1) ?? []);
    assert.ok(own.length >= 2);
    await post(
      rig,
      own.map(({ name, attributes }) => ({ name, attributes })),
    );
    rig.pipeline.finish();
    assert.equal(rig.sum('tailfin_events_total'), 0);
    assert.equal(rig.sum('tailfin_events_rejected_total', { source: 'otlp', reason: 'not_client' }), 1);
  });

  test('of servers, and of no method: passed over by reason', async (t) => {
    const rig = await createOtlpRig(t);
    const method = (name: unknown, more: Partial<SpanSpec> = {}) => span({ 'mcp.method.name': name }, more);
    await post(rig, [
      ...[
        method('sampling/createMessage'),
        method('tools/call', { kind: SpanKind.SERVER }),
        method('ping', { kind: SpanKind.INTERNAL }),
      ],
      ...[method('x y'), method(''), method(7)],
    ]);
    const rejected = (reason: string) => rig.sum('tailfin_events_rejected_total', { source: 'otlp', reason });
    assert.deepEqual([rejected('not_client'), rejected('bad_field'), rejected('not_mcp')], [3, 2, 1]);
  });
});

test('the page holds every row, every name that is read and every code', () => {
  for (const { says, proves } of PROOFS) assert.ok(DOC.includes(`| ${says} | ${proves} |`), says);
  const tables = { span: SPAN_ATTRIBUTES, resource: RESOURCE_ATTRIBUTES, 'event `exception`': EXCEPTION_ATTRIBUTES };
  for (const [of, table] of Object.entries(tables))
    for (const [name, { doc }] of Object.entries(table))
      assert.ok(DOC.includes(`| ${of} | \`${name}\` | ${doc} |`), `| ${of} | \`${name}\` | ${doc} |`);
  for (const code of MADE_UP_CODES) assert.ok(DOC.includes(String(code)));
});
