/** What differs from the line before: strings and numbers outside stay as they are for all else. */
import {
  CODES,
  FIRST_TEXT,
  INTS,
  IS_ABSENT,
  IS_NEW,
  IS_NUMBER,
  IS_OWN,
  MAX_SLOTS,
  NUMBERS,
  OTHER_SIZE,
  OTHERS,
  TEXTS,
} from './layout';
import { forget, indexOf, Place, placeAt } from './texts';

let texts: usize = 0;
let ints: usize = 0;
let others: usize = 0;
/** The slots that the line before had, a bit each. */
let before0: u64 = 0;
let before1: u64 = 0;

export function begin(): void {
  texts = 0;
  ints = 0;
  others = 0;
}

function setCode(slot: i32, code: i32): void {
  store<i32>(CODES + ((slot as usize) << 2), code);
}
function codeOf(slot: i32): i32 {
  return load<i32>(CODES + ((slot as usize) << 2));
}

function other(slot: i32, code: i32): usize {
  const entry = OTHERS + others++ * OTHER_SIZE;
  store<i32>(entry, slot);
  store<i32>(entry, code, 4);
  return entry;
}

/** Null, false or true, or nothing any more. */
export function word(slot: i32, code: i32): void {
  if (codeOf(slot) === code) return;
  setCode(slot, code);
  other(slot, code);
}

/** An id, or a text that is too long for the table: nobody compares it. Returns its entry. */
export function text(slot: i32, code: i32, at: usize, length: usize): usize {
  setCode(slot, code);
  const entry = other(slot, code);
  store<u32>(entry, at as u32, 8);
  store<u32>(entry, length as u32, 12);
  return entry;
}

/** A text of the table, at one of its places. */
export function known(slot: i32, place: Place): void {
  const index = indexOf(place);
  const code = FIRST_TEXT + index;
  if (place.left !== 0 && --place.left === 0) store<i32>(other(slot, IS_OWN), index, 16);
  else if (codeOf(slot) !== code) store<i32>(TEXTS + (texts++ << 2), (slot << 16) | index);
  setCode(slot, code);
}
/** The same, and it was put there just now. */
export function fresh(slot: i32, place: Place, at: usize, length: usize): void {
  const index = indexOf(place);
  store<i32>(text(slot, IS_NEW, at, length), index, 16);
  setCode(slot, FIRST_TEXT + index);
}

export function number(slot: i32, value: i64): void {
  const last = NUMBERS + ((slot as usize) << 3);
  if (codeOf(slot) === IS_NUMBER && load<i64>(last) === value) return;
  setCode(slot, IS_NUMBER);
  store<i64>(last, value);
  if (value === (value as i32 as i64)) {
    const entry = INTS + (ints++ << 3);
    store<i32>(entry, slot);
    store<i32>(entry, value as i32, 4);
  } else store<f64>(other(slot, IS_NUMBER), value as f64, 8);
}

function goneOf(slots: u64, first: i32): void {
  for (; slots !== 0; slots &= slots - 1) word(first + (ctz(slots) as i32), IS_ABSENT);
}

/** The line has these slots. Returns how many changes stand in the lists, 8 bits each. */
export function end(slots0: u64, slots1: u64): i32 {
  goneOf(before0 & ~slots0, 0);
  goneOf(before1 & ~slots1, 64);
  before0 = slots0;
  before1 = slots1;
  return ((others << 16) | (ints << 8) | texts) as i32;
}

/** Nothing stands anywhere: what changed was not read, so that the strings of new texts are not there either. */
export function dropAll(): void {
  for (let i: usize = 0; i < others; i++) {
    const entry = OTHERS + i * OTHER_SIZE;
    if (load<i32>(entry, 4) === IS_NEW) forget(load<i32>(entry, 16));
    // It is its own the next time.
    else if (load<i32>(entry, 4) === IS_OWN) placeAt(load<i32>(entry, 16)).left = 1;
  }
  reset();
}

export function reset(): void {
  memory.fill(CODES, 0, MAX_SLOTS * 4);
  before0 = 0;
  before1 = 0;
}
