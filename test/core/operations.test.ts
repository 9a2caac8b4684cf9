/** Design section 5: what became of an operation, how it was retried, and what the evidence allows next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationFact } from '../../src/core/model/operation.ts';
import type { Policy } from '../../src/core/model/policy.ts';
import {
  ANSWERED,
  close,
  ENDPOINTS,
  end,
  type Fields,
  JSON_BODY,
  JSON_CUT,
  type Line,
  NO_HEAD,
  open,
  parse,
  policyOf,
  RESET,
  runLines,
  settle,
} from '../support/build-event.ts';

const HTML = { content_type: 'text/html' } as const;
const GAVE_UP = { how: 'cancel', by: 'client', error: 'AbortError' } as const;
const DNS = { endpoint: 'http://tools:8080/mcp' } as const;
const [E1, E2] = [{ endpoint: ENDPOINTS[0] }, { endpoint: ENDPOINTS[1] }];
const READ_ONLY = policyOf({ srv: { isReadOnlyTool: (tool) => tool === 'tool' } });

/** A second attempt that delivers a second later, beside the first. */
const again = (fields: Fields = {}, at = 1000): Line => close('y', at, { ...ANSWERED, ...fields });
const operationsOf = (lines: readonly Line[], policy?: Policy): OperationFact[] =>
  [...runLines(lines, policy ? { policy } : {}).operations].sort((a, b) => a.ts - b.ts);
const resultsOf = (lines: readonly Line[], policy?: Policy): string =>
  operationsOf(lines, policy)
    .map(({ result }) => result)
    .join();

type Named<T> = Readonly<Record<string, T>>;

const AFTER: Named<readonly [after: string, first: readonly Line[]]> = {
  'its own timeout': ['timeout', [close('x', 0, { ...GAVE_UP, error: 'TimeoutError' })]],
  'told timeout, still open': ['timeout', [open('x', -90), settle('x', -50, 'timeout')]],
  'told timeout, closed later': ['timeout', [open('x', -90), settle('x', -50, 'timeout'), end('x', 0)]],
  'told timeout when it had ended': ['ambiguous', [close('x', 0), settle('x', 500, 'timeout')]],
  'told timeout when it had broken': ['abandoned', [close('x', 0, RESET), settle('x', 500, 'timeout')]],
  'no evidence': ['ambiguous', [close('x', 0)]],
  'still suspended': ['ambiguous', [close('x', 0, { ...RESET, event_ids: 1 })]],
  cut: ['abandoned', [close('x', 0, JSON_CUT)]],
  'never connected': ['abandoned', [close('x', 0, { ...NO_HEAD, sent: 'none' })]],
  'the client gave up': ['abandoned', [close('x', 0, GAVE_UP)]],
  '404': ['http_error', [close('x', 0, { ...HTML, status: 404 })]],
  '404 with a JSON-RPC error': ['http_error', [close('x', 0, { ...ANSWERED, status: 404 })]],
  '429': ['http_error', [close('x', 0, { ...HTML, status: 429 })]],
  '503': ['http_error', [close('x', 0, { ...HTML, status: 503 })]],
  '400': ['refused', [close('x', 0, { ...HTML, status: 400 })]],
  '413': ['refused', [close('x', 0, { ...HTML, status: 413 })]],
  'a failed parse': ['parse_failure', [close('x', 0, ANSWERED), parse('x', 5, { ok: false })]],
  '202': ['unusable', [close('x', 0, { status: 202, content_type: null, bytes: 0 })]],
  'another id': ['unusable', [close('x', 0, { ...JSON_BODY, id_match: 'mismatch' })]],
  'HTML with 200': ['unusable', [close('x', 0, HTML)]],
  'answered, the caller failed': ['unusable', [close('x', 0, ANSWERED), settle('x', 5, 'error')]],
  'answered, told timeout later': ['unusable', [close('x', 0, ANSWERED), settle('x', 500, 'timeout')]],
};

