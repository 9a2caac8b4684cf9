/** The rate of evidence, on a clock of our own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTokenBucket } from '../../src/app/token-bucket.ts';
import { holds } from '../support/property.ts';

test('a burst of ten seconds, then the rate; what is not used comes back', () => {
  let now = 0;
  const bucket = createTokenBucket(50, () => now);
  const taken = (count: number) => Array.from({ length: count }, () => bucket.take('a')).filter(Boolean).length;
  assert.equal(taken(10_000), 500);
  now += 500;
  assert.equal(taken(10_000), 25);
  now += 3_600_000;
  assert.equal(taken(10_000), 500);
});

test('in a storm the first of each kind in a second passes', () => {
  let now = 0;
  const bucket = createTokenBucket(1, () => now);
  for (let i = 0; i < 1000; i++) bucket.take('storm');
  assert.equal(bucket.take('storm'), false);
  assert.equal(bucket.take('rare'), true);
  assert.equal(bucket.take('rare'), false);
  now += 999;
  assert.equal(bucket.take('rare'), false);
  assert.equal(bucket.take('other'), true);
  now += 1;
  assert.equal(bucket.take('storm'), true, 'the token of the second');
  assert.equal(bucket.take('rare'), true);
});

holds(
  'never more than burst + rate * time + one a second for each kind',
  200,
  [
    fc.integer({ min: 1, max: 100 }),
    fc.array(fc.tuple(fc.nat(400), fc.constantFrom('a', 'b', 'c')), { maxLength: 2000 }),
  ],
  (rate, steps) => {
    let now = 0;
    const bucket = createTokenBucket(rate, () => now);
    let taken = 0;
    for (const [ms, kind] of steps) {
      now += ms;
      if (bucket.take(kind)) taken++;
    }
    const seconds = now / 1000;
    assert.ok(taken <= 10 * rate + rate * seconds + 3 * (seconds + 1), `${taken} in ${seconds} s`);
    assert.ok(taken >= Math.min(steps.length, 10 * rate));
  },
);
