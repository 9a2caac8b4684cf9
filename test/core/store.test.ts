/** Bounded state: what a full store gives up, and deadlines in the order of time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GenerationSet } from '../../src/core/generation-set.ts';
import type { Due } from '../../src/core/model/due.ts';
import { hash53 } from '../../src/core/model/hash53.ts';
import { BoundedMap, createStoreHealth, TimerQueue } from '../../src/core/store.ts';
import { SEED } from '../support/property.ts';

const names = ['a', 'b', 'c', 'd'] as const;

function createMap(cap: number) {
  const health = createStoreHealth();
  const evicted: string[] = [];
  const map = new BoundedMap<{ ts: number }>('clients', cap, health, ({ ts }, key) => evicted.push(`${key}=${ts}`));
  return { health, evicted, map };
}

test('BoundedMap: a new key at the cap gives up the oldest, counted and told', () => {
  const { health, evicted, map } = createMap(2);
  map.set('a', { ts: 1 });
  map.set('b', { ts: 2 });
  assert.deepEqual(evicted, []);
  map.set('c', { ts: 3 });
  assert.deepEqual(evicted, ['a=1']);
  assert.equal(map.size, 2);
  assert.equal(health.evictions.get('clients'), 1);
  assert.equal(health.sizes.get('clients')?.(), 2);
  assert.equal(map.get('a'), undefined);
  assert.ok(map.has('b') && map.has('c'));
});

test('BoundedMap: a key that is set again is the newest, and evicts nothing', () => {
  const { evicted, map } = createMap(2);
  map.set('a', { ts: 1 });
  map.set('b', { ts: 2 });
  map.set('a', { ts: 3 });
  assert.deepEqual(evicted, []);
  map.set('c', { ts: 4 });
  assert.deepEqual(evicted, ['b=2']);
  assert.deepEqual([...map.values()], [{ ts: 3 }, { ts: 4 }]);
});

test('BoundedMap: what was deleted makes room', () => {
  const { evicted, map } = createMap(2);
  map.set('a', { ts: 1 });
  map.set('b', { ts: 2 });
  assert.equal(map.delete('a'), true);
  assert.equal(map.delete('a'), false);
  map.set('c', { ts: 3 });
  assert.deepEqual(evicted, []);
});

test('BoundedMap: the evicted entry may be looked at, and may set others', () => {
  const health = createStoreHealth();
  const seen: boolean[] = [];
  const map: BoundedMap<{ ts: number }> = new BoundedMap('clients', 1, health, (_, key) => seen.push(map.has(key)));
  map.set('a', { ts: 1 });
  map.set('b', { ts: 2 });
  assert.deepEqual(seen, [false], 'it is gone when it is told');
  assert.equal(map.size, 1);
});

test('BoundedMap: expire forgets what was last set before, not at, the time', () => {
  const { evicted, health, map } = createMap(10);
  for (const [i, name] of names.entries()) map.set(name, { ts: i });
  map.set('a', { ts: 9 });
  map.expire(2);
  assert.deepEqual([...map.values()], [{ ts: 2 }, { ts: 3 }, { ts: 9 }]);
  map.expire(Number.POSITIVE_INFINITY);
  assert.equal(map.size, 0);
  assert.deepEqual(evicted, [], 'an age is no eviction');
  assert.equal(health.evictions.size, 0);
});

test('BoundedMap: never above its cap, and always the keys set last (property)', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g')),
      (cap, keys) => {
        const { map, evicted } = createMap(cap);
        let order: string[] = [];
        let given = 0;
        for (const [ts, key] of keys.entries()) {
          map.set(key, { ts });
          order = [...order.filter((each) => each !== key), key];
          if (order.length > cap) {
            order.shift();
            given++;
          }
          assert.ok(map.size <= cap);
        }
        assert.equal(evicted.length, given);
        assert.equal(map.size, order.length);
        for (const key of order) assert.ok(map.has(key), key);
      },
    ),
    { seed: SEED },
  );
});

test('GenerationSet: remembers at least the newest `cap` keys and holds at most twice as many (property)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(60)), (cap, keys) => {
      const health = createStoreHealth();
      const set = new GenerationSet('closed_ids', cap, health);
      const order: number[] = [];
      for (const number of keys) {
        const key = hash53(String(number));
        set.add(key);
        order.push(key);
        const size = health.sizes.get('closed_ids')?.() as number;
        assert.ok(size <= 2 * cap, `${size} > 2 * ${cap}`);
        const newest = [...new Set(order.toReversed())].slice(0, cap);
        for (const each of newest) assert.ok(set.has(each), `${each} of ${order.join()}`);
      }
      assert.equal(set.has(hash53('never')), false);
    }),
    { seed: SEED },
  );
});

test('GenerationSet: what is held is not forgotten, up to half a generation of it', () => {
  const held = new Set(['a', 'b', 'never added']);
  const set = new GenerationSet('closed_ids', 10, createStoreHealth(), () => held);
  for (const key of ['a', 'b', 'c']) set.add(hash53(key));
  for (let i = 0; i < 1000; i++) set.add(hash53(`x${i}`));
  assert.deepEqual(
    ['a', 'b', 'c', 'never added'].map((key) => set.has(hash53(key))),
    [true, true, false, false],
  );
  held.delete('a');
  for (let i = 0; i < 1000; i++) set.add(hash53(`y${i}`));
  assert.deepEqual([set.has(hash53('a')), set.has(hash53('b'))], [false, true]);
  for (let i = 0; i < 100; i++) held.add(`z${i}`);
  const health = createStoreHealth();
  const crowded = new GenerationSet('closed_ids', 10, health, () => held);
  for (let i = 0; i < 1000; i++) {
    crowded.add(hash53(`z${i % 100}`));
    assert.ok((health.sizes.get('closed_ids')?.() as number) <= 20);
    assert.ok(crowded.has(hash53(`z${i % 100}`)));
  }
});

test('hash53: a number of 53 bits, never 0, and different for keys that differ a little', () => {
  const seen = new Map<number, string>();
  for (let i = 0; i < 200_000; i++) {
    for (const key of [`host\n${i}`, `host\n${i.toString(36)}-a`]) {
      const hash = hash53(key);
      assert.ok(Number.isSafeInteger(hash) && hash > 0, key);
      assert.ok((seen.get(hash) ?? key) === key, `${key} and ${seen.get(hash)}`);
      seen.set(hash, key);
    }
  }
  assert.ok(hash53('') > 0);
});

interface Item extends Due {
  readonly name: number;
}
const item = (name: number): Item => ({ name, deadline: Number.POSITIVE_INFINITY, place: null });

test('TimerQueue: strictly before now, in order of deadlines, once each', () => {
  const queue = new TimerQueue<Item>('operations', createStoreHealth());
  const fired: number[] = [];
  for (const [name, at] of [30, 10, 20, 10].entries()) queue.schedule(Object.assign(item(name), { deadline: at }));
  const expire = (now: number) => queue.expire(now, ({ name }) => fired.push(name));
  expire(10);
  assert.deepEqual(fired, []);
  expire(10.5);
  assert.deepEqual(fired.toSorted(), [1, 3]);
  expire(Number.POSITIVE_INFINITY);
  assert.deepEqual(fired.slice(2), [2, 0]);
  expire(Number.POSITIVE_INFINITY);
  assert.equal(fired.length, 4);
});

test('TimerQueue: what is not due any more leaves at once, so that nothing is kept alive', () => {
  const queue = new TimerQueue<Item>('operations', createStoreHealth());
  const items = Array.from({ length: 1000 }, (_, name) => item(name));
  for (const [i, each] of items.entries()) queue.schedule(Object.assign(each, { deadline: (i * 7919) % 1000 }));
  assert.equal(queue.size, 1000);
  for (const each of items.filter(({ name }) => name % 3 === 0)) queue.cancel(each);
  for (const each of items.filter(({ name }) => name % 3 === 1))
    queue.schedule(Object.assign(each, { deadline: Number.POSITIVE_INFINITY }));
  assert.equal(queue.size, 333);
  const fired: number[] = [];
  queue.expire(Number.POSITIVE_INFINITY, ({ name }) => fired.push((name * 7919) % 1000));
  assert.equal(fired.length, 333);
  assert.deepEqual(
    fired,
    fired.toSorted((a, b) => a - b),
  );
  queue.cancel(items[0] as Item);
  assert.equal(queue.size, 0);
});

test('TimerQueue: an item that is put off while it fires is due again', () => {
  const queue = new TimerQueue<Item>('operations', createStoreHealth());
  const one = item(1);
  const fired: number[] = [];
  one.deadline = 10;
  queue.schedule(one);
  queue.expire(50, (each) => {
    fired.push(each.name);
    if (fired.length > 3) return;
    each.deadline = fired.length * 15;
    queue.schedule(each);
  });
  assert.deepEqual(fired, [1, 1, 1, 1], 'also within the same look');
});

test('TimerQueue: agrees with a sorted list, whatever is moved to and fro (property)', () => {
  const move = fc.record({ name: fc.nat(7), at: fc.oneof(fc.nat(100), fc.constant(Number.POSITIVE_INFINITY)) });
  const look = fc.record({ now: fc.nat(120) });
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: move }, look), { maxLength: 60 }), (steps) => {
      const queue = new TimerQueue<Item>('operations', createStoreHealth());
      const items = Array.from({ length: 8 }, (_, name) => item(name));
      const deadlines = new Map<number, number>();
      for (const step of steps) {
        if ('now' in step) {
          const expected = [...deadlines].filter(([, at]) => at < step.now).sort(([, a], [, b]) => a - b);
          const fired: [number, number][] = [];
          queue.expire(step.now, ({ name }) => fired.push([name, deadlines.get(name) as number]));
          assert.deepEqual(
            fired.map(([, at]) => at),
            expected.map(([, at]) => at),
          );
          assert.deepEqual(new Set(fired.map(([name]) => name)), new Set(expected.map(([name]) => name)));
          for (const [name] of expected) deadlines.delete(name);
        } else {
          const one = items[step.name] as Item;
          one.deadline = step.at;
          queue.schedule(one);
          deadlines.set(step.name, step.at);
        }
      }
    }),
    { seed: SEED, numRuns: 500 },
  );
});
