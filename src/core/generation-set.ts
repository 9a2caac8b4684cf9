/** A memory of keys by their hashes: which keys were seen, within two generations. It must not guess what it forgot. */
import { hash53 } from './model/hash53.ts';
import type { StoreName } from './model/limits.ts';
import { keep } from './state.ts';
import type { StoreHealth } from './store.ts';
import { clearTags, createTags, findTagged, isTagged, putTagged } from './tags.ts';

/**
 * Remembers 53-bit hashes of keys (`hash53`) in two generations of `cap`: between `cap` and `2 * cap` of the newest ones in 36 bytes each,
 * off the garbage collector's mind. A false positive has a chance of 2 * cap / 2^53.
 */
export class GenerationSet {
  readonly #tags: Uint8Array;
  readonly #tables: readonly [Float64Array, Float64Array];
  readonly #sizes = [0, 0];
  /** Which of the two tables is the younger generation. */
  #young = 0;

  constructor(
    name: StoreName,
    private readonly cap: number,
    health: StoreHealth,
    /** Keys that must not be forgotten yet: up to half a generation of them is carried on into the new one. */
    private readonly held: () => Iterable<string> = () => [],
  ) {
    // A power of two at most half full keeps probe runs short.
    const slots = 2 ** Math.ceil(Math.log2(2 * cap));
    this.#tags = createTags(slots);
    this.#tables = [new Float64Array(slots), new Float64Array(slots)];
    health.sizes.set(name, () => (this.#sizes[0] as number) + (this.#sizes[1] as number));
    keep(health.parts, name, {
      save: () => [[this.#all(this.#young), this.#all(1 - this.#young)]],
      load: ([saved]) => {
        const [young, old] = (saved ?? [[], []]) as readonly Iterable<number>[];
        for (const hash of old as Iterable<number>) this.#put(1 - this.#young, hash);
        for (const hash of young as Iterable<number>) this.#put(this.#young, hash);
      },
    });
  }

  has(hash: number): boolean {
    return this.#isIn(0, hash) || this.#isIn(1, hash);
  }

  add(hash: number): void {
    const young = this.#young;
    const slot = findTagged(this.#tags, young, this.#tables[young] as Float64Array, 1, hash);
    if (slot < 0) this.#addAt(slot, hash);
  }

  /** `has`, then `add` unless it is there: returns whether it is new. */
  enter(hash: number): boolean {
    const young = this.#young;
    const slot = findTagged(this.#tags, young, this.#tables[young] as Float64Array, 1, hash);
    if (slot >= 0 || this.#isIn(1 - young, hash)) return false;
    this.#addAt(slot, hash);
    return true;
  }

  /** `slot`: ~ the free one of the younger generation. */
  #addAt(slot: number, hash: number): void {
    const young = this.#young;
    if ((this.#sizes[young] as number) < this.cap) {
      putTagged(this.#tags, young, this.#tables[young] as Float64Array, 1, ~slot, hash);
      (this.#sizes[young] as number)++;
      return;
    }
    this.#turn();
    this.#put(this.#young, hash);
  }

  #isIn(table: number, hash: number): boolean {
    return findTagged(this.#tags, table, this.#tables[table] as Float64Array, 1, hash) >= 0;
  }

  #put(table: number, hash: number): void {
    const numbers = this.#tables[table] as Float64Array;
    const slot = findTagged(this.#tags, table, numbers, 1, hash);
    if (slot >= 0) return;
    putTagged(this.#tags, table, numbers, 1, ~slot, hash);
    (this.#sizes[table] as number)++;
  }

  #all(table: number): Float64Array {
    return (this.#tables[table] as Float64Array).filter((_, slot) => isTagged(this.#tags, table, slot));
  }

  #turn(): void {
    const [young, old] = [this.#young, 1 - this.#young];
    const carried: number[] = [];
    for (const key of this.held()) {
      if (carried.length >= this.cap / 2) break;
      const hash = hash53(key);
      if (this.#isIn(old, hash) && !this.#isIn(young, hash)) carried.push(hash);
    }
    clearTags(this.#tags, old);
    this.#sizes[old] = 0;
    this.#young = old;
    for (const hash of carried) this.#put(old, hash);
  }
}
