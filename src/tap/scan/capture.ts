/**
 * Keeps the bytes of one message, for the few methods whose results may be looked into: lists, discovery and initialize. At most
 * 1 MiB; a longer message is given up whole.
 */

export const MAX_CAPTURE_BYTES = 1024 * 1024;

export interface Capture {
  add(chunk: Uint8Array, from: number, to: number): void;
  clear(): void;
  /** undefined: it was too long, or is not JSON. */
  parse(): unknown;
  readonly bytes: number;
}

export function createCapture(): Capture {
  let kept: Uint8Array[] = [];
  let bytes = 0;
  return {
    add(chunk, from, to) {
      bytes += to - from;
      // A copy: the reader of the body may take the memory of the chunk away.
      if (bytes <= MAX_CAPTURE_BYTES) kept.push(chunk.slice(from, to));
      else kept = [];
    },
    clear() {
      [kept, bytes] = [[], 0];
    },
    parse() {
      if (bytes > MAX_CAPTURE_BYTES) return undefined;
      try {
        return JSON.parse(new TextDecoder().decode(Buffer.concat(kept)));
      } catch {
        return undefined;
      }
    },
    get bytes() {
      return bytes;
    },
  };
}
