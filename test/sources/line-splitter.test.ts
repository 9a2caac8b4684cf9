import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLineSplitter, type LineReceiver } from '../../src/sources/line-splitter.ts';

const origin = { source: 'app', writer: 'w', host: 'h' };
const MAX = 64;

type Seen = ['line', string, number, number] | ['reject', string, number, number] | ['invalidUtf8'];

function recorder() {
  const seen: Seen[] = [];
  const sink: LineReceiver = {
    line(text, from, line, offset) {
      assert.equal(from, origin);
      seen.push(['line', text, line, offset]);
      return 0;
    },
    reject: (reason, _, line, offset) => void seen.push(['reject', reason, line, offset]),
    invalidUtf8: () => void seen.push(['invalidUtf8']),
  };
  return { seen, sink };
}

function split(chunks: readonly Buffer[], finish: 'end' | 'discard' | 'none' = 'end') {
  const { seen, sink } = recorder();
  const splitter = createLineSplitter({ maxLineBytes: MAX, origin });
  for (const chunk of chunks) {
    const reused = Buffer.from(chunk);
    splitter.push(reused, sink);
    reused.fill('#'); // the reader uses its buffer again
  }
  const before = { ...splitter.position(), pending: splitter.pendingBytes() };
  if (finish !== 'none') splitter[finish](sink);
  return { seen, before, after: { ...splitter.position(), pending: splitter.pendingBytes() } };
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const nuls = (count: number) => '\0'.repeat(count);
const BOM = [0xef, 0xbb, 0xbf];
const long = (length: number) => `{${'x'.repeat(length - 2)}}`;

const CASES: readonly { name: string; input: Buffer; seen: Seen[]; finish?: 'end' | 'discard' }[] = [
  { name: 'nothing', input: bytes(''), seen: [] },
  { name: 'one line', input: bytes('{}\n'), seen: [['line', '{}', 1, 0]] },
  {
    name: 'offsets and line numbers',
    input: bytes('{"a":1}\n{"b":"é"}\n{}\n'),
    seen: [
      ['line', '{"a":1}', 1, 0],
      ['line', '{"b":"é"}', 2, 8],
      ['line', '{}', 3, 19],
    ],
  },
  {
    name: 'unterminated last line',
    input: bytes('{}\n{"a":1}'),
    seen: [
      ['line', '{}', 1, 0],
      ['line', '{"a":1}', 2, 3],
    ],
  },
  {
    name: 'unterminated last line that will never be whole',
    finish: 'discard',
    input: bytes('{}\n{"a":'),
    seen: [
      ['line', '{}', 1, 0],
      ['reject', 'incomplete', 2, 3],
    ],
  },
  { name: 'unfinished blank', finish: 'discard', input: bytes(`{}\n \t${nuls(3)}`), seen: [['line', '{}', 1, 0]] },
  {
    name: 'CRLF',
    input: bytes('{}\r\n{}\r\n'),
    seen: [
      ['line', '{}', 1, 0],
      ['line', '{}', 2, 4],
    ],
  },
  { name: 'one CR is dropped, not two', input: bytes('a\r\r\n'), seen: [['line', 'a\r', 1, 0]] },
  { name: 'CR inside a line', input: bytes('a\rb\n'), seen: [['line', 'a\rb', 1, 0]] },
  { name: 'unterminated CR', input: bytes('{}\r'), seen: [['line', '{}', 1, 0]] },
  { name: 'blank lines are counted', input: bytes('\n \t\n\r\n\v\f\n{}\n'), seen: [['line', '{}', 5, 9]] },
  { name: 'a no-break space is not blank', input: bytes('\u00a0\n'), seen: [['line', '\u00a0', 1, 0]] },
  { name: 'a control character is not blank', input: bytes('\x01\n'), seen: [['line', '\x01', 1, 0]] },
  { name: 'NUL run before a line', input: bytes(`${nuls(9)}{}\n`), seen: [['line', '{}', 1, 0]] },
  {
    name: 'NUL run behind a line',
    input: bytes(`{}${nuls(9)}\n{}\n`),
    seen: [
      ['line', '{}', 1, 0],
      ['line', '{}', 2, 12],
    ],
  },
  { name: 'NUL run before CRLF', input: bytes(`{}${nuls(3)}\r\n`), seen: [['line', '{}', 1, 0]] },
  { name: 'only NULs', input: bytes(`${nuls(MAX * 3)}\n${nuls(2)}\r\n{}\n`), seen: [['line', '{}', 3, MAX * 3 + 5]] },
  { name: 'NUL inside a line stays', input: bytes('{"a":"\0"}\n'), seen: [['line', '{"a":"\0"}', 1, 0]] },
  {
    name: 'NUL run over the limit',
    input: bytes(`${nuls(MAX * 9)}{}${nuls(MAX * 9)}\n`),
    seen: [['line', '{}', 1, 0]],
  },
  { name: 'NUL run over the limit inside', input: bytes(`a${nuls(MAX)}b\n`), seen: [['reject', 'oversize', 1, 0]] },
  {
    name: 'BOM',
    input: bytes(BOM, '{}\n', BOM, '{}\n'),
    seen: [
      ['line', '{}', 1, 0],
      ['line', '{}', 2, 6],
    ],
  },
  { name: 'BOM behind a NUL run', input: bytes(nuls(2), BOM, '{}\n'), seen: [['line', '{}', 1, 0]] },
  { name: 'only a BOM', input: bytes(BOM, '\n'), seen: [] },
  { name: 'BOM inside a line stays', input: bytes('a\ufeff\n'), seen: [['line', 'a\ufeff', 1, 0]] },
  { name: 'exactly the limit', input: bytes(`${long(MAX)}\n`), seen: [['line', long(MAX), 1, 0]] },
  { name: 'exactly the limit and CRLF', input: bytes(`${long(MAX)}\r\n`), seen: [['line', long(MAX), 1, 0]] },
  {
    name: 'one byte over the limit',
    input: bytes(`{}\n${long(MAX + 1)}\n{}\n`),
    seen: [
      ['line', '{}', 1, 0],
      ['reject', 'oversize', 2, 3],
      ['line', '{}', 3, MAX + 5],
    ],
  },
  {
    name: 'far over the limit',
    input: bytes(`${long(MAX * 9)}\n{}\n`),
    seen: [
      ['reject', 'oversize', 1, 0],
      ['line', '{}', 2, MAX * 9 + 1],
    ],
  },
  { name: 'unterminated over the limit', input: bytes(long(MAX + 1)), seen: [['reject', 'oversize', 1, 0]] },
  {
    name: 'discarded over the limit',
    finish: 'discard',
    input: bytes(long(MAX + 2)),
    seen: [['reject', 'oversize', 1, 0]],
  },
  {
    name: 'invalid UTF-8 is reported once per line, neighbours are not touched',
    input: bytes('{"é":1}\n"', [0xff], 'a', [0xc3], '"\n{"é":2}\n'),
    seen: [['line', '{"é":1}', 1, 0], ['invalidUtf8'], ['line', '"\ufffda\ufffd"', 2, 9], ['line', '{"é":2}', 3, 15]],
  },
  {
    name: 'UTF-8 cut by the line end',
    input: bytes('a', [0xe2, 0x82], '\n'),
    seen: [['invalidUtf8'], ['line', 'a\ufffd', 1, 0]],
  },
  { name: 'too long and invalid', input: bytes([0xff], long(MAX), '\n'), seen: [['reject', 'oversize', 1, 0]] },
];

for (const { name, input, seen, finish = 'end' } of CASES) {
  test(`lines: ${name}`, () => {
    assert.deepEqual(split([input], finish).seen, seen, 'in one chunk');
    for (let at = 0; at <= input.length; at++) {
      assert.deepEqual(split([input.subarray(0, at), input.subarray(at)], finish).seen, seen, `cut at byte ${at}`);
    }
    const single = Array.from(input, (byte) => Buffer.from([byte]));
    assert.deepEqual(split(single, finish).seen, seen, 'byte by byte');
  });
}

test('lines: the chunks make no difference', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{}',
      '{"a":"€"}',
      '\n',
      '\r\n',
      '\r',
      ' ',
      '\0',
      '\0\0\0',
      'x',
      'é',
      '😀',
      '\ufeff',
      long(MAX),
      'y'.repeat(MAX - 1),
    ),
    fc.uint8Array({ maxLength: 3 }),
  );
  const input = fc
    .array(piece, { maxLength: 40 })
    .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  const cuts = fc.array(fc.nat(400), { maxLength: 12 });
  fc.assert(
    fc.property(input, cuts, fc.constantFrom('end', 'discard', 'none'), (whole, at, finish) => {
      const edges = [0, ...at.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      const chunks = edges.slice(1).map((edge, i) => whole.subarray(edges[i], edge));
      assert.deepEqual(split(chunks, finish), split([whole], finish));
    }),
    { numRuns: 1000 },
  );
});

