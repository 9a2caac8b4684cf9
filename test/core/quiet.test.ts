/** The ring of attempts that delivered at once: in order, found by exchange, whatever enters and leaves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createExchangeKey } from '../../src/core/model/exchange.ts';
import { hash53 } from '../../src/core/model/hash53.ts';
import type { Attempt } from '../../src/core/model/operation.ts';
import { IdBytes } from '../../src/core/scan/id-bytes.ts';
import { emptyAttempt } from '../../src/core/stages/attempt.ts';
import { Quiet } from '../../src/core/stages/quiet.ts';
import { SEED } from '../support/property.ts';

const HOST = 'home';
const NO_BYTES = new IdBytes();
const createQuiet = () => new Quiet(createExchangeKey(HOST), emptyAttempt);
let time = 0;
/** A delivered attempt; its time tells it apart when it is written down and read again. */
const attempt = (key: string): Attempt => {
  time++;
  return Object.assign(emptyAttempt(), { key, exchange: key, host: HOST, closeTs: time, judgedTs: time });
};
const oldest = (quiet: Quiet): number | undefined => (quiet.size() === 0 ? undefined : quiet.oldestTs());
const isFound = (quiet: Quiet, each: Attempt, hash: number): void => {
  const found = quiet.find(each.key, hash);
  assert.equal(found?.key, each.key);
  assert.equal(found?.judgedTs, each.judgedTs);
};

test('quiet: in order of arrival, and found while it is here', () => {
  const quiet = createQuiet();
  assert.equal(oldest(quiet), undefined);
  assert.equal(quiet.find('a', hash53('a')), undefined);
  const [a, b] = [attempt('a'), attempt('b')];
  quiet.push(a, hash53('a'), NO_BYTES);
  quiet.push(b, hash53('b'), NO_BYTES);
  assert.equal(oldest(quiet), a.judgedTs);
  isFound(quiet, b, hash53('b'));
  quiet.shift();
  assert.equal(quiet.find('a', hash53('a')), undefined);
  assert.equal(oldest(quiet), b.judgedTs);
  assert.equal(quiet.size(), 1);
});

test('quiet: keys of the same hash are told apart', () => {
  const quiet = createQuiet();
  const all = ['a', 'b', 'c'].map(attempt);
  for (const each of all) quiet.push(each, 7, NO_BYTES);
  for (const each of all) isFound(quiet, each, 7);
  quiet.shift();
  assert.equal(quiet.find('a', 7), undefined);
  isFound(quiet, all[2] as Attempt, 7);
  assert.equal(quiet.find('d', 7), undefined);
});

test('quiet: agrees with a list, over many times its size (property)', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ push: fc.nat(900), shift: fc.nat(900) }), { maxLength: 12 }), (steps) => {
      const quiet = createQuiet();
      let list: Attempt[] = [];
      let number = 0;
      for (const { push, shift } of steps) {
        for (let i = 0; i < push; i++) {
          const each = attempt(`x${number++}`);
          list.push(each);
          // Few hashes, so that searches run far.
          quiet.push(each, hash53(each.key) % 5000 || 1, NO_BYTES);
        }
        const gone = list.slice(0, shift);
        list = list.slice(shift);
        for (const each of gone) {
          assert.equal(oldest(quiet), each.judgedTs);
          quiet.shift();
        }
        assert.equal(quiet.size(), list.length);
        assert.equal(oldest(quiet), list[0]?.judgedTs);
        for (const each of list.slice(0, 50)) isFound(quiet, each, hash53(each.key) % 5000 || 1);
        for (const each of gone.slice(-50))
          assert.equal(quiet.find(each.key, hash53(each.key) % 5000 || 1), undefined, each.key);
      }
    }),
    { seed: SEED, numRuns: 60 },
  );
});
