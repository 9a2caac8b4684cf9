/** One short token of a document (a key, an id, a code), put together from the chunks that it came in. Never a payload: 1 KiB. */

const MAX_BYTES = 1024;
const SHORT = 64;
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export class Token {
  #kept: Uint8Array | undefined;
  #length = 0;

  add(chunk: Uint8Array, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length <= MAX_BYTES) {
      this.#kept ??= new Uint8Array(MAX_BYTES);
      this.#kept.set(chunk.subarray(from, to), this.#length);
    }
    this.#length = length;
  }

  /** The JSON text whose last part stands in `chunk`; undefined when it is too long. Forgets it. */
  text(chunk: Uint8Array, from: number, to: number): string | undefined {
    if (this.#length === 0) return to - from > MAX_BYTES ? undefined : decode(chunk, from, to);
    this.add(chunk, from, to);
    const length = this.#length;
    this.#length = 0;
    return length > MAX_BYTES ? undefined : decode(this.#kept as Uint8Array, 0, length);
  }

  /** The same for a string, without its quotes: its value. */
  string(chunk: Uint8Array, from: number, to: number): string | undefined {
    const text = this.text(chunk, from, to);
    return text === undefined || !text.includes('\\') ? text : (JSON.parse(`"${text}"`) as string);
  }

  clear(): void {
    this.#length = 0;
  }
}

/** Short ASCII, the common case, costs no call out of JavaScript. */
function decode(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > SHORT) return utf8.decode(bytes.subarray(from, to));
  let text = '';
  for (let i = from; i < to; i++) {
    const c = bytes[i] as number;
    if (c >= 0x80) return utf8.decode(bytes.subarray(from, to));
    text += String.fromCharCode(c);
  }
  return text;
}
