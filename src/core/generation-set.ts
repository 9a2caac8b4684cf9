/** A memory of keys by their hashes, and the hash: which keys were seen, within two generations. It must not guess what it forgot. */
import type { StoreName } from './model/limits.ts';
import { keep } from './state.ts';
import type { StoreHealth } from './store.ts';
import { createTags, findTagged, putTagged } from './tags.ts';

/**
 * Remembers 53-bit hashes of keys (`hash53`) in two generations of `cap`: between `cap` and `2 * cap` of the newest ones in 36 bytes each,
 * off the garbage collector's mind. A false positive has a chance of 2 * cap / 2^53.
 */
export class GenerationSet {
  #young: Generation;
  #old: Generation;

  constructor(
    name: StoreName,
    private readonly cap: number,
    health: StoreHealth,
    /** Keys that must not be forgotten yet: up to half a generation of them is carried on into the new one. */
    private readonly held: () => Iterable<string> = () => [],
  ) {
    this.#young = new Generation(cap);
    this.#old = new Generation(cap);
    health.sizes.set(name, () => this.#young.size + this.#old.size);
    keep(health.parts, name, {
      save: () => [[this.#young.all(), this.#old.all()]],
      load: ([saved]) => {
        const [young, old] = (saved ?? [[], []]) as readonly Iterable<number>[];
        for (const hash of old as Iterable<number>) this.#old.add(hash);
        for (const hash of young as Iterable<number>) this.#young.add(hash);
      },
    });
  }

  has(hash: number): boolean {
    return this.#young.has(hash) || this.#old.has(hash);
  }

  add(hash: number): void {
    if (this.#young.has(hash)) return;
    if (this.#young.size >= this.cap) this.#turn();
    this.#young.add(hash);
  }

  #turn(): void {
    const carried: number[] = [];
    for (const key of this.held()) {
      if (carried.length >= this.cap / 2) break;
      const hash = hash53(key);
      if (this.#old.has(hash) && !this.#young.has(hash)) carried.push(hash);
    }
    this.#old.clear();
    [this.#young, this.#old] = [this.#old, this.#young];
    for (const hash of carried) this.#young.add(hash);
  }
}

class Generation {
  readonly #hashes: Float64Array;
  readonly #tags: Uint8Array;
  size = 0;

  constructor(cap: number) {
    // A power of two at most half full keeps probe runs short.
    const slots = 2 ** Math.ceil(Math.log2(2 * cap));
    this.#hashes = new Float64Array(slots);
    this.#tags = createTags(slots);
  }

  has(hash: number): boolean {
    return this.size > 0 && findTagged(this.#tags, this.#hashes, 1, hash) >= 0;
  }

  add(hash: number): void {
    const slot = findTagged(this.#tags, this.#hashes, 1, hash);
    if (slot >= 0) return;
    putTagged(this.#tags, this.#hashes, 1, ~slot, hash);
    this.size++;
  }

  all(): Float64Array {
    return this.#hashes.filter((_, slot) => this.#tags[slot] !== 0);
  }

  /** A slot without a tag is free, whatever its number is. */
  clear(): void {
    this.#tags.fill(0);
    this.size = 0;
  }
}

/** Two 32-bit multiply-xorshift hashes in one 53-bit number (cyrb53); never 0, which marks a free slot. */
export function hash53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0) || 1;
}
