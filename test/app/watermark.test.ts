/** The time of several sources: the least of them, never back, and who has said nothing yet holds it at the start at most. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createWatermark } from '../../src/app/watermark.ts';
import { SEED } from '../support/property.ts';

const NOTHING = Number.NEGATIVE_INFINITY;

test('watermark: one source is its own time', () => {
  const { advance } = createWatermark(['files'], 1000);
  assert.deepEqual([advance('files', NOTHING), advance('files', 5), advance('files', 2000)], [NOTHING, 5, 2000]);
});

test('watermark: the least of two; the slower one leads', () => {
  const { advance } = createWatermark(['files', 'http'], 0);
  advance('files', 1000);
  assert.equal(advance('http', 700), 700);
  assert.equal(advance('files', 1500), 700);
  assert.equal(advance('http', 1200), 1200);
  assert.equal(advance('http', 9000), 1500);
});

test('watermark: a source that has not spoken yet lets the past go by, and nothing after the start', () => {
  const { advance } = createWatermark(['files', 'http'], 1000);
  assert.equal(advance('http', NOTHING), NOTHING);
  assert.equal(advance('files', 400), 400, 'a backlog of files does not wait for senders');
  assert.equal(advance('files', 1000), 400);
  assert.equal(advance('files', 5000), 400);
  assert.equal(advance('http', 600), 600, 'what senders had kept comes first');
  assert.equal(advance('http', 6000), 5000);
});

test('watermark: nothing at all stays nothing', () => {
  const { advance } = createWatermark(['files', 'http'], 1000);
  assert.equal(advance('files', 2000), NOTHING);
});

test('watermark: an unknown source is a mistake of ours', () => {
  assert.throws(() => createWatermark(['files'], 0).advance('flies', 1), /no source flies/);
});

test('watermark: never back, never ahead of a source that has spoken (property)', () => {
  const step = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.nat(100), fc.constant(NOTHING)));
  fc.assert(
    fc.property(fc.array(step), fc.nat(100), (steps, startedAt) => {
      const { advance } = createWatermark(['a', 'b', 'c'], startedAt);
      const latest = new Map([...'abc'].map((name) => [name, NOTHING]));
      let before = NOTHING;
      for (const [name, mark] of steps) {
        latest.set(name, Math.max(latest.get(name)!, mark));
        const time = advance(name, mark);
        assert.ok(time >= before);
        const heard = [...latest.values()].filter((each) => each !== NOTHING);
        if (time > before) assert.ok(time <= Math.min(...heard));
        if (heard.length < 3) assert.ok(time < startedAt || time === NOTHING);
        else assert.equal(time, Math.max(before, Math.min(...heard)));
        before = time;
      }
    }),
    { seed: SEED },
  );
});
