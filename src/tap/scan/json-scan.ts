/**
 * Decides whether the bytes of one JSON document are empty, complete, cut or malformed: the answer that JSON.parse gives on the
 * decoded text, at every prefix. Tells a listener about the outer parts it follows; never builds or keeps the document.
 */

import { type JsonListener, KEEP, SKIP, STREAM, type Want } from './json-listener.ts';
import {
  ACTIONS,
  AFTER_ITEM,
  AFTER_KEY,
  AFTER_MEMBER,
  BACKSLASH,
  BEGIN_KEY,
  BEGIN_LIST,
  BEGIN_LITERAL,
  BEGIN_NUMBER,
  BEGIN_OBJECT,
  BEGIN_STRING,
  COLON,
  DONE,
  END,
  ESCAPED,
  FIRST_ITEM,
  FIRST_KEY,
  GO_ON,
  HEX,
  LOWER_U,
  literalOf,
  NEXT,
  NUMBER_ENDS,
  NUMBER_NEXT,
  NUMBER_START,
  PASS,
  PLAIN,
  QUOTE,
  VALUE,
} from './json-tables.ts';
import { Nesting } from './nesting.ts';
import { MAX_TOKEN_BYTES, Token } from './token.ts';

/** unknown: nested deeper than is followed here. */
export type JsonState = 'empty' | 'complete' | 'cut' | 'malformed' | 'unknown';

/** Inside a token, or past any hope: these follow the places of json-tables.ts. */
const STRING = 8;
const ESCAPE = 9;
const UNICODE = 10;
const NUMBER = 11;
const LITERAL = 12;
const BAD = 13;
const TOO_DEEP = 14;

const BOM = [0xef, 0xbb, 0xbf];

export class JsonScan {
  bytes = 0;
  /** Offset of the first byte that no JSON document has there. */
  malformedAt: number | undefined = undefined;
  #mode = VALUE;
  #inKey = false;
  #want: Want = SKIP;
  /** Of a literal: the word, and how much of it was seen; of a \u escape: digits seen; of a number: its state. */
  #word = '';
  #count = 0;
  /** Bytes of the mark seen; 3 when the place for one is over. */
  #mark: number;
  /** How many of the open containers the listener follows. */
  #followed = 0;
  readonly #markAtStart: number;
  readonly #nesting = new Nesting();
  readonly #token = new Token();
  readonly #listener: JsonListener | undefined;

  /** `bom`: a byte order mark at the start is dropped, as decoders do with a body. The data of an event may have none. */
  constructor(listener: JsonListener | undefined, bom: boolean) {
    this.#listener = listener;
    this.#markAtStart = bom ? 0 : 3;
    this.#mark = this.#markAtStart;
  }

  /** As new, for the next document. */
  reset(): void {
    this.bytes = 0;
    this.malformedAt = undefined;
    this.#mode = VALUE;
    this.#want = SKIP;
    this.#mark = this.#markAtStart;
    this.#followed = 0;
    this.#nesting.clear();
    this.#token.length = 0;
  }

