/** What lies before a place in a file: where its last line starts, and its last bytes. Bounded, whatever the size of the file. */
import { readSync } from 'node:fs';

const BLOCK_BYTES = 64 * 1024;
const LF = 0x0a;

/**
 * The last line start at or before `end`. A line longer than the limit is not searched for its start: read from where this gives
 * up, it is still too long and rejected once.
 */
export function lineStartBefore(fd: number, end: number, maxLineBytes: number): number {
  const floor = Math.max(0, end - maxLineBytes - 2);
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let to = end; to > floor; ) {
    const from = Math.max(floor, to - block.length);
    const lf = block.subarray(0, readSync(fd, block, 0, to - from, from)).lastIndexOf(LF);
    if (lf !== -1) return from + lf + 1;
    to = from;
  }
  return floor;
}

/** At most `count` bytes; fewer where the file does not reach that far. */
export function bytesBefore(fd: number, end: number, count: number): Buffer {
  const bytes = Buffer.alloc(Math.min(count, end));
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, end - bytes.length));
}
