/** Rules about what callers were told, and who else was hurt: what fires each, and what narrowly does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_POLICY } from '../../src/core/model/policy.ts';
import { DEFAULT_THRESHOLDS } from '../../src/core/model/thresholds.ts';
import {
  ANSWERED,
  client,
  close,
  ENDPOINTS,
  end,
  type Fields,
  JSON_BODY,
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
import { detectorCases } from '../support/detector-cases.ts';

const ABORTED = { how: 'cancel', by: 'client', error: 'AbortError' } as const;
const UNTOLD = { on_wire: false, method: 'tools/call' } as const;
const EMPTY = { content_type: null, bytes: 0, events: 0, cut: 'none' } as const;

/** One that was in flight from 0 to `at`. */
const during = (exchange: string, at: number, fields: Fields = {}): Line =>
  close(exchange, at, { open_ts: T0, args_digest: exchange, ...fields });
const broken = (at: number, fields: Fields = {}): Line => during('broken', at, { ...RESET, ...fields });
/** Another call of its client, told at `at`, which shows that it reports. */
const reports = (at: number, who: Fields = {}): Line => settle('other', at, 'ok', who);
const told = (at: number, result: string, fields: Fields = {}): Line[] => [
  close('x', 0, fields),
  reports(1),
  settle('x', at, result),
];
const stalled = (fields: Fields = {}, at = 30_000): Line =>
  close('s', at, { open_ts: T0, ...NO_HEAD, ...ABORTED, how: 'no_response', by: 'client', ...fields });
const again = (openAt: number, lasts: number, fields: Fields = {}): Line =>
  close('y', openAt + lasts, { ...ANSWERED, open_ts: T0 + openAt, ...fields });

