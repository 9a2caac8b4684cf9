/** The JSON scanner against JSON.parse: the state at every prefix, the position of the error, however the bytes are cut into chunks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonScan } from '../../../src/tap/scan/json-scan.ts';
import { MAX_DEPTH } from '../../../src/tap/scan/nesting.ts';
import { judge } from '../../support/json-oracle.ts';
import { MESSAGES } from '../../support/mcp-messages.ts';
import { holds } from '../../support/property.ts';

const utf8 = new TextEncoder();

function scanned(bytes: Uint8Array, ...splits: readonly number[]): JsonScan {
  const scan = new JsonScan(undefined, true);
  let from = 0;
  for (const split of [...splits].sort((a, b) => a - b)) {
    scan.push(bytes.slice(from, split));
    from = split;
  }
  scan.push(bytes.slice(from));
  return scan;
}

function agrees(scan: JsonScan, bytes: Uint8Array, name: string): void {
  const expected = judge(bytes);
  const where = () => `${name}: ${JSON.stringify(new TextDecoder().decode(bytes.slice(-60)))}`;
  assert.equal(scan.state(), expected.state, where());
  assert.equal(scan.malformedAt !== undefined, expected.state === 'malformed', where());
  if (expected.at !== undefined) assert.equal(scan.malformedAt, expected.at, where());
}

test('the corpus is what it says: some fifty messages, valid JSON', () => {
  assert.ok(MESSAGES.length >= 40, `${MESSAGES.length} messages`);
  for (const { name, text } of MESSAGES) assert.equal(judge(utf8.encode(text)).state, 'complete', name);
});

test('every prefix of every message is what JSON.parse says', () => {
  let prefixes = 0;
  for (const { name, text } of MESSAGES) {
    const bytes = utf8.encode(text).subarray(0, 4000);
    const growing = new JsonScan(undefined, true);
    for (let end = 0; end <= bytes.length; end++, prefixes++) {
      if (end > 0) growing.push(bytes.slice(end - 1, end));
      const prefix = bytes.subarray(0, end);
      agrees(growing, prefix, `${name}, ${end} bytes one by one`);
      if (end % 7 === 0) agrees(scanned(prefix), prefix, `${name}, ${end} bytes at once`);
    }
  }
  assert.ok(prefixes > 15_000, `${prefixes} prefixes`);
});

test('texts of every kind are what JSON.parse says', () => {
  const TEXTS = [
    ...[
      '',
      ' ',
      '\n\t\r ',
      '\u00a0',
      '\v',
      '{}',
      '[]',
      ' {} ',
      '{} x',
      '{}{}',
      '[] ,',
      'null',
      'nul',
      'nulL',
      'nulll',
      'truefalse',
    ],
    ...[
      '0',
      '-0',
      '01',
      '00',
      '-',
      '-a',
      '1.',
      '1.5',
      '.5',
      '1e',
      '1e+',
      '1E-9',
      '1e5.',
      '+1',
      '--1',
      '1 2',
      '0x1',
      '12a',
      '1_0',
    ],
    ...[
      '"',
      '"a',
      '"a"',
      '"a" "',
      '"\\',
      '"\\x"',
      '"\\u',
      '"\\u12',
      '"\\u12g4"',
      '"\\ud800"',
      '"\\ud800\\udc00"',
      '"\t"',
      '"\u007f"',
    ],
    ...[
      '"\u2028"',
      "'a'",
      '{',
      '{"',
      '{"a',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '{"a":1,}',
      '{,}',
      '{"a"}',
      '{"a" 1}',
      '{a:1}',
    ],
    ...[
      '{"a":1 "b":2}',
      '{1:1}',
      '{"a":1]',
      '[',
      '[1',
      '[1,',
      '[1,]',
      '[,1]',
      '[1 2]',
      '[1}',
      ']',
      '}',
      ':',
      ',',
      '[[]',
      '[[]]',
      '[{}]',
    ],
    ...[
      '{"a":{"b":[1,{"c":null}]}}',
      '{"a":1,"a":2}',
      '{"__proto__":1}',
      'undefined',
      'NaN',
      'Infinity',
      '// x',
      '[1]//',
      '"\ud800"',
    ],
  ];
  for (const text of TEXTS) agrees(scanned(utf8.encode(text)), utf8.encode(text), JSON.stringify(text));
});

test('bytes that are no UTF-8 are text inside a string and errors outside, wherever they are cut', () => {
  const cases: readonly (readonly number[])[] = [
    [0x22, 0xff, 0x22],
    [0x22, 0xe2, 0x22],
    [0x22, 0xe2, 0x82],
    [0x22, 0xf0, 0x9f, 0x98],
    [0x22, 0xc3, 0x28, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xe2, 0x5c, 0x6e, 0x22],
    [0x5b, 0xff],
    [0xc3, 0xa9],
    [0x31, 0x80],
    [0xfe, 0xff],
  ];
  for (const bytes of cases) agrees(scanned(Uint8Array.from(bytes)), Uint8Array.from(bytes), bytes.join());
});

test('a byte order mark is dropped once, at the start of a body, however it is cut', () => {
  const marked = utf8.encode('\uFEFF{"id":1}');
  for (let split = 0; split <= marked.length; split++) assert.equal(scanned(marked, split).state(), 'complete');
  for (const text of ['\uFEFF', '\uFEFF ', '\uFEFF\uFEFF{}', '{"a":\uFEFF1}', '{}\uFEFF'])
    agrees(scanned(utf8.encode(text)), utf8.encode(text), JSON.stringify(text));
  for (const bytes of [[0xef], [0xef, 0xbb], [0xef, 0xbb, 0x7b], [0xef, 0x7b, 0x7d], [0xbb, 0xbf]])
    agrees(scanned(Uint8Array.from(bytes)), Uint8Array.from(bytes), bytes.join());
  const event = new JsonScan(undefined, false);
  event.push(marked);
  assert.equal(event.state(), 'malformed', 'the data of an event has no mark');
});

test('nesting is followed down to a bound, below which nothing is claimed', () => {
  const nested = (depth: number, closed: number) =>
    utf8.encode(`${'[{"a":'.repeat(depth / 2)}${'}]'.repeat(closed / 2)}`);
  const deep = MAX_DEPTH;
  assert.equal(scanned(utf8.encode('['.repeat(5000) + ']'.repeat(5000))).state(), 'complete');
  assert.equal(scanned(utf8.encode('['.repeat(5000) + ']'.repeat(4999))).state(), 'cut');
  assert.equal(scanned(utf8.encode(`${'['.repeat(33)}1${']'.repeat(32)}}`)).state(), 'malformed');
  assert.equal(scanned(nested(4000, 0)).state(), 'cut');
  assert.equal(scanned(utf8.encode('['.repeat(deep) + ']'.repeat(deep))).state(), 'complete');
  const below = scanned(utf8.encode('['.repeat(deep + 1)));
  assert.equal(below.state(), 'unknown');
  below.push(utf8.encode(']]]}'));
  assert.equal(below.state(), 'unknown');
});

test('a scanner that is reset knows nothing of the last document', () => {
  const scan = new JsonScan(undefined, true);
  for (const text of ['[[[', '"abc\\', '12', 'tru', '{"a":}', '\uFEFF1']) {
    scan.push(utf8.encode(text));
    scan.reset();
    assert.deepEqual([scan.state(), scan.bytes, scan.malformedAt], ['empty', 0, undefined], text);
    scan.push(utf8.encode('{"a":[1,"b"]}'));
    assert.equal(scan.state(), 'complete', text);
    scan.reset();
  }
});

holds(
  'any JSON value, cut anywhere, in any chunks',
  2000,
  [fc.jsonValue({ maxDepth: 4 }), fc.nat(4), fc.array(fc.nat(400), { maxLength: 6 }), fc.nat(400)],
  (value, indent, splits, cut) => {
    const bytes = utf8.encode(JSON.stringify(value, null, indent));
    agrees(scanned(bytes, ...splits), bytes, 'whole');
    const prefix = bytes.slice(0, cut % (bytes.length + 1));
    agrees(scanned(prefix, ...splits), prefix, 'prefix');
  },
);

holds(
  'any bytes, in any chunks',
  3000,
  [fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(40), { maxLength: 4 })],
  (bytes, splits) => agrees(scanned(bytes, ...splits), bytes, 'bytes'),
);
