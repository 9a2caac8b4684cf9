/**
 * Attempts that delivered at once and now wait for late parse and settle lines only: 98 of 100, half a minute each. They stand in
 * the order of their end, and are found by exchange through a table of hashes that is rebuilt now and then instead of being kept
 * clean: entering and leaving a map would cost more than the verdict.
 */
import type { Attempt } from '../model/operation.ts';

const FIRST_SLOTS = 1024;

export interface Quiet {
  readonly size: number;
  push(attempt: Attempt, hash: number): void;
  /** The attempt of an exchange, while it is here. */
  find(key: string, hash: number): Attempt | undefined;
  oldest(): Attempt | undefined;
  shift(): void;
}

export function createQuiet(): Quiet {
  /** Ring of attempts and of their hashes: number n stands at n modulo its length, a power of two. */
  let ring: (Attempt | undefined)[] = new Array(FIRST_SLOTS).fill(undefined);
  let hashes = new Float64Array(FIRST_SLOTS);
  /** Open addressing, four slots per ring place: number + 1 of an attempt; 0 is free; one that has left is passed over. */
  let table = new Float64Array(4 * FIRST_SLOTS);
  let entered = 0;
  let head = 0;
  let tail = 0;

  const enter = (number: number): void => {
    const mask = table.length - 1;
    let slot = ((hashes[number & (ring.length - 1)] as number) | 0) & mask;
    while (table[slot] !== 0) slot = (slot + 1) & mask;
    table[slot] = number + 1;
    entered++;
  };
  const rebuild = (): void => {
    table = table.length === 4 * ring.length ? table.fill(0) : new Float64Array(4 * ring.length);
    entered = 0;
    for (let number = head; number < tail; number++) enter(number);
  };
  const grow = (): void => {
    const places = ring;
    const before = hashes;
    ring = new Array(2 * places.length).fill(undefined);
    hashes = new Float64Array(ring.length);
    for (let number = head; number < tail; number++) {
      ring[number & (ring.length - 1)] = places[number & (places.length - 1)];
      hashes[number & (ring.length - 1)] = before[number & (places.length - 1)] as number;
    }
    rebuild();
  };

  return {
    get size() {
      return tail - head;
    },
    push(attempt, hash) {
      if (tail - head === ring.length) grow();
      // Half of the table at the most is used, so that a search always ends at a free slot.
      if (entered >= 2 * ring.length) rebuild();
      ring[tail & (ring.length - 1)] = attempt;
      hashes[tail & (ring.length - 1)] = hash;
      enter(tail++);
    },
    find(key, hash) {
      const mask = table.length - 1;
      for (let slot = (hash | 0) & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
        const number = (table[slot] as number) - 1;
        const attempt = number >= head ? ring[number & (ring.length - 1)] : undefined;
        if (attempt?.key === key) return attempt;
      }
      return undefined;
    },
    oldest: () => (head === tail ? undefined : ring[head & (ring.length - 1)]),
    shift() {
      ring[head & (ring.length - 1)] = undefined;
      head++;
    },
  };
}
