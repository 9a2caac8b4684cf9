/**
 * Does a text that begins with { or [ parse as JSON? Follows the text of a tool result while it passes inside its JSON string,
 * undoing the escapes. One word comes out; the text is not kept.
 */
import { JsonScan } from './json-scan.ts';
import { BACKSLASH, ESCAPED, LOWER_U, OPEN_LIST, OPEN_OBJECT, PLAIN, SPACE } from './json-tables.ts';

export type InnerJson = 'none' | 'ok' | 'bad';

/** Stands for any character above ASCII: text inside a string, an error outside. */
const NOT_ASCII = 0xff;

export class InnerJsonScan {
  readonly #scan = new JsonScan(undefined, false);
  /** undecided: only space so far. over: what comes does not change the word any more. */
  #kind: 'undecided' | 'json' | 'over' = 'undecided';
  #escape: 'no' | 'begun' | 'unicode' = 'no';
  #digits = '';
  readonly #one = new Uint8Array(1);

  /** Raw bytes of the string; returns where it stopped, as JsonListener.text. */
  push(chunk: Uint8Array, from: number, to: number): number {
    let i = from;
    while (i < to && this.#kind === 'undecided' && PLAIN[chunk[i] as number] === 1) this.#put(chunk[i++] as number);
    if (this.#kind === 'json') {
      i = this.#scan.push(chunk, i, to, true);
      this.#giveUp();
    }
    if (this.#kind !== 'over') return i;
    while (i < to) {
      if (PLAIN[chunk[i] as number] === 1) i++;
      else if (chunk[i] === BACKSLASH && i + 1 < to && ESCAPED[chunk[i + 1] as number] !== 0) i += 2;
      else break;
    }
    return i;
  }

  /** A byte of an escape. */
  escaped(c: number): void {
    if (this.#escape === 'no') this.#escape = 'begun';
    else if (this.#escape === 'begun') {
      this.#digits = '';
      this.#escape = c === LOWER_U ? 'unicode' : 'no';
      if (c !== LOWER_U) this.#put(ESCAPED[c] as number);
    } else {
      this.#digits += String.fromCharCode(c);
      if (this.#digits.length < 4) return;
      this.#escape = 'no';
      const unit = Number.parseInt(this.#digits, 16);
      this.#put(unit < 0x80 ? unit : NOT_ASCII);
    }
  }

  /** The text ended: the word for it. */
  end(): InnerJson {
    const state = this.#scan.state();
    const isJson = state !== 'empty' && state !== 'unknown';
    const word = !isJson ? 'none' : state === 'complete' ? 'ok' : 'bad';
    this.#scan.reset();
    this.#kind = 'undecided';
    this.#escape = 'no';
    return word;
  }

  #put(c: number): void {
    if (this.#kind === 'undecided' && SPACE[c] === 0)
      this.#kind = c === OPEN_OBJECT || c === OPEN_LIST ? 'json' : 'over';
    if (this.#kind !== 'json') return;
    this.#one[0] = c;
    this.#scan.push(this.#one);
    this.#giveUp();
  }

  #giveUp(): void {
    const state = this.#scan.state();
    if (state === 'malformed' || state === 'unknown') this.#kind = 'over';
  }
}
