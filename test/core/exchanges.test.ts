/** Exchanges from their kind to their numbers: what is judged, what expires, where it failed, how long it took. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamKind } from '../../src/core/model/verdict.ts';
import {
  ANSWERED,
  close,
  end,
  type Fields,
  headers,
  JSON_BODY,
  JSON_CUT,
  type Line,
  message,
  NO_HEAD,
  open,
  parse,
  RESET,
  runLines,
  settle,
  T0,
} from '../support/build-event.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined, rpc_id: undefined } as const;
const LISTEN = { method: 'subscriptions/listen' } as const;
const NEW = { protocol_version: '2026-07-28' } as const;
const HTML = { content_type: 'text/html', events: undefined } as const;
const NONE = { content_type: null, events: undefined, bytes: 0 } as const;

type Named<T> = Readonly<Record<string, T>>;

const KINDS: Named<readonly [kind: StreamKind, fields: Fields]> = {
  'a request': ['response', {}],
  'a request of an unknown kind is a request': ['response', { rpc_kind: undefined }],
  'a request that found nothing': ['response', { ...HTML, status: 404 }],
  'a request without a head': ['response', NO_HEAD],
  'a request answered 202': ['response', { ...NONE, status: 202 }],
  'a listen': ['listen', LISTEN],
  'a listen without a head': ['listen', { ...LISTEN, ...NO_HEAD }],
  'a notification': ['none', { rpc_kind: 'notification', status: 202 }],
  'a response of the client': ['none', { rpc_kind: 'response', status: 202 }],
  'a DELETE': ['none', { ...GET, http_method: 'DELETE' }],
  'a redirect': ['none', { ...NONE, status: 307 }],
  '401': ['none', { ...NONE, status: 401 }],
  '403': ['none', { ...NONE, status: 403 }],
  'a GET stream': ['standalone', GET],
  'a GET stream that tells no type': ['standalone', { ...GET, content_type: undefined, events: 2 }],
  'a GET without a head': ['standalone', { ...GET, ...NO_HEAD }],
  'a GET refused': ['none', { ...GET, ...NONE, status: 405 }],
  'a GET answered with a page': ['none', { ...GET, ...HTML }],
  'a GET answered with JSON': ['none', { ...GET, ...JSON_BODY }],
  'a GET on the stateless revision': ['none', { ...GET, ...NEW }],
  'a GET on it without a head': ['none', { ...GET, ...NEW, ...NO_HEAD }],
  'a resume': ['resume', { ...GET, last_event_id: true }],
  'a resume on the stateless revision': ['resume', { ...GET, ...NEW, last_event_id: true }],
  'a resume refused': ['resume', { ...GET, ...NONE, last_event_id: true, status: 405 }],
};

for (const [name, [kind, fields]] of Object.entries(KINDS))
  test(`kind: ${name} is ${kind}`, () => {
    const { facts, samples } = runLines([close('x', 0, fields)]);
    const verdicts = facts.filter((fact) => fact.is === 'verdict');
    assert.deepEqual(
      verdicts.map((fact) => [fact.kind, fact.verdict !== null]),
      [[kind, kind !== 'none' && kind !== 'resume']],
    );
    const counted = kind !== 'none' && kind !== 'resume' && fields.how !== 'no_response' ? 1 : 0;
    assert.equal(samples('tailfin_stream_closes_total'), counted);
    if (counted === 1) assert.equal(samples('tailfin_stream_closes_total', { stream: kind }), 1);
    assert.equal(samples('tailfin_stream_bytes'), counted);
  });

/** Lines of `x`, and how long after its last line it is still waited for (inclusive). */
const EXPIRY: Named<readonly [waits: number, lines: readonly Line[]]> = {
  'a response': [15 * MINUTE, [open('x', 0)]],
  'a response, from its last line': [15 * MINUTE, [open('x', -9 * MINUTE), headers('x', -5), message('x', 0)]],
  'a listen': [24 * HOUR, [open('x', 0, LISTEN)]],
  'a GET stream': [24 * HOUR, [open('x', 0, GET)]],
};

