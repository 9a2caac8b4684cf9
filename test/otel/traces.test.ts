/**
 * Operations as traces, attribute by attribute, as an independent receiver reads them: masked by a rotation, ambiguous, an uncertain write;
 * which operations are kept; ids that come out the same; and what must not be on a span of the stateless revision.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isWithinShare } from '../../src/exporters/otel-ids.ts';
import { spansOf } from '../../src/exporters/otel-trace.ts';
import { createPrometheusExporter } from '../../src/exporters/prometheus.ts';
import {
  ANSWERED,
  close,
  ENDPOINTS,
  type Line,
  NO_HEAD,
  policyOf,
  RESET,
  runLines,
  settle,
  T0,
} from '../support/build-event.ts';
import { readOpenMetrics } from '../support/openmetrics.ts';
import { type ReceivedSpan, startReceiver } from '../support/otlp-receiver.ts';
import { startRig } from './rig.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OTHER = '5bf92f3577b34da6a3ce929d0e0e4737';
const SPAN = '00f067aa0ba902b7';
const traced = (id = TRACE, span = SPAN): string => `00-${id}-${span}-00`;
const CLIENT = 3;
const ERROR = 2;

/** The spans that a backend gets of these lines. */
async function exported(t: TestContext, lines: readonly Line[], flags: Readonly<Record<string, unknown>> = {}) {
  const receiver = await startReceiver(t);
  const rig = startRig(t, receiver, {
    flags: { otelMetrics: 'none', otelTraces: 'auto', otelTracesShare: '0', ...flags },
  });
  const run = runLines(lines, { onFact: rig.otel.onFact });
  await rig.turn(run.operations.length === 0 ? 0 : 1);
  await rig.otel.close();
  return { spans: receiver.spans(), run, receiver };
}

const NEW = { protocol_version: '2026-07-28', meta_protocol_version: '2026-07-28' } as const;
/** Trace and span ids by the place of their span, so that a whole span can be compared. */
const shape = ({ traceId: _, spanId: _own, parentSpanId: _parent, ...rest }: ReceivedSpan) => ({
  ...rest,
  links: rest.links.map(({ attributes }) => attributes),
});

