/**
 * Decides whether the bytes of one JSON document are empty, complete, cut or malformed: the answer JSON.parse would give on the
 * decoded text. Keeps the nesting and, where the listener asks for it, one short token; never the document.
 */
import { mayEndNumber, type NumberState, nextNumberState } from './json-number.ts';

export type JsonState = 'empty' | 'complete' | 'cut' | 'malformed';

/** Told about the document's outer parts. `depth` is the number of open containers around the token. */
export interface JsonListener {
  /** Should the text of this key or scalar be kept until its end? */
  wants(depth: number, isKey: boolean): boolean;
  key(depth: number, text: string | undefined): void;
  /** `text` is JSON text: a string keeps its quotes. undefined: not wanted, or too long. */
  scalar(depth: number, text: string | undefined): void;
}

type Mode = 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'colon' | 'after' | 'done' | 'bad';
type TokenMode = 'string' | 'escape' | 'hex' | 'number' | 'literal';

/** Deeper than any client would follow: reported as malformed, so that hostile nesting costs no memory. */
const MAX_DEPTH = 65_536;
const MAX_TOKEN_BYTES = 256;
const BOM = [0xef, 0xbb, 0xbf];
const code = (char: string) => char.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON] = [code('"'), code('\\'), code(','), code(':')];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [code('{'), code('}'), code('['), code(']')];
/** Text inside a string that changes nothing. */
const isPlain = (c: number | undefined): boolean => c !== undefined && c >= 0x20 && c !== QUOTE && c !== BACKSLASH;
const ESCAPES = new Set([...'"\\/bfnrt'].map(code));
const HEX = new Set([...'0123456789abcdefABCDEF'].map(code));
const SPACE = new Set([...' \t\n\r'].map(code));
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [code(word), word]));

export class JsonScan {
  bytes = 0;
  /** Offset of the first byte that no JSON document has there. */
  malformedAt: number | undefined;
  #mode: Mode | TokenMode = 'value';
  #inKey = false;
  /** What the literal still lacks; how many hex digits the escape still lacks. */
  #rest = '';
  #hexLeft = 0;
  #number: NumberState = 'start';
  #bom = 0;
  #token: number[] | undefined;
  readonly #stack: number[] = [];
  readonly #listener: JsonListener | undefined;

  constructor(listener?: JsonListener) {
    this.#listener = listener;
  }

  push(chunk: Uint8Array): void {
    let i = 0;
    while (this.#bom < 3 && this.#bom === this.bytes + i && chunk[i] === BOM[this.#bom])
      [i, this.#bom] = [i + 1, this.#bom + 1];
    for (; i < chunk.length && this.malformedAt === undefined; i++) {
      // Most bytes are text that nobody wants: the hot path.
      if (this.#mode === 'string' && this.#token === undefined) while (isPlain(chunk[i])) i++;
      if (i < chunk.length) this.#step(chunk[i] as number);
      if (this.#mode === 'bad') this.malformedAt = this.bytes + i;
    }
    this.bytes += chunk.length;
  }

  /** The answer if the document ended here. */
  state(): JsonState {
    if (this.#mode === 'bad') return 'malformed';
    if (this.#mode === 'done') return 'complete';
    if (this.#stack.length > 0) return 'cut';
    if (this.#mode === 'number' && mayEndNumber(this.#number)) return 'complete';
    return this.#mode === 'value' ? 'empty' : 'cut';
  }

  #step(c: number): void {
    switch (this.#mode) {
      case 'string':
        this.#keep(c);
        if (c === QUOTE) this.#endToken();
        else if (c === BACKSLASH) this.#mode = 'escape';
        else if (c < 0x20) this.#mode = 'bad';
        return;
      case 'escape':
        this.#keep(c);
        this.#hexLeft = 4;
        if (c === code('u')) this.#mode = 'hex';
        else this.#mode = ESCAPES.has(c) ? 'string' : 'bad';
        return;
      case 'hex':
        this.#keep(c);
        if (!HEX.has(c)) this.#mode = 'bad';
        else if (--this.#hexLeft === 0) this.#mode = 'string';
        return;
      case 'literal':
        this.#keep(c);
        if (c !== this.#rest.charCodeAt(0)) this.#mode = 'bad';
        this.#rest = this.#rest.slice(1);
        if (this.#rest === '' && this.#mode !== 'bad') this.#endToken();
        return;
      case 'number': {
        const next = nextNumberState(this.#number, c);
        if (next !== undefined) {
          this.#keep(c);
          this.#number = next;
        } else if (mayEndNumber(this.#number)) {
          this.#endToken();
          this.#step(c);
        } else this.#mode = 'bad';
        return;
      }
      default:
        if (!SPACE.has(c)) this.#structure(c, this.#mode);
    }
  }

  #structure(c: number, mode: Mode): void {
    const inList = this.#stack.at(-1) === OPEN_LIST;
    const mayClose = mode === 'after' || mode === (inList ? 'value_or_end' : 'key_or_end');
    if (mayClose && c === (inList ? CLOSE_LIST : CLOSE)) {
      this.#stack.pop();
      this.#afterValue();
    } else if (mode === 'value' || mode === 'value_or_end') this.#startValue(c);
    else if ((mode === 'key' || mode === 'key_or_end') && c === QUOTE) this.#startToken('string', c, true);
    else if (mode === 'colon' && c === COLON) this.#mode = 'value';
    else if (mode === 'after' && c === COMMA) this.#mode = inList ? 'value' : 'key';
    else this.#mode = 'bad';
  }

  #startValue(c: number): void {
    const number = nextNumberState('start', c);
    this.#rest = LITERALS.get(c)?.slice(1) ?? '';
    if (c === OPEN || c === OPEN_LIST) {
      this.#stack.push(c);
      this.#mode = this.#stack.length > MAX_DEPTH ? 'bad' : c === OPEN ? 'key_or_end' : 'value_or_end';
    } else if (c === QUOTE) this.#startToken('string', c, false);
    else if (this.#rest !== '') this.#startToken('literal', c, false);
    else if (number !== undefined) {
      this.#startToken('number', c, false);
      this.#number = number;
    } else this.#mode = 'bad';
  }

  #startToken(mode: TokenMode, c: number, isKey: boolean): void {
    this.#mode = mode;
    this.#inKey = isKey;
    this.#token = this.#listener?.wants(this.#stack.length, isKey) ? [c] : undefined;
  }

  #keep(c: number): void {
    this.#token?.push(c);
    if (this.#token !== undefined && this.#token.length > MAX_TOKEN_BYTES) this.#token = undefined;
  }

  #endToken(): void {
    const text = this.#token === undefined ? undefined : new TextDecoder().decode(Uint8Array.from(this.#token));
    this.#token = undefined;
    if (this.#inKey) {
      this.#mode = 'colon';
      this.#listener?.key(this.#stack.length, text);
    } else {
      this.#listener?.scalar(this.#stack.length, text);
      this.#afterValue();
    }
  }

  #afterValue(): void {
    this.#mode = this.#stack.length === 0 ? 'done' : 'after';
  }
}
