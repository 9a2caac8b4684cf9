/**
 * Attempts written down as rows of flat arrays. Half a minute of them as objects and strings would be most of what the garbage
 * collector copies and keeps, and cold memory by the time they are counted. A row holds what an attempt that delivered at once can
 * have; one that has more to tell is held as the object it is.
 */
import type { ExchangeKey } from '../model/exchange.ts';
import type { Attempt } from '../model/operation.ts';
import type { ServerPolicy } from '../model/policy.ts';
import type { Verdict } from '../model/verdict.ts';
import type { Version } from '../protocol/revisions.ts';
import type { IdBytes } from '../scan/id-bytes.ts';

const NAMES = 11;
/** Places in `codes` per row. */
export const ROW_CODES = NAMES;
const NUMBERS = 8;
/** The longest id, as text of one byte per character. An exchange has two, one behind the other: its own and the digest of its arguments. */
const ID_BYTES = 64;
const IDS_BYTES = 2 * ID_BYTES;
const NO_ID = 127;
const MAX_CODE = 0x7f;

const OPEN_KNOWN = 1;
const TERMINAL = 2;
const IS_ERROR = 4;
const INPUT_RESPONSES = 8;
const NOT_SENT = 16;
const IDEMPOTENT = 32;
const DECLARED_SAFE = 64;
const CUT_OR_EMPTY = 128;
const TERMINAL_KINDS: readonly Attempt['terminalKind'][] = [null, 'result', 'error'];
const ID_MATCHES: readonly Attempt['idMatch'][] = [null, 'match', 'mismatch', 'null_id'];
/** Their places, without a search: they are asked for with each attempt. */
const numberOfKind = (kind: Attempt['terminalKind']): number => (kind === null ? 0 : kind === 'result' ? 1 : 2);
const numberOfMatch = (match: Attempt['idMatch']): number =>
  match === null ? 0 : match === 'match' ? 1 : match === 'mismatch' ? 2 : 3;

/** All that a row can hold, but for the ids. */
const isPlain = (attempt: Attempt): boolean =>
  attempt.settled === null &&
  attempt.suspended === false &&
  attempt.okBytes === null &&
  attempt.trends === null &&
  !attempt.parsedOk &&
  attempt.judgedTs === attempt.closeTs;

/** What few rows have: request key and trace. */
type Own = readonly [string | null, string | null];

const numberOf = (value: number | null): number => (value === null ? Number.NaN : value);
const nullable = (value: number): number | null => (Number.isNaN(value) ? null : value);

export interface PackedRows {
  /** Names, verdicts and the like, each once, and attempts that are held as objects. */
  words: unknown[];
  /** The place of each name among them. */
  readonly codes: Uint32Array;
  readonly numbers: Float64Array;
  readonly ids: Uint8Array;
}

export class Rows {
  /** The first name of a row is the attempt itself where that is held as an object. */
  readonly #names: unknown[];
  readonly #numbers: Float64Array;
  readonly #ids: Uint8Array;
  readonly #view: DataView;

  constructor(
    readonly size: number,
    private readonly keyOf: ExchangeKey,
    private readonly emptyAttempt: () => Attempt,
  ) {
    this.#names = new Array(NAMES * size).fill(null);
    this.#numbers = new Float64Array(NUMBERS * size);
    this.#ids = new Uint8Array(IDS_BYTES * size);
    this.#view = new DataView(this.#ids.buffer);
  }

