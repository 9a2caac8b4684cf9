/**
 * Attempts that delivered at once and now wait for late parse and settle lines only: 98 of 100, half a minute each. They stand in
 * the order of their end as rows of two flat arrays: as objects they would be most of what the garbage collector copies, and cold
 * memory by the time they are counted. One that a late line asks for becomes an object again, and stays one.
 */

import type { Attempt } from '../model/operation.ts';
import type { ServerPolicy } from '../model/policy.ts';
import type { Verdict } from '../model/verdict.ts';
import type { Version } from '../protocol/revisions.ts';
import { hash53 } from '../store.ts';

const FIRST_ROWS = 1024;
/** Columns of names and of numbers. A row that is held as an object has it in the first column and nothing else. */
const NAMES = 14;
const NUMBERS = 7;

const OPEN_KNOWN = 1;
const TERMINAL = 2;
const IS_ERROR = 4;
const INPUT_RESPONSES = 8;
const NOT_SENT = 16;
const IDEMPOTENT = 32;
const DECLARED_SAFE = 64;
const CUT_OR_EMPTY = 128;

export interface Quiet {
  readonly size: number;
  /** Returns whether the object is free again: all of it was written down. */
  push(attempt: Attempt): boolean;
  /** The attempt of an exchange, while it is here. */
  find(key: string): Attempt | undefined;
  /** When the verdict of the oldest one stood (event time); NaN where there is none. */
  oldestTs(): number;
  /** Takes the oldest one out: written over `blank`, or the object it had become. */
  shift(blank: Attempt): Attempt;
}

/** All that a row can hold; what has more to tell stays an object. */
const isPlain = (attempt: Attempt): boolean =>
  attempt.settled === null &&
  attempt.suspended === false &&
  attempt.okBytes === null &&
  attempt.trends === null &&
  !attempt.parsedOk &&
  attempt.judgedTs === attempt.closeTs;

const numberOf = (value: number | null): number => (value === null ? Number.NaN : value);
const nullable = (value: number): number | null => (Number.isNaN(value) ? null : value);

