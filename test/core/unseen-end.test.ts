/** `how: unknown`: somebody tells of a call, nobody saw its end on the wire. What follows from it, and what must not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../src/core/model/limits.ts';
import type { OperationFact } from '../../src/core/model/operation.ts';
import { ANSWERED, close, type Fields, type Line, runLines, sampleSum, settle, T0 } from '../support/build-event.ts';

/** All that the line of such a call can hold. */
const UNSEEN: Fields = {
  ...{ how: 'unknown', open_ts: undefined, by: undefined, bytes: undefined, events: undefined, cut: undefined },
  ...{ sent: undefined, status: undefined, content_type: undefined, framing: undefined },
};
const unseen = (exchange: string, at: number, fields: Fields = {}): Line =>
  close(exchange, at, { ...UNSEEN, ...fields });
const LIST = { method: 'tools/list', target: undefined, args_digest: undefined };

const operationsOf = (lines: readonly Line[]): OperationFact[] =>
  [...runLines(lines).operations].sort((a, b) => a.ts - b.ts);

const shown = (lines: readonly Line[]): unknown =>
  operationsOf(lines).map(({ result, nextAction, errorType, edges }) => [result, nextAction, errorType, edges.length]);

test('what an end that nobody saw makes of a tools/call', () => {
  const cases: Readonly<Record<string, readonly [Fields, unknown]>> = {
    'nothing more': [{}, ['unresolved', null, '', 0]],
    'an error': [{ error: 'Error' }, ['surfaced', 'confirm_outcome', '_OTHER', 0]],
    'a timeout': [{ error: 'TimeoutError' }, ['surfaced', 'confirm_outcome', 'timeout', 0]],
    'given up': [{ error: 'AbortError' }, ['cancelled', 'confirm_outcome', 'cancelled', 0]],
    'an HTTP status': [{ error: 'Error', status: 503 }, ['surfaced', 'confirm_outcome', 'http_5xx', 0]],
    'an HTTP status 4xx': [{ error: 'Error', status: 400 }, ['surfaced', 'send_normally', 'http_4xx', 0]],
    'its answer': [ANSWERED, ['first_try', null, '', 0]],
    'an error as its answer': [
      { ...ANSWERED, terminal_kind: 'error', error_code: -32602 },
      ['first_try', null, 'rpc_error', 0],
    ],
    'a tool error': [{ ...ANSWERED, is_error: true }, ['first_try', null, 'tool_error', 0]],
  };
  for (const [name, [fields, expected]] of Object.entries(cases))
    assert.deepEqual(shown([unseen('x', 0, fields)]), [expected], name);
});

test('only its answer makes a verdict: no close, no failure, no endpoint is counted without', () => {
  const named = ['tailfin_stream_closes_total', 'tailfin_exchange_failures_total', 'tailfin_endpoint_closes_total'];
  const countedIn = (fields: Fields): number[] => {
    const { samples } = runLines([unseen('x', 0, fields)]);
    return named.map((name) => samples(name));
  };
  assert.deepEqual(countedIn({}), [0, 0, 0]);
  assert.deepEqual(countedIn({ error: 'TimeoutError' }), [0, 0, 0]);
  assert.deepEqual(countedIn({ error: 'Error', status: 500 }), [0, 0, 0]);
  assert.deepEqual(countedIn(ANSWERED), [1, 0, 1]);
});

test('one that says nothing is no retry, and none follows it', () => {
  assert.deepEqual(shown([unseen('x', 0, LIST), unseen('y', 1000, LIST)]), [
    ['unresolved', null, '', 0],
    ['unresolved', null, '', 0],
  ]);
  assert.deepEqual(shown([unseen('x', 0, { ...LIST, error: 'Error' }), unseen('y', 1000, LIST)]), [
    ['surfaced', 'reissue_bounded', '_OTHER', 0],
    ['unresolved', null, '', 0],
  ]);
});

test('one that failed may be retried, by what is known of the retry', () => {
  const first = unseen('x', 0, { ...LIST, error: 'TimeoutError' });
  const answered = operationsOf([first, unseen('y', 1000, { ...LIST, ...ANSWERED })]);
  assert.deepEqual(
    answered.map(({ result, edges }) => [result, edges.map(({ after, outcome }) => [after, outcome])]),
    [['masked', [['timeout', 'delivered']]]],
  );
  const failed = operationsOf([first, unseen('y', 1000, { ...LIST, error: 'Error' })]);
  assert.deepEqual(
    failed.map(({ result, edges }) => [result, edges.map(({ after, outcome }) => [after, outcome])]),
    [['surfaced', [['timeout', 'failed']]]],
  );
});

test('its time is known where both ends are, and it is held as long as a delivered one', () => {
  const [operation] = operationsOf([unseen('x', 500, { open_ts: T0 })]);
  assert.equal(operation?.durationMs, 500);
  const { pipeline } = runLines([unseen('x', 0)], { finish: false });
  const count = (): number =>
    sampleSum(pipeline.cells.families(), 'tailfin_operations_total', { result: 'unresolved' });
  pipeline.tick(T0 + LIMITS.joinDeliveredMs);
  assert.equal(count(), 0);
  pipeline.tick(T0 + LIMITS.joinDeliveredMs + 1);
  assert.equal(count(), 1);
});

test('what its caller was told all the same decides', () => {
  assert.deepEqual(shown([unseen('x', 0), settle('x', 10, 'error')]), [['surfaced', 'confirm_outcome', '_OTHER', 0]]);
  assert.deepEqual(shown([unseen('x', 0), settle('x', 10, 'ok')]), [['unproven', 'confirm_outcome', '_OTHER', 0]]);
});
