/**
 * Finds the elements of a JSON array in its bytes, one after the other, so that a long one can be taken in slices and none is
 * built twice. It decides where an element ends and whether the array around the elements is whole; whether an element is JSON is
 * its reader's to say.
 */
import { behindBom, behindSpace, behindValue, CLOSE_BRACKET, COMMA, OPEN_BRACKET } from './json-bytes.ts';

export type ArrayStep = 'element' | 'end' | 'fault';

export interface JsonArray {
  /** The next element is `[start, end)`; after 'end' and 'fault' there is none, and `end` is where that was seen. */
  next(): ArrayStep;
  readonly start: number;
  readonly end: number;
}

export function readJsonArray(bytes: Buffer): JsonArray {
  const size = bytes.length;
  let at = behindBom(bytes);
  let start = 0;
  let isInside = false;
  let isFirst = true;

  const skipSpace = (): void => {
    at = behindSpace(bytes, at);
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
      at = behindValue(bytes, at);
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
