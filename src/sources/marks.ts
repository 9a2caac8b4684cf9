/**
 * Short proofs that a file still holds what was read of it: a hash of its first bytes and of those before a place. It must not keep
 * content: what is stored of a file is its marks, not its bytes.
 */
import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { bytesBefore } from './read-back.ts';

export interface Mark {
  /** How many bytes it is made of. */
  readonly bytes: number;
  readonly hash: string;
}

export const HEAD_BYTES = 256;
/** So many bytes before the position are read again with each slice, to see that the file is still the one read so far. */
export const TAIL_BYTES = 64;
const HASH_DIGITS = 24;

export const markOf = (bytes: Uint8Array): Mark => ({
  bytes: bytes.length,
  hash: createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS),
});

/** The `mark.bytes` bytes that end at `end`; undefined: they are not there, or others. */
export function bytesOfMark(fd: number, end: number, mark: Mark): Buffer | undefined {
  if (mark.bytes > end) return undefined;
  const bytes = Buffer.alloc(mark.bytes);
  const got = readSync(fd, bytes, 0, bytes.length, end - bytes.length);
  return got === bytes.length && markOf(bytes).hash === mark.hash ? bytes : undefined;
}

/** The bytes that the marks of a place in a file are made of. */
export interface PlaceMarks {
  /** Those just before the place where reading goes on: at most TAIL_BYTES. */
  readonly tail: Buffer;
  /** The marks of the start of the first line that was not delivered. */
  marks(): { head: Mark; tail: Mark };
  /** Takes over those of a stored place; false: the file does not hold them. */
  prove(fd: number, offset: number, head: Mark, tail: Mark): boolean;
  /** Takes those of a place in a file of which nothing was read; of its start, those that follow. */
  place(fd: number, offset: number): void;
  reset(): void;
  /** Bytes were taken: `buffer` holds the tail, then those from the place `from` on, up to `end`; `pending` of them are no line yet. */
  advance(buffer: Buffer, from: number, end: number, pending: number): void;
}

const NOTHING = Buffer.alloc(0);

export function createPlaceMarks(): PlaceMarks {
  let head: Buffer = NOTHING;
  let tail: Buffer = NOTHING;
  let lineTail: Buffer = NOTHING;
  return {
    get tail() {
      return tail;
    },
    marks: () => ({ head: markOf(head), tail: markOf(lineTail) }),
    prove(fd, offset, headMark, tailMark) {
      if (offset > 0 && tailMark.bytes === 0) return false;
      const first = bytesOfMark(fd, headMark.bytes, headMark);
      const last = bytesOfMark(fd, offset, tailMark);
      if (first === undefined || last === undefined) return false;
      head = first;
      tail = lineTail = last;
      return true;
    },
    place(fd, offset) {
      const first = offset === 0 ? HEAD_BYTES : Math.min(HEAD_BYTES, offset);
      head = bytesBefore(fd, first, first);
      tail = lineTail = bytesBefore(fd, offset, TAIL_BYTES);
    },
    reset() {
      head = tail = lineTail = NOTHING;
    },
    advance(buffer, from, end, pending) {
      const start = tail.length;
      if (from === 0) head = NOTHING; // what was seen there before may have been overwritten
      if (head.length < HEAD_BYTES && from <= head.length) {
        const at = start - from;
        head = Buffer.concat([head, buffer.subarray(at + head.length, Math.min(end, at + HEAD_BYTES))]);
      }
      const lineEnd = end - pending;
      if (lineEnd > start) lineTail = Buffer.from(buffer.subarray(Math.max(0, lineEnd - TAIL_BYTES), lineEnd));
      tail = pending === 0 ? lineTail : Buffer.from(buffer.subarray(Math.max(0, end - TAIL_BYTES), end));
    },
  };
}
