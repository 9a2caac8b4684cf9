/**
 * Decides whether the bytes of one JSON document are empty, complete, cut or malformed: the answer that JSON.parse gives on the
 * decoded text, at every prefix. Tells a listener about the outer parts it follows; never builds or keeps the document.
 */
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  HEX,
  LITERAL_START,
  LITERALS,
  LOWER_U,
  NUMBER_ENDS,
  NUMBER_NEXT,
  NUMBER_START,
  NUMBER_STEP,
  OPEN_LIST,
  OPEN_OBJECT,
  PLAIN,
  QUOTE,
  SIMPLE_ESCAPE,
  SPACE,
} from './json-tables.ts';
import { Nesting } from './nesting.ts';
import { Token } from './token.ts';

/** unknown: nested deeper than is followed here. */
export type JsonState = 'empty' | 'complete' | 'cut' | 'malformed' | 'unknown';

/** What a listener wants of the value that begins: nothing, its JSON text at the end, or the bytes of its string as they pass. */
export const SKIP = 0;
export const KEEP = 1;
export const STREAM = 2;
export type Want = typeof SKIP | typeof KEEP | typeof STREAM;

/** Hears of the parts of containers that it follows; those form a chain from the document inwards. */
export interface JsonListener {
  /** A container begins. Follow it? */
  opened(isList: boolean): boolean;
  /** The innermost followed container ended. */
  closed(): void;
  /** undefined: longer than a token that is kept. */
  key(key: string | undefined): void;
  /** A scalar begins. */
  wants(isString: boolean): Want;
  /** JSON text of a scalar that was to be kept; undefined: too long. */
  scalar(text: string | undefined): void;
  /** Raw bytes inside the quotes of a string that is streamed, escapes and all. */
  text(chunk: Uint8Array, from: number, to: number): void;
  textEnd(): void;
}

const VALUE = 0;
const VALUE_OR_END = 1;
const KEY = 2;
const KEY_OR_END = 3;
const AFTER_KEY = 4;
const AFTER = 5;
const DONE = 6;
const BAD = 7;
const STRING = 8;
const ESCAPE = 9;
const UNICODE = 10;
const NUMBER = 11;
const LITERAL = 12;
const TOO_DEEP = 13;

const BOM = [0xef, 0xbb, 0xbf];

export interface JsonScanOptions {
  readonly listener?: JsonListener;
  /** A body starts with a byte order mark that decoders drop; the data of an event does not. */
  readonly bom?: boolean;
}

export class JsonScan {
  bytes = 0;
  /** Offset of the first byte that no JSON document has there. */
  malformedAt: number | undefined;
  #mode = VALUE;
  #inKey = false;
  #want: Want = SKIP;
  /** Of the literal: which word, and how much of it was seen; of a \u escape: digits seen; of a number: its state. */
  #word = '';
  #count = 0;
  /** Bytes of the mark seen; 3 when the place for one is over. */
  #bom: number;
  readonly #bomAtStart: number;
  readonly #nesting = new Nesting();
  /** How many of the open containers the listener follows. */
  #followed = 0;
  readonly #token = new Token();
  readonly #listener: JsonListener | undefined;

  constructor({ listener, bom = true }: JsonScanOptions = {}) {
    this.#listener = listener;
    this.#bomAtStart = bom ? 0 : 3;
    this.#bom = this.#bomAtStart;
  }

