/**
 * Keeps the bytes of one message, for the few methods whose results may be looked into: lists, discovery and initialize. At most
 * 1 MiB; a longer message is given up whole.
 */

export const MAX_CAPTURE_BYTES = 1024 * 1024;

export class Capture {
  bytes = 0;
  #kept: Uint8Array[] = [];

  add(chunk: Uint8Array, from: number, to: number): void {
    this.bytes += to - from;
    // A copy: the reader of the body may take the memory of the chunk away. A Buffer's own slice would copy nothing.
    if (this.bytes <= MAX_CAPTURE_BYTES) this.#kept.push(Uint8Array.prototype.slice.call(chunk, from, to));
    else this.#kept = [];
  }

  clear(): void {
    this.#kept = [];
    this.bytes = 0;
  }

  /** undefined: it was too long, or is not JSON. */
  parse(): unknown {
    if (this.bytes > MAX_CAPTURE_BYTES) return undefined;
    try {
      return JSON.parse(new TextDecoder().decode(Buffer.concat(this.#kept)));
    } catch {
      return undefined;
    }
  }
}
