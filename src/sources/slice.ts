/** How much of what was read is taken in one go: decides by lines as well as by bytes, since each line has a cost of its own. */

/** A slice ends after so many lines, however short they are: each has its own cost, and a broken one the highest. */
export const MAX_SLICE_LINES = 1024;
/** To read a short line takes about as long as to read so much of a long one. */
export const LINE_COST_BYTES = 256;
const LF = 0x0a;

/** Where a slice that starts at `from` ends, and how many lines that are. */
export function endOfSlice(buffer: Buffer, from: number, to: number): { end: number; lines: number } {
  let end = from;
  for (let lines = 0; lines < MAX_SLICE_LINES; lines++) {
    const at = buffer.indexOf(LF, end);
    if (at === -1 || at >= to) return { end: to, lines };
    end = at + 1;
  }
  return { end, lines: MAX_SLICE_LINES };
}
