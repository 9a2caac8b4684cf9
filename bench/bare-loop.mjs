/**
 * The yardstick of replay throughput: reads a file in 256 KiB pieces, splits it into lines and parses each with JSON.parse.
 * Nothing is done with the result. `node bench/bare-loop.mjs FILE` prints the number of lines.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 256 * 1024;
const LF = 0x0a;

/** Room for a line that started in the piece before. */
const buffer = Buffer.allocUnsafe(2 * CHUNK_BYTES);
const fd = openSync(process.argv[2], 'r');
let rest = 0;
let lines = 0;
for (;;) {
  const got = readSync(fd, buffer, rest, CHUNK_BYTES, null);
  if (got === 0) break;
  const end = rest + got;
  const text = buffer.subarray(0, end);
  let start = 0;
  for (let lf = text.indexOf(LF, start); lf !== -1; lf = text.indexOf(LF, start)) {
    const value = JSON.parse(buffer.utf8Slice(start, lf));
    if (value.v === 1) lines++;
    start = lf + 1;
  }
  buffer.copy(buffer, 0, start, end);
  rest = end - start;
}
closeSync(fd);
console.log(lines);
