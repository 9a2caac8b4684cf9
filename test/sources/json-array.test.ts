/** The elements of a JSON array, found in its bytes, against JSON.parse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readJsonArray } from '../../src/sources/json-array.ts';
import { SEED } from '../support/property.ts';

/** The texts of the elements, or the byte where the array breaks. */
function elementsOf(text: string): string[] | number {
  const bytes = Buffer.from(text);
  const array = readJsonArray(bytes);
  const found: string[] = [];
  for (;;) {
    const step = array.next();
    if (step === 'fault') return array.end;
    if (step === 'end') return found;
    found.push(bytes.toString('utf8', array.start, array.end));
  }
}

const space = fc.constantFrom('', ' ', '\n', '\t\r\n ', '  ');

test('json array: the elements are those of JSON.parse, whatever stands between them (property)', () => {
  const element = fc.tuple(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(0, 2), space, space);
  fc.assert(
    fc.property(fc.array(element), space, space, fc.boolean(), (elements, before, after, bom) => {
      const inner = elements.map(([value, indent, left, right]) => left + JSON.stringify(value, null, indent) + right);
      const text = `${before}[${inner.join(',')}]${after}`;
      const found = elementsOf(bom ? `\uFEFF${text}` : text);
      assert.ok(Array.isArray(found), text);
      assert.deepEqual(
        found.map((each) => JSON.parse(each) as unknown),
        JSON.parse(text),
      );
    }),
    { seed: SEED, numRuns: 1000 },
  );
});

test('json array: what JSON.parse takes for an array is never refused, what it refuses is never whole (property)', () => {
  const soup = fc
    .array(fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', ' ', '1', 'null', '"a"', '{"b":[1,"]"]}'), {
      maxLength: 12,
    })
    .map((parts) => `[${parts.join('')}]`);
  let whole = 0;
  fc.assert(
    fc.property(soup, (text) => {
      let parsed: unknown;
      try {
        parsed = JSON.parse(text);
      } catch {
        parsed = undefined;
      }
      const found = elementsOf(text);
      if (parsed !== undefined) {
        whole++;
        assert.ok(Array.isArray(found), text);
        assert.deepEqual(
          found.map((each) => JSON.parse(each) as unknown),
          parsed,
        );
      } else if (Array.isArray(found)) {
        // Its frame is whole, then one of its elements is not.
        assert.throws(() => found.map((each) => JSON.parse(each) as unknown), SyntaxError, text);
      }
    }),
    { seed: SEED, numRuns: 20_000 },
  );
  assert.ok(whole > 100, `${whole} whole arrays`);
});

test('json array: where it breaks', () => {
  for (const [text, at] of [
    ['{}', 0],
    ['[1,2', 4],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['[] []', 3],
    ['["a', 3],
  ] as const)
    assert.equal(elementsOf(text), at, text);
  assert.deepEqual(elementsOf(' \n'), [], 'nothing at all is an empty batch');
});
