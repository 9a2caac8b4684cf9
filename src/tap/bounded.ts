/**
 * A map that cannot grow without bound: a cap, a time to live, and a count of what it gave up for want of room. Both run in the
 * order of setting, so an old entry is always at the front.
 */
export interface Bounded<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  readonly size: number;
  /** Entries given up because the map was full. */
  readonly evicted: number;
}

export interface BoundedOptions {
  readonly cap: number;
  readonly ttlMs: number;
  readonly now: () => number;
}

export function createBounded<V>({ cap, ttlMs, now }: BoundedOptions): Bounded<V> {
  const entries = new Map<string, { readonly value: V; readonly until: number }>();
  let evicted = 0;
  return {
    get(key) {
      const entry = entries.get(key);
      return entry !== undefined && entry.until >= now() ? entry.value : undefined;
    },
    set(key, value) {
      const time = now();
      entries.delete(key);
      for (const [oldest, { until }] of entries) {
        const expired = until < time;
        if (!expired && entries.size < cap) break;
        if (!expired) evicted++;
        entries.delete(oldest);
      }
      entries.set(key, { value, until: time + ttlMs });
    },
    delete(key) {
      entries.delete(key);
    },
    get size() {
      return entries.size;
    },
    get evicted() {
      return evicted;
    },
  };
}