for (const [name, [after, first]] of Object.entries(AFTER))
  test(`retry: after ${name} is ${after}`, () => {
    const [operation, ...others] = operationsOf([...first, again()]);
    assert.equal(others.length, 0);
    assert.deepEqual(
      operation?.edges.map((edge) => `${edge.after} ${edge.outcome} ${edge.endpoint}`),
      [`${after} delivered same`],
    );
    assert.equal(operation?.result, 'masked');
  });

test('an operation that was counted is not counted again when its exchange ends after all, or is opened twice', () => {
  const left = (result: string) => [open('x', 0), settle('x', 1000, result)];
  for (const result of ['timeout', 'cancelled']) {
    const counted = result === 'timeout' ? 'surfaced' : 'cancelled';
    assert.equal(resultsOf([...left(result), end('x', 700_000, GAVE_UP)]), counted, result);
    assert.equal(resultsOf([...left(result), open('x', 700_000)]), counted, result);
    assert.equal(runLines([...left(result), end('x', 700_000, GAVE_UP)]).verdicts.length, 1, result);
  }
});

test('retry: a stream whose suspension was over is no suspended one, whether or not a tick came in between', () => {
  const lines = [close('x', 0, { ...RESET, event_ids: 1 }), again({}, 60_001)];
  for (const tickEach of [0, 1]) {
    const [operation] = runLines(lines, { tickEach }).operations;
    assert.equal(operation?.edges[0]?.after, 'abandoned', `a tick each ${tickEach} events`);
  }
});

const RESULTS: Named<readonly [result: string, lines: readonly Line[], policy?: Policy]> = {
  'on the same address': ['masked', [close('x', 0, RESET), again()]],
  'on another address': ['masked_rotated', [close('x', 0, RESET), again(E2)]],
  'on one name': ['masked_unknown', [close('x', 0, { ...RESET, ...DNS }), again(DNS)]],
  'on one name, an instance': [
    'masked',
    [close('x', 0, { ...RESET, ...DNS }), again(DNS)],
    policyOf({ srv: { endpoints: 'instance' } }),
  ],
  'on one virtual address': [
    'masked_unknown',
    [close('x', 0, RESET), again()],
    policyOf({ srv: { endpoints: 'virtual' } }),
  ],
  'from an unknown endpoint': ['masked_unknown', [close('x', 0, { ...RESET, endpoint: undefined }), again()]],
  'back on the first': [
    'masked',
    [close('x', 0, { ...RESET, ...E1 }), close('z', 500, { ...RESET, ...E2 }), again(E1)],
  ],
  'away from both': [
    'masked_rotated',
    [close('x', 0, RESET), close('z', 500, { ...RESET, ...E2 }), again({ endpoint: 'http://10.0.0.3:8080/' })],
  ],
  'one of them unknown': [
    'masked_unknown',
    [close('x', 0, RESET), close('z', 500, { ...RESET, endpoint: null }), again(E2)],
  ],
  'never again': ['surfaced', [close('x', 0, RESET)]],
  'never delivered': ['surfaced', [close('x', 0, RESET), close('y', 1000)]],
  'taken for success': ['unproven', [close('x', 0), settle('x', 5, 'ok')]],
  'taken for success once': ['unproven', [close('x', 0), settle('x', 5, 'ok'), close('y', 1000, RESET)]],
  'told cancelled': ['cancelled', [close('x', 0, GAVE_UP), settle('x', 5, 'cancelled')]],
  'told cancelled while open': ['cancelled', [open('x', -5), settle('x', -1, 'cancelled'), end('x', 0, GAVE_UP)]],
  'cancelled, nobody told': ['cancelled', [close('x', 0, GAVE_UP)]],
  'cancelled, told error': ['surfaced', [close('x', 0, GAVE_UP), settle('x', 5, 'error')]],
  'cancelled, then delivered': ['masked', [close('x', 0, GAVE_UP), again()]],
  'told cancelled, called again': [
    'cancelled,first_try',
    [close('x', 0, GAVE_UP), settle('x', 5, 'cancelled'), again()],
  ],
  'never closed': ['unresolved', [open('x', 0)]],
  'never closed, left by its caller': ['surfaced', [open('x', 0), settle('x', 500, 'timeout')]],
  'answered, the tool failed': ['first_try', [close('x', 0, ANSWERED), settle('x', 5, 'tool_error')]],
  'answered, told timeout': ['surfaced', [close('x', 0, ANSWERED), settle('x', 5, 'timeout')]],
  'the first word counts': ['first_try', [close('x', 0, ANSWERED), settle('x', 5, 'ok'), settle('x', 6, 'error')]],
  'a listen is none': ['', [close('x', 0, { method: 'subscriptions/listen' })]],
  'a notification is none': ['', [close('x', 0, { rpc_kind: 'notification', status: 202 })]],
};

