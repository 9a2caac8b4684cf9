/** One short token of a document (a key, an id, a code), put together from the chunks that it came in. Never a payload: 1 KiB. */

export const MAX_TOKEN_BYTES = 1024;
const SHORT = 32;
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export class Token {
  /** Of the parts that came before the last one. */
  length = 0;
  #kept: Uint8Array | undefined;

  add(chunk: Uint8Array, from: number, to: number): void {
    const length = this.length + to - from;
    if (length <= MAX_TOKEN_BYTES) {
      this.#kept ??= new Uint8Array(MAX_TOKEN_BYTES);
      this.#kept.set(chunk.subarray(from, to), this.length);
    }
    this.length = length;
  }

  /** What was added; as many bytes of it as `length` says. Valid while that is not more than MAX_TOKEN_BYTES. */
  get bytes(): Uint8Array {
    return this.#kept as Uint8Array;
  }

  /** The text whose last part stands in `chunk`; undefined when it is too long. Forgets it. */
  take(chunk: Uint8Array, from: number, to: number): string | undefined {
    if (this.length === 0) return to - from > MAX_TOKEN_BYTES ? undefined : decode(chunk, from, to);
    this.add(chunk, from, to);
    const { length } = this;
    this.length = 0;
    return length > MAX_TOKEN_BYTES ? undefined : decode(this.bytes, 0, length);
  }
}

/** Short ASCII, the common case, costs no call out of JavaScript. */
export function decode(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > SHORT) return utf8.decode(bytes.subarray(from, to));
  let text = '';
  for (let i = from; i < to; i++) {
    const c = bytes[i] as number;
    if (c >= 0x80) return utf8.decode(bytes.subarray(from, to));
    text += String.fromCharCode(c);
  }
  return text;
}
