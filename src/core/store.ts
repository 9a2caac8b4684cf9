/**
 * Keyed state of the stages: a Map with a cap and an eviction counter, and a timer queue on event time. Both are needed for
 * every store: the input is lossy, so an entry may never be ended by its own event.
 */
import type { Due, Place } from './model/due.ts';
import type { StoreName } from './model/limits.ts';
import { createTags, findTagged, putTagged } from './tags.ts';

/** Counts what a full store had to give up, and knows the sizes. One per pipeline. */
export interface StoreHealth {
  readonly evictions: Map<StoreName, number>;
  readonly sizes: Map<StoreName, () => number>;
}

export const createStoreHealth = (): StoreHealth => ({ evictions: new Map(), sizes: new Map() });

export function countEviction(health: StoreHealth, store: StoreName, n = 1): void {
  health.evictions.set(store, (health.evictions.get(store) ?? 0) + n);
}

/** A Map that gives its oldest entry up when a new key meets the cap. Setting a key again makes it the newest. */
export class BoundedMap<V extends object> {
  readonly #map = new Map<string, V>();
  /** Only while the map is full: an idle iterator keeps every former table of its map alive. */
  #oldest: IterableIterator<[string, V]> | undefined;

  constructor(
    private readonly name: StoreName,
    private readonly cap: number,
    private readonly health: StoreHealth,
    private readonly onEvict: (value: V, key: string) => void = () => {},
  ) {
    health.sizes.set(name, () => this.#map.size);
  }

  get size(): number {
    return this.#map.size;
  }
  get(key: string): V | undefined {
    // An empty store is common, and would still hash the key.
    return this.#map.size === 0 ? undefined : this.#map.get(key);
  }
  has(key: string): boolean {
    return this.#map.size !== 0 && this.#map.has(key);
  }
  keys(): IterableIterator<string> {
    return this.#map.keys();
  }
  values(): IterableIterator<V> {
    return this.#map.values();
  }
  delete(key: string): boolean {
    return this.#map.delete(key);
  }

  /** `set` for a key that is known to be new: the common case, at half the cost. */
  add(key: string, value: V): void {
    if (this.#map.size >= this.cap) this.#evict();
    else this.#oldest = undefined;
    this.#map.set(key, value);
  }

  set(key: string, value: V): void {
    if (!this.#map.delete(key) && this.#map.size >= this.cap) this.#evict();
    else this.#oldest = undefined;
    this.#map.set(key, value);
  }

  #evict(): void {
    // One iterator for a run of evictions: a fresh one would walk over everything that was deleted since.
    this.#oldest ??= this.#map.entries();
    let next = this.#oldest.next();
    if (next.done) {
      this.#oldest = this.#map.entries();
      next = this.#oldest.next();
    }
    const [oldest, gone] = next.value as [string, V];
    this.#map.delete(oldest);
    countEviction(this.health, this.name);
    this.onEvict(gone, oldest);
  }

  /** Forgets what was last set before `before` (Unix ms of event time): the TTL of memories that no event ends. */
  expire(this: BoundedMap<V & { readonly ts: number }>, before: number): void {
    for (const [key, value] of this.#map) {
      if (value.ts >= before) return;
      this.#map.delete(key);
    }
  }
}

/**
 * Remembers 53-bit hashes of keys (`hash53`) in two generations of `cap`: between `cap` and `2 * cap` of the newest ones in 36 bytes each,
 * off the garbage collector's mind. A false positive has a chance of 2 * cap / 2^53.
 */
export class GenerationSet {
  #young: Float64Array;
  #old: Float64Array;
  #youngTags: Uint8Array;
  #oldTags: Uint8Array;
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
    this.#youngTags = createTags(slots);
    this.#oldTags = createTags(slots);
    health.sizes.set(name, () => this.#count + this.#before);
  }

  has(hash: number): boolean {
    return this.#isYoung(hash) || (this.#before > 0 && findTagged(this.#oldTags, this.#old, 1, hash) >= 0);
  }

  add(hash: number): void {
    if (this.#isYoung(hash)) return;
    if (this.#count >= this.cap) this.#turn();
    this.#put(hash);
  }

  #isYoung(hash: number): boolean {
    return findTagged(this.#youngTags, this.#young, 1, hash) >= 0;
  }

  #put(hash: number): void {
    const slot = findTagged(this.#youngTags, this.#young, 1, hash);
    if (slot >= 0) return;
    putTagged(this.#youngTags, this.#young, 1, ~slot, hash);
    this.#count++;
  }

  #turn(): void {
    const reused = this.#old;
    const tags = this.#oldTags;
    const carried: number[] = [];
    for (const key of this.held()) {
      if (carried.length >= this.cap / 2) break;
      const hash = hash53(key);
      if (findTagged(tags, reused, 1, hash) >= 0 && !this.#isYoung(hash)) carried.push(hash);
    }
    this.#old = this.#young;
    this.#before = this.#count;
    this.#oldTags = this.#youngTags;
    this.#young = reused;
    // A slot without a tag is free, whatever its number is.
    this.#youngTags = tags.fill(0);
    this.#count = 0;
    for (const hash of carried) this.#put(hash);
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

/**
 * Binary heap of deadlines. Moving a deadline later is free (the place is corrected when it comes up); an item that is no longer
 * due leaves at once, so that the queue never keeps alive what its store has let go.
 */
export class TimerQueue<T extends Due> {
  readonly #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** Call after every change of `item.deadline`. */
  schedule(item: T): void {
    const { deadline, place } = item;
    if (place === null) {
      if (deadline === Number.POSITIVE_INFINITY) return;
      item.place = { at: deadline, index: this.#heap.length };
      this.#heap.push(item);
      this.#up(item);
    } else if (deadline === Number.POSITIVE_INFINITY) this.#remove(item);
    else if (deadline < place.at) {
      place.at = deadline;
      this.#up(item);
    }
  }

  /** Takes it out: `deadline` becomes Infinity. */
  cancel(item: T): void {
    if (item.deadline !== Number.POSITIVE_INFINITY) item.deadline = Number.POSITIVE_INFINITY;
    if (item.place !== null) this.#remove(item);
  }

  /** Calls `fire` for every item whose deadline lies strictly before `now`, in order of deadlines. */
  expire(now: number, fire: (item: T) => void): void {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined) return;
      const place = top.place as Place;
      if (place.at >= now) return;
      if (top.deadline > place.at) {
        place.at = top.deadline;
        this.#down(top);
        continue;
      }
      this.cancel(top);
      fire(top);
    }
  }

  #remove(item: T): void {
    const { index } = item.place as Place;
    item.place = null;
    const last = this.#heap.pop() as T;
    if (last === item) return;
    const place = last.place as Place;
    place.index = index;
    this.#heap[index] = last;
    this.#up(last);
    this.#down(last);
  }

  #up(item: T): void {
    const place = item.place as Place;
    while (place.index > 0) {
      const parent = (place.index - 1) >> 1;
      if (this.#at(parent) <= place.at) return;
      this.#swap(place.index, parent);
    }
  }

  #down(item: T): void {
    const place = item.place as Place;
    for (;;) {
      let child = 2 * place.index + 1;
      if (child >= this.#heap.length) return;
      if (child + 1 < this.#heap.length && this.#at(child + 1) < this.#at(child)) child++;
      if (this.#at(child) >= place.at) return;
      this.#swap(place.index, child);
    }
  }

  #at(index: number): number {
    return ((this.#heap[index] as T).place as Place).at;
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const first = heap[a] as T;
    const second = heap[b] as T;
    heap[a] = second;
    heap[b] = first;
    (first.place as Place).index = b;
    (second.place as Place).index = a;
  }
}