test('lines: the position is behind the last whole line', () => {
  assert.deepEqual(split([bytes('{}\n\n{"a"')]), {
    seen: [
      ['line', '{}', 1, 0],
      ['line', '{"a"', 3, 4],
    ],
    before: { offset: 4, line: 3, pending: 4 },
    after: { offset: 8, line: 3, pending: 0 },
  });
  // What was rejected is behind the position too, or a restart would count it again; while it lasts it is not.
  assert.deepEqual(split([bytes(`{}\n${long(MAX * 2)}`)], 'none').before, {
    offset: 3,
    line: 2,
    pending: MAX * 2,
  });
  assert.deepEqual(split([bytes(long(MAX * 2)), bytes('\n')], 'none').before, {
    offset: MAX * 2 + 1,
    line: 2,
    pending: 0,
  });
});

test('lines: reading goes on from a position', () => {
  const input = bytes('{"a":1}\n{"b":2}\n{"c":3}\n');
  const { seen, sink } = recorder();
  const splitter = createLineSplitter({ maxLineBytes: MAX, origin, startOffset: 8, startLine: 2 });
  splitter.push(input.subarray(8), sink);
  assert.deepEqual(seen, [
    ['line', '{"b":2}', 2, 8],
    ['line', '{"c":3}', 3, 16],
  ]);
  assert.deepEqual(splitter.position(), { offset: 24, line: 4 });
});

test('lines: an endless line and an endless NUL run cost no memory', () => {
  const maxLineBytes = 1024 * 1024;
  for (const [fill, rejects] of [
    ['x', [['reject', 'oversize', 1, 0]]],
    ['\0', []],
  ] as const) {
    const chunk = Buffer.alloc(256 * 1024, fill);
    const { seen, sink } = recorder();
    const splitter = createLineSplitter({ maxLineBytes, origin });
    let peak = 0;
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 256; i++) {
      splitter.push(chunk, sink);
      if (i % 8 === 0) peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    splitter.push(Buffer.from('\n{}\n'), sink);
    assert.deepEqual(seen, [...rejects, ['line', '{}', 2, 256 * chunk.length + 1]]);
    assert.deepEqual(splitter.position(), { offset: 256 * chunk.length + 4, line: 3 });
    // Growing twofold leaves the smaller buffers to the collector.
    assert.ok(peak <= 3 * maxLineBytes, `held ${peak} bytes`);
  }
});