for (const [name, [result, lines, policy]] of Object.entries(RESULTS))
  test(`result: ${name} is ${result || 'no operation'}`, () => assert.equal(resultsOf(lines, policy), result));

const LIST = { method: 'tools/list' } as const;
const UNSENT = { ...NO_HEAD, sent: 'none' } as const;
const ACTIONS: Named<readonly [action: string | null, lines: readonly Line[], policy?: Policy]> = {
  'first try': [null, [again()]],
  'a call that broke': ['confirm_outcome', [close('x', 0, RESET)]],
  'a call that broke, masked': ['confirm_outcome', [close('x', 0, RESET), again()]],
  'a call answered 503': ['confirm_outcome', [close('x', 0, { ...HTML, status: 503 })]],
  'a call answered 202': ['confirm_outcome', [close('x', 0, { status: 202, content_type: null })]],
  'a call with another id': ['confirm_outcome', [close('x', 0, { ...JSON_BODY, id_match: 'mismatch' })]],
  'headers were sent': ['confirm_outcome', [close('x', 0, { ...NO_HEAD, sent: 'headers' })]],
  'a read-only claim': ['confirm_outcome', [close('x', 0, { ...RESET, annotations: { read_only: true } })]],
  'answered, not parsed': ['retrieve_result', [close('x', 0, ANSWERED), parse('x', 5, { ok: false })]],
  'confirmed read-only': ['reissue_bounded', [close('x', 0, RESET)], READ_ONLY],
  'an idempotency key': ['reissue_bounded', [close('x', 0, { ...RESET, idempotency_key: true })]],
  'a list': ['reissue_bounded', [close('x', 0, { ...RESET, ...LIST })]],
  'a list, never sent': ['reissue_bounded', [close('x', 0, { ...UNSENT, ...LIST })]],
  'a call, never sent': ['send_normally', [close('x', 0, UNSENT)]],
  'a call answered 429': ['send_normally', [close('x', 0, { ...HTML, status: 429 })]],
  'the worst of all': ['confirm_outcome', [close('x', 0, UNSENT), close('z', 500, RESET), again({ status: 429 })]],
  'the worst, before': ['retrieve_result', [close('x', 0, ANSWERED), settle('x', 5, 'error'), close('y', 500, UNSENT)]],
};

for (const [name, [action, lines, policy]] of Object.entries(ACTIONS))
  test(`next action: ${name}: ${action ?? 'none'}`, () => {
    const run = runLines(lines, policy ? { policy } : {});
    assert.deepEqual(
      run.operations.map(({ nextAction }) => nextAction),
      [action],
    );
    assert.equal(run.samples('tailfin_uncertain_writes_total'), action === 'confirm_outcome' ? 1 : 0);
    const hint = name.includes('claim') ? 'declared' : 'none';
    assert.equal(run.samples('tailfin_uncertain_writes_total', { hint }), action === 'confirm_outcome' ? 1 : 0);
  });

test('lines of a failed exchange find it for 600 s, however many others closed since (design section 3)', () => {
  const others = Array.from({ length: 150_000 }, (_, i) =>
    close(`o${i}`, 1000 + 2 * i, { ...ANSWERED, client: `c${i % 97}`, rpc_id: String(i) }),
  );
  const run = runLines(
    [close('x', 0, { client: 'a' }), ...others, close('x', 400_000, { client: 'a' }), settle('x', 500_000, 'ok')],
    { tickMs: 1000 },
  );
  assert.equal(run.operation('x').result, 'unproven');
  assert.equal(run.verdicts.filter((each) => each.exchange.fields.exchange === 'x').length, 1);
});
