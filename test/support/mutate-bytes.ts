/** Ways to break a body: flipped bits, lost and doubled parts, cuts, parts of other messages, wrong escapes. All by dice. */
import type { Dice } from './random.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const PIECES = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u',
    '\\u00',
    '\\"',
    '\\\\',
    '\\n',
    '0',
    '9',
    '-',
    '.',
    'e',
    'E+',
    ' ',
    '\n',
    '\r',
    '\t',
  ],
  ...[
    '\u0000',
    '\u001f',
    'é',
    '😀',
    '\uFEFF',
    'null',
    'tru',
    'false',
    '-0',
    '1e999',
    '{}',
    '[]',
    '""',
    '"id":7,',
    '"id":"7",',
    '"id":null,',
  ],
  ...[
    '"method":"x",',
    '"result":{},',
    '"error":null,',
    '"error":{"code":-1},',
    '"isError":true,',
    '"content":[],',
    '"type":"text",',
  ],
  ...['"text":"{}",', '"resultType":"x",', '"code":1.5,', '"params":{"requestId":7},', '},{', ']}', '}]'],
].map(encode);
const RAW = [[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xef, 0xbb]].map((bytes) => Uint8Array.from(bytes));

const joined = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

type Change = (bytes: Uint8Array, roll: Dice, corpus: readonly Uint8Array[]) => Uint8Array;
const CHANGES: readonly Change[] = [
  (bytes, roll) => {
    const copy = bytes.slice();
    const at = roll.int(bytes.length);
    copy[at] = (copy[at] as number) ^ (1 << roll.int(8));
    return copy;
  },
  (bytes, roll) => bytes.slice(0, roll.int(bytes.length + 1)),
  (bytes, roll) => bytes.slice(roll.int(bytes.length)),
  (bytes, roll) => {
    const at = roll.int(bytes.length);
    return joined(bytes.subarray(0, at), bytes.subarray(at + 1 + roll.int(8)));
  },
  (bytes, roll) => {
    const at = roll.int(bytes.length);
    return joined(bytes.subarray(0, at), bytes.subarray(at, at + 1 + roll.int(30)), bytes.subarray(at));
  },
  (bytes, roll) => {
    const at = roll.int(bytes.length);
    const piece = roll.chance(0.9) ? roll.pick(PIECES) : roll.pick(RAW);
    return joined(bytes.subarray(0, at), piece, bytes.subarray(at + (roll.chance(0.3) ? piece.length : 0)));
  },
  // Behind a comma or an opening bracket, where a piece keeps the document valid more often than not.
  (bytes, roll) => {
    const at = bytes.indexOf(roll.pick([0x2c, 0x7b, 0x5b]), roll.int(bytes.length)) + 1;
    return joined(bytes.subarray(0, at), roll.pick(PIECES), bytes.subarray(at));
  },
  (bytes, roll, corpus) => {
    const from = roll.pick(corpus);
    const at = roll.int(bytes.length);
    const start = roll.int(from.length);
    return joined(bytes.subarray(0, at), from.subarray(start, start + roll.int(60)), bytes.subarray(at));
  },
];

/** One of the bodies, unchanged or changed up to three times. */
export function mutatedBody(corpus: readonly Uint8Array[], roll: Dice): Uint8Array {
  let bytes = roll.pick(corpus);
  for (let changes = roll.int(4); changes > 0 && bytes.length > 0; changes--)
    bytes = roll.pick(CHANGES)(bytes, roll, corpus);
  return bytes;
}

/** The same bytes in a few chunks of their own memory. */
export function inChunks(bytes: Uint8Array, roll: Dice): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = roll.chance(0.5) ? bytes.length : 1 + roll.int(roll.chance(0.5) ? 3 : 200);
    chunks.push(bytes.slice(at, at + size));
    at += size;
  }
  return chunks;
}
