/**
 * The lines of one accepted batch, handed to the sink in slices so that nobody else waits long for a turn, and the account of what
 * became of each. It must not decide whether the batch is accepted, save for an array that is none: that is found before the
 * first line is delivered.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import type { Origin, Rejection, RejectionReason } from '../core/model/event.ts';
import { type Refusal, refusal } from './ingest-answer.ts';
import { readJsonArray } from './json-array.ts';
import { createLineSplitter, type LineReceiver } from './line-splitter.ts';
import { nextTurn } from './next-turn.ts';
import type { LineSink, Slicer } from './source.ts';

/** What one turn of the event loop reads, whichever comes first: a few milliseconds. Tiny broken lines cost an exception each. */
export const SLICE_BYTES = 64 * 1024;
export const SLICE_LINES = 512;
const LF = 0x0a;
const MAX_ERRORS = 100;

export interface BatchError {
  /** 1-based: of the line, or of the element of the array. */
  readonly line: number;
  readonly reason: RejectionReason;
  readonly field?: string;
}

export interface Account {
  accepted: number;
  /** Broken lines: all of them, though `errors` names the first 100 only. */
  rejected: number;
  duplicates: number;
  readonly errors: BatchError[];
}

export interface Batch {
  readonly account: Account;
  /** Latest event time of an accepted line. */
  newestTs: number;
}

export const emptyBatch = (): Batch => ({
  account: { accepted: 0, rejected: 0, duplicates: 0, errors: [] },
  newestTs: Number.NEGATIVE_INFINITY,
});

export async function deliverBatch(
  chunks: readonly Buffer[],
  options: { readonly isArray: boolean; readonly origin: Origin; readonly maxLineBytes: number },
  sink: LineSink,
): Promise<Batch | Refusal> {
  const batch = emptyBatch();
  const receiver = accountant(batch, sink);
  if (!options.isArray) {
    const splitter = createLineSplitter(options);
    for (const [i, slice] of chunks.flatMap((chunk) => [...slicesOf(chunk)]).entries()) {
      if (i > 0) await nextTurn();
      while (sink.pause?.() !== undefined) await sink.pause?.();
      splitter.push(slice, receiver);
    }
    splitter.end(receiver);
    return batch;
  }
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  const fault = await eachElement(bytes, () => {});
  if (fault !== undefined) {
    return refusal('bad_array', `expected one JSON array, which breaks at byte ${fault}; nothing of it was counted`);
  }
  const encoding = isAscii(bytes) ? 'ascii' : isUtf8(bytes) ? 'utf8' : 'mixed';
  await eachElement(
    bytes,
    (n, start, end) => {
      const { origin, maxLineBytes } = options;
      if (end - start > maxLineBytes) return receiver.reject('oversize', origin, n, start);
      const slicer = bytes as Slicer;
      if (encoding === 'ascii' && receiver.bytes?.(slicer, start, end, origin, n, start) != null) return;
      if (encoding === 'mixed' && !isUtf8(bytes.subarray(start, end))) receiver.invalidUtf8(origin, n, start);
      receiver.line(slicer.utf8Slice(start, end), origin, n, start);
    },
    () => sink.pause?.(),
  );
  return batch;
}

/** A chunk of many short lines in pieces of so many, each of which ends with a line: what goes on in the next piece would be copied. */
function* slicesOf(chunk: Buffer): Generator<Buffer> {
  let start = 0;
  let lines = 0;
  for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, end + 1)) {
    if (++lines % SLICE_LINES !== 0) continue;
    yield chunk.subarray(start, end + 1);
    start = end + 1;
  }
  if (start < chunk.length) yield start === 0 ? chunk : chunk.subarray(start);
}

/** Returns the byte at which the array breaks, undefined when it is whole. */
async function eachElement(
  bytes: Buffer,
  take: (n: number, start: number, end: number) => void,
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<number | undefined> {
  const array = readJsonArray(bytes);
  let sliceEnd = SLICE_BYTES;
  for (let n = 1; ; n++) {
    const step = array.next();
    if (step === 'fault') return array.end;
    if (step === 'end') return undefined;
    while (pause() !== undefined) await pause();
    take(n, array.start, array.end);
    if (array.end < sliceEnd && n % SLICE_LINES !== 0) continue;
    sliceEnd = array.end + SLICE_BYTES;
    await nextTurn();
  }
}

/** Hands lines on and notes what became of each. */
export function accountant(batch: Batch, sink: LineSink): LineReceiver {
  const { account } = batch;
  const refuse = (line: number, reason: RejectionReason, field?: string): void => {
    account.rejected++;
    if (account.errors.length < MAX_ERRORS)
      account.errors.push({ line, reason, ...(field !== undefined && { field }) });
  };
  const note = (result: number | Rejection, line: number): void => {
    if (typeof result === 'number') {
      account.accepted++;
      if (result > batch.newestTs) batch.newestTs = result;
    } else if (result.rejected === 'duplicate') account.duplicates++;
    else refuse(line, result.rejected, result.field);
  };
  return {
    line(text, origin, line, offset) {
      const result = sink.line(text, origin, line, offset);
      note(result, line);
      return result;
    },
    bytes(bytes, start, end, origin, line, offset) {
      const result = sink.bytes?.(bytes, start, end, origin, line, offset) ?? null;
      if (result !== null) note(result, line);
      return result;
    },
    reject(reason, origin, line, offset) {
      sink.reject(reason, origin, line, offset);
      refuse(line, reason);
    },
    invalidUtf8: (origin, line, offset) => sink.invalidUtf8(origin, line, offset),
  };
}