describe('masked by a rotation', () => {
  const LINES = [
    close('a1', 1000, { ...NEW, ...RESET, open_ts: T0, bytes: 10, trace: traced() }),
    close('a2', 3000, { ...NEW, ...ANSWERED, open_ts: T0 + 1500, endpoint: ENDPOINTS[1], trace: traced() }),
  ];

  test('one CLIENT span with its two attempts, to the last attribute', async (t) => {
    const { spans } = await exported(t, LINES);
    assert.equal(spans.length, 3);
    const [operation, first, second] = spans as [ReceivedSpan, ReceivedSpan, ReceivedSpan];
    assert.deepEqual(shape(operation), {
      name: 'tools/call tool',
      kind: CLIENT,
      startMs: T0,
      endMs: T0 + 3000,
      attributes: {
        'mcp.method.name': 'tools/call',
        'mcp.protocol.version': '2026-07-28',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'tool',
        'network.protocol.name': 'http',
        'server.address': '10.0.0.2',
        'server.port': 8080,
        'tailfin.server': 'srv',
        'tailfin.operation.result': 'masked_rotated',
        'tailfin.operation.attempts': 2,
        'tailfin.operation.next_action': 'confirm_outcome',
        'tailfin.operation.hint': 'none',
      },
      events: [],
      links: [],
      status: 0,
    });
    assert.deepEqual(shape(first), {
      name: 'POST',
      kind: CLIENT,
      startMs: T0,
      endMs: T0 + 1000,
      attributes: {
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'network.protocol.name': 'http',
        'server.address': '10.0.0.1',
        'server.port': 8080,
        'error.type': 'abandoned',
        'mcp.protocol.version': '2026-07-28',
        'tailfin.exchange': 'a1',
        'tailfin.endpoint': '10.0.0.1:8080',
        'tailfin.class': 'abandoned',
        'tailfin.outcome': 'abandoned',
        'tailfin.cause': 'transport_error',
        'tailfin.cut': 'boundary',
        'tailfin.stage': 'between_events',
      },
      events: [
        {
          name: 'tailfin.verdict',
          atMs: T0 + 1000,
          attributes: {
            'tailfin.outcome': 'abandoned',
            'tailfin.cause': 'transport_error',
            'tailfin.regime': 'C',
            'tailfin.cut': 'boundary',
            'tailfin.verdict.row': 7,
          },
        },
      ],
      links: [],
      status: ERROR,
    });
    assert.deepEqual(shape(second), {
      name: 'POST',
      kind: CLIENT,
      startMs: T0 + 1500,
      endMs: T0 + 3000,
      attributes: {
        'http.request.method': 'POST',
        'http.request.resend_count': 1,
        'http.response.status_code': 200,
        'network.protocol.name': 'http',
        'server.address': '10.0.0.2',
        'server.port': 8080,
        'mcp.protocol.version': '2026-07-28',
        'tailfin.exchange': 'a2',
        'tailfin.endpoint': '10.0.0.2:8080',
        'tailfin.class': 'delivered',
        'tailfin.outcome': 'clean',
        'tailfin.cause': 'terminal_seen',
        'tailfin.cut': 'boundary',
      },
      events: [
        {
          name: 'tailfin.verdict',
          atMs: T0 + 3000,
          attributes: {
            'tailfin.outcome': 'clean',
            'tailfin.cause': 'terminal_seen',
            'tailfin.regime': 'A',
            'tailfin.cut': 'boundary',
            'tailfin.verdict.row': 1,
          },
        },
      ],
      links: [
        {
          'tailfin.link': 'retry_of',
          'tailfin.retry.after': 'abandoned',
          'tailfin.retry.endpoint': 'rotated',
          'tailfin.retry.outcome': 'delivered',
          'tailfin.retry.safety': 'unsafe',
        },
      ],
      status: 0,
    });
  });

  test('all in the trace of the host, below its span; exemplars name the same trace', async (t) => {
    const { spans, run } = await exported(t, LINES);
    const [operation, first, second] = spans as [ReceivedSpan, ReceivedSpan, ReceivedSpan];
    assert.deepEqual(
      spans.map(({ traceId }) => traceId),
      [TRACE, TRACE, TRACE],
    );
    assert.equal(operation.parentSpanId, SPAN);
    assert.deepEqual([first.parentSpanId, second.parentSpanId], [operation.spanId, operation.spanId]);
    assert.deepEqual(
      second.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [[TRACE, first.spanId]],
    );
    assert.equal(new Set([SPAN, ...spans.map(({ spanId }) => spanId)]).size, 4);
    const text = await createPrometheusExporter(run.pipeline.cells, { process: false }).render('openmetrics');
    const traces = readOpenMetrics(text).samples.flatMap(({ exemplar }) => exemplar?.labels.trace_id ?? []);
    assert.ok(traces.length >= 4, `${traces.length} exemplars`);
    assert.deepEqual([...new Set(traces)], [TRACE]);
  });

  test('an attempt in a trace of its own is linked to it', async (t) => {
    const [one, two] = LINES as [Line, Line];
    const { spans } = await exported(t, [{ ...one, trace: traced(OTHER, 'aaaaaaaaaaaaaaaa') }, two]);
    assert.deepEqual(spans[1]!.links, [
      { traceId: OTHER, spanId: 'aaaaaaaaaaaaaaaa', attributes: { 'tailfin.link': 'caller' } },
    ]);
  });
});

test('an ambiguous close', async (t) => {
  const { spans } = await exported(t, [
    close('a1', 1000, {
      open_ts: T0,
      cut: 'mid',
      method: 'prompts/get',
      target: 'brief',
      endpoint: 'https://[::1]/mcp',
    }),
  ]);
  assert.equal(spans.length, 2);
  const [operation, attempt] = spans as [ReceivedSpan, ReceivedSpan];
  assert.deepEqual(shape(operation), {
    name: 'prompts/get brief',
    kind: CLIENT,
    startMs: T0,
    endMs: T0 + 1000,
    attributes: {
      'mcp.method.name': 'prompts/get',
      'mcp.protocol.version': '2025-11-25',
      'gen_ai.prompt.name': 'brief',
      'error.type': 'ambiguous',
      'network.protocol.name': 'http',
      'server.address': '::1',
      'server.port': 443,
      'tailfin.server': 'srv',
      'tailfin.operation.result': 'surfaced',
      'tailfin.operation.attempts': 1,
      'tailfin.operation.next_action': 'reissue_bounded',
    },
    events: [],
    links: [],
    status: ERROR,
  });
  const {
    'tailfin.outcome': outcome,
    'tailfin.cause': cause,
    'tailfin.cut': cut,
    'tailfin.stage': stage,
  } = attempt.attributes;
  assert.deepEqual([outcome, cause, cut, stage], ['ambiguous', 'no_evidence', 'mid', 'mid_event']);
  assert.equal(attempt.attributes['error.type'], 'ambiguous');
  assert.deepEqual(
    attempt.events.map(({ attributes }) => attributes['tailfin.verdict.row']),
    [13],
  );
  // Nobody traced it: the trace is its own, and begins with it.
  assert.match(operation.traceId, /^[0-9a-f]{32}$/);
  assert.equal(operation.parentSpanId, '');
});