for (const [name, [waits, lines]] of Object.entries(EXPIRY))
  test(`expiry: ${name}`, () => {
    const later = (at: number) => runLines([...lines, end('x', at)]);
    assert.equal(later(waits).verdicts.length, 1, 'in time');
    const { verdicts, samples, operations } = later(waits + 1);
    assert.equal(verdicts.length, 0, 'too late');
    assert.equal(samples('tailfin_exchanges_expired_total', { server: 'srv', reason: 'ttl' }), 1);
    assert.equal(samples('tailfin_events_late_total'), 1);
    for (const { result } of operations) assert.equal(result, 'unresolved');
    // Without any tick in between, the late line itself tells that the time is over.
    assert.equal(runLines([...lines, end('x', waits + 1)], { tickEach: 0 }).verdicts.length, 0, 'without a tick');
  });

test('lines for an exchange that was judged change nothing', () => {
  const first = [close('x', 0, ANSWERED)];
  const late = [open('x', 10), headers('x', 11, { status: 500 }), message('x', 12), close('x', 13, RESET)];
  const { samples, verdict, operation } = runLines([...first, ...late]);
  assert.equal(verdict('x').cause, 'terminal_seen');
  assert.equal(operation('x').result, 'first_try');
  assert.equal(samples('tailfin_events_late_total'), late.length);
  assert.equal(samples('tailfin_events_total'), 5);
  assert.equal(samples('tailfin_status_meaning_total'), 0);
});

test('a record is the union of its lines: later values win, what is omitted stays', () => {
  const lines = [
    open('x', 0, { endpoint: 'http://gateway:80/', server: undefined }),
    headers('x', 10, { endpoint: 'http://10.0.0.9:8080/', server: 'srv' }),
    message('x', 20, { rpc: 'notification', id_match: undefined }),
    end('x', 30, { ...ANSWERED, bytes: 7 }),
  ];
  const { verdicts, samples } = runLines(lines);
  assert.equal(verdicts[0]?.exchange.endpoint, '10.0.0.9:8080');
  assert.equal(verdicts[0]?.exchange.server, 'srv');
  assert.equal(verdicts[0]?.exchange.version, '2025-11-25');
  assert.equal(
    samples('tailfin_endpoint_closes_total', { server: 'srv', endpoint: '10.0.0.9:8080', outcome: 'clean' }),
    1,
  );
});

test('names: server from the endpoint, else unknown; the same exchange id on two hosts is two', () => {
  const { samples } = runLines([
    close('x', 0, { server: undefined }),
    close('y', 1, { server: undefined, endpoint: undefined }),
    close('y', 2, { server: undefined, endpoint: undefined, host: 'other' }),
  ]);
  assert.equal(samples('tailfin_stream_closes_total', { server: '10.0.0.1:8080' }), 1);
  assert.equal(samples('tailfin_stream_closes_total', { server: 'unknown' }), 2);
});

const FAILURES: Named<readonly [labels: string, fields: Fields]> = {
  'never connected': ['connect peer not_sent', { ...NO_HEAD, sent: 'none' }],
  'no head': ['before_headers peer sent', { ...NO_HEAD, sent: 'body' }],
  'headers went out': ['before_headers peer sent', { ...NO_HEAD, sent: 'headers' }],
  'no head, nothing known': ['before_headers unknown unknown', { ...NO_HEAD, sent: undefined, by: undefined }],
  'JSON cut': ['mid_json peer sent', JSON_CUT],
  'JSON empty': ['mid_json peer sent', { ...JSON_BODY, json: 'empty', bytes: 0, cut: 'none' }],
  'an event cut': ['mid_event peer sent', { ...RESET, cut: 'mid' }],
  'between events': ['between_events peer sent', RESET],
  'the client left': ['between_events client sent', { how: 'cancel', by: 'client' }],
  'a head proves that it was sent': ['between_events peer sent', { ...RESET, sent: undefined }],
};

for (const [name, [labels, fields]] of Object.entries(FAILURES))
  test(`failure: ${name} is ${labels}`, () => {
    const [stage, by, request] = labels.split(' ');
    const { samples } = runLines([close('x', 0, fields)]);
    assert.equal(samples('tailfin_exchange_failures_total', { server: 'srv', stage, by, request }), 1);
    assert.equal(samples('tailfin_exchange_failures_total'), 1);
  });

test('failure: an ambiguous or a clean end is none', () => {
  for (const fields of [{}, ANSWERED, { ...HTML, status: 500 }])
    assert.equal(runLines([close('x', 0, fields)]).samples('tailfin_exchange_failures_total'), 0);
});

