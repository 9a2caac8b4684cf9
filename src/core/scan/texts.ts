/**
 * Values that come again, each as the one string of its field: recognised by their bytes, they need no new string, no check and no
 * hash later on.
 */
import { internalized } from '../model/intern.ts';
import type { Key } from './keys.ts';
import { QUOTE, type TextBytes, tailOf } from './words.ts';

/** A table without chains; each value has two places, and the last one to come takes one. Longer ones are not kept. */
const PLACES = 4096;
const PLACE_WORDS = 16;
/** More than the lines of one exchange. */
const UNTIL_OWN = 8;

export class Texts {
  readonly #texts: string[] = new Array(PLACES + 1).fill('');
  /** Slot and length of the text at a place. */
  readonly #kinds = new Int32Array(PLACES + 1).fill(-1);
  readonly #words = new Int32Array((PLACES + 1) * PLACE_WORDS);
  /** The same memory: plain text is no NaN and no zero, so eight bytes may be compared as one number. */
  readonly #eights = new Float64Array(this.#words.buffer);
  /**
   * How often the text of a place must come again until it becomes one of the engine's own strings; 0: it is one. Those are dear to make,
   * and most names of a flood come on the few lines of one exchange, then never again.
   */
  readonly #left = new Uint8Array(PLACES + 1);
  #turn = 0;

  at(place: number): string {
    return this.#left[place] === 0 ? (this.#texts[place] as string) : this.#seen(place);
  }

  #seen(place: number): string {
    const left = (this.#left[place] as number) - 1;
    this.#left[place] = left;
    if (left === 0) this.#texts[place] = internalized(this.#texts[place] as string);
    return this.#texts[place] as string;
  }

  /** The length of the value that stood under this key last time if it stands here again, else -1. */
  guess(bytes: TextBytes, view: DataView, at: number, last: number, { place, slot }: Key): number {
    const kind = this.#kinds[place] as number;
    const length = kind & 0xff;
    if (kind >> 8 !== slot || at + length >= last || bytes[at + length] !== QUOTE) return -1;
    return this.#isAt(view, at, place, length) ? length : -1;
  }

  #isAt(view: DataView, at: number, place: number, length: number): boolean {
    const words = this.#words;
    const kept = place * PLACE_WORDS;
    const whole = length >> 2;
    if ((length & 3) > 0 && words[kept + whole] !== tailOf(view, at, length)) return false;
    if ((whole & 1) > 0 && words[kept + whole - 1] !== view.getInt32(at + 4 * whole - 4, true)) return false;
    const eights = this.#eights;
    const first = place * (PLACE_WORDS / 2);
    const pairs = length >> 3;
    let i = 0;
    while (i < pairs && eights[first + i] === view.getFloat64(at + 8 * i, true)) i++;
    return i === pairs;
  }

  /** The one string of this value of this field; undefined: the field does not take it. */
  find(bytes: TextBytes, view: DataView, from: number, to: number, hash: number, key: Key): string | undefined {
    const length = to - from;
    if (length > 4 * PLACE_WORDS) {
      const text = bytes.latin1Slice(from, to);
      return key.accepts(text) ? text : undefined;
    }
    // The hash carries upwards only: without a second multiplication texts that differ at their end share a place.
    const spread = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    const first = (spread ^ (spread >>> 13)) & (PLACES - 1);
    const kind = (key.slot << 8) | length;
    const kinds = this.#kinds;
    for (let place = first; place <= first + 1; place++) {
      if (kinds[place] !== kind || !this.#isAt(view, from, place, length)) continue;
      key.place = place;
      return this.at(place);
    }
    const text = bytes.latin1Slice(from, to);
    if (!key.accepts(text)) return undefined;
    // Values that meet at a place must not push each other out on every line.
    this.#turn ^= 1;
    const place = kinds[first] === -1 ? first : kinds[first + 1] === -1 ? first + 1 : first + this.#turn;
    const words = this.#words;
    const kept = place * PLACE_WORDS;
    for (let i = 0; i < length >> 2; i++) words[kept + i] = view.getInt32(from + 4 * i, true);
    if ((length & 3) > 0) words[kept + (length >> 2)] = tailOf(view, from, length);
    this.#texts[place] = text;
    this.#left[place] = UNTIL_OWN;
    kinds[place] = kind;
    key.place = place;
    return text;
  }
}
