/**
 * Steps over JSON in its bytes without building anything: where a value ends, by its quotes and brackets alone. Whether it is JSON
 * inside is its reader's to say.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const BOM = [0xef, 0xbb, 0xbf];

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export const behindBom = (bytes: Buffer): number => (BOM.every((byte, i) => bytes[i] === byte) ? BOM.length : 0);

export function behindSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at])) at++;
  return at;
}

/** From a quote to behind the one that closes it; the end of the input where none does. */
function behindString(bytes: Buffer, from: number): number {
  for (let i = from + 1; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) return i + 1;
  }
  return bytes.length;
}

/** Behind the value at `from`. `isMember`: of an object, so that a bare word ends before its closing brace too. */
export function behindValue(bytes: Buffer, from: number, isMember = false): number {
  let depth = 0;
  for (let i = from; i < bytes.length; ) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      i = behindString(bytes, i);
      if (depth === 0) return i;
      continue;
    }
    if (depth === 0) {
      if (byte === COMMA || byte === CLOSE_BRACKET || isSpace(byte)) return i;
      if (isMember && byte === CLOSE_BRACE) return i;
    }
    i++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth <= 0) return i;
  }
  return bytes.length;
}

/** Behind the key at `from`, or -1 where none is. */
export const behindKey = (bytes: Buffer, from: number): number =>
  bytes[from] === QUOTE ? behindString(bytes, from) : -1;
