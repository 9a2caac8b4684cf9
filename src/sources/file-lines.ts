/**
 * What passes between one file and the sink: keeps the newest event time, recognises the first and last line of a tap's segment, and
 * counts and tells of lines that were not taken as they stood. A file whose segment id belongs to another one is a copy, of which nothing
 * is delivered. It must not decide where lines start, or whose a segment is.
 */
import type { Origin } from '../core/model/event.ts';
import { cleaningWords, type FileReport } from './file-report.ts';
import type { LineReceiver } from './line-splitter.ts';
import { isEndLine, mayBeEndLine, type SegmentId, segmentOf } from './segment-lines.ts';
import type { LineSink } from './source.ts';

export interface FileLines {
  readonly receiver: LineReceiver;
  /** Where they go: to be set before anything is received. */
  sink: LineSink | undefined;
  /** Accepted ones. */
  readonly accepted: number;
  /** -Infinity before the first. */
  readonly newestTs: number;
  readonly segment: SegmentId | undefined;
  /** The last line was the end of a segment. */
  readonly isEnded: boolean;
  /** Nothing is delivered any more. */
  readonly isCopy: boolean;
  /** The file begins anew. */
  restart(): void;
}

export interface FileLinesOptions {
  readonly origin: Origin;
  readonly report: FileReport;
  /** False: the segment is that of another file. */
  readonly claim: (segment: SegmentId) => boolean;
  readonly known: { newestTs: number | null; segment?: SegmentId; ended?: true; copy?: true } | undefined;
}

export function createFileLines({ origin, report, claim, known }: FileLinesOptions): FileLines {
  let accepted = 0;
  let newestTs = known?.newestTs ?? Number.NEGATIVE_INFINITY;
  let segment = known?.segment;
  let isEnded = known?.ended ?? false;
  let isCopy = known?.copy ?? false;

  function begins(text: string): void {
    segment = segmentOf(text);
    if (segment !== undefined && !claim(segment)) isCopy = true;
  }

  function judged(result: ReturnType<LineSink['line']>, line: number, offset: number) {
    if (typeof result === 'number') {
      accepted++;
      if (result > newestTs) newestTs = result;
    } else report.line('line_rejected', `was not accepted (${result.rejected})`, origin, line, offset);
    return result;
  }

  const receiver: LineReceiver = {
    line(text, from, line, offset) {
      if (offset === 0) begins(text);
      if (isCopy) return newestTs;
      if (segment !== undefined) isEnded = isEndLine(text);
      return judged(lines.sink!.line(text, from, line, offset), line, offset);
    },
    bytes(bytes, start, end, from, line, offset) {
      const { sink } = lines;
      if (sink!.bytes === undefined) return null;
      if (offset === 0) begins(bytes.latin1Slice(start, end));
      if (isCopy) return newestTs;
      if (segment !== undefined)
        isEnded = mayBeEndLine(bytes, start) && isEndLine(bytes.latin1Slice(start, Math.min(end, start + 32)));
      const result = sink!.bytes(bytes, start, end, from, line, offset);
      return result === null ? null : judged(result, line, offset);
    },
    reject(reason, from, line, offset) {
      if (isCopy) return;
      isEnded = false;
      report.line('line_rejected', `was not accepted (${reason})`, origin, line, offset);
      lines.sink!.reject(reason, from, line, offset);
    },
    invalidUtf8(from, line, offset) {
      if (isCopy) return;
      report.line('line_cleaned', 'holds bytes that are no UTF-8', origin, line, offset);
      lines.sink!.invalidUtf8(from, line, offset);
    },
    cleaned(what, _, line, offset) {
      if (isCopy) return;
      report.count(what, 1);
      report.line('line_cleaned', cleaningWords(what), origin, line, offset);
    },
  };

  const lines: FileLines = {
    receiver,
    sink: undefined,
    get accepted() {
      return accepted;
    },
    get newestTs() {
      return newestTs;
    },
    get segment() {
      return segment;
    },
    get isEnded() {
      return isEnded;
    },
    get isCopy() {
      return isCopy;
    },
    restart() {
      segment = undefined;
      isEnded = isCopy = false;
    },
  };
  return lines;
}
