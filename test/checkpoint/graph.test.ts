/** Values as one graph of bytes: whatever is in it comes back the same, with the same objects shared; bytes that are no graph are an error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_SHAPES } from '../../src/app/checkpoint/graph-format.ts';
import { createGraphReader, NO_MORE } from '../../src/app/checkpoint/graph-reader.ts';
import { GraphWriter } from '../../src/app/checkpoint/graph-writer.ts';
import { holds } from '../support/property.ts';
import { bytesOf } from '../support/restart.ts';

function written(values: readonly unknown[]): Buffer {
  const writer = new GraphWriter();
  function* pieces() {
    for (const value of values) yield* writer.write(value);
    yield writer.end();
  }
  return bytesOf(pieces());
}
function read(bytes: Buffer): unknown[] {
  const reader = createGraphReader(bytes);
  const values: unknown[] = [];
  for (let value = reader.read(); value !== NO_MORE; value = reader.read()) values.push(value);
  return values;
}
const through = (...values: readonly unknown[]): unknown[] => read(written(values));

const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom('', '\ud800', 'é', 'tools/call'));
const leaves = fc.oneof(
  fc.constantFrom(null, undefined, true, false, 0, -0, -1, 127, 128, 2 ** 53 - 1, -(2 ** 53), 2 ** 53, 1e308, 0.1),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MIN_VALUE),
  fc.integer(),
  fc.double(),
  texts,
  fc.float64Array({ maxLength: 5 }),
  fc.uint8Array({ maxLength: 5 }),
  fc.uint32Array({ maxLength: 5 }),
);
const { graph } = fc.letrec<{ graph: unknown }>((tie) => ({
  graph: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaves,
    fc.array(tie('graph'), { maxLength: 5 }),
    fc.dictionary(texts, tie('graph'), { maxKeys: 5 }),
    fc.array(fc.tuple(leaves, tie('graph')), { maxLength: 4 }).map((pairs) => new Map(pairs)),
    fc.array(tie('graph'), { maxLength: 4 }).map((all) => new Set(all)),
    // Shared: the same object twice, and in a cycle.
    tie('graph').map((value) => ({ one: value, two: value })),
    tie('graph').map((value) => {
      const loop: unknown[] = [value];
      loop.push(loop);
      return loop;
    }),
  ),
}));

/** As numbers: which object is met where, in order. Of typed arrays each place has its own. */
function identities(value: unknown, seen = new Map<object, number>(), order: number[] = []): number[] {
  if (typeof value !== 'object' || value === null) return order;
  const known = ArrayBuffer.isView(value) ? undefined : seen.get(value);
  if (known !== undefined) {
    order.push(known);
    return order;
  }
  if (ArrayBuffer.isView(value)) return order;
  seen.set(value, seen.size);
  order.push(seen.size - 1);
  const inside = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : Object.values(value);
  for (const each of inside) identities(each, seen, order);
  return order;
}

const keysOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) ? Object.keys(value) : [];

holds(
  'what is written comes back: values, order of keys, and which object is which',
  400,
  [fc.array(graph)],
  (values) => {
    const back = through(...values);
    // Objects come back as plain ones; the generator's dictionaries have no prototype.
    assert.deepEqual(back, structuredClone(values));
    assert.deepEqual(back.map(keysOf), values.map(keysOf));
    assert.deepEqual(identities(back), identities(values));
  },
);

holds(
  'any bytes, and any change of a byte: an error, or a value',
  400,
  [fc.array(graph), fc.nat(), fc.nat(255)],
  (values, at, byte) => {
    const bytes = written(values);
    bytes[at % bytes.length] = byte;
    for (const each of [bytes, bytes.subarray(0, at % bytes.length)])
      try {
        read(each);
      } catch (error) {
        assert.ok(error instanceof Error);
      }
  },
);

test('thousands of typed arrays among texts, over many pieces', () => {
  const values = Array.from({ length: 4000 }, (_, i) => [
    `name ${i}`,
    Float64Array.of(i, i + 0.5),
    Uint8Array.of(i % 256),
    i,
  ]);
  assert.deepEqual(through(values), [values]);
});

test('a chain of 200,000 objects, and a list of as many: no recursion, no piece too large', () => {
  let chain: { next: unknown } = { next: null };
  for (let i = 0; i < 200_000; i++) chain = { next: chain };
  let [back] = through(chain) as [{ next: unknown } | null];
  let length = 0;
  for (; back !== null; back = back.next as typeof back) length++;
  assert.equal(length, 200_001);
  const list = Array.from({ length: 200_000 }, (_, i) => ({ i, text: `entry ${i}` }));
  assert.deepEqual(through(list), [list]);
});

test('more shapes than are remembered, one of many keys, a key that every object has', () => {
  const many = Array.from({ length: MAX_SHAPES + 50 }, (_, i) => ({ [`key ${i}`]: i }));
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
  const alike = [{ 'a\nb': 1 }, { a: 2, b: 3 }, { 'a\nb': 4 }, {}, { '': 5 }, { c: 6 }, { c: 7 }];
  assert.deepEqual(through(alike), [alike]);
  const proto = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
  const [shapes, again, wides, own] = through(many, many, [wide, wide, { ...wide }], proto) as [
    unknown,
    unknown,
    object[],
    object,
  ];
  assert.deepEqual(shapes, many);
  assert.equal(again, shapes, 'the same list');
  assert.deepEqual(wides, [wide, wide, wide]);
  assert.ok(wides[0] === wides[1] && wides[1] !== wides[2]);
  assert.deepEqual(Object.entries(own), Object.entries(proto));
  assert.equal(Object.getPrototypeOf(own), Object.prototype);
});

test('what is no plain value is refused', () => {
  for (const value of [() => 1, Symbol('x'), 1n, new BigUint64Array(1), { deep: [() => 1] }])
    assert.throws(() => written([value]), /cannot be kept/);
});
