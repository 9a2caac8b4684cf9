/** What a JSON scanner tells about the outer parts of a document. Types, and the three answers to a value that begins. */

/** What a listener wants of the value that begins: nothing, its text at the end, or the bytes of its string as they pass. */
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
  /** Raw bytes of a key, escapes and all; none of them where it is longer than a token that is kept. */
  key(bytes: Uint8Array, from: number, to: number): void;
  /** A scalar begins. */
  wants(isString: boolean): Want;
  /** Text of a scalar that was to be kept: the value of a string, else JSON text; undefined: too long. */
  scalar(text: string | undefined, isString: boolean): void;
  /**
   * Raw bytes inside the quotes of a string that is streamed. Returns where it stopped: at the end, at a quote or another byte
   * that ends the string, or at an escape that it leaves to the scanner, which checks it.
   */
  text(chunk: Uint8Array, from: number, to: number): number;
  /** A byte of an escape that was left. */
  escaped(c: number): void;
  textEnd(): void;
}
