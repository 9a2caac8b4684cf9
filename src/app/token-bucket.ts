/**
 * How much evidence may be made: a token bucket, past which the first record of each kind in a second still passes. So a storm of one
 * kind cannot hide the only record of another. Kinds are closed words, which keeps the memory of them small.
 */
const FIRST_OF_KIND_MS = 1000;
/** Seconds of the allowed rate that may come at once. */
const BURST_SECONDS = 10;

export interface TokenBucket {
  take(kind: string): boolean;
}

/** `now`: milliseconds that never go back. */
export function createTokenBucket(perSecond: number, now: () => number): TokenBucket {
  const burst = perSecond * BURST_SECONDS;
  const lastOfKind = new Map<string, number>();
  let tokens = burst;
  let filledAt = now();
  return {
    take(kind) {
      const at = now();
      tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * perSecond);
      filledAt = at;
      const isFirst = at - (lastOfKind.get(kind) ?? Number.NEGATIVE_INFINITY) >= FIRST_OF_KIND_MS;
      if (tokens >= 1) tokens--;
      else if (!isFirst) return false;
      lastOfKind.set(kind, at);
      return true;
    },
  };
}
