/**
 * Does a text that begins with { or [ parse as JSON? Follows the text of a tool result while it passes inside its JSON string,
 * undoing the escapes. One word comes out; the text is not kept.
 */
import { JsonScan } from './json-scan.ts';
import { BACKSLASH, LOWER_U, OPEN_LIST, OPEN_OBJECT, SPACE } from './json-tables.ts';

export type InnerJson = 'none' | 'ok' | 'bad';

const BUFFER_BYTES = 16_384;
/** Escape letter to the byte that it stands for; the others stand for themselves. */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, c) => c);
for (const [letter, char] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
  ESCAPED[letter.charCodeAt(0)] = char.charCodeAt(0);
/** Stands for any character above ASCII: text inside a string, an error outside. */
const NOT_ASCII = 0xff;

export class InnerJsonScan {
  readonly #scan = new JsonScan(undefined, false);
  /** undecided: only space so far. */
  #kind: 'undecided' | 'json' | 'other' = 'undecided';
  #escape: 'no' | 'begun' | 'unicode' = 'no';
  #digits = '';
  #buffer: Uint8Array | undefined;
  #length = 0;

  /** `chunk` holds the raw bytes of a valid JSON string, escapes and all, from `from` to `to`. */
  push(chunk: Uint8Array, from: number, to: number): void {
    let i = from;
    while (i < to && this.#kind !== 'other' && (this.#kind === 'undecided' || this.#escape !== 'no'))
      this.#step(chunk[i++] as number);
    if (this.#kind === 'json') this.#run(chunk, i, to);
  }

  /** The text ended: the word for it. */
  end(): InnerJson {
    this.#flush();
    const state = this.#scan.state();
    const word = this.#kind !== 'json' || state === 'unknown' ? 'none' : state === 'complete' ? 'ok' : 'bad';
    this.#scan.reset();
    [this.#kind, this.#escape] = ['undecided', 'no'];
    return word;
  }

  #decide(c: number): void {
    if (SPACE[c] === 0) this.#kind = c === OPEN_OBJECT || c === OPEN_LIST ? 'json' : 'other';
  }

  /** Outside an escape, in a text that is to be JSON: the fast way. */
  #run(chunk: Uint8Array, from: number, to: number): void {
    let i = from;
    while (i < to) {
      if (this.#length > BUFFER_BYTES - 4) this.#flush();
      this.#buffer ??= new Uint8Array(BUFFER_BYTES);
      const buffer = this.#buffer;
      const end = Math.min(to, i + BUFFER_BYTES - this.#length);
      let length = this.#length;
      while (i < end) {
        const c = chunk[i] as number;
        if (c !== BACKSLASH) {
          buffer[length++] = c;
          i++;
        } else if (i + 1 < end && chunk[i + 1] !== LOWER_U) {
          buffer[length++] = ESCAPED[chunk[i + 1] as number] as number;
          i += 2;
        } else break;
      }
      this.#length = length;
      if (i < end) {
        do this.#step(chunk[i++] as number);
        while (i < to && this.#escape !== 'no');
      }
    }
  }

  #step(c: number): void {
    if (this.#escape === 'unicode') {
      this.#digits += String.fromCharCode(c);
      if (this.#digits.length < 4) return;
      const unit = Number.parseInt(this.#digits, 16);
      this.#put(unit < 0x80 ? unit : NOT_ASCII);
    } else if (this.#escape === 'begun') {
      if (c === LOWER_U) {
        [this.#escape, this.#digits] = ['unicode', ''];
        return;
      }
      this.#put(ESCAPED[c] as number);
    } else if (c === BACKSLASH) {
      this.#escape = 'begun';
      return;
    } else this.#put(c);
    this.#escape = 'no';
  }

  #put(c: number): void {
    if (this.#kind === 'undecided') this.#decide(c);
    if (this.#kind !== 'json') return;
    if (this.#length === BUFFER_BYTES) this.#flush();
    this.#buffer ??= new Uint8Array(BUFFER_BYTES);
    this.#buffer[this.#length++] = c;
  }

  #flush(): void {
    if (this.#length > 0) this.#scan.push(this.#buffer as Uint8Array, 0, this.#length);
    this.#length = 0;
  }
}