  /** As new, for the next document. */
  reset(): void {
    [this.bytes, this.malformedAt, this.#mode, this.#want, this.#followed] = [0, undefined, VALUE, SKIP, 0];
    this.#bom = this.#bomAtStart;
    this.#nesting.clear();
    this.#token.clear();
  }

  /** The answer if the document ended here. */
  state(): JsonState {
    const mode = this.#mode;
    if (mode === BAD) return 'malformed';
    if (mode === TOO_DEEP) return 'unknown';
    if (mode === DONE) return 'complete';
    if (this.#nesting.depth > 0) return 'cut';
    if (mode === NUMBER && NUMBER_ENDS[this.#count] === 1) return 'complete';
    const partOfMark = this.bytes < 3 && this.#bom > 0 && this.#bom < 3;
    return mode === VALUE && !partOfMark ? 'empty' : 'cut';
  }

  push(chunk: Uint8Array, from = 0, to = chunk.length): void {
    const startedAt = this.bytes - from;
    let i = this.#bom < 3 ? this.#skipMark(chunk, from, to) : from;
    // Where the part of a token that is kept or streamed begins in this chunk.
    let tokenFrom = i;
    while (i < to) {
      switch (this.#mode) {
        case STRING: {
          i = endOfText(chunk, i, to);
          if (i === to) break;
          const c = chunk[i];
          if (c === QUOTE) {
            this.#endString(chunk, tokenFrom, i);
            i++;
          } else if (c === BACKSLASH) {
            this.#mode = ESCAPE;
            i++;
          } else this.#mode = BAD;
          break;
        }
        case ESCAPE: {
          const c = chunk[i] as number;
          if (c === LOWER_U) [this.#mode, this.#count] = [UNICODE, 0];
          else this.#mode = SIMPLE_ESCAPE[c] === 1 ? STRING : BAD;
          if (this.#mode !== BAD) i++;
          break;
        }
        case UNICODE:
          if (HEX[chunk[i] as number] === 0) this.#mode = BAD;
          else {
            i++;
            if (++this.#count === 4) this.#mode = STRING;
          }
          break;
        case NUMBER: {
          let state = this.#count;
          let next = state;
          while (i < to && next !== 0) {
            next = NUMBER_NEXT[(state << 3) | (NUMBER_STEP[chunk[i] as number] as number)] as number;
            if (next !== 0) [state, i] = [next, i + 1];
          }
          this.#count = state;
          if (next !== 0) break;
          if (NUMBER_ENDS[state] === 1) this.#endScalar(chunk, tokenFrom, i);
          else this.#mode = BAD;
          break;
        }
        case LITERAL:
          if (chunk[i] !== this.#word.charCodeAt(this.#count)) this.#mode = BAD;
          else {
            i++;
            if (++this.#count === this.#word.length) this.#endScalar(chunk, tokenFrom, i);
          }
          break;
        default: {
          while (i < to && SPACE[chunk[i] as number] === 1) i++;
          if (i === to) break;
          tokenFrom = i;
          this.#structure(chunk[i] as number);
          // Numbers and literals begin with their first byte, strings and the rest go on behind it.
          const mode = this.#mode;
          if (mode === STRING) tokenFrom = i + 1;
          if (mode < BAD || mode === STRING) i++;
        }
      }
      if (this.#mode === BAD || this.#mode === TOO_DEEP) {
        if (this.#mode === BAD) this.malformedAt = startedAt + i;
        i = to;
      }
    }
    if (this.#want !== SKIP && this.#mode >= STRING && this.#mode <= LITERAL) this.#take(chunk, tokenFrom, to);
    this.bytes += to - from;
  }

  /** Returns where the text begins. */
  #skipMark(chunk: Uint8Array, from: number, to: number): number {
    let i = from;
    while (i < to && this.#bom < 3 && chunk[i] === BOM[this.#bom]) {
      this.#bom++;
      i++;
    }
    if (i === to || this.#bom === 3) return i;
    // Half a mark is a character that no document begins with.
    if (this.#bom > 0) [this.#mode, this.malformedAt] = [BAD, 0];
    this.#bom = 3;
    return this.#mode === BAD ? to : i;
  }

  #structure(c: number): void {
    const mode = this.#mode;
    const nesting = this.#nesting;
    if (mode === VALUE || (mode === VALUE_OR_END && c !== CLOSE_LIST)) this.#startValue(c);
    else if ((mode === KEY || mode === KEY_OR_END) && c === QUOTE) {
      [this.#mode, this.#inKey] = [STRING, true];
      this.#want = nesting.depth === this.#followed && this.#listener !== undefined ? KEEP : SKIP;
    } else if (mode === AFTER_KEY && c === COLON) this.#mode = VALUE;
    else if (mode === AFTER && c === COMMA) this.#mode = nesting.inList ? VALUE : KEY;
    else if (
      mode !== KEY &&
      mode !== AFTER_KEY &&
      mode !== DONE &&
      c === (nesting.inList ? CLOSE_LIST : CLOSE_OBJECT)
    ) {
      if (nesting.depth === this.#followed) {
        this.#followed--;
        this.#listener?.closed();
      }
      nesting.pop();
      this.#mode = nesting.depth === 0 ? DONE : AFTER;
    } else this.#mode = BAD;
  }

  #startValue(c: number): void {
    const nesting = this.#nesting;
    const heard = nesting.depth === this.#followed ? this.#listener : undefined;
    if (c === OPEN_OBJECT || c === OPEN_LIST) {
      const isList = c === OPEN_LIST;
      if (heard?.opened(isList)) this.#followed++;
      this.#mode = nesting.push(isList) ? (isList ? VALUE_OR_END : KEY_OR_END) : TOO_DEEP;
      return;
    }
    this.#inKey = false;
    if (c === QUOTE) this.#mode = STRING;
    else if (LITERAL_START[c] !== 0) {
      [this.#mode, this.#count] = [LITERAL, 0];
      this.#word = LITERALS[(LITERAL_START[c] as number) - 1] as string;
    } else if (NUMBER_NEXT[(NUMBER_START << 3) | (NUMBER_STEP[c] as number)] !== 0)
      [this.#mode, this.#count] = [NUMBER, NUMBER_START];
    else {
      this.#mode = BAD;
      return;
    }
    this.#want = heard === undefined ? SKIP : heard.wants(c === QUOTE);
  }

  #take(chunk: Uint8Array, from: number, to: number): void {
    if (this.#want === KEEP) this.#token.add(chunk, from, to);
    else if (to > from) this.#listener?.text(chunk, from, to);
  }

  #endString(chunk: Uint8Array, from: number, to: number): void {
    const want = this.#want;
    this.#want = SKIP;
    if (this.#inKey) {
      this.#mode = AFTER_KEY;
      if (want === KEEP) this.#listener?.key(this.#token.string(chunk, from, to));
      return;
    }
    this.#mode = this.#nesting.depth === 0 ? DONE : AFTER;
    if (want === KEEP) {
      const text = this.#token.string(chunk, from, to);
      this.#listener?.scalar(text === undefined ? undefined : JSON.stringify(text));
    } else if (want === STREAM) {
      if (to > from) this.#listener?.text(chunk, from, to);
      this.#listener?.textEnd();
    }
  }

  #endScalar(chunk: Uint8Array, from: number, to: number): void {
    this.#mode = this.#nesting.depth === 0 ? DONE : AFTER;
    if (this.#want === KEEP) this.#listener?.scalar(this.#token.text(chunk, from, to));
    this.#want = SKIP;
  }
}

/** Index of the first byte that is not plain text. */
function endOfText(chunk: Uint8Array, from: number, to: number): number {
  let i = from;
  while (i < to && PLAIN[chunk[i] as number] === 1) i++;
  return i;
}
