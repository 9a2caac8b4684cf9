/** Bytes of JSON text, looked at 16 at a time. Reading may go past the end of a line: there is room behind every one. */
import { MASKS } from './layout';

export const QUOTE: u8 = 0x22;
export const COMMA: u8 = 0x2c;
export const MINUS: u8 = 0x2d;
export const ZERO: u8 = 0x30;
export const NINE: u8 = 0x39;
export const OPEN_BRACE: u8 = 0x7b;
export const CLOSE_BRACE: u8 = 0x7d;
export const LETTER_E: u8 = 0x65;
/** `null`, `true` and `fals` as words. */
export const NULL: u32 = 0x6c6c756e;
export const TRUE: u32 = 0x65757274;
export const FALS: u32 = 0x736c6166;

const BACKSLASH: i8 = 0x5c;
const FIRST_PLAIN: i8 = 0x20;
const SPREAD: u64 = 0x9e3779b97f4a7c15;

export function initMasks(): void {
  for (let row: usize = 0; row <= 16; row++) memory.fill(MASKS + row * 16, 0xff, row);
}

/** Address of the mask that keeps the first `bytes` of 16. */
export function maskAt(bytes: usize): usize {
  return MASKS + (bytes << 4);
}

/** A bit for each of 16 bytes that ends a plain text: a quote, a backslash, a control or no ASCII (negative as a signed byte). */
function endsAt(at: usize): i32 {
  const bytes = v128.load(at);
  const quotes = i8x16.eq(bytes, i8x16.splat(QUOTE as i8));
  const backslashes = i8x16.eq(bytes, i8x16.splat(BACKSLASH));
  return i8x16.bitmask(v128.or(v128.or(quotes, backslashes), i8x16.lt_s(bytes, i8x16.splat(FIRST_PLAIN))));
}

/** Where the text that begins at `at` has its closing quote; 0: it is no plain text, or has none before `last`. */
export function endOfText(at: usize, last: usize): usize {
  let ends = endsAt(at);
  while (ends === 0) {
    at += 16;
    if (at >= last) return 0;
    ends = endsAt(at);
  }
  at += ctz(ends);
  return at < last && load<u8>(at) === QUOTE ? at : 0;
}

/** 16 at most. */
function areFewSame(a: usize, b: usize, length: usize): bool {
  return !v128.any_true(v128.and(v128.xor(v128.load(a), v128.load(b)), v128.load(maskAt(length))));
}
function areManySame(a: usize, b: usize, length: usize): bool {
  const whole = length & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16) if (v128.any_true(v128.xor(v128.load(a + i), v128.load(b + i)))) return false;
  return areFewSame(a + i, b + i, length & 15);
}

/** Are so many bytes the same? Mostly there are few: what has no loop is compiled into where it is called. */
export function areSame(a: usize, b: usize, length: usize): bool {
  return length <= 16 ? areFewSame(a, b, length) : areManySame(a, b, length);
}

/** 32 bits, each of which may choose a place. */
export function hashOf(at: usize, length: usize, seed: i32): u32 {
  const whole = length & ~7;
  let hash: u64 = (((seed as u64) << 8) | (length as u64)) * SPREAD;
  let i: usize = 0;
  for (; i < whole; i += 8) {
    hash = (hash ^ load<u64>(at + i)) * SPREAD;
    hash ^= hash >> 32;
  }
  hash = (hash ^ (load<u64>(at + i) & load<u64>(maskAt(length & 7)))) * SPREAD;
  // The upper bits are the good ones.
  return (((hash ^ (hash >> 29)) * SPREAD) >> 32) as u32;
}