test('an uncertain write', async (t) => {
  const { spans } = await exported(t, [
    close('w1', 2000, { ...NO_HEAD, open_ts: T0, annotations: { read_only: true }, trace: traced() }),
    settle('w1', 2001, 'error'),
  ]);
  const [operation, attempt] = spans as [ReceivedSpan, ReceivedSpan];
  assert.deepEqual(operation.attributes, {
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2025-11-25',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'tool',
    'error.type': 'abandoned',
    'network.protocol.name': 'http',
    'server.address': '10.0.0.1',
    'server.port': 8080,
    'tailfin.server': 'srv',
    'tailfin.operation.result': 'surfaced',
    'tailfin.operation.attempts': 1,
    'tailfin.operation.next_action': 'confirm_outcome',
    'tailfin.operation.hint': 'declared',
  });
  assert.deepEqual([operation.status, operation.startMs, operation.endMs], [ERROR, T0, T0 + 2000]);
  assert.deepEqual(attempt.attributes, {
    'http.request.method': 'POST',
    'network.protocol.name': 'http',
    'server.address': '10.0.0.1',
    'server.port': 8080,
    'error.type': 'abandoned',
    'mcp.protocol.version': '2025-11-25',
    'tailfin.exchange': 'w1',
    'tailfin.endpoint': '10.0.0.1:8080',
    'tailfin.class': 'abandoned',
    'tailfin.outcome': 'abandoned',
    'tailfin.cause': 'no_response',
    'tailfin.stage': 'before_headers',
    'tailfin.settled': 'error',
  });
});

test('answers that are errors: the JSON-RPC code, and one word for what went wrong', async (t) => {
  const { spans } = await exported(t, [
    close('e1', 100, { ...ANSWERED, terminal_kind: 'error', error_code: -32602, args_digest: 'e1' }),
    close('e2', 200, { ...ANSWERED, is_error: true, args_digest: 'e2' }),
    close('e3', 300, { status: 503, content_type: 'text/plain', args_digest: 'e3' }),
  ]);
  const operations = spans.filter(({ name }) => name !== 'POST').sort((a, b) => a.endMs - b.endMs);
  assert.deepEqual(
    operations.map(({ attributes }) => [attributes['rpc.response.status_code'], attributes['error.type']]),
    [
      ['-32602', 'rpc_error'],
      [undefined, 'tool_error'],
      [undefined, 'http_5xx'],
    ],
  );
});

describe('ids', () => {
  const lines = [close('a1', 1000, { open_ts: T0 }), close('a2', 2000, { ...ANSWERED, open_ts: T0 + 1500 })];
  test('come out the same when the events are read again, in this life or after a restart', async (t) => {
    const once = await exported(t, lines);
    const again = await exported(t, lines);
    assert.deepEqual(again.spans, once.spans);
    const all: unknown[] = [];
    runLines(lines, {
      restartAt: (at) => at > 0,
      onFact: (fact) => fact.is === 'operation' && all.push(spansOf(fact, 0)?.map(({ spanId }) => spanId)),
    });
    assert.deepEqual(all, [once.spans.map(({ spanId }) => spanId)]);
  });
  test('differ by host, exchange and time', async () => {
    const variants = [{}, { exchange: 'b1' }, { host: 'other' }, { open_ts: T0 - 1 }];
    const ids = await Promise.all(
      variants.map(async (fields) => {
        const [line] = lines as [Line];
        const found: string[] = [];
        runLines([{ ...line, ...fields }], {
          onFact: (fact) => {
            if (fact.is === 'operation')
              found.push(...(spansOf(fact, 0) ?? []).flatMap((span) => [span.traceId, span.spanId]));
          },
        });
        return found;
      }),
    );
    assert.equal(new Set(ids.flat()).size, 4 * 3);
  });
});

