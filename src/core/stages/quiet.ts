/**
 * Attempts that delivered at once and now wait for late parse and settle lines only: 98 of 100, half a minute each. A ring of rows
 * in the order of their end. One that a late line asks for becomes an object again, and stays one.
 */
import type { ExchangeKey } from '../model/exchange.ts';
import type { Attempt } from '../model/operation.ts';
import { Rows } from './rows.ts';

const FIRST_ROWS = 1024;

export interface Quiet {
  readonly size: number;
  /** Returns whether the object is free again. */
  push(attempt: Attempt, hash: number): boolean;
  /** The attempt of an exchange, while it is here. */
  find(key: string, hash: number): Attempt | undefined;
  /** When the verdict of the oldest one stood (event time); NaN where there is none. */
  oldestTs(): number;
  /** Takes the oldest one out: the object that it is, or else its row, which stands until the next push. */
  shift(): Attempt | number;
  readonly rows: Rows;
}

export function createQuiet(keyOf: ExchangeKey, emptyAttempt: () => Attempt): Quiet {
  /** Number n stands in row n modulo the number of rows, a power of two. */
  let rows = new Rows(FIRST_ROWS, keyOf, emptyAttempt);
  let head = 0;
  let tail = 0;
  /**
   * Finds rows by hash, four slots per row: number + 1; 0 is free; one that has left is passed over. Filled only when a late line
   * asks, and rebuilt now and then instead of being kept clean.
   */
  let table = new Float64Array(4 * FIRST_ROWS);
  let entered = 0;
  let enteredTo = 0;

  const grow = (): void => {
    const before = rows;
    rows = new Rows(2 * before.size, keyOf, emptyAttempt);
    for (let n = head; n < tail; n++) rows.copy(n & (rows.size - 1), before, n & (before.size - 1));
  };

  const enterAll = (): void => {
    // Half of the table at the most is used, so that a search always ends at a free slot.
    if (table.length !== 4 * rows.size || entered + tail - enteredTo > 2 * rows.size) {
      table = table.length === 4 * rows.size ? table.fill(0) : new Float64Array(4 * rows.size);
      entered = 0;
      enteredTo = head;
    }
    const mask = table.length - 1;
    for (enteredTo = Math.max(enteredTo, head); enteredTo < tail; enteredTo++) {
      let slot = (rows.hash(enteredTo & (rows.size - 1)) | 0) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = enteredTo + 1;
      entered++;
    }
  };

  return {
    get size() {
      return tail - head;
    },
    get rows() {
      return rows;
    },
    push(attempt, hash) {
      if (tail - head === rows.size) grow();
      return rows.write(tail++ & (rows.size - 1), attempt, hash);
    },
    find(key, hash) {
      enterAll();
      const mask = table.length - 1;
      for (let slot = (hash | 0) & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
        const n = (table[slot] as number) - 1;
        const row = n & (rows.size - 1);
        if (n < head || rows.hash(row) !== hash) continue;
        const attempt = rows.object(row) ?? rows.read(row);
        if (attempt.key !== key) continue;
        rows.setObject(row, attempt);
        return attempt;
      }
      return undefined;
    },
    oldestTs: () => (head === tail ? Number.NaN : rows.judgedTs(head & (rows.size - 1))),
    shift() {
      const row = head++ & (rows.size - 1);
      const attempt = rows.object(row);
      if (attempt === null) return row;
      rows.setObject(row, null);
      return attempt;
    },
  };
}
