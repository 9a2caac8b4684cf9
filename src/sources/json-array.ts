/**
 * Finds the elements of a JSON array in its bytes, one after the other, so that a long one can be taken in slices and none is
 * built twice. It decides where an element ends and whether the array around the elements is whole; whether an element is JSON is
 * its reader's to say.
 */
export type ArrayStep = 'element' | 'end' | 'fault';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BOM = [0xef, 0xbb, 0xbf];

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export interface JsonArray {
  /** The next element is `[start, end)`; after 'end' and 'fault' there is none, and `end` is where that was seen. */
  next(): ArrayStep;
  readonly start: number;
  readonly end: number;
}

export function readJsonArray(bytes: Buffer): JsonArray {
  const size = bytes.length;
  let at = BOM.every((byte, i) => bytes[i] === byte) ? BOM.length : 0;
  let start = 0;
  let isInside = false;
  let isFirst = true;

  const skipSpace = (): void => {
    while (at < size && isSpace(bytes[at])) at++;
  };
  /** From a quote to behind the one that closes it; the end of the input where none does. */
  const skipString = (from: number): number => {
    for (let i = from + 1; i < size; i++) {
      const byte = bytes[i];
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) return i + 1;
    }
    return size;
  };
  /** Behind the value at `at`. */
  const skipValue = (): number => {
    let depth = 0;
    for (let i = at; i < size; ) {
      const byte = bytes[i] as number;
      if (byte === QUOTE) {
        i = skipString(i);
        if (depth === 0) return i;
        continue;
      }
      if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET || isSpace(byte))) return i;
      i++;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth <= 0) return i;
    }
    return size;
  };
  const finish = (): ArrayStep => {
    skipSpace();
    return at === size ? 'end' : 'fault';
  };

  return {
    next() {
      skipSpace();
      if (!isInside) {
        // Nothing at all is an empty batch.
        if (at === size) return isFirst ? 'end' : 'fault';
        if (!isFirst || bytes[at] !== OPEN_BRACKET) return 'fault';
        isInside = true;
        at++;
        skipSpace();
      }
      if (bytes[at] === CLOSE_BRACKET) {
        at++;
        return finish();
      }
      if (!isFirst) {
        if (bytes[at] !== COMMA) return 'fault';
        at++;
        skipSpace();
      }
      isFirst = false;
      start = at;
      at = skipValue();
      // A place without a value, or an array that is cut: what follows an element must be there.
      return at === start || at === size ? 'fault' : 'element';
    },
    get start() {
      return start;
    },
    get end() {
      return at;
    },
  };
}
