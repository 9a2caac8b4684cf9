/** Keyed digests, the key and its sources, and JSON in one form. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import fc from 'fast-check';
import { canonicalJson, createDigester } from '../../src/tap/digest.ts';
import { loadKey, MIN_KEY_BYTES } from '../../src/tap/key.ts';
import { holds } from '../support/property.ts';

const key = (text: string) => new Uint8Array(Buffer.from(text));

test('a digest is the first 64 bits of the HMAC-SHA256, as text; the key has a name of its own', () => {
  const { digest, keyId } = createDigester(key('0123456789abcdef'));
  const whole = createHmac('sha256', '0123456789abcdef').update('session 7 ä').digest();
  assert.equal(digest('session 7 ä'), whole.subarray(0, 8).toString('base64url'));
  assert.match(digest('x'), /^[\w-]{11}$/);
  assert.match(keyId, /^[\w-]{11}$/);
  assert.equal(createDigester(key('0123456789abcdef')).keyId, keyId);
  const other = createDigester(key('another key 1234'));
  assert.notEqual(other.keyId, keyId);
  assert.notEqual(other.digest('x'), digest('x'));
});

holds(
  'digests are those of node:crypto, for keys and texts of any length and any characters',
  3000,
  [
    fc.uint8Array({ minLength: 16, maxLength: 100 }),
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.nat(1100).map((length) => 'é'.repeat(length)),
      fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
    ),
  ],
  (bytes, text) => {
    const whole = createHmac('sha256', bytes).update(text).digest();
    assert.equal(createDigester(bytes).digest(text), whole.toString('base64url', 0, 8));
  },
);

/** loadKey without what an earlier call shared. */
function load(file?: string) {
  setEnvironmentData('tailfin.tap.key', undefined as never);
  const said: string[] = [];
  return { key: loadKey({ file, complain: (text) => said.push(text) }), said };
}

test('a key file: the same key in every pod, without the line end that an editor adds', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-key-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key');
  writeFileSync(file, '0123456789abcdef0123456789abcdef\n');
  const first = load(file);
  assert.deepEqual(first.key, key('0123456789abcdef0123456789abcdef'));
  assert.deepEqual(first.said, []);
  assert.deepEqual(getEnvironmentData('tailfin.tap.key'), first.key);
  const binary = Buffer.from(Array.from({ length: 32 }, (_, i) => 0xa0 + i));
  writeFileSync(file, binary);
  assert.deepEqual(load(file).key, new Uint8Array(binary));
});

test('a key file that is not there, too short or no file: one line that names it and not its content, a random key', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-key-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const short = join(folder, 'short');
  writeFileSync(short, 'secret-secret\n\n\n\n\n\n');
  mkdirSync(join(folder, 'dir'));
  for (const [file, what] of [
    [join(folder, 'none'), /\(ENOENT\)/],
    [short, new RegExp(`shorter than ${MIN_KEY_BYTES} bytes`)],
    [join(folder, 'dir'), /no regular file/],
  ] as const) {
    const [a, b] = [load(file), load(file)];
    assert.equal(a.key.length, 32);
    assert.notDeepEqual(a.key, b.key);
    assert.equal(a.said.length, 1);
    assert.match(a.said[0]!, what);
    assert.ok(a.said[0]!.includes(file) && !a.said[0]!.includes('secret'));
  }
});

test('a random key where none is named, and the one that a parent thread shared where there is one', () => {
  const { key: first, said } = load();
  assert.deepEqual(said, []);
  assert.equal(first.length, 32);
  assert.deepEqual(loadKey({ file: '/nonexistent', complain: assert.fail }), first);
  assert.notDeepEqual(load().key, first);
});

/** Its members in another order, all the way down. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, part]) => [name, shuffled(part)]),
  );
}

holds(
  'canonical JSON: equal for equal values whatever the order, the same value, different for others',
  2000,
  [fc.jsonValue(), fc.jsonValue()],
  (a, b) => {
    // What is on the wire: -0 is 0 there.
    const wire = JSON.parse(JSON.stringify(a)) as unknown;
    assert.equal(canonicalJson(a), canonicalJson(shuffled(a)));
    assert.deepEqual(JSON.parse(canonicalJson(a)), wire);
    const isSame =
      JSON.stringify(shuffled(shuffled(wire))) === JSON.stringify(shuffled(shuffled(JSON.parse(JSON.stringify(b)))));
    if (isSame) assert.equal(canonicalJson(a), canonicalJson(b));
    else if (canonicalJson(a) === canonicalJson(b)) assert.deepEqual(wire, JSON.parse(JSON.stringify(b)));
  },
);

test('canonical JSON reads a value as the wire would carry it', () => {
  for (const [value, text] of [
    [{ b: 1, a: [undefined, Number.NaN, -0, Number.POSITIVE_INFINITY] }, '{"a":[null,null,0,null],"b":1}'],
    [{ a: undefined, b: () => 1, c: Symbol('s') }, '{}'],
    [{ 10: 'x', 9: 'y', a: null }, '{"10":"x","9":"y","a":null}'],
    [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [new Number(3), '3'],
    [JSON.parse('{"__proto__":{"x":1},"a":2}'), '{"__proto__":{"x":1},"a":2}'],
    [undefined, 'null'],
  ] as const)
    assert.equal(canonicalJson(value), text);
});