export function createQuiet(emptyAttempt: () => Attempt): Quiet {
  /** Row n stands at n modulo the number of rows, a power of two. */
  let names: unknown[] = new Array(NAMES * FIRST_ROWS).fill(null);
  let numbers = new Float64Array(NUMBERS * FIRST_ROWS);
  let rows = FIRST_ROWS;
  let head = 0;
  let tail = 0;
  /**
   * Finds rows by hash, four slots per row: number of the row + 1; 0 is free; one that has left is passed over. Filled only when a late
   * line asks, and rebuilt now and then instead of being kept clean.
   */
  let table = new Float64Array(4 * FIRST_ROWS);
  let entered = 0;
  let enteredTo = 0;

  const grow = (): void => {
    const before = { names, numbers, rows };
    rows *= 2;
    names = new Array(NAMES * rows).fill(null);
    numbers = new Float64Array(NUMBERS * rows);
    for (let row = head; row < tail; row++) {
      const from = row & (before.rows - 1);
      const to = row & (rows - 1);
      for (let i = 0; i < NAMES; i++) names[to * NAMES + i] = before.names[from * NAMES + i];
      for (let i = 0; i < NUMBERS; i++) numbers[to * NUMBERS + i] = before.numbers[from * NUMBERS + i] as number;
    }
  };

  const keyOf = (row: number): string => {
    const first = names[(row & (rows - 1)) * NAMES];
    return typeof first === 'string' ? first : (first as Attempt).key;
  };
  const enterAll = (): void => {
    // Half of the table at the most is used, so that a search always ends at a free slot.
    if (table.length !== 4 * rows || entered + (tail - enteredTo) > 2 * rows) {
      table = table.length === 4 * rows ? table.fill(0) : new Float64Array(4 * rows);
      entered = 0;
      enteredTo = head;
    }
    const mask = table.length - 1;
    for (enteredTo = Math.max(enteredTo, head); enteredTo < tail; enteredTo++) {
      let slot = (hash53(keyOf(enteredTo)) | 0) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = enteredTo + 1;
      entered++;
    }
  };

  const write = (attempt: Attempt, row: number): boolean => {
    const n = (row & (rows - 1)) * NUMBERS;
    const s = (row & (rows - 1)) * NAMES;
    numbers[n] = attempt.judgedTs;
    if (!isPlain(attempt)) {
      names[s] = attempt;
      return false;
    }
    names[s] = attempt.key;
    names[s + 1] = attempt.exchange;
    names[s + 2] = attempt.host;
    names[s + 3] = attempt.server;
    names[s + 4] = attempt.policy;
    names[s + 5] = attempt.version;
    names[s + 6] = attempt.method;
    names[s + 7] = attempt.target;
    names[s + 8] = attempt.argsDigest;
    names[s + 9] = attempt.requestKey;
    names[s + 10] = attempt.client;
    names[s + 11] = attempt.trace;
    names[s + 12] = attempt.endpoint;
    names[s + 13] = attempt.verdict;
    numbers[n + 1] = attempt.openTs;
    numbers[n + 2] = attempt.bytes;
    numbers[n + 3] = numberOf(attempt.status);
    numbers[n + 4] = numberOf(attempt.errorCode);
    numbers[n + 5] = numberOf(attempt.fullLength);
    numbers[n + 6] =
      (attempt.openKnown ? OPEN_KNOWN : 0) |
      (attempt.terminal ? TERMINAL : 0) |
      (attempt.isError ? IS_ERROR : 0) |
      (attempt.inputResponses ? INPUT_RESPONSES : 0) |
      (attempt.notSent ? NOT_SENT : 0) |
      (attempt.idempotent ? IDEMPOTENT : 0) |
      (attempt.declaredSafe ? DECLARED_SAFE : 0) |
      (attempt.cutOrEmpty ? CUT_OR_EMPTY : 0) |
      (TERMINAL_KINDS.indexOf(attempt.terminalKind) << 8) |
      (ID_MATCHES.indexOf(attempt.idMatch) << 10);
    return true;
  };

  /** The attempt at a row, over `blank` unless it is an object already. */
  const read = (row: number, blank: Attempt): Attempt => {
    const n = (row & (rows - 1)) * NUMBERS;
    const s = (row & (rows - 1)) * NAMES;
    const first = names[s];
    if (typeof first !== 'string') return first as Attempt;
    const flags = numbers[n + 6] as number;
    blank.key = first;
    blank.exchange = names[s + 1] as string;
    blank.host = names[s + 2] as string;
    blank.server = names[s + 3] as string;
    blank.policy = names[s + 4] as ServerPolicy | undefined;
    blank.version = names[s + 5] as Version;
    blank.method = names[s + 6] as string | null;
    blank.target = names[s + 7] as string | null;
    blank.argsDigest = names[s + 8] as string | null;
    blank.requestKey = names[s + 9] as string | null;
    blank.client = names[s + 10] as string | null;
    blank.trace = names[s + 11] as string | null;
    blank.endpoint = names[s + 12] as string | null;
    blank.verdict = names[s + 13] as Verdict | null;
    blank.judgedTs = numbers[n] as number;
    blank.closeTs = blank.judgedTs;
    blank.openTs = numbers[n + 1] as number;
    blank.bytes = numbers[n + 2] as number;
    blank.status = nullable(numbers[n + 3] as number);
    blank.errorCode = nullable(numbers[n + 4] as number);
    blank.fullLength = nullable(numbers[n + 5] as number);
    blank.openKnown = (flags & OPEN_KNOWN) !== 0;
    blank.terminal = (flags & TERMINAL) !== 0;
    blank.isError = (flags & IS_ERROR) !== 0;
    blank.inputResponses = (flags & INPUT_RESPONSES) !== 0;
    blank.notSent = (flags & NOT_SENT) !== 0;
    blank.idempotent = (flags & IDEMPOTENT) !== 0;
    blank.declaredSafe = (flags & DECLARED_SAFE) !== 0;
    blank.cutOrEmpty = (flags & CUT_OR_EMPTY) !== 0;
    blank.terminalKind = TERMINAL_KINDS[(flags >> 8) & 3] as Attempt['terminalKind'];
    blank.idMatch = ID_MATCHES[(flags >> 10) & 3] as Attempt['idMatch'];
    // What a row cannot hold, as an attempt begins.
    blank.operation = null;
    blank.counted = false;
    blank.suspended = false;
    blank.inputRequired = false;
    blank.parseFailed = false;
    blank.parsedOk = false;
    blank.okBytes = null;
    blank.trends = null;
    blank.settled = null;
    blank.settledTs = Number.NaN;
    return blank;
  };

  return {
    get size() {
      return tail - head;
    },
    push(attempt) {
      if (tail - head === rows) grow();
      return write(attempt, tail++);
    },
    find(key) {
      enterAll();
      const mask = table.length - 1;
      for (let slot = (hash53(key) | 0) & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
        const row = (table[slot] as number) - 1;
        if (row < head || keyOf(row) !== key) continue;
        const attempt = read(row, emptyAttempt());
        names[(row & (rows - 1)) * NAMES] = attempt;
        return attempt;
      }
      return undefined;
    },
    oldestTs: () => (head === tail ? Number.NaN : (numbers[(head & (rows - 1)) * NUMBERS] as number)),
    shift(blank) {
      const attempt = read(head, blank);
      const s = (head & (rows - 1)) * NAMES;
      // Lets go of what is its own alone.
      names[s] = names[s + 1] = names[s + 8] = names[s + 9] = names[s + 11] = null;
      head++;
      return attempt;
    },
  };
}

const TERMINAL_KINDS: readonly Attempt['terminalKind'][] = [null, 'result', 'error'];
const ID_MATCHES: readonly Attempt['idMatch'][] = [null, 'match', 'mismatch', 'null_id'];
