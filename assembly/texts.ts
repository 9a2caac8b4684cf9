/**
 * Texts that come again, known by their bytes: a table without chains. Each text has two places side by side, and the last one to come
 * takes one. Their strings are kept outside, by the same place.
 */
import { areSame, hashOf } from './bytes';
import { PLACE_SIZE, PLACES, TEXT_PLACES } from './layout';

/** More than the lines of one exchange: most names of a flood come on those, then never again. */
const UNTIL_OWN = 8;

@unmanaged
export class Place {
  /** 64 bytes, those of the text first. */
  bytes0: v128;
  bytes1: v128;
  bytes2: v128;
  bytes3: v128;
  /** What and whose it is (`kindOf`); 0: it is free. */
  kind: i32;
  /** How often the text must come again until it is worth a string of the engine's own; 0: it has one. */
  left: i32;
}

/** Never holds a text. */
export function noPlace(): Place {
  return placeAt(TEXT_PLACES + 1);
}
export function placeAt(index: i32): Place {
  return changetype<Place>(PLACES + (index as usize) * PLACE_SIZE);
}
export function indexOf(place: Place): i32 {
  return ((changetype<usize>(place) - PLACES) / PLACE_SIZE) as i32;
}

/** With its slot, so that no field takes what was found good for another. */
export function kindOf(slot: i32, length: usize): i32 {
  return ((slot + 1) << 8) | (length as i32);
}

export function holds(place: Place, kind: i32, at: usize, length: usize): bool {
  return place.kind === kind && areSame(changetype<usize>(place), at, length);
}

/** Values that meet at a place must not push each other out on every line. */
let turn = false;
/** Whether `placeOf` has put the text there just now. */
export let isNew = false;

/** The place of a text of `MAX_TEXT_BYTES` at most. */
export function placeOf(slot: i32, at: usize, length: usize): Place {
  const kind = kindOf(slot, length);
  const first = placeAt((hashOf(at, length, slot) as i32) & (TEXT_PLACES - 1));
  isNew = false;
  if (holds(first, kind, at, length)) return first;
  const second = changetype<Place>(changetype<usize>(first) + PLACE_SIZE);
  if (holds(second, kind, at, length)) return second;
  isNew = true;
  let place = first;
  if (first.kind !== 0) {
    turn = !turn;
    if (second.kind === 0 || turn) place = second;
  }
  memory.copy(changetype<usize>(place), at, length);
  place.kind = kind;
  place.left = UNTIL_OWN;
  return place;
}

/** Its field does not take the text at this place: it is new each time that it comes. */
export function forget(index: i32): void {
  placeAt(index).kind = 0;
}
