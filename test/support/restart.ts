/** A restart in memory: everything a pipeline knows goes through the bytes of a checkpoint record into another one. */
import { decodeRecord, encodeRecord } from '../../src/app/checkpoint/record.ts';
import type { Pipeline } from '../../src/core/pipeline.ts';

export const recordBytes = (pipeline: Pipeline): Buffer => Buffer.concat([...encodeRecord({}, pipeline.save())]);

/** `next` has seen nothing yet. */
export function restartInto<P extends Pipeline>(before: Pipeline, next: P): P {
  next.load(decodeRecord(recordBytes(before)).parts);
  return next;
}