describe('which are kept', () => {
  const clean = (i: number, more: object = {}): Line =>
    close(`c${i}`, i, { ...ANSWERED, args_digest: `c${i}`, open_ts: T0 + i - 1, ...more });
  const kept = (lines: readonly Line[], share: number): Set<string> => {
    const ids = new Set<string>();
    runLines(lines, {
      onFact: (fact) => {
        const spans = fact.is === 'operation' ? spansOf(fact, share) : null;
        if (spans !== null) ids.add(spans[0]!.traceId);
      },
    });
    return ids;
  };
  test('all that were not delivered at the first try, and of the rest the share', () => {
    const lines = Array.from({ length: 2000 }, (_, i) => clean(i));
    assert.equal(kept(lines, 0).size, 0);
    assert.equal(kept(lines, 1).size, 2000);
    const some = kept(lines, 0.1);
    assert.ok(some.size > 120 && some.size < 280, `${some.size} of 2000`);
    // The same ones each time, and more of them with a larger share.
    assert.deepEqual(kept(lines, 0.1), some);
    const more = kept(lines, 0.3);
    for (const id of some) assert.ok(more.has(id));
    const failed = [close('f1', 1), close('f2', 2, { ...ANSWERED, is_error: true, args_digest: 'x' })];
    assert.equal(kept(failed, 0).size, 2);
  });
  test('by trace id alone: whoever samples that trace in this way keeps it too', () => {
    const low = `${TRACE.slice(0, 18)}${'0'.repeat(14)}`;
    const high = `${TRACE.slice(0, 18)}${'f'.repeat(14)}`;
    assert.deepEqual([...kept([clean(1, { trace: traced(low) }), clean(2, { trace: traced(high) })], 0.01)], [low]);
    assert.deepEqual([isWithinShare(high, 1), isWithinShare(low, 0)], [true, false]);
  });
});

test('a redirect counts as a resend, a round of an MRTR does not', async (t) => {
  const { spans } = await exported(t, [
    close('h1', 100, { status: 307, content_type: null, open_ts: T0, request_key: 'k' }),
    close('h2', 300, { open_ts: T0 + 200, request_key: 'k', ...ANSWERED, result_type: 'input_required' }),
    close('h3', 500, { open_ts: T0 + 400, request_key: 'k', input_responses: true }),
  ]);
  assert.deepEqual(
    spans.filter(({ name }) => name === 'POST').map(({ attributes }) => attributes['http.request.resend_count']),
    [undefined, 1, undefined],
  );
});

test('a call of which only its host has a span: nothing says that it went over HTTP', async (t) => {
  const { spans } = await exported(t, [
    close('s1', 100, { ...NO_HEAD, how: 'unknown', error: 'Error', endpoint: undefined, bytes: undefined }),
  ]);
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['tools/call tool', 'attempt'],
  );
  for (const { attributes } of spans)
    assert.deepEqual(
      Object.keys(attributes).filter((key) => /^(http|network|server)\./.test(key)),
      [],
    );
});

test('nothing of what an event may not say: no URI, no session, no other attributes than those', async (t) => {
  const names = new Set<string>();
  const { spans } = await exported(t, [
    close('r1', 100, { method: 'resources/read', target: 'file:///canary', session: true, args_digest: '1', ...NEW }),
    close('r2', 200, { target: 'https://canary/', args_digest: '2', session: true }),
    close('r3', 300, { method: 'canary/method', args_digest: '3', error: 'canary_error' }),
    close('r4', 400, { endpoint: 'http://user:canary@10.0.0.9:1/canary?q=canary', args_digest: '4' }),
  ]);
  assert.equal(spans.length, 8);
  const text = JSON.stringify(spans);
  assert.doesNotMatch(text, /canary/);
  for (const { attributes } of spans) for (const name of Object.keys(attributes)) names.add(name);
  for (const name of names)
    assert.match(name, /^(mcp\.(method\.name|protocol\.version)|gen_ai|network|server|error\.type|http|rpc|tailfin)/);
  assert.deepEqual(
    spans.filter(({ name }) => name !== 'POST').map(({ name }) => name),
    ['resources/read', 'tools/call', '_other', 'tools/call tool'],
  );
});

test('a policy that knows a tool to be read-only shows in the next action', async () => {
  const policy = policyOf({ srv: { isReadOnlyTool: () => true } });
  const actions: unknown[] = [];
  runLines([close('a', 1)], {
    policy,
    onFact: (fact) =>
      fact.is === 'operation' && actions.push(spansOf(fact, 0)?.[0]?.attributes['tailfin.operation.next_action']),
  });
  assert.deepEqual(actions, ['reissue_bounded']);
});
