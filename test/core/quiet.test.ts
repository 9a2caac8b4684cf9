/** The ring of attempts that delivered at once: in order, found by exchange, whatever enters and leaves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Attempt } from '../../src/core/model/operation.ts';
import { createQuiet } from '../../src/core/stages/quiet.ts';
import { hash53 } from '../../src/core/store.ts';
import { SEED } from '../support/property.ts';

/** All that the ring looks at. */
const attempt = (key: string): Attempt => ({ key }) as Attempt;

test('quiet: in order of arrival, and found while it is here', () => {
  const quiet = createQuiet();
  assert.equal(quiet.oldest(), undefined);
  assert.equal(quiet.find('a', hash53('a')), undefined);
  const [a, b] = [attempt('a'), attempt('b')];
  quiet.push(a, hash53('a'));
  quiet.push(b, hash53('b'));
  assert.equal(quiet.oldest(), a);
  assert.equal(quiet.find('b', hash53('b')), b);
  quiet.shift();
  assert.equal(quiet.find('a', hash53('a')), undefined);
  assert.equal(quiet.oldest(), b);
  assert.equal(quiet.size, 1);
});

test('quiet: keys of the same hash are told apart', () => {
  const quiet = createQuiet();
  const all = ['a', 'b', 'c'].map(attempt);
  for (const each of all) quiet.push(each, 7);
  for (const each of all) assert.equal(quiet.find(each.key, 7), each);
  quiet.shift();
  assert.equal(quiet.find('a', 7), undefined);
  assert.equal(quiet.find('c', 7), all[2]);
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
          quiet.push(each, hash53(each.key) % 5000 || 1);
        }
        const gone = list.slice(0, shift);
        list = list.slice(shift);
        for (const each of gone) {
          assert.equal(quiet.oldest(), each);
          quiet.shift();
        }
        assert.equal(quiet.size, list.length);
        assert.equal(quiet.oldest(), list[0]);
        for (const each of list.slice(0, 50)) assert.equal(quiet.find(each.key, hash53(each.key) % 5000 || 1), each);
        for (const each of gone.slice(-50))
          assert.equal(quiet.find(each.key, hash53(each.key) % 5000 || 1), undefined, each.key);
      }
    }),
    { seed: SEED, numRuns: 60 },
  );
});