  hash(row: number): number {
    return this.#numbers[row * NUMBERS] as number;
  }
  judgedTs(row: number): number {
    return this.#numbers[row * NUMBERS + 1] as number;
  }
  openTs(row: number): number {
    return this.#numbers[row * NUMBERS + 2] as number;
  }
  isOpenKnown(row: number): boolean {
    return (this.#flags(row) & OPEN_KNOWN) !== 0;
  }
  isError(row: number): boolean {
    return (this.#flags(row) & IS_ERROR) !== 0;
  }
  isDeclaredSafe(row: number): boolean {
    return (this.#flags(row) & DECLARED_SAFE) !== 0;
  }
  terminalKind(row: number): Attempt['terminalKind'] {
    return TERMINAL_KINDS[(this.#flags(row) >> 8) & 3] as Attempt['terminalKind'];
  }
  errorCode(row: number): number | null {
    return nullable(this.#numbers[row * NUMBERS + 5] as number);
  }
  server(row: number): string {
    return this.#names[row * NAMES + 1] as string;
  }
  version(row: number): Version {
    return this.#names[row * NAMES + 2] as Version;
  }
  method(row: number): string | null {
    return this.#names[row * NAMES + 3] as string | null;
  }
  trace(row: number): string | null {
    const own = this.#names[row * NAMES + 10] as Own | null;
    return own === null ? null : own[1];
  }
  /** The attempt where it is held as an object. */
  object(row: number): Attempt | null {
    return this.#names[row * NAMES] as Attempt | null;
  }
  setObject(row: number, attempt: Attempt | null): void {
    this.#names[row * NAMES] = attempt;
  }
  /** Nobody reads them any more: they keep no name alive. */
  clear(first: number, count: number): void {
    this.#names.fill(null, first * NAMES, (first + count) * NAMES);
  }
  #flags(row: number): number {
    return this.#numbers[row * NUMBERS + 7] as number;
  }
  /** Of one that is written down: an object's is whatever stood here. */
  #exchangeLength(row: number): number {
    return Math.min((this.#flags(row) >> 12) & 127, ID_BYTES);
  }

  /** Returns whether the object is free again: all of it was written down. `bytes`: where its ids may stand as well. */
  write(row: number, attempt: Attempt, hash: number, bytes: IdBytes): boolean {
    const numbers = this.#numbers;
    const n = row * NUMBERS;
    numbers[n] = hash;
    numbers[n + 1] = attempt.judgedTs;
    const names = this.#names;
    const s = row * NAMES;
    const at = row * IDS_BYTES;
    const exchange = isPlain(attempt) ? this.#writeId(at, attempt.exchange, bytes) : -1;
    const digest = exchange < 0 ? -1 : this.#writeId(at + exchange, attempt.argsDigest, bytes);
    if (digest < 0) {
      names[s] = attempt;
      return false;
    }
    names[s] = null;
    names[s + 1] = attempt.server;
    names[s + 2] = attempt.version;
    names[s + 3] = attempt.method;
    names[s + 4] = attempt.target;
    names[s + 5] = attempt.client;
    names[s + 6] = attempt.endpoint;
    names[s + 7] = attempt.verdict;
    names[s + 8] = attempt.host;
    names[s + 9] = attempt.policy;
    // Rare, and its own alone.
    names[s + 10] = attempt.requestKey === null && attempt.trace === null ? null : [attempt.requestKey, attempt.trace];
    numbers[n + 2] = attempt.openTs;
    numbers[n + 3] = attempt.bytes;
    numbers[n + 4] = numberOf(attempt.status);
    numbers[n + 5] = numberOf(attempt.errorCode);
    numbers[n + 6] = numberOf(attempt.fullLength);
    numbers[n + 7] =
      (attempt.openKnown ? OPEN_KNOWN : 0) |
      (attempt.terminal ? TERMINAL : 0) |
      (attempt.isError ? IS_ERROR : 0) |
      (attempt.inputResponses ? INPUT_RESPONSES : 0) |
      (attempt.notSent ? NOT_SENT : 0) |
      (attempt.idempotent ? IDEMPOTENT : 0) |
      (attempt.declaredSafe ? DECLARED_SAFE : 0) |
      (attempt.cutOrEmpty ? CUT_OR_EMPTY : 0) |
      (numberOfKind(attempt.terminalKind) << 8) |
      (numberOfMatch(attempt.idMatch) << 10) |
      (exchange << 12) |
      (digest << 19);
    return true;
  }

  /** The attempt as it was written. */
  read(row: number): Attempt {
    const names = this.#names;
    const numbers = this.#numbers;
    const n = row * NUMBERS;
    const s = row * NAMES;
    const flags = this.#flags(row);
    const host = names[s + 8] as string;
    const at = row * IDS_BYTES;
    const exchange = this.#readId(at, (flags >> 12) & 127) as string;
    const own = names[s + 10] as Own | null;
    return Object.assign(this.emptyAttempt(), {
      exchange,
      key: this.keyOf(host, exchange),
      host,
      server: names[s + 1] as string,
      version: names[s + 2] as Version,
      method: names[s + 3] as string | null,
      target: names[s + 4] as string | null,
      argsDigest: this.#readId(at + exchange.length, (flags >> 19) & 127),
      requestKey: own === null ? null : own[0],
      trace: own === null ? null : own[1],
      client: names[s + 5] as string | null,
      endpoint: names[s + 6] as string | null,
      verdict: names[s + 7] as Verdict | null,
      policy: names[s + 9] as ServerPolicy | undefined,
      judgedTs: numbers[n + 1] as number,
      closeTs: numbers[n + 1] as number,
      openTs: numbers[n + 2] as number,
      bytes: numbers[n + 3] as number,
      status: nullable(numbers[n + 4] as number),
      errorCode: nullable(numbers[n + 5] as number),
      fullLength: nullable(numbers[n + 6] as number),
      openKnown: (flags & OPEN_KNOWN) !== 0,
      terminal: (flags & TERMINAL) !== 0,
      isError: (flags & IS_ERROR) !== 0,
      inputResponses: (flags & INPUT_RESPONSES) !== 0,
      notSent: (flags & NOT_SENT) !== 0,
      idempotent: (flags & IDEMPOTENT) !== 0,
      declaredSafe: (flags & DECLARED_SAFE) !== 0,
      cutOrEmpty: (flags & CUT_OR_EMPTY) !== 0,
      terminalKind: TERMINAL_KINDS[(flags >> 8) & 3] as Attempt['terminalKind'],
      idMatch: ID_MATCHES[(flags >> 10) & 3] as Attempt['idMatch'],
    } satisfies Partial<Attempt>);
  }

  /** Some rows in a form of their own: what is said in few words is said once. */
  pack(rows: readonly number[]): PackedRows {
    const codes = new Uint32Array(rows.length * NAMES);
    const numbers = new Float64Array(rows.length * NUMBERS);
    const ids = new Uint8Array(rows.length * IDS_BYTES);
    const known = new Map<unknown, number>();
    const words: unknown[] = [];
    for (const [i, row] of rows.entries()) {
      numbers.set(this.#numbers.subarray(row * NUMBERS, (row + 1) * NUMBERS), i * NUMBERS);
      // Here the second one has a fixed place.
      const digestAt = row * IDS_BYTES + this.#exchangeLength(row);
      ids.set(this.#ids.subarray(row * IDS_BYTES, digestAt), i * IDS_BYTES);
      ids.set(this.#ids.subarray(digestAt, digestAt + ID_BYTES), i * IDS_BYTES + ID_BYTES);
      // Behind an object nothing was written.
      const end = this.object(row) === null ? NAMES : 1;
      for (let at = 0; at < end; at++) {
        const word = this.#names[row * NAMES + at];
        let code = known.get(word);
        if (code === undefined) {
          code = words.push(word) - 1;
          known.set(word, code);
        }
        codes[i * NAMES + at] = code;
      }
    }
    return { words, codes, numbers, ids };
  }

  /** The rows from `first` on; returns how many there were. */
  unpack(first: number, { words, codes, numbers, ids }: PackedRows): number {
    for (const [i, code] of codes.entries()) this.#names[first * NAMES + i] = words[code];
    this.#numbers.set(numbers, first * NUMBERS);
    const count = codes.length / NAMES;
    for (let i = 0; i < count; i++) {
      const at = (first + i) * IDS_BYTES;
      const length = this.#exchangeLength(first + i);
      this.#ids.set(ids.subarray(i * IDS_BYTES, i * IDS_BYTES + length), at);
      this.#ids.set(ids.subarray(i * IDS_BYTES + ID_BYTES, (i + 1) * IDS_BYTES), at + length);
    }
    return count;
  }

  /** Takes over a row as it is. */
  copy(row: number, from: Rows, other: number): void {
    for (let i = 0; i < NAMES; i++) this.#names[row * NAMES + i] = from.#names[other * NAMES + i];
    const numbers = from.#numbers.subarray(other * NUMBERS, (other + 1) * NUMBERS);
    this.#numbers.set(numbers, row * NUMBERS);
    this.#ids.set(from.#ids.subarray(other * IDS_BYTES, (other + 1) * IDS_BYTES), row * IDS_BYTES);
  }

  /** Its length, NO_ID for null, or -1: too long or no ASCII. */
  #writeId(at: number, text: string | null, bytes: IdBytes): number {
    if (text === null) return NO_ID;
    const { length } = text;
    if (length > ID_BYTES) return -1;
    if (bytes.copy(text, this.#view, at)) return length;
    const ids = this.#ids;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > MAX_CODE) return -1;
      ids[at + i] = code;
    }
    return length;
  }

  #readId(at: number, length: number): string | null {
    if (length === NO_ID) return null;
    return String.fromCharCode(...this.#ids.subarray(at, at + length));
  }
}
