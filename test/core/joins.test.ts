/** Design section 5: which attempts belong to one operation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationFact } from '../../src/core/model/operation.ts';
import {
  ANSWERED,
  client,
  close,
  end,
  type Fields,
  type Line,
  open,
  RESET,
  runLines,
  settle,
} from '../support/build-event.ts';

const HTML = { content_type: 'text/html' } as const;

/** A second attempt that delivers a second later, beside the first. */
const again = (fields: Fields = {}, at = 1000): Line => close('y', at, { ...ANSWERED, ...fields });
const operationsOf = (lines: readonly Line[]): OperationFact[] =>
  [...runLines(lines).operations].sort((a, b) => a.ts - b.ts);
const resultsOf = (lines: readonly Line[]): string =>
  operationsOf(lines)
    .map(({ result }) => result)
    .join();

type Named<T> = Readonly<Record<string, T>>;

/** One operation or two, of a first attempt that broke at 0 and a second one. */
const JOINS: Named<readonly [operations: 1 | 2, first: readonly Line[], second: Fields, at?: number]> = {
  'the same call': [1, [], {}],
  'at the end of the window': [1, [], {}, 120_000],
  'after the window': [2, [], {}, 120_001],
  'another tool': [2, [], { target: 'other' }],
  'other arguments': [2, [], { args_digest: 'b' }],
  'another method': [2, [], { method: 'resources/read' }],
  'another server': [2, [], { server: 'other' }],
  'another host': [2, [], { host: 'other' }],
  'another client': [2, [], { client: 'c2' }],
  'an unknown client': [1, [], { client: undefined }],
  'the client was reconnected': [1, [client('reconnected', 100)], { client: 'c2' }],
  'the client was closed': [1, [client('closed', 100)], { client: 'c2' }],
  'the client was re-initialised': [1, [client('reinitialized', 100)], { client: 'c2' }],
  'the client was replaced again while the second one ran': [
    1,
    [client('reconnected', 100), client('reconnected', 1500)],
    { client: 'c2', open_ts: open('y', 1000).ts },
    2000,
  ],
  'the client was replaced too late': [2, [client('closed', 2000)], { client: 'c2' }],
  'another client was replaced': [2, [client('closed', 100, { client: 'c3' })], { client: 'c2' }],
  'a session deleted replaces nothing': [2, [client('session_deleted', 100)], { client: 'c2' }],
  'the rpc id does not matter': [1, [], { rpc_id: '77' }],
};

for (const [name, [count, between, second, at = 1000]] of Object.entries(JOINS))
  test(`join: ${name}`, () => {
    const lines = [close('x', 0, RESET), ...between, again(second, at)].sort((a, b) => a.ts - b.ts);
    assert.equal(operationsOf(lines).length, count);
  });

test('join: without a digest only what has no arguments', () => {
  const none = { args_digest: undefined };
  for (const method of ['tools/list', 'ping', 'server/discover', 'initialize'])
    assert.equal(
      resultsOf([close('x', 0, { ...RESET, ...none, method }), again({ ...none, method })]),
      'masked',
      method,
    );
  for (const method of ['tools/call', 'resources/read', 'custom/thing'])
    assert.equal(
      operationsOf([close('x', 0, { ...RESET, ...none, method }), again({ ...none, method })]).length,
      2,
      method,
    );
});

test('join: a request key decides, across clients and arguments; two keys are two requests', () => {
  const keyed = (request_key: string | undefined, more: Fields = {}) => ({ request_key, ...more });
  const pair = (first: Fields, second: Fields) =>
    operationsOf([close('x', 0, { ...RESET, ...first }), again(second)]).length;
  assert.equal(pair(keyed('k'), keyed('k', { client: 'c2', args_digest: 'b' })), 1);
  assert.equal(pair(keyed('k'), keyed('l')), 2);
  assert.equal(pair(keyed('k'), keyed(undefined)), 1);
  assert.equal(pair(keyed('k'), keyed('k', { host: 'other' })), 2);
});

test('join: the window runs from the last undelivered attempt, and a delivered one ends it', () => {
  const chain = [0, 100_000, 200_000, 300_000].map((at, i) => close(`x${i}`, at, RESET));
  const [operation, ...more] = operationsOf([...chain, again({}, 400_000), again({ exchange: 'z' }, 400_500)]);
  assert.deepEqual(
    [operation?.operation.attempts.length, operation?.edges.length, operation?.result],
    [5, 4, 'masked'],
  );
  assert.deepEqual(
    more.map(({ result }) => result),
    ['first_try'],
  );
});

test('join: an open attempt is only left when its caller was told timeout; the window runs from there', () => {
  const lines = (result: string, at: number) => [
    open('x', 0),
    settle('x', 1000, result),
    again({}, at),
    end('x', 400_000),
  ];
  assert.equal(operationsOf(lines('timeout', 121_000)).length, 1);
  assert.equal(operationsOf(lines('timeout', 121_001)).length, 2);
  assert.equal(operationsOf(lines('error', 2000)).length, 2);
});

test('join: steps of the protocol are no retries', () => {
  const round = { ...ANSWERED, result_type: 'input_required' };
  const STEPS: Named<readonly [first: Fields, second: Fields]> = {
    redirect: [{ ...HTML, status: 307 }, {}],
    '401': [{ ...HTML, status: 401 }, {}],
    '403': [{ ...HTML, status: 403 }, {}],
    'header mismatch': [{ ...ANSWERED, terminal_kind: 'error', status: 400, error_code: -32020 }, {}],
    'missing capability': [{ ...ANSWERED, terminal_kind: 'error', status: 400, error_code: -32021 }, {}],
    'unsupported version': [{ ...ANSWERED, terminal_kind: 'error', status: 400, error_code: -32022 }, {}],
    'an MRTR round': [round, { input_responses: true }],
  };
  for (const [name, [first, second]] of Object.entries(STEPS)) {
    const [operation, ...more] = operationsOf([close('x', 0, first), again(second)]);
    assert.deepEqual(
      [operation?.result, operation?.edges.length, operation?.nextAction, more.length],
      ['first_try', 0, null, 0],
      name,
    );
    assert.equal(operation?.operation.attempts.length, 2, name);
  }
  assert.equal(resultsOf([close('x', 0, round), again()]), 'first_try,first_try', 'a round needs input responses');
});
