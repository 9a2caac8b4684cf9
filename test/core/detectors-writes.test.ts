/** Rules about calls that ran twice, on half a payload or under one id: what fires each, and what narrowly does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ANSWERED,
  client,
  close,
  end,
  type Fields,
  JSON_BODY,
  JSON_CUT,
  type Line,
  open,
  parse,
  policyOf,
  RESET,
  runLines,
  settle,
  T0,
} from '../support/build-event.ts';
import { detectorCases } from '../support/detector-cases.ts';

const between = (exchange: string, openAt: number, closeAt: number, fields: Fields = {}): Line =>
  close(exchange, closeAt, { open_ts: T0 + openAt, ...ANSWERED, ...fields });
const first = (fields: Fields = {}): Line => between('x', 0, 1000, fields);
const second = (openAt: number, fields: Fields = {}): Line =>
  between('y', openAt, openAt + 500, { rpc_id: '2', ...fields });
const left = (result = 'timeout', at = 2000): Line => settle('x', at, result);
const ran = { executed: true } as const;

/** Both calls with these fields, the caller of the first told `timeout`. */
const pair = (both: Fields): Line[] => [first(both), left(), second(2500, both)];

detectorCases({
  duplicate_in_flight_id: {
    fires: {
      overlapping: [between('x', 0, 1000), between('y', 999, 2000, { args_digest: 'b' })],
      'one within the other': [between('y', 100, 200), between('x', 0, 1000)],
      'a long call behind many short ones': [
        between('a', 10, 20),
        between('b', 30, 40, { rpc_id: '7' }),
        between('c', 50, 60, { rpc_id: '8' }),
        between('x', 0, 1000),
      ],
      'by their open lines': [open('x', 0), open('y', 5), end('x', 10, ANSWERED), end('y', 20, ANSWERED)],
      'neither was answered': [between('x', 0, 1000, RESET), between('y', 500, 1500, RESET)],
    },
    silent: {
      'one after the other': [between('x', 0, 1000), between('y', 1000, 2000)],
      'other ids': [between('x', 0, 1000), between('y', 500, 1500, { rpc_id: '2' })],
      'ids are not known': [between('x', 0, 1000, { rpc_id: undefined }), between('y', 5, 15, { rpc_id: undefined })],
      'another client': [between('x', 0, 1000), between('y', 500, 1500, { client: 'c2' })],
      'another host': [between('x', 0, 1000), between('y', 500, 1500, { host: 'h2' })],
      'clients are not known': [
        between('x', 0, 1000, { client: undefined }),
        between('y', 5, 15, { client: undefined }),
      ],
      'not known when the second opened': [between('x', 0, 1000), close('y', 500, ANSWERED)],
      'a redirect whose body ends late': [
        between('x', 0, 1000, { status: 307, content_type: null, terminal: undefined }),
        between('y', 500, 1500),
      ],
      'asked for authorisation, then sent again': [
        between('x', 0, 1000, { status: 401, content_type: null, terminal: undefined }),
        between('y', 500, 1500),
      ],
      'answered, though the stream stayed open': [
        between('x', 0, 9000, { terminal_ts: T0 + 100 }),
        between('y', 100, 200),
      ],
      notifications: [
        between('x', 0, 1000, { rpc_kind: 'notification' }),
        between('y', 500, 1500, { rpc_kind: 'notification' }),
      ],
    },
  },
  duplicate_execution_among_successes: {
    fires: {
      'after the caller was told timeout': [first(), left(), second(2500)],
      'after the caller was told cancelled': [first(), left('cancelled'), second(2500)],
      'told while the first was open': [
        open('x', 0),
        settle('x', 500, 'timeout'),
        end('x', 1000, ANSWERED),
        second(2500),
      ],
      'named by a cancellation': [
        open('x', 0),
        close('n', 500, { rpc_kind: 'notification', method: 'notifications/cancelled', cancel_of: 'x' }),
        end('x', 1000, ANSWERED),
        second(2500),
      ],
      overlapping: [first(), second(999)],
      'overlapping, the first ends last': [second(500), between('x', 0, 5000)],
      'the client was replaced in between': [first(), client('reconnected', 2000), second(2500, { client: 'c2' })],
      'the client was replaced while the first ran': [
        open('x', 0),
        client('closed', 500),
        second(600, { client: 'c2' }),
        end('x', 5000, ANSWERED),
      ],
      'the replaced client goes on in name': [first(), client('closed', 2000), client('closed', 90_000), second(2500)],
      'the same id of the client that came after it': [
        first(),
        client('closed', 2000),
        second(2500, { client: 'c2', rpc_id: '1' }),
      ],
      'at the edge of 120 s': [first(), left(), second(122_000)],
      'a tool error is a result': [first({ is_error: true }), left(), second(2500)],
      'declared idempotent only': pair({ annotations: { idempotent: true } }),
      'as JSON': pair(JSON_BODY),
    },
    silent: {
      'no cause': [first(), second(2500)],
      'later than 120 s': [first(), left(), second(122_001)],
      'the cause came after': [first(), second(2500), left('timeout', 9000)],
      'told something else': [first(), left('error'), second(2500)],
      'other arguments': [first(), left(), second(2500, { args_digest: 'b' })],
      'unknown arguments': pair({ args_digest: undefined }),
      'another tool': [first(), left(), second(2500, { target: 'other' })],
      'another server': [first(), left(), second(2500, { server: 'srv2' })],
      'another host': [first(), left(), second(2500, { host: 'h2' })],
      'another exchange of that name was left': [first(), settle('x', 2000, 'timeout', { host: 'h2' }), second(2500)],
      'another client that goes its own way': [first(), left(), second(500, { client: 'c2' })],
      'the same id': [first(), left(), second(2500, { rpc_id: '1' })],
      'an unknown id': [first(), left(), second(2500, { rpc_id: undefined })],
      'no tools/call': pair({ method: 'resources/read' }),
      'declared read-only': pair({ annotations: { read_only: true } }),
      'the first asked for input': [first({ result_type: 'input_required' }), left(), second(2500)],
      'the first brought an error': [first({ terminal_kind: 'error', error_code: -32603 }), left(), second(2500)],
      'the first brought nothing': [close('x', 1000), left(), second(2500)],
      'an idempotency key': pair({ idempotency_key: true }),
      'one after the other, not known when they opened': [
        close('x', 1000, ANSWERED),
        close('y', 1500, { ...ANSWERED, rpc_id: '2' }),
      ],
    },
  },
  executed_without_terminal: {
    fires: {
      'no evidence': [close('x', 0), settle('x', 1, 'ok', ran)],
      'a cut body': [close('x', 0, JSON_CUT), settle('x', 1, 'ok', ran)],
      'whatever the caller was told': [close('x', 0, RESET), settle('x', 1, 'error', ran)],
      'while it waits for a resume': [close('x', 0, { event_ids: 1 }), settle('x', 1, 'ok', ran)],
      'an answer to another id': [close('x', 0, { ...JSON_BODY, id_match: 'mismatch' }), settle('x', 1, 'ok', ran)],
      'told before the end': [open('x', 0), settle('x', 1, 'ok', ran), end('x', 2)],
    },
    silent: {
      'the answer was there': [close('x', 0, ANSWERED), settle('x', 1, 'ok', ran)],
      'whole JSON proves itself': [close('x', 0, JSON_BODY), settle('x', 1, 'ok', ran)],
      'not executed': [close('x', 0), settle('x', 1, 'ok', { executed: false })],
      'not known': [close('x', 0), settle('x', 1, 'ok')],
      'of no exchange': [close('x', 0), settle(undefined, 1, 'ok', ran)],
      'it never ended': [open('x', 0), settle('x', 1, 'ok', ran)],
      'the answer came behind the word': [open('x', 0), settle('x', 1, 'ok', ran), end('x', 2, ANSWERED)],
    },
  },
  repaired_arguments: {
    fires: {
      arguments: [parse(undefined, 0, { of: 'arguments', repaired: true })],
      'after it had failed': [parse('x', 0, { of: 'arguments', ok: false, repaired: true })],
    },
    silent: {
      'not repaired': [parse(undefined, 0, { of: 'arguments', repaired: false })],
      'not known': [parse(undefined, 0, { of: 'arguments', ok: false })],
    },
  },
});

test('duplicate_execution_among_successes: a tool that the operator confirmed as read-only may run twice', () => {
  const policy = policyOf({ srv: { isReadOnlyTool: (tool) => tool === 'tool' } });
  const found = (fields: Fields) =>
    runLines(pair(fields), { policy }).findings('duplicate_execution_among_successes').length;
  assert.deepEqual([found({}), found({ target: 'other' })], [0, 1]);
});

test('duplicate_execution_among_successes: each further run is one more', () => {
  const lines = [
    first(),
    left(),
    second(2500),
    settle('y', 4000, 'timeout'),
    between('z', 5000, 5500, { rpc_id: '3' }),
  ];
  assert.equal(runLines(lines).findings('duplicate_execution_among_successes').length, 2);
});
