/**
 * Bytes to lines: decides where a line starts and ends, what is blank, what is too long, and which bytes around it are no text.
 * The result depends on the bytes only, never on how they were cut into chunks; what is kept between two chunks is at most one
 * line of `maxLineBytes`. It must not look inside a line (that is `decode`'s work) and must not do I/O.
 *
 * Every rule is a function of the raw line between two LFs, in this order: NUL runs at both ends and one CR are dropped; what is
 * left must not exceed `maxLineBytes`; one BOM is dropped; blank is ignored. `line` and `offset` are those of the raw line.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import type { Origin } from '../core/model/event.ts';
import type { LineSink, Slicer } from './source.ts';

/** What was dropped around a line's text, or that there was none. */
export const CLEANINGS = ['blank', 'bom', 'crlf', 'nul_run'] as const;
export type Cleaning = (typeof CLEANINGS)[number];

export type LineReceiver = Omit<LineSink, 'advance'> & {
  /** Of a line that was not too long. */
  cleaned?(what: Cleaning, origin: Origin, line: number, offset: number): void;
};

export interface LineSplitterOptions {
  readonly maxLineBytes: number;
  readonly origin: Origin;
  /** Where the first chunk starts; both name a line start. Default: offset 0, line 1. */
  readonly startOffset?: number;
  readonly startLine?: number;
}

export interface LineSplitter {
  /**
   * Delivers every line that ends in this chunk, or `mostLines` of them. The chunk may be reused afterwards. Returns how many of its bytes
   * were taken: all, unless there were more lines than that.
   */
  push(chunk: Buffer, sink: LineReceiver, mostLines?: number): number;
  /** The input is complete: an unterminated last line is a line. */
  end(sink: LineReceiver): void;
  /** The input is gone: an unterminated last line will never be whole and is rejected. */
  discard(sink: LineReceiver): void;
  /** The start of the first line that was not delivered: where to read on after a restart. */
  position(): { offset: number; line: number };
  /** Bytes read behind `position()`: an unfinished line. */
  pendingBytes(): number;
}

type Encoding = 'latin1' | 'utf8' | 'mixed';

const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BOM = [0xef, 0xbb, 0xbf] as const;
const EMPTY = Buffer.alloc(0);

// latin1 decodes ASCII to the same text as utf8, without looking at the bytes again.
const encodingOf = (bytes: Buffer): Encoding => (isAscii(bytes) ? 'latin1' : isUtf8(bytes) ? 'utf8' : 'mixed');

/** NUL, space and the ASCII line and page controls. */
function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte > 0x20 || (byte !== NUL && byte !== 0x20 && (byte < 0x09 || byte > CR))) return false;
  }
  return true;
}

