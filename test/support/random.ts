/** Seeded random numbers: the same seed gives the same test, on every machine. */

/** Numbers in [0, 1) (mulberry32); a text seed is hashed (FNV-1a). */
export function random(seed: number | string): () => number {
  let state = typeof seed === 'number' ? seed >>> 0 : 0x811c9dc5;
  if (typeof seed === 'string')
    for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) as number), 0x01000193) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Dice {
  /** An integer in [0, below). */
  int(below: number): number;
  pick<T>(from: readonly T[]): T;
  chance(p: number): boolean;
}

export function dice(seed: number | string): Dice {
  const next = random(seed);
  const int = (below: number): number => Math.floor(next() * below);
  return { int, pick: (from) => from[int(from.length)] as (typeof from)[number], chance: (p) => next() < p };
}
