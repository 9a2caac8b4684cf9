/**
 * How far a source without an order of its own has come: the least of the newest times of what was delivered within the last while.
 * So a sender that is a little behind the others is waited for, and one that has stopped holds nobody up for long.
 */
export interface NewestTimes {
  /** Something was delivered at `now`; its newest event time. */
  add(newest: number, now: number): void;
  /** undefined: nothing was delivered within the last while. */
  least(now: number): number | undefined;
}

export function createNewestTimes(whileMs: number): NewestTimes {
  /** Rising in both: what came later and is smaller makes what came before it irrelevant. */
  let entries: { readonly newest: number; at: number }[] = [];
  let first = 0;
  return {
    add(newest, now) {
      while (entries.length > first && (entries.at(-1) as { newest: number }).newest >= newest) entries.pop();
      entries.push({ newest, at: now });
    },
    least(now) {
      while (first < entries.length && (entries[first] as { at: number }).at <= now - whileMs) first++;
      if (first > 1000 || first === entries.length) {
        entries = entries.slice(first);
        first = 0;
      }
      return entries[first]?.newest;
    },
  };
}
