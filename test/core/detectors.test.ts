/** Rules about one exchange or one operation as such: what fires each, and what narrowly does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ANSWERED,
  close,
  ENDPOINTS,
  type Fields,
  JSON_BODY,
  type Line,
  NO_HEAD,
  policyOf,
  RESET,
  runLines,
  settle,
} from '../support/build-event.ts';
import { detectorCases } from '../support/detector-cases.ts';

const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined } as const;
const CLIENT = { by: 'client', error: 'AbortError' } as const;
const PRIMED = { event_ids: 1 } as const;

const one = (fields: Fields = {}): Line[] => [close('x', 0, fields)];
const retried = (first: Fields = {}, second: Fields = {}): Line[] => [
  close('x', 0, first),
  close('y', 1000, { ...ANSWERED, ...second }),
];

detectorCases({
  ambiguous_close: {
    fires: { 'no evidence': one(), 'not resumed': one(PRIMED), 'cut mid': one({ cut: 'mid' }) },
    silent: {
      clean: one(ANSWERED),
      abandoned: one(RESET),
      'a GET that ended': one(GET),
      'a dropped listen': one({ method: 'subscriptions/listen' }),
      'an HTTP error': one({ status: 500, content_type: 'text/html' }),
    },
  },
  masked_retry: {
    fires: {
      'on the same endpoint': retried(),
      'on another endpoint': retried({}, { endpoint: ENDPOINTS[1] }),
      'on an unknown endpoint': retried({ endpoint: undefined }),
      'after a refusal': retried({ status: 429 }),
    },
    silent: {
      'first try': one(ANSWERED),
      'never delivered': retried({}, { ...ANSWERED, terminal: false }),
      'not retried': one(),
      'after delivery': retried(ANSWERED),
      'a redirect': retried({ status: 307, content_type: null }),
      'other arguments': retried({}, { args_digest: 'b' }),
    },
  },
  unsafe_retry: {
    fires: {
      'of a call that was sent': retried(RESET),
      'not known whether it was sent': retried({ ...NO_HEAD, sent: undefined }),
      'headers alone': retried({ ...NO_HEAD, sent: 'headers' }),
      'though it failed again': retried(RESET, { ...RESET, terminal: false }),
      'after an upstream error': retried({ status: 503, content_type: null }),
    },
    silent: {
      'not retried': one(RESET),
      'never sent': retried({ ...NO_HEAD, sent: 'none' }),
      'refused with 4xx': retried({ status: 429, content_type: null }),
      'an idempotency key': retried({ ...RESET, idempotency_key: true }),
      'declared read-only': retried({ ...RESET, annotations: { read_only: true } }),
      'declared idempotent': retried({ ...RESET, annotations: { idempotent: true } }),
      'no call': retried({ ...RESET, method: 'resources/read' }, { method: 'resources/read' }),
    },
  },
  uncertain_write: {
    fires: {
      'lost on the way': one(RESET),
      'ended without an answer': one(),
      'no response': one(NO_HEAD),
      'masked by a retry': retried(RESET),
      'declared read-only, a hint only': one({ ...RESET, annotations: { read_only: true } }),
      cancelled: [...one({ ...CLIENT, how: 'cancel' }), settle('x', 5, 'cancelled')],
    },
    silent: {
      answered: one(ANSWERED),
      'never sent': one({ ...NO_HEAD, sent: 'none' }),
      'refused with 4xx': one({ status: 413, content_type: 'text/html' }),
      'an idempotency key': one({ ...RESET, idempotency_key: true }),
      'no call': one({ ...RESET, method: 'tools/list' }),
      'answered, then the caller failed': [...one(ANSWERED), settle('x', 5, 'error')],
    },
  },
  late_error_after_terminal: {
    fires: { reset: one({ ...ANSWERED, ...RESET }), unclear: one({ ...ANSWERED, ...RESET, by: undefined }) },
    silent: {
      'ended well': one(ANSWERED),
      'the client closed it': one({ ...ANSWERED, ...CLIENT, how: 'error' }),
      'the client cancelled it': one({ ...ANSWERED, ...CLIENT, how: 'cancel' }),
      'no answer before': one(RESET),
      'whole JSON, no answer of ours': one({ ...JSON_BODY, ...RESET }),
    },
  },
  id_mismatch: {
    fires: {
      'another id': one({ id_match: 'mismatch' }),
      'another id, whole': one({ ...JSON_BODY, id_match: 'mismatch' }),
      'another id, refused': one({ ...JSON_BODY, id_match: 'mismatch', status: 404 }),
      'a null id': one({ ...JSON_BODY, id_match: 'null_id' }),
    },
    silent: {
      match: one(ANSWERED),
      unknown: one(),
      'a null id of a refusal': one({ ...JSON_BODY, id_match: 'null_id', status: 404, error_code: -32001 }),
    },
  },
});

test('unsafe_retry: a tool that the operator lists as read-only is safe', () => {
  const policy = policyOf({ srv: { isReadOnlyTool: (tool) => tool === 'tool' } });
  assert.equal(runLines(retried(RESET), { policy }).findings('unsafe_retry').length, 0);
  assert.equal(
    runLines(retried({ ...RESET, target: 'x' }, { target: 'x' }), { policy }).findings('unsafe_retry').length,
    1,
  );
});

test('unsafe_retry: one finding for each unsafe edge', () => {
  const lines = [close('x', 0, RESET), close('y', 1000, RESET), close('z', 2000, ANSWERED)];
  assert.equal(runLines(lines).findings('unsafe_retry').length, 2);
  assert.equal(runLines(lines).findings('masked_retry').length, 1);
});
