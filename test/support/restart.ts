/** A restart in memory: everything a pipeline knows goes through the bytes of a checkpoint record into another one. */
import { decodeRecord, encodeRecord } from '../../src/app/checkpoint/record.ts';
import type { Pipeline } from '../../src/core/pipeline.ts';

export function recordBytes(pipeline: Pipeline): Buffer {
  const encoding = encodeRecord({}, pipeline.save());
  for (;;) {
    const step = encoding.next();
    if (step.done) return step.value;
  }
}

/** `next` has seen nothing yet. */
export function restartInto<P extends Pipeline>(before: Pipeline, next: P): P {
  // A buffer of its own, as one that comes from a file.
  next.load(decodeRecord(Buffer.from(recordBytes(before))).parts);
  return next;
}
