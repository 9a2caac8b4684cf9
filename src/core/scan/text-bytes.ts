/** Bytes that can name a range of themselves as text, every byte one character, and copy it, as Buffer does. */
export type TextBytes = Uint8Array & {
  latin1Slice(start: number, end: number): string;
  copy(to: Uint8Array, at: number, start: number, end: number): number;
};
