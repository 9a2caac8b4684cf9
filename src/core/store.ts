/**
 * Keyed state of the stages: a Map with a cap and an eviction counter, and a timer queue on event time. Both are needed for
 * every store: the input is lossy, so an entry may never be ended by its own event.
 */
import type { Due, Place } from './model/due.ts';
import { type FieldsHolder, reviveFields } from './model/keep.ts';
import type { StoreName } from './model/limits.ts';
import { keep, keepMap, type Parts, readEntries, SLICE, slices } from './state.ts';

/** Counts what a full store had to give up, knows the sizes and all that is kept. One per pipeline. */
export interface StoreHealth {
  readonly evictions: Map<StoreName, number>;
  readonly sizes: Map<StoreName, () => number>;
  readonly parts: Parts;
}

export function createStoreHealth(): StoreHealth {
  const parts: Parts = new Map();
  return { evictions: keepMap(parts, 'evictions'), sizes: new Map(), parts };
}

export function countEviction(health: StoreHealth, store: StoreName, n = 1): void {
  health.evictions.set(store, (health.evictions.get(store) ?? 0) + n);
}

/** What a store does to its values on the way out of a checkpoint. */
export interface Saving<V> {
  /** All that hold a record of fields: an earlier version may have had others. */
  readonly records?: (value: V) => readonly FieldsHolder[];
  /** Everything is read back: puts right what belongs to this process. */
  readonly revive?: (value: V) => void;
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
    { records, revive }: Saving<V> = {},
  ) {
    health.sizes.set(name, () => this.#map.size);
    keep(health.parts, name, {
      save: () => slices(this.#map),
      load: (values) =>
        readEntries(values, (key, value) => {
          for (const holder of records?.(value as V) ?? []) reviveFields(holder);
          this.#map.set(key as string, value as V);
        }),
      loaded: () => {
        if (revive !== undefined) for (const value of this.#map.values()) revive(value);
      },
    });
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
 * Binary heap of deadlines. Moving a deadline later is free (the place is corrected when it comes up); an item that is no longer
 * due leaves at once, so that the queue never keeps alive what its store has let go.
 */
export class TimerQueue<T extends Due> {
  readonly #heap: T[] = [];

  /** `store`: where its items are kept. */
  constructor(store: StoreName, health: StoreHealth) {
    const heap = this.#heap;
    keep(health.parts, `${store}.timers`, {
      *save() {
        for (let i = 0; i < heap.length; i += SLICE) yield heap.slice(i, i + SLICE);
      },
      load(values) {
        for (const slice of values as T[][]) heap.push(...slice);
      },
    });
  }

  get size(): number {
    return this.#heap.length;
  }

  /** No item is due before; Infinity where there is none. */
  earliest(): number {
    return this.#heap[0]?.place?.at ?? Number.POSITIVE_INFINITY;
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
