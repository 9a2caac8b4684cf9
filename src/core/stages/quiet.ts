/**
 * Attempts that delivered at once and now wait for late parse and settle lines only: 98 of 100, half a minute each. A ring of rows
 * in the order of their end. One that a late line asks for becomes an object again, and stays one.
 */
import type { ExchangeKey } from '../model/exchange.ts';
import type { Attempt } from '../model/operation.ts';
import type { IdBytes } from '../scan/id-bytes.ts';
import { keep } from '../state.ts';
import type { StoreHealth } from '../store.ts';
import type { Revive } from './revive.ts';
import { type PackedRows, ROW_CODES, Rows } from './rows.ts';

const FIRST_ROWS = 1024;
const SLICE_ROWS = 256;
/** So many that have left are cleared together: one by one it costs ten times as much. */
const LEFT_ROWS = 256;

export class Quiet {
  /** Number n stands in row n modulo the number of rows, a power of two. */
  rows: Rows;
  #head = 0;
  #tail = 0;
  /** Those before have left, and keep nothing any more. */
  #cleared = 0;
  /**
   * Finds rows by hash, four slots per row: number + 1; 0 is free; one that has left is passed over. Filled only when a late line
   * asks, and rebuilt now and then instead of being kept clean.
   */
  #table = new Float64Array(4 * FIRST_ROWS);
  #entered = 0;
  #enteredTo = 0;

  constructor(
    private readonly keyOf: ExchangeKey,
    private readonly emptyAttempt: () => Attempt,
  ) {
    this.rows = new Rows(FIRST_ROWS, keyOf, emptyAttempt);
  }

  size(): number {
    return this.#tail - this.#head;
  }

  /** Returns whether the object is free again. */
  push(attempt: Attempt, hash: number, bytes: IdBytes): boolean {
    if (this.#tail - this.#head === this.rows.size) this.#grow();
    return this.rows.write(this.#tail++ & (this.rows.size - 1), attempt, hash, bytes);
  }

  /** Slices of what is here, oldest first. */
  *save(): Generator<PackedRows> {
    for (let n = this.#head; n < this.#tail; n += SLICE_ROWS) {
      const count = Math.min(SLICE_ROWS, this.#tail - n);
      yield this.rows.pack(Array.from({ length: count }, (_, i) => (n + i) & (this.rows.size - 1)));
    }
  }

  load(slices: readonly PackedRows[]): void {
    const size = slices.reduce((sum, { codes }) => sum + codes.length, 0);
    let rows = FIRST_ROWS;
    while (rows < size / ROW_CODES) rows *= 2;
    this.rows = new Rows(rows, this.keyOf, this.emptyAttempt);
    for (const slice of slices) this.#tail += this.rows.unpack(this.#tail, slice);
  }

  /** The attempt of an exchange, while it is here. */
  find(key: string, hash: number): Attempt | undefined {
    this.#enterAll();
    const { rows } = this;
    const table = this.#table;
    const mask = table.length - 1;
    for (let slot = (hash | 0) & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
      const n = (table[slot] as number) - 1;
      const row = n & (rows.size - 1);
      if (n < this.#head || rows.hash(row) !== hash) continue;
      const attempt = rows.object(row) ?? rows.read(row);
      if (attempt.key !== key) continue;
      rows.setObject(row, attempt);
      return attempt;
    }
    return undefined;
  }

  /** When the verdict of the oldest one stood (event time); NaN where there is none. */
  oldestTs(): number {
    return this.#head === this.#tail ? Number.NaN : this.rows.judgedTs(this.#head & (this.rows.size - 1));
  }

  /** Takes the oldest one out: the object that it is, or else its row, which stands until the next call. */
  shift(): Attempt | number {
    if (this.#head - this.#cleared >= LEFT_ROWS) this.#clearLeft();
    const row = this.#head++ & (this.rows.size - 1);
    const attempt = this.rows.object(row);
    if (attempt === null) return row;
    this.rows.setObject(row, null);
    return attempt;
  }

  /** Those that have left must not keep their names alive. All of them are read by now; in place of some a newer one stands. */
  #clearLeft(): void {
    const { size } = this.rows;
    for (let n = Math.max(this.#cleared, this.#tail - size); n < this.#head; ) {
      const first = n & (size - 1);
      const count = Math.min(this.#head - n, size - first);
      this.rows.clear(first, count);
      n += count;
    }
    this.#cleared = this.#head;
  }

  #grow(): void {
    const before = this.rows;
    const rows = new Rows(2 * before.size, this.keyOf, this.emptyAttempt);
    for (let n = this.#head; n < this.#tail; n++) rows.copy(n & (rows.size - 1), before, n & (before.size - 1));
    this.rows = rows;
    this.#cleared = this.#head;
  }

  #enterAll(): void {
    const { rows } = this;
    // Half of the table at the most is used, so that a search always ends at a free slot.
    if (this.#table.length !== 4 * rows.size || this.#entered + this.#tail - this.#enteredTo > 2 * rows.size) {
      this.#table = this.#table.length === 4 * rows.size ? this.#table.fill(0) : new Float64Array(4 * rows.size);
      this.#entered = 0;
      this.#enteredTo = this.#head;
    }
    const table = this.#table;
    const mask = table.length - 1;
    let n = Math.max(this.#enteredTo, this.#head);
    for (; n < this.#tail; n++) {
      let slot = (rows.hash(n & (rows.size - 1)) | 0) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = n + 1;
      this.#entered++;
    }
    this.#enteredTo = n;
  }
}

export function createQuiet(
  keyOf: ExchangeKey,
  emptyAttempt: () => Attempt,
  health: StoreHealth,
  revive: Pick<Revive, 'rows'>,
): Quiet {
  const quiet = new Quiet(keyOf, emptyAttempt);
  health.sizes.set('quiet_operations', () => quiet.size());
  keep(health.parts, 'quiet_operations', {
    save: () => quiet.save(),
    load(slices) {
      for (const slice of slices as PackedRows[]) revive.rows(slice);
      quiet.load(slices as PackedRows[]);
    },
  });
  return quiet;
}
