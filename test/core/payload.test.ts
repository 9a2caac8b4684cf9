/** Parse lines (design section 7): result, size class, and the full length that the trend is taken over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIZE_CLASSES, sizeClass } from '../../src/core/measures/domains.ts';
import {
  ANSWERED,
  close,
  ENDPOINTS,
  type Fields,
  JSON_BODY,
  JSON_CUT,
  type Line,
  open,
  parse,
  runLines,
  settle,
} from '../support/build-event.ts';

const BAD = { ok: false } as const;
const KIB = 1024;

test('size classes: the class holds its lower bound', () => {
  const bounds = [1, 4, 8, 16, 32, 64, 128, 1024].map((kib) => kib * KIB);
  assert.equal(sizeClass(0), '<1KiB');
  for (const [i, bound] of bounds.entries()) {
    assert.equal(sizeClass(bound - 1), SIZE_CLASSES[i]);
    assert.equal(sizeClass(bound), SIZE_CLASSES[i + 1]);
  }
  assert.equal(sizeClass(Number.MAX_SAFE_INTEGER), '>=1MiB');
});

const RESULTS: readonly (readonly [name: string, result: string, exchange: Fields, line: Fields])[] = [
  ['good', 'ok', ANSWERED, {}],
  ['good, of a cut body', 'ok', JSON_CUT, {}],
  ['error at the end', 'cut', ANSWERED, { ...BAD, at_end: true }],
  ['error at the end, whatever its position', 'cut', ANSWERED, { ...BAD, at_end: true, at: 1, bytes: 100 }],
  ['position at the end', 'cut', ANSWERED, { ...BAD, at: 100, bytes: 100 }],
  ['position behind the end', 'cut', ANSWERED, { ...BAD, at: 101, bytes: 100 }],
  ['position inside', 'malformed', ANSWERED, { ...BAD, at: 99, bytes: 100 }],
  ['position inside, of a cut body', 'malformed', JSON_CUT, { ...BAD, at: 99, bytes: 100 }],
  ['no position, whole', 'malformed', ANSWERED, BAD],
  ['no position, JSON cut', 'cut', JSON_CUT, BAD],
  ['no position, JSON empty', 'cut', { ...JSON_BODY, json: 'empty', bytes: 0, cut: 'none' }, BAD],
  ['no position, SSE cut mid', 'cut', { cut: 'mid' }, BAD],
  ['no position, nothing came', 'cut', { bytes: 0, cut: 'none' }, BAD],
];

for (const [name, result, exchange, line] of RESULTS)
  test(`parse result: ${name} is ${result}`, () => {
    const after = runLines([close('x', 0, exchange), parse('x', 5, line)]);
    const before = runLines([open('x', -10), parse('x', -5, line), close('x', 0, exchange)]);
    for (const { samples } of [after, before]) {
      assert.equal(samples('tailfin_parse_attempts_total'), 1);
      assert.equal(samples('tailfin_parse_attempts_total', { server: 'srv', of: 'result', result }), 1);
    }
  });

test('parse result: a line without an exchange, or of one that nobody knows, counts all the same', () => {
  const { samples } = runLines([
    parse(undefined, 0, { of: 'arguments', bytes: 10 }),
    parse(undefined, 1, { ...BAD, of: 'arguments', bytes: 10 }),
    parse('never', 2, { ...BAD, at_end: true, bytes: 10 }),
  ]);
  assert.equal(samples('tailfin_parse_attempts_total', { of: 'arguments', result: 'ok' }), 1);
  assert.equal(samples('tailfin_parse_attempts_total', { of: 'arguments', result: 'malformed' }), 1);
  assert.equal(samples('tailfin_parse_attempts_total', { of: 'result', result: 'cut' }), 1);
  assert.equal(samples('tailfin_parse_bytes_total', { of: 'arguments', result: 'ok' }), 10);
  assert.equal(samples('tailfin_length_trend_unknown_total'), 2);
});

const LENGTH = { content_length: 9 * KIB } as const;
const SIZES: readonly (readonly [name: string, size: string, exchange: Fields, line: Fields])[] = [
  ['expected_bytes', '4-8KiB', LENGTH, { ...BAD, bytes: 100, expected_bytes: 5 * KIB }],
  ['else Content-Length', '8-16KiB', LENGTH, { ...BAD, bytes: 100 }],
  ['identity is no encoding', '8-16KiB', { ...LENGTH, content_encoding: 'identity' }, { ...BAD, bytes: 100 }],
  ['never under an encoding', '<1KiB', { ...LENGTH, content_encoding: 'gzip' }, { ...BAD, bytes: 100 }],
  ['else the bytes', '1-4KiB', {}, { ...BAD, bytes: 2 * KIB }],
  ['a null is absent', '1-4KiB', { content_length: null }, { ...BAD, bytes: 2 * KIB, expected_bytes: null }],
];

for (const [name, size, exchange, line] of SIZES)
  test(`size class: ${name}`, () => {
    const { samples } = runLines([close('x', 0, { ...JSON_CUT, ...exchange }), parse('x', 5, line)]);
    assert.equal(samples('tailfin_parse_attempts_total', { size_class: size }), 1);
    assert.equal(samples('tailfin_parse_bytes_total', { result: 'cut' }), line.bytes);
  });

/** [ok samples, sum of their log2, failed samples, sum of theirs, failures of unknown length]. */
function trendOf(lines: readonly Line[]): number[] {
  const { samples } = runLines(lines);
  const of = (result: string) => [
    samples('tailfin_length_trend_samples_total', { of: 'result', result }),
    samples('tailfin_length_trend_log2_bytes_total', { of: 'result', result }),
  ];
  const squared = samples('tailfin_length_trend_log2_bytes_squared_total');
  const [ok, okSum, failed, failedSum] = [...of('ok'), ...of('failed')] as [number, number, number, number];
  if (ok + failed === 1) assert.equal(squared, (okSum + failedSum) ** 2);
  return [ok, okSum, failed, failedSum, samples('tailfin_length_trend_unknown_total')];
}