detectorCases({
  collateral_failure: {
    fires: {
      'cancelled by the client within 1 s': [broken(500), during('x', 1500, ABORTED)],
      'at the same moment': [broken(500), during('x', 500, ABORTED)],
      'reset on another endpoint': [broken(500), during('x', 600, { ...RESET, endpoint: ENDPOINTS[1] })],
      'the first ended without evidence': [broken(500, { how: 'eof', error: undefined }), during('x', 600, ABORTED)],
      'no head yet': [broken(500), during('x', 600, { ...NO_HEAD, by: 'client' })],
      'the first may be resumed yet': [broken(500, { event_ids: 1 }), during('x', 600, ABORTED)],
      'opened as the first broke': [broken(500), during('x', 600, { ...ABORTED, open_ts: T0 + 500 })],
    },
    silent: {
      alone: [broken(500)],
      'later than 1 s': [broken(500), during('x', 1501, ABORTED)],
      'opened after the break': [broken(500), during('x', 600, { ...ABORTED, open_ts: T0 + 501 })],
      'not known when it opened': [broken(500), during('x', 600, { ...ABORTED, open_ts: undefined })],
      'answered all the same': [broken(500), during('x', 600, ANSWERED)],
      'of another client': [broken(500), during('x', 600, { ...ABORTED, client: 'c2' })],
      'the same client of another host': [broken(500), during('x', 600, { ...ABORTED, host: 'h2' })],
      'of an unknown client': [broken(500, { client: undefined }), during('x', 600, { ...ABORTED, client: undefined })],
      'ended by the same endpoint': [broken(500), during('x', 600, RESET)],
      'ended by an endpoint that is not known': [broken(500), during('x', 600, { ...RESET, endpoint: undefined })],
      'not known who ended it': [broken(500), during('x', 600, { ...RESET, by: undefined })],
      'all cancelled by their client': [during('a', 500, ABORTED), during('b', 500, ABORTED)],
      'a subscription that goes down with it': [
        broken(500),
        during('x', 600, { ...RESET, endpoint: ENDPOINTS[1], method: 'subscriptions/listen' }),
      ],
    },
  },
  closed_client_call: {
    fires: {
      'after its client broke': [broken(500), settle(undefined, 900, 'error', UNTOLD)],
      'after its client was closed': [client('closed', 0), settle(undefined, 900_000, 'error', UNTOLD)],
      'at the same moment': [client('closed', 0), settle(undefined, 0, 'error', UNTOLD)],
      'the first may be resumed yet': [broken(500, { event_ids: 1 }), settle(undefined, 900, 'error', UNTOLD)],
      'closed, though a late answer came': [
        client('closed', 0),
        during('y', 100, { ...ANSWERED, open_ts: T0 + 50 }),
        settle(undefined, 900, 'error', UNTOLD),
      ],
    },
    silent: {
      'nothing broke before': [settle(undefined, 900, 'error', UNTOLD)],
      'it broke later': [settle(undefined, 900, 'error', UNTOLD), client('closed', 1000)],
      'it reached the wire': [broken(500), settle('x', 900, 'error', { on_wire: true })],
      'not known whether it did': [broken(500), settle(undefined, 900, 'error')],
      'it was told something else': [broken(500), settle(undefined, 900, 'timeout', UNTOLD)],
      'another client': [broken(500), settle(undefined, 900, 'error', { ...UNTOLD, client: 'c2' })],
      'an unknown client': [broken(500), settle(undefined, 900, 'error', { ...UNTOLD, client: undefined })],
      'made again in between': [client('closed', 0), client('created', 1), settle(undefined, 9, 'error', UNTOLD)],
      reconnected: [client('closed', 0), client('reconnected', 1), settle(undefined, 9, 'error', UNTOLD)],
      'initialised again': [client('closed', 0), client('reinitialized', 1), settle(undefined, 9, 'error', UNTOLD)],
      'a later call was answered': [
        broken(500),
        during('y', 700, { ...ANSWERED, open_ts: T0 + 600 }),
        settle(undefined, 900, 'error', UNTOLD),
      ],
      'only cancelled before': [during('a', 500, ABORTED), settle(undefined, 900, 'error', UNTOLD)],
      'a planned close before': [during('a', 500, { event_ids: 1 }), settle(undefined, 900, 'error', UNTOLD)],
    },
  },
  silent_hang: {
    fires: {
      'nobody was told': [close('x', 0), reports(1)],
      'a client that reports for the first time later': [close('x', 0), reports(500_000)],
      'told after 120 s, to no use': told(120_001, 'error'),
      'taken for a success after 120 s': told(200_000, 'ok'),
      'given up after 120 s': told(120_001, 'cancelled'),
      'retried, the retry hangs': [close('x', 0, RESET), close('y', 1000), reports(1001)],
      'a status that is no answer': [close('x', 0, { status: 202, ...EMPTY }), reports(1)],
      'an answer to another id': [close('x', 0, { ...JSON_BODY, id_match: 'mismatch' }), reports(1)],
    },
    silent: {
      'a client that reports nothing': [close('x', 0)],
      'another client reports': [close('x', 0), reports(1, { client: 'c2' })],
      'the same name on another host': [close('x', 0), reports(1, { host: 'h2' })],
      'told at 120 s': told(120_000, 'error'),
      'told a time-out, however late': told(200_000, 'timeout'),
      'told before it ended': [open('x', 0), settle('x', 5, 'error'), end('x', 1000), reports(1001)],
      'an attempt before it was told': [close('x', 0), settle('x', 1, 'error'), close('y', 1000)],
      delivered: [close('x', 0, ANSWERED), reports(1)],
      'the retry delivered': [close('x', 0), close('y', 1000, ANSWERED), reports(1001)],
      'its caller gave up': [close('x', 0, ABORTED), reports(1)],
      'still open': [open('x', 0), reports(1)],
      'a subscription': [close('x', 0, { ...RESET, method: 'subscriptions/listen' }), reports(1)],
    },
  },
  misattributed_timeout: {
    fires: {
      'told 1 s after a cut': told(1000, 'timeout'),
      'told much later': told(599_000, 'timeout', RESET),
      'an HTTP error': told(60_000, 'timeout', { status: 502, content_type: 'text/html' }),
      'an answer to another id': told(60_000, 'timeout', { ...JSON_BODY, id_match: 'mismatch' }),
    },
    silent: {
      'told within 1 s': told(999, 'timeout'),
      'told another word': told(60_000, 'error'),
      'told while it was open': [open('x', 0), settle('x', 60_000, 'timeout'), end('x', 90_000)],
      'an answer was there': told(5000, 'timeout', ANSWERED),
      'the client ended it': told(5000, 'timeout', ABORTED),
      'its own time limit ended it': told(5000, 'timeout', { how: 'error', by: 'client', error: 'TimeoutError' }),
      'never told': [close('x', 0), reports(1)],
      'a line for another exchange': [close('x', 0), settle('z', 60_000, 'timeout')],
    },
  },
  never_answered: {
    fires: {
      '202': [close('x', 0, { status: 202, ...EMPTY })],
      '204': [close('x', 0, { status: 204, ...EMPTY })],
      'known to have no carrier': [close('x', 0, { status: 202, carrier: null, ...EMPTY })],
      'of an unknown revision': [close('x', 0, { status: 202, protocol_version: undefined, ...EMPTY })],
      'of 2026-07-28': [close('x', 0, { status: 202, protocol_version: '2026-07-28', ...EMPTY })],
      'to a subscription': [
        close('x', 0, { status: 202, protocol_version: '2026-07-28', method: 'subscriptions/listen', ...EMPTY }),
      ],
    },
    silent: {
      'to a notification': [close('x', 0, { status: 202, rpc_kind: 'notification', ...EMPTY })],
      'to a response': [close('x', 0, { status: 202, rpc_kind: 'response', ...EMPTY })],
      'a carrier will bring it': [close('x', 0, { status: 202, carrier: 'g', ...EMPTY })],
      'of the transport that answers so': [close('x', 0, { status: 202, protocol_version: '2024-11-05', ...EMPTY })],
      'an answer in it': [close('x', 0, { ...JSON_BODY, ...ANSWERED, status: 202 })],
      '200 without an answer': [close('x', 0)],
      '205': [close('x', 0, { status: 205, ...EMPTY })],
    },
  },
  discarded_response: {
    fires: {
      'then told an error': told(5, 'error', ANSWERED),
      'then told a time-out': told(5000, 'timeout', ANSWERED),
      'at the same moment': told(0, 'error', ANSWERED),
      'a late transport error': told(5, 'error', { ...ANSWERED, ...RESET }),
      'an error answer': told(5, 'error', { ...ANSWERED, terminal_kind: 'error', error_code: -32603 }),
      'a body that did not parse': [close('x', 0, ANSWERED), parse('x', 1, { ok: false }), settle('x', 2, 'error')],
      'the stream stayed open behind it': [
        open('x', 0),
        message('x', 10),
        settle('x', 60_000, 'timeout'),
        end('x', 70_000, ANSWERED),
      ],
    },
    silent: {
      'told ok': told(5, 'ok', ANSWERED),
      'told what it said': told(5, 'rpc_error', { ...ANSWERED, terminal_kind: 'error', error_code: -32603 }),
      'a tool error': told(5, 'tool_error', { ...ANSWERED, is_error: true }),
      'cancelled by the caller': told(5, 'cancelled', ANSWERED),
      'not told': [close('x', 0, ANSWERED), reports(1)],
      'no answer': told(5, 'error', RESET),
      'refused by the server': told(5, 'error', { ...JSON_BODY, ...ANSWERED, status: 400, error_code: -32020 }),
      'the answer came after the caller had left': [
        open('x', 0),
        settle('x', 60_000, 'timeout'),
        message('x', 70_000),
        end('x', 70_000, ANSWERED),
      ],
    },
  },
  stall_then_instant_identical_retry: {
    fires: {
      'after 30 s, answered at once': [stalled(), again(30_500, 200)],
      'at the edges': [stalled(), again(40_000, 10_000)],
      'answered by a whole document': [
        stalled(),
        again(30_500, 200, { ...JSON_BODY, terminal: undefined, terminal_kind: undefined, id_match: undefined }),
      ],
      'behind a head without a byte': [
        close('s', 45_000, { open_ts: T0, ...ABORTED, bytes: 0, events: 0, cut: 'none' }),
        again(46_000, 10),
      ],
      'a list, which needs no digest': [
        stalled({ method: 'tools/list', args_digest: undefined }),
        again(30_500, 10, { method: 'tools/list', args_digest: undefined }),
      ],
      'a first retry failed': [stalled(), close('z', 31_000, { open_ts: T0 + 30_500, ...RESET }), again(32_000, 10)],
      'on another client': [stalled(), again(30_500, 200, { client: 'c2' })],
    },
    silent: {
      'not long enough': [stalled({}, 29_999), again(30_500, 10)],
      'a byte had come': [close('s', 45_000, { open_ts: T0, ...ABORTED, bytes: 1 }), again(46_000, 10)],
      'not known whether one had': [
        close('s', 45_000, { open_ts: T0, ...ABORTED, bytes: undefined }),
        again(46_000, 10),
      ],
      'repeated too late': [stalled(), again(40_001, 10)],
      'answered too late': [stalled(), again(30_500, 10_001)],
      'not answered': [stalled(), again(30_500, 10, { ...RESET, terminal: undefined, terminal_kind: undefined })],
      'opened before the first was cancelled': [stalled(), again(29_000, 1500)],
      'other arguments': [stalled(), again(30_500, 10, { args_digest: 'b' })],
      'unknown arguments': [stalled({ args_digest: undefined }), again(30_500, 10, { args_digest: undefined })],
      'another host': [stalled(), again(30_500, 10, { host: 'h2' })],
      'another server': [stalled(), again(30_500, 10, { server: 'srv2' })],
      'reset, not cancelled': [stalled({ by: 'peer', error: 'ECONNRESET' }), again(30_500, 10)],
      'not known when it opened': [stalled({ open_ts: undefined }), again(30_500, 10)],
    },
  },
});