export function createLineSplitter({
  maxLineBytes,
  origin,
  startOffset = 0,
  startLine = 1,
}: LineSplitterOptions): LineSplitter {
  let lineStart = startOffset;
  let line = startLine;
  /** Raw bytes of the unfinished line: all of them are counted, few are kept. */
  let pending = 0;
  /** Its text so far, without the NUL runs at its ends: the first `heldLength` bytes of `held`. */
  let held: Buffer = EMPTY;
  let heldLength = 0;
  /** A NUL run behind the text: it becomes part of it only if more text follows. */
  let heldNuls = 0;
  /** NUL bytes in front of the text were dropped. */
  let droppedNuls = false;
  let oversize = false;

  const cleaned = (what: Cleaning, sink: LineReceiver): void => sink.cleaned?.(what, origin, line, lineStart);

  function emit(bytes: Buffer, from: number, to: number, encoding: Encoding, sink: LineReceiver): void {
    let start = from;
    let end = to;
    // A JSON object needs no trimming: nearly every line takes this way.
    const isObject = bytes[start] === OPEN_BRACE && bytes[end - 1] === CLOSE_BRACE;
    let hadCr = false;
    if (!isObject) {
      while (start < end && bytes[start] === NUL) start++;
      while (end > start && bytes[end - 1] === NUL) end--;
      hadCr = end > start && bytes[end - 1] === CR;
      if (hadCr) end--;
    }
    if (end - start > maxLineBytes) {
      sink.reject('oversize', origin, line, lineStart);
      return;
    }
    if (!isObject) {
      while (end > start && bytes[end - 1] === NUL) end--; // a NUL run between the text and its CR
      if (to - from > end - start + (hadCr ? 1 : 0)) droppedNuls = true;
      if (hadCr) cleaned('crlf', sink);
      if (bytes[start] === BOM[0] && bytes[start + 1] === BOM[1] && bytes[start + 2] === BOM[2]) {
        start += BOM.length;
        cleaned('bom', sink);
      }
    }
    if (droppedNuls || heldNuls > 0) cleaned('nul_run', sink);
    droppedNuls = false;
    if (!isObject && isBlank(bytes, start, end)) {
      cleaned('blank', sink);
      return;
    }
    const slicer = bytes as Slicer;
    if (encoding === 'latin1' && sink.bytes !== undefined) {
      if (sink.bytes(slicer, start, end, origin, line, lineStart) !== null) return;
    }
    if (encoding === 'mixed' && !isUtf8(bytes.subarray(start, end))) sink.invalidUtf8(origin, line, lineStart);
    const text = encoding === 'latin1' ? slicer.latin1Slice(start, end) : slicer.utf8Slice(start, end);
    sink.line(text, origin, line, lineStart);
  }

  /** Adds a piece of the unfinished line. Its cost in memory is bounded whatever the piece holds. */
  function hold(piece: Buffer): void {
    pending += piece.length;
    if (oversize) return;
    let start = 0;
    let end = piece.length;
    if (heldLength === 0) while (start < end && piece[start] === NUL) start++;
    droppedNuls ||= start > 0;
    while (end > start && piece[end - 1] === NUL) end--;
    const nuls = piece.length - end;
    if (start === end) {
      if (heldLength > 0) heldNuls += nuls;
      return;
    }
    const length = heldLength + heldNuls + end - start;
    // One byte more than the limit may still be the CR before the LF.
    if (length > maxLineBytes + 1) {
      oversize = true;
      held = EMPTY;
      return;
    }
    if (length > held.length) {
      const grown = Buffer.allocUnsafe(Math.min(maxLineBytes + 1, Math.max(length, 2 * held.length)));
      held.copy(grown, 0, 0, heldLength);
      held = grown;
    }
    held.fill(NUL, heldLength, heldLength + heldNuls);
    piece.copy(held, heldLength + heldNuls, start, end);
    heldLength = length;
    heldNuls = nuls;
  }

  /** Ends the unfinished line; `extra` is its line end. */
  function next(extra: number): void {
    lineStart += pending + extra;
    line += extra;
    pending = heldLength = heldNuls = 0;
    held = EMPTY;
    oversize = droppedNuls = false;
  }

  function emitHeld(sink: LineReceiver): void {
    if (oversize) {
      sink.reject('oversize', origin, line, lineStart);
      return;
    }
    emit(held, 0, heldLength, encodingOf(held.subarray(0, heldLength)), sink);
  }

  return {
    push(chunk, sink, mostLines = Number.POSITIVE_INFINITY) {
      const last = line + mostLines;
      let start = 0;
      if (pending > 0) {
        const end = chunk.indexOf(LF);
        if (end === -1) {
          hold(chunk);
          return chunk.length;
        }
        hold(chunk.subarray(0, end));
        emitHeld(sink);
        next(1);
        start = end + 1;
      }
      const lastEnd = chunk.lastIndexOf(LF);
      if (lastEnd >= start) {
        const encoding = encodingOf(chunk.subarray(start, lastEnd));
        while (start <= lastEnd) {
          if (line === last) return start;
          const end = chunk.indexOf(LF, start);
          if (end > start) emit(chunk, start, end, encoding, sink);
          else cleaned('blank', sink);
          lineStart += end + 1 - start;
          line++;
          start = end + 1;
        }
      }
      if (start < chunk.length) hold(chunk.subarray(start));
      return chunk.length;
    },
    end(sink) {
      if (pending === 0) return;
      emitHeld(sink);
      next(0);
    },
    discard(sink) {
      if (oversize) sink.reject('oversize', origin, line, lineStart);
      else if (!isBlank(held, 0, heldLength)) sink.reject('incomplete', origin, line, lineStart);
      next(0);
    },
    position: () => ({ offset: lineStart, line }),
    pendingBytes: () => pending,
  };
}
