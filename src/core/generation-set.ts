/** A memory of keys by their hashes, and the hash: which keys were seen, within two generations. It must not guess what it forgot. */
import type { StoreName } from './model/limits.ts';
import { keep } from './state.ts';
import type { StoreHealth } from './store.ts';

/**
 * Remembers 53-bit hashes of keys (`hash53`) in two generations of `cap`: between `cap` and `2 * cap` of the newest ones in 32 bytes each,
 * off the garbage collector's mind. A false positive has a chance of 2 * cap / 2^53.
 */
export class GenerationSet {
  #young: Float64Array;
  #old: Float64Array;
  #count = 0;
  #before = 0;

  constructor(
    name: StoreName,
    private readonly cap: number,
    health: StoreHealth,
    /** Keys that must not be forgotten yet: up to half a generation of them is carried on into the new one. */
    private readonly held: () => Iterable<string> = () => [],
  ) {
    // A power of two at most half full keeps probe runs short.
    const slots = 2 ** Math.ceil(Math.log2(2 * cap));
    this.#young = new Float64Array(slots);
    this.#old = new Float64Array(slots);
    health.sizes.set(name, () => this.#count + this.#before);
    keep(health.parts, name, {
      save: () => [[this.#young, this.#old].map((table) => table.filter((hash) => hash !== 0))],
      load: ([saved]) => {
        const [young, old] = (saved ?? [[], []]) as readonly Iterable<number>[];
        this.#before = fill(this.#old, old as Iterable<number>);
        this.#count = fill(this.#young, young as Iterable<number>);
      },
    });
  }

  has(hash: number): boolean {
    return find(this.#young, hash) < 0 || find(this.#old, hash) < 0;
  }

  add(hash: number): void {
    let slot = find(this.#young, hash);
    if (slot < 0) return;
    if (this.#count >= this.cap) {
      this.#turn();
      slot = find(this.#young, hash);
      if (slot < 0) return;
    }
    this.#young[slot] = hash;
    this.#count++;
  }

  #turn(): void {
    const reused = this.#old;
    const carried: number[] = [];
    for (const key of this.held()) {
      if (carried.length >= this.cap / 2) break;
      const hash = hash53(key);
      if (find(reused, hash) < 0 && find(this.#young, hash) >= 0) carried.push(hash);
    }
    this.#old = this.#young;
    this.#before = this.#count;
    this.#young = reused.fill(0);
    this.#count = 0;
    for (const hash of carried) {
      const slot = find(this.#young, hash);
      if (slot < 0) continue;
      this.#young[slot] = hash;
      this.#count++;
    }
  }
}

function fill(table: Float64Array, hashes: Iterable<number>): number {
  let count = 0;
  for (const hash of hashes) {
    const slot = find(table, hash);
    if (slot < 0) continue;
    table[slot] = hash;
    count++;
  }
  return count;
}

/** The free slot for a hash, or -1 where it is in the table. */
function find(table: Float64Array, hash: number): number {
  const mask = table.length - 1;
  // The low 32 bits of the hash.
  let slot = (hash | 0) & mask;
  for (;;) {
    const value = table[slot] as number;
    if (value === 0) return slot;
    if (value === hash) return -1;
    slot = (slot + 1) & mask;
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
