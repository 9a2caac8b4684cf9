/** Bytes of JSON text, looked at four at a time: the words of a view are little-endian, so the first byte is the lowest. */

/** Bytes that can name a range of themselves as text (every byte one character), as Buffer does. */
export type TextBytes = Uint8Array & { latin1Slice(start: number, end: number): string };

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const ZERO = 0x30;
export const NINE = 0x39;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
/** `null`, `true` and `fals` as words. */
export const NULL = 0x6c6c756e;
export const TRUE = 0x65757274;
export const FALS = 0x736c6166;
export const E = 0x65;
/** The largest numbers of digits that fit a small integer and, with those, a safe one. */
export const FEW_DIGITS = 9;
export const MAX_DIGITS = 15;

export const mix = (hash: number, word: number): number => Math.imul(hash ^ word, 0x9e3779b1);

/** The high bit of the first byte that ends a plain text: a quote, a backslash, a control or no ASCII (bits above it may lie). */
export function endIn(word: number): number {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  return (
    (((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash) | ((word - 0x20202020) & ~word) | word) &
    0x80808080
  );
}

/** How many bytes of a word come before the lowest set bit of `end`. */
export const bytesBefore = (end: number): number => (31 - Math.clz32(end & -end)) >> 3;

/** The last one to three bytes of a text, in the high bytes of a word. */
export function tailOf(view: DataView, at: number, length: number): number {
  const rest = length & 3;
  return view.getInt32(at + length - rest, true) << (32 - 8 * rest);
}