test('what if the sentinel had been mandated: complete ones would be rejected, the rest resolved; only of row 13', () => {
  const big = { bytes: 5000 };
  const cases: readonly (readonly [result: string | null, lines: readonly Line[]])[] = [
    ['would_reject_complete', [close('x', 0, big), settle('x', 5, 'ok')]],
    ['would_reject_complete', [close('x', 0, big), parse('x', 5)]],
    ['would_resolve', [close('x', 0, big)]],
    ['would_resolve', [close('x', 0, { ...big, cut: 'mid' }), settle('x', 5, 'error')]],
    ['would_resolve', [close('x', 0, big), parse('x', 5, { ok: false })]],
    [null, [close('x', 0, { ...big, event_ids: 1 })]],
    [null, [close('x', 0, { ...big, ...RESET })]],
    [null, [close('x', 0, { ...big, ...ANSWERED }), settle('x', 5, 'ok')]],
  ];
  for (const [result, lines] of cases) {
    const { samples } = runLines(lines);
    assert.equal(samples('tailfin_whatif_sentinel_total'), result === null ? 0 : 1, JSON.stringify(lines));
    if (result !== null) assert.equal(samples('tailfin_whatif_sentinel_total', { result, size_class: '4-8KiB' }), 1);
  }
});

test('open streams: those with an open line, by kind', () => {
  const lines = [open('a', 0), open('b', 1, LISTEN), open('c', 2, GET), open('d', 3, { ...GET, last_event_id: true })];
  const more = [
    open('e', 4, { rpc_kind: 'notification' }),
    headers('f', 5),
    open('g', 6, { args_digest: 'g' }),
    end('g', 7),
  ];
  const { samples } = runLines([...lines, ...more], { finish: false });
  for (const stream of ['response', 'listen', 'standalone'])
    assert.equal(samples('tailfin_streams_open', { stream }), 1, stream);
  assert.equal(samples('tailfin_streams_open'), 3);
  assert.equal(runLines([...lines, ...more]).samples('tailfin_streams_open'), 0);
});

const WITH_OPEN = { open_ts: T0 - 1500 } as const;
const DURATIONS: Named<readonly [errorType: string | null, lines: readonly Line[]]> = {
  fine: ['', [close('x', 0, { ...WITH_OPEN, ...ANSWERED })]],
  'a JSON-RPC error': ['rpc_error', [close('x', 0, { ...WITH_OPEN, ...ANSWERED, terminal_kind: 'error' })]],
  'a tool error': ['tool_error', [close('x', 0, { ...WITH_OPEN, ...ANSWERED, is_error: true })]],
  timeout: ['timeout', [close('x', 0, { ...WITH_OPEN, how: 'cancel', by: 'client', error: 'TimeoutError' })]],
  cancelled: ['cancelled', [close('x', 0, { ...WITH_OPEN, how: 'cancel', by: 'client' })]],
  ambiguous: ['ambiguous', [close('x', 0, WITH_OPEN)]],
  abandoned: ['abandoned', [close('x', 0, { ...WITH_OPEN, ...RESET })]],
  '404': ['http_4xx', [close('x', 0, { ...WITH_OPEN, ...HTML, status: 404 })]],
  '413': ['http_4xx', [close('x', 0, { ...WITH_OPEN, ...HTML, status: 413 })]],
  '503': ['http_5xx', [close('x', 0, { ...WITH_OPEN, ...HTML, status: 503 })]],
  'no open time': [null, [close('x', 0, ANSWERED)]],
  'never closed': [null, [open('x', 0)]],
};

for (const [name, [errorType, lines]] of Object.entries(DURATIONS))
  test(`duration: ${name}`, () => {
    const { samples, operations } = runLines(lines);
    assert.equal(operations.length, 1);
    assert.equal(operations[0]?.durationMs, errorType === null ? null : 1500);
    assert.equal(samples('mcp_client_operation_duration_seconds'), errorType === null ? 0 : 1);
    if (errorType === null) return;
    const labels = { mcp_method_name: 'tools/call', mcp_protocol_version: '2025-11-25', server: 'srv' };
    assert.equal(samples('mcp_client_operation_duration_seconds', { ...labels, error_type: errorType }), 1);
  });