  /** The answer if the document ended here. */
  state(): JsonState {
    const mode = this.#mode;
    if (mode === BAD) return 'malformed';
    if (mode === TOO_DEEP) return 'unknown';
    if (mode === DONE) return 'complete';
    if (this.#nesting.depth > 0) return 'cut';
    if (mode === NUMBER && NUMBER_ENDS[this.#count] === 1) return 'complete';
    const inMark = this.#markAtStart === 0 && this.#mark > 0 && this.#mark < 3;
    return mode === VALUE && !inMark ? 'empty' : 'cut';
  }

  /**
   * `escaped`: the document is the text of a string of another one, and its escapes are undone on the way. Returns where it
   * stopped then: at a byte that ends that string, or at an escape that has to be given as the one byte that it stands for.
   */
  push(chunk: Uint8Array, from = 0, to = chunk.length, escaped = false): number {
    const startedAt = this.bytes - from;
    this.bytes += to - from;
    let i = this.#mark < 3 ? this.#skipMark(chunk, from, to) : from;
    let mode = this.#mode;
    if (mode >= BAD) return to;
    const nesting = this.#nesting;
    // Where the part of a token that is kept or streamed begins in this chunk.
    let tokenFrom = i;
    while (i < to) {
      let c = chunk[i] as number;
      let width = 1;
      if (escaped && PLAIN[c] === 0) {
        const stands = c === BACKSLASH && i + 1 < to ? (ESCAPED[chunk[i + 1] as number] as number) : 0;
        if (stands === 0) break;
        c = stands;
        width = 2;
      }
      if (mode === STRING) {
        if (this.#want === STREAM) {
          i = (this.#listener as JsonListener).text(chunk, i, to);
          if (i === to) break;
          c = chunk[i] as number;
        }
        if (PLAIN[c] === 1) i += width;
        else if (c === QUOTE) {
          if (this.#want !== SKIP) this.#endString(chunk, tokenFrom, i);
          i += width;
          if (!this.#inKey) mode = this.#afterValue();
          else if (i < to && chunk[i] === COLON) {
            mode = VALUE;
            i++;
          } else mode = AFTER_KEY;
        } else if (c === BACKSLASH) {
          if (width === 1 && this.#want !== STREAM && i + 1 < to && ESCAPED[chunk[i + 1] as number] !== 0) i += 2;
          else {
            mode = ESCAPE;
            i += width;
            if (this.#want === STREAM) this.#listener?.escaped(c);
          }
        } else mode = BAD;
        // The run of plain text up to the next byte that matters.
        if (mode === STRING && this.#want !== STREAM) while (i < to && PLAIN[chunk[i] as number] === 1) i++;
      } else if (mode < STRING) {
        switch (ACTIONS[(mode << 8) | c]) {
          case PASS:
            break;
          case BEGIN_KEY:
            mode = STRING;
            tokenFrom = i + 1;
            this.#inKey = true;
            if (nesting.depth === this.#followed && this.#listener !== undefined) this.#want = KEEP;
            break;
          case BEGIN_STRING:
            mode = STRING;
            tokenFrom = i + 1;
            this.#inKey = false;
            if (nesting.depth === this.#followed) this.#ask(true);
            break;
          case BEGIN_NUMBER:
            mode = NUMBER;
            tokenFrom = i;
            this.#count = NUMBER_NEXT[(NUMBER_START << 8) | c] as number;
            if (nesting.depth === this.#followed) this.#ask(false);
            break;
          case BEGIN_LITERAL:
            mode = LITERAL;
            tokenFrom = i;
            this.#word = literalOf(c);
            this.#count = 1;
            if (nesting.depth === this.#followed) this.#ask(false);
            break;
          case BEGIN_OBJECT:
            mode = this.#open(false) ? FIRST_KEY : TOO_DEEP;
            break;
          case BEGIN_LIST:
            mode = this.#open(true) ? FIRST_ITEM : TOO_DEEP;
            break;
          case END:
            if (nesting.depth === this.#followed) {
              this.#followed--;
              this.#listener?.closed();
            }
            nesting.pop();
            mode = this.#afterValue();
            break;
          case GO_ON:
            mode = NEXT[mode] as number;
            break;
          default:
            mode = BAD;
        }
        if (mode !== BAD) i += width;
      } else if (mode === NUMBER) {
        let state = this.#count;
        let next = NUMBER_NEXT[(state << 8) | c] as number;
        while (next !== 0) {
          state = next;
          i++;
          next = i < to ? (NUMBER_NEXT[(state << 8) | (chunk[i] as number)] as number) : 0;
        }
        this.#count = state;
        if (i === to) break;
        if (NUMBER_ENDS[state] === 1) {
          if (this.#want !== SKIP) this.#endScalar(chunk, tokenFrom, i);
          mode = this.#afterValue();
        } else mode = BAD;
      } else if (mode === LITERAL) {
        if (c !== this.#word.charCodeAt(this.#count)) mode = BAD;
        else {
          i++;
          if (++this.#count === this.#word.length) {
            if (this.#want !== SKIP) this.#endScalar(chunk, tokenFrom, i);
            mode = this.#afterValue();
          }
        }
      } else if (mode === ESCAPE) {
        if (c === LOWER_U) {
          mode = UNICODE;
          this.#count = 0;
        } else mode = ESCAPED[c] === 0 ? BAD : STRING;
        if (mode !== BAD) i += width;
        if (this.#want === STREAM) this.#listener?.escaped(c);
      } else if (mode === UNICODE) {
        if (HEX[c] === 0) mode = BAD;
        else {
          i++;
          if (++this.#count === 4) mode = STRING;
          if (this.#want === STREAM) this.#listener?.escaped(c);
        }
      } else break;
    }
    if (mode === BAD) this.malformedAt = startedAt + i;
    else if (this.#want === KEEP && mode >= STRING && mode <= LITERAL) this.#token.add(chunk, tokenFrom, to);
    this.#mode = mode;
    return i;
  }

  /** Returns where the text begins. */
  #skipMark(chunk: Uint8Array, from: number, to: number): number {
    let i = from;
    while (i < to && this.#mark < 3 && chunk[i] === BOM[this.#mark]) {
      this.#mark++;
      i++;
    }
    if (i === to || this.#mark === 3) return i;
    // Half a mark is a character that no document begins with.
    if (this.#mark > 0) {
      this.#mode = BAD;
      this.malformedAt = 0;
    }
    this.#mark = 3;
    return i;
  }

  #open(isList: boolean): boolean {
    const nesting = this.#nesting;
    if (nesting.depth === this.#followed && this.#listener?.opened(isList)) this.#followed++;
    return nesting.push(isList);
  }

  #ask(isString: boolean): void {
    if (this.#listener !== undefined) this.#want = this.#listener.wants(isString);
  }

  #afterValue(): number {
    const { depth, inList } = this.#nesting;
    return depth === 0 ? DONE : inList ? AFTER_ITEM : AFTER_MEMBER;
  }

  #endString(chunk: Uint8Array, from: number, to: number): void {
    const listener = this.#listener as JsonListener;
    const token = this.#token;
    if (this.#want === STREAM) listener.textEnd();
    else if (!this.#inKey) {
      const raw = token.take(chunk, from, to);
      listener.scalar(raw?.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw, true);
    } else if (token.length === 0) listener.key(chunk, from, to - from > MAX_TOKEN_BYTES ? from : to);
    else {
      token.add(chunk, from, to);
      listener.key(token.bytes, 0, token.length > MAX_TOKEN_BYTES ? 0 : token.length);
      token.length = 0;
    }
    this.#want = SKIP;
  }

  #endScalar(chunk: Uint8Array, from: number, to: number): void {
    this.#listener?.scalar(this.#token.take(chunk, from, to), false);
    this.#want = SKIP;
  }
}