const failed = (at: number, line: Fields = {}, exchange: Fields = {}): Line[] => [
  close('x', at, { ...JSON_CUT, open_ts: undefined, ...exchange }),
  parse('x', at + 5, { ...BAD, at_end: true, bytes: 100, ...line }),
];
const retried = (at: number, line: Fields = {}, exchange: Fields = {}): Line[] => [
  close('y', at, { ...JSON_BODY, ...ANSWERED, endpoint: ENDPOINTS[1], ...exchange }),
  parse('y', at + 5, { bytes: 4096, ...line }),
];

test('trend: a good parse is a sample of its bytes', () => {
  assert.deepEqual(trendOf([close('x', 0, ANSWERED), parse('x', 5, { bytes: 256 })]), [1, 8, 0, 0, 0]);
  assert.deepEqual(trendOf([parse(undefined, 5, { bytes: 1 })]), [1, 0, 0, 0, 0]);
  assert.deepEqual(trendOf([parse(undefined, 5, { bytes: 0 })]), [1, 0, 0, 0, 0]);
});

test('trend: a good parse of unknown length is no sample', () => {
  assert.deepEqual(trendOf([close('x', 0, ANSWERED), parse('x', 5, { bytes: undefined })]), [0, 0, 0, 0, 0]);
  assert.deepEqual(trendOf([...failed(0), ...retried(1000, { bytes: undefined })]), [0, 0, 0, 0, 1]);
});

test('trend: a failure counts with its full length, from the nearest evidence', () => {
  assert.deepEqual(trendOf(failed(0, { expected_bytes: 512 }, LENGTH)), [0, 0, 1, 9, 0]);
  assert.deepEqual(trendOf(failed(0, {}, { content_length: 1024 })), [0, 0, 1, 10, 0]);
  assert.deepEqual(trendOf(failed(0, {}, { content_length: 1024, content_encoding: 'gzip' })), [0, 0, 0, 0, 1]);
  assert.deepEqual(trendOf(failed(0)), [0, 0, 0, 0, 1]);
});

test('trend: a failure learns its length from a later attempt of the same operation and the same payload', () => {
  assert.deepEqual(trendOf([...failed(0), ...retried(1000)]), [1, 12, 1, 12, 0]);
  const message = trendOf([...failed(0), ...retried(1000, { of: 'message' })]);
  assert.deepEqual(message.slice(2), [0, 0, 1], 'another payload');
  const other = trendOf([...failed(0), ...retried(1000, {}, { args_digest: 'b' })]);
  assert.deepEqual(other.slice(2), [0, 0, 1], 'another operation');
  const late = trendOf([...failed(0), ...retried(120_001, {}, { open_ts: undefined })]);
  assert.deepEqual(late.slice(2), [0, 0, 1], 'after the retry window');
  const earlier = trendOf([
    close('w', 0, { ...JSON_BODY, status: 503 }),
    parse('w', 5, { bytes: 4096 }),
    ...failed(1000),
  ]);
  assert.deepEqual(earlier.slice(2), [0, 0, 1], 'not from an earlier one');
});

test('trend: a parse line that comes after the operation was counted knows no length', () => {
  const lines = [close('x', 0, { ...JSON_BODY, ...ANSWERED, ...LENGTH }), parse('x', 30_001, { ...BAD, bytes: 100 })];
  assert.deepEqual(trendOf(lines), [0, 0, 0, 0, 1]);
  assert.equal(runLines(lines).operation('x').result, 'first_try');
});

test('join: a parse line counts against a delivered attempt for 30 s, inclusive', () => {
  const lines = (at: number) => [close('x', 0, { ...JSON_BODY, ...ANSWERED }), parse('x', at, { ...BAD, bytes: 100 })];
  assert.equal(runLines(lines(30_000)).operation('x').result, 'surfaced');
  assert.equal(runLines(lines(30_001)).operation('x').result, 'first_try');
});

test('join: parse and settle lines join an undelivered attempt for 600 s, inclusive', () => {
  const lines = (at: number) => [close('x', 0), settle('x', at, 'ok')];
  assert.equal(runLines(lines(600_000)).operation('x').result, 'unproven');
  assert.equal(runLines(lines(600_001)).operation('x').result, 'surfaced');
});

test('join: payload lines that come before the first line of their exchange wait 30 s', () => {
  const lines = (at: number) => [
    parse('x', 0, { ...BAD, at_end: true }),
    close('x', at, { ...JSON_BODY, ...ANSWERED }),
  ];
  assert.equal(runLines(lines(30_000)).operation('x').result, 'surfaced');
  assert.equal(runLines(lines(30_001)).operation('x').result, 'first_try');
  for (const at of [30_000, 30_001]) assert.equal(runLines(lines(at)).samples('tailfin_parse_attempts_total'), 1);
});
