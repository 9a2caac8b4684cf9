/** Holes in `seq`: what is missing, what is only late, and a writer that begins afresh. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../src/core/model/limits.ts';
import { createSequence } from '../../src/core/stages/sequence.ts';
import { createStoreHealth } from '../../src/core/store.ts';
import { close, gap, type Line, open, runLines } from '../support/build-event.ts';
import { SEED } from '../support/property.ts';

function create() {
  const health = createStoreHealth();
  const restarted: string[] = [];
  const missing = new Map<string, number>();
  const sequence = createSequence(
    {
      missing: (source, count) => missing.set(source, (missing.get(source) ?? 0) + count),
      restarted: (writer) => restarted.push(writer),
    },
    health,
  );
  /** [seq, ts] of one writer, then the end of time. */
  const feed = (...lines: readonly (readonly [seq: number, ts: number])[]) => {
    for (const [seq, ts] of lines) sequence.push('w', seq, ts, 's');
    return missing.get('s') ?? 0;
  };
  const finish = () => {
    sequence.tick(Number.POSITIVE_INFINITY);
    return missing.get('s') ?? 0;
  };
  const holes = () => health.sizes.get('seq_holes')?.() as number;
  return { sequence, health, missing, restarted, feed, finish, holes };
}

test('sequence: without holes nothing is missing, wherever it starts', () => {
  for (const first of [0, 1, 41]) {
    const { feed, finish, restarted } = create();
    feed([first, 0], [first + 1, 0], [first + 2, 0]);
    assert.equal(finish(), 0);
    assert.deepEqual(restarted, []);
  }
});

test('sequence: a hole is missing after the hold, not before', () => {
  const { sequence, feed, missing, holes } = create();
  feed([1, 1000], [5, 2000]);
  sequence.tick(2000 + LIMITS.seqHoleMs);
  assert.equal(missing.get('s'), undefined);
  assert.equal(holes(), 1);
  sequence.tick(2001 + LIMITS.seqHoleMs);
  assert.equal(missing.get('s'), 3);
  assert.equal(holes(), 0);
});

test('sequence: lines that come late are not missing, from either end or the middle of a hole', () => {
  const { feed, finish, holes } = create();
  feed([0, 0], [10, 10]);
  feed([1, 11], [9, 12], [5, 13]);
  assert.equal(holes(), 2, 'split in the middle');
  feed([4, 14], [2, 15], [3, 16]);
  assert.equal(holes(), 1);
  assert.equal(finish(), 3, '6, 7 and 8 never came');
});

test('sequence: too late is missing already, and counted once', () => {
  const { sequence, feed, finish } = create();
  feed([0, 0], [2, 100]);
  sequence.tick(200 + LIMITS.seqHoleMs);
  assert.equal(feed([1, 300 + LIMITS.seqHoleMs]), 1);
  assert.equal(finish(), 1);
});

test('sequence: a line delivered twice fills nothing and misses nothing', () => {
  const { feed, finish } = create();
  feed([0, 0], [0, 1], [1, 2], [1, 3], [3, 4], [3, 5], [1, 6]);
  assert.equal(finish(), 1);
});

test('sequence: 0 starts afresh: holes are settled, the writer is told, numbers count from there', () => {
  const { feed, finish, restarted } = create();
  feed([5, 0], [8, 1]);
  assert.equal(feed([0, 2]), 2);
  assert.deepEqual(restarted, ['w']);
  feed([1, 3], [3, 4]);
  assert.equal(finish(), 3);
  assert.deepEqual(restarted, ['w']);
});

test('sequence: writers and sources are told apart', () => {
  const { sequence, missing } = create();
  for (const [writer, seq, source] of [
    ['a', 0, 's'],
    ['b', 7, 't'],
    ['a', 1, 's'],
    ['b', 9, 't'],
    ['a', 4, 's'],
  ] as const)
    sequence.push(writer, seq, 0, source);
  sequence.tick(Number.POSITIVE_INFINITY);
  assert.deepEqual([...missing].sort(), [
    ['s', 2],
    ['t', 1],
  ]);
});

test('sequence: more holes than there is room for are counted at once', () => {
  const { feed, finish, holes, health, missing } = create();
  feed([0, 0]);
  for (let i = 1; i <= LIMITS.seqHoles + 10; i++) feed([2 * i, i]);
  assert.equal(holes(), LIMITS.seqHoles);
  assert.equal(missing.get('s'), 10);
  assert.equal(health.evictions.get('seq_holes'), 10);
  assert.equal(finish(), LIMITS.seqHoles + 10);
});

test('sequence: a writer that is given up settles its holes', () => {
  const { sequence, feed, missing, holes } = create();
  feed([0, 0], [5, 1]);
  for (let i = 0; i < LIMITS.writers; i++) sequence.push(`other${i}`, 0, 2, 's');
  assert.equal(missing.get('s'), 4);
  assert.equal(holes(), 0);
});

test('sequence: what never came is missing, whatever the order of what did (property)', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }), (numbers) => {
      const { feed, finish, restarted } = create();
      feed([0, 0], ...numbers.map((seq, i) => [seq, i] as const));
      assert.equal(finish(), Math.max(0, ...numbers) - numbers.length);
      assert.deepEqual(restarted, []);
    }),
    { seed: SEED },
  );
});

test('pipeline: seq 0 gives up what the writer left open, and only that', () => {
  const lines: Line[] = [
    open('a', 0, { writer: 'w', seq: 7 }),
    open('b', 10, { writer: 'v', seq: 7, args_digest: 'b' }),
    close('c', 1000, { writer: 'w', seq: 0, args_digest: 'c' }),
    close('b', 2000, { writer: 'v', seq: 8, args_digest: 'b' }),
  ];
  const run = runLines(lines);
  assert.equal(run.samples('tailfin_exchanges_expired_total', { reason: 'writer_gone' }), 1);
  assert.equal(run.operation('a').result, 'unresolved');
  assert.deepEqual(run.verdicts.map(({ exchange }) => exchange.id).sort(), ['b', 'c']);
});

test('pipeline: lines without seq and gap lines', () => {
  const { samples } = runLines([
    close('a', 0),
    close('b', 1, { seq: 3 }),
    gap(2, 5),
    close('c', 3, { seq: 6 }),
    gap(4, 0),
  ]);
  assert.equal(samples('tailfin_events_missing_total', { source: 'files' }), 7);
  assert.equal(samples('tailfin_events_total'), 5);
});
