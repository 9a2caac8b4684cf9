/** A restart in memory: everything a pipeline knows goes through the bytes of a checkpoint record into another one. */
import { decodeRecord, encodeRecord } from '../../src/app/checkpoint/record.ts';
import type { Pipeline } from '../../src/core/pipeline.ts';

/** A piece holds only until the next one is asked for. */
export const bytesOf = (pieces: Iterable<Buffer>): Buffer =>
  Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece)));
export const recordBytes = (pipeline: Pipeline): Buffer => bytesOf(encodeRecord({}, pipeline.save()));

/** `next` has seen nothing yet. */
export function restartInto<P extends Pipeline>(before: Pipeline, next: P): P {
  next.load(decodeRecord(recordBytes(before)).parts);
  return next;
}
