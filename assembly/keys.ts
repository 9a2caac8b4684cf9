/**
 * The keys that a line may have. Each remembers which key came after it last time: writers keep their order, so most keys are
 * confirmed, not searched.
 */
import { hashOf, maskAt, QUOTE } from './bytes';
import { KEY_PLACES, KEY_SIZE, KEYS, KEYS_BY_HASH, MAX_KEY_BYTES, MAX_KEYS, MAX_SLOTS } from './layout';
import { noPlace, Place } from './texts';

@unmanaged
export class Key {
  /** The name in quotes and its colon, filled up with zeros. */
  head: v128;
  rest: v128;
  /** Addresses of the masks for both. */
  headMask: usize;
  restMask: usize;
  length: usize;
  slot: i32;
  kind: i32;
  /** The types of line that may have it, a bit each. */
  types: i32;
  /** The key that came after it last time, and one that did before: lines of two kinds take turns. */
  next: Key;
  other: Key;
  /** Where the text is that stood here last time. */
  place: Place;
}

let count = 0;

function keyAt(index: i32): Key {
  return changetype<Key>(KEYS + ((index * KEY_SIZE) as usize));
}
/** Stands before the first key of a line. */
export function startKey(): Key {
  return keyAt(MAX_KEYS);
}

function hashPlace(at: usize, length: usize): usize {
  return (hashOf(at, length, 0) as usize) & (KEY_PLACES - 1);
}
function hashed(place: usize): usize {
  return KEYS_BY_HASH + (place << 2);
}

/** Its name, quotes and colon stand at `at`. Before the first line; the one that most lines begin with comes first. */
export function addKey(at: usize, length: usize, slot: i32, kind: i32, types: i32): void {
  assert(count < MAX_KEYS && length <= MAX_KEY_BYTES && slot < MAX_SLOTS);
  const key = keyAt(count++);
  memory.copy(changetype<usize>(key), at, length);
  key.headMask = maskAt(min<usize>(length, 16));
  key.restMask = maskAt(max<usize>(length, 16) - 16);
  key.length = length;
  key.slot = slot;
  key.kind = kind;
  key.types = types;
  key.next = key;
  key.other = key;
  key.place = noPlace();
  if (count === 1) {
    startKey().next = key;
    startKey().other = key;
  }
  let place = hashPlace(at, length);
  while (load<u32>(hashed(place)) !== 0) place = (place + 1) & (KEY_PLACES - 1);
  store<u32>(hashed(place), changetype<u32>(key));
}

/** Does it stand at `at`, and end before `last`? */
export function isAt(key: Key, at: usize, last: usize): bool {
  const head = v128.and(v128.xor(v128.load(at), key.head), v128.load(key.headMask));
  const rest = v128.and(v128.xor(v128.load(at, 16), key.rest), v128.load(key.restMask));
  return !v128.any_true(v128.or(head, rest)) && at + key.length <= last;
}

/** The key at a quote that comes after another, and is not the one that did last time; null: none that is known. */
export function search(before: Key, at: usize, last: usize): Key | null {
  const other = before.other;
  before.other = before.next;
  if (isAt(other, at, last)) {
    before.next = other;
    return other;
  }
  let end = at + 1;
  while (end < last && load<u8>(end) !== QUOTE) end++;
  const length = end + 2 - at;
  if (length > MAX_KEY_BYTES) return null;
  for (let place = hashPlace(at, length); load<u32>(hashed(place)) !== 0; place = (place + 1) & (KEY_PLACES - 1)) {
    const key = changetype<Key>(load<u32>(hashed(place)) as usize);
    if (!isAt(key, at, last)) continue;
    before.next = key;
    return key;
  }
  return null;
}
