/**
 * The byte work of the line scanner (src/core/scan): a line as writers send it - flat, printable ASCII, no escapes, no blanks, declared
 * fields only, each once - to what differs from the line before. It knows no names and no strings, only slots. At any doubt it gives
 * up, and the line takes the long way. AssemblyScript: TypeScript for WebAssembly (docs/decisions/0021-scanner.md).
 */
import {
  CLOSE_BRACE,
  COMMA,
  endOfText,
  FALS,
  initMasks,
  LETTER_E,
  MINUS,
  NINE,
  NULL,
  OPEN_BRACE,
  QUOTE,
  TRUE,
  ZERO,
} from './bytes';
import { begin, dropAll, end, fresh, known, number, text, word } from './changes';
import { isAt, Key, search, startKey } from './keys';
import {
  IS_FALSE,
  IS_ID,
  IS_LONG,
  IS_NULL,
  IS_TRUE,
  KIND_BOOL,
  KIND_COUNT,
  KIND_ID,
  KIND_INT,
  KIND_TEXT,
  MAX_TEXT_BYTES,
  PRESENT,
  TYPES,
} from './layout';
import { holds, isNew, kindOf, placeOf } from './texts';

export { reset } from './changes';
export { addKey } from './keys';
export {
  INTS,
  IS_ABSENT,
  IS_FALSE,
  IS_ID,
  IS_LONG,
  IS_NEW,
  IS_NULL,
  IS_NUMBER,
  IS_OWN,
  IS_TRUE,
  KIND_BOOL,
  KIND_COUNT,
  KIND_ID,
  KIND_INT,
  KIND_NEVER,
  KIND_TEXT,
  OTHER_SIZE,
  OTHERS,
  PRESENT,
  TEXT_PLACES,
  TEXTS,
  TYPES,
} from './layout';
export { forget } from './texts';

/** The largest number of digits that every such number is safe with. */
const MAX_DIGITS: usize = 15;
/** Bytes behind this address are free: lines stand there, with room behind them (`PAST_END`). */
export const FREE: usize = __heap_base;
export const PAST_END: usize = 64;

initMasks();

/** Each of these reads a value that begins at `at` and returns where it ends, or 0: it gave up. */
function readId(slot: i32, at: usize, last: usize, maxBytes: usize): usize {
  const to = endOfText(at, last);
  if (to === 0 || to === at || to - at > maxBytes) return 0;
  text(slot, IS_ID, at, to - at);
  return to;
}

/** Whether `readText` has told its change. */
let isTold = false;

/** A text that is another than last time; where it is known, its place is that of the key now. */
function readText(key: Key, at: usize, last: usize): usize {
  const slot = key.slot;
  isTold = true;
  const to = endOfText(at, last);
  if (to === 0) return 0;
  const length = to - at;
  if (length > MAX_TEXT_BYTES) text(slot, IS_LONG, at, length);
  else {
    const place = placeOf(slot, at, length);
    key.place = place;
    isTold = isNew;
    if (isNew) fresh(slot, place, at, length);
  }
  return to;
}

/** A whole number, without sign but for `KIND_INT`. */
function readNumber(key: Key, at: usize): usize {
  const kind = key.kind;
  if (kind !== KIND_COUNT && kind !== KIND_INT) return 0;
  const isNegative = load<u8>(at) === MINUS;
  if (isNegative && kind !== KIND_INT) return 0;
  const from = isNegative ? at + 1 : at;
  let to = from;
  let value: i64 = 0;
  for (let byte = load<u8>(to); byte >= ZERO && byte <= NINE; byte = load<u8>(++to)) {
    if (to - from >= MAX_DIGITS) return 0;
    value = value * 10 + ((byte - ZERO) as i64);
  }
  // No digits at all, a leading zero, or -0.
  if (to === from || (load<u8>(from) === ZERO && (to - from > 1 || isNegative))) return 0;
  number(key.slot, isNegative ? -value : value);
  return to;
}

/**
 * The line in [start, stop). Returns how many changes stand in the lists (changes.ts), or -1: it gave up, and nothing stands anywhere
 * any more.
 */
export function scan(start: usize, stop: usize, maxIdBytes: usize): i32 {
  begin();
  const last = stop - 1;
  let slots0: u64 = 0;
  let slots1: u64 = 0;
  let present0: u64 = 0;
  let present1: u64 = 0;
  let types: i32 = -1;
  let key = startKey();
  let at = start;
  let isWhole = load<u8>(start) === OPEN_BRACE && load<u8>(last) === CLOSE_BRACE;
  // Stands at the brace or a comma.
  while (isWhole && at < last) {
    let next = key.next;
    if (!isAt(next, at + 1, last)) {
      const found = search(key, at + 1, last);
      if (found === null) {
        isWhole = false;
        break;
      }
      next = found;
    }
    key = next;
    at += 1 + key.length;
    const slot = key.slot;
    const kind = key.kind;
    const byte = load<u8>(at);
    let isPresent = true;
    if (byte === QUOTE) {
      const from = at + 1;
      if (kind === KIND_TEXT) {
        const guess = key.place;
        const length = (guess.kind & 0xff) as usize;
        at = from + length;
        isTold = false;
        if (at >= last || load<u8>(at) !== QUOTE || !holds(guess, kindOf(slot, length), from, length))
          at = readText(key, from, last);
        if (!isTold) known(slot, key.place);
      } else at = kind === KIND_ID ? readId(slot, from, last, maxIdBytes) : 0;
      isPresent = at > from;
      at++;
    } else if ((byte >= ZERO && byte <= NINE) || byte === MINUS) at = readNumber(key, at);
    else {
      const letters = load<u32>(at);
      at += 4;
      if (letters === NULL) {
        word(slot, IS_NULL);
        isPresent = false;
      } else if (kind === KIND_BOOL && letters === TRUE) word(slot, IS_TRUE);
      else if (kind === KIND_BOOL && letters === FALS && load<u8>(at++) === LETTER_E) word(slot, IS_FALSE);
      else at = 0;
    }
    types &= key.types;
    const bit: u64 = 1 << ((slot & 63) as u64);
    if (slot < 64) {
      // Twice the same key: the lists have room for one.
      isWhole = (slots0 & bit) === 0;
      slots0 |= bit;
      if (isPresent) present0 |= bit;
    } else {
      isWhole = (slots1 & bit) === 0;
      slots1 |= bit;
      if (isPresent) present1 |= bit;
    }
    if (at < start + 2 || (at < last ? load<u8>(at) !== COMMA : at > last)) isWhole = false;
  }
  if (!isWhole) {
    dropAll();
    return -1;
  }
  store<u64>(PRESENT, present0);
  store<u64>(PRESENT, present1, 8);
  store<i32>(TYPES, types);
  return end(slots0, slots1);
}