test('silent_hang: the time is what the operator says, up to the 600 s after which a call is counted', () => {
  const hangs = (told: number, silent_hang_ms: number): number => {
    const policy = { ...DEFAULT_POLICY, thresholds: { ...DEFAULT_THRESHOLDS, silent_hang_ms } };
    const lines = [close('x', 0), reports(1), settle('x', told, 'error')];
    const found = runLines(lines, { policy }).findings('silent_hang');
    for (const { ts } of found) assert.equal(ts, T0 + silent_hang_ms);
    return found.length;
  };
  assert.deepEqual([hangs(5000, 5000), hangs(5001, 5000)], [0, 1]);
  assert.deepEqual([hangs(300_000, 300_000), hangs(300_001, 300_000)], [0, 1]);
  assert.deepEqual([hangs(599_999, 600_000), hangs(600_001, 600_000)], [0, 1]);
});

test('undelivered and collateral: each finding moves its own counter', () => {
  const signals = (lines: readonly Line[]) => {
    const { samples } = runLines(lines);
    return ['silent_hang', 'misattributed_timeout', 'never_answered', 'discarded_response'].map((signal) =>
      samples('tailfin_undelivered_total', { server: 'srv', signal }),
    );
  };
  assert.deepEqual(signals([close('x', 0), reports(1)]), [1, 0, 0, 0]);
  assert.deepEqual(signals(told(200_000, 'timeout')), [0, 1, 0, 0]);
  assert.deepEqual(signals([close('x', 0, { status: 202, ...EMPTY })]), [0, 0, 1, 0]);
  assert.deepEqual(signals(told(5000, 'timeout', ANSWERED)), [0, 0, 0, 1]);
  const { samples } = runLines([
    broken(500),
    during('x', 600, ABORTED),
    ...[700, 800].map((at) => settle(undefined, at, 'error', UNTOLD)),
  ]);
  assert.equal(samples('tailfin_collateral_failures_total', { server: 'srv', kind: 'sibling' }), 1);
  assert.equal(samples('tailfin_collateral_failures_total', { server: 'srv', kind: 'closed_client' }), 2);
});
