/**
 * One record of a checkpoint as bytes: what the sources and the pipeline saved, as one graph of plain values in the engine's own
 * format, which keeps shared objects shared. It decides the order and the end of a record; what is in the parts it must not know.
 */
import { DefaultDeserializer, DefaultSerializer } from 'node:v8';
import type { Saved } from '../../core/state.ts';

export interface DecodedRecord {
  readonly head: unknown;
  readonly parts: readonly (readonly [part: string, value: unknown])[];
}

/** Slices of the state in one piece. */
const SLICES_PER_PIECE = 1;

/**
 * The bytes in pieces, each a few milliseconds of work; nothing that is saved may change until the last one was taken. A record is never
 * in memory as a whole: the serialiser is emptied as it goes and knows on which objects it has met all the same (tested; the engine's
 * `Release` leaves that memory alone, whatever Node's documentation says of a serialiser that was emptied).
 */
export function* encodeRecord(head: unknown, parts: Saved): Generator<Buffer, void> {
  const out = new DefaultSerializer();
  out.writeHeader();
  out.writeValue(head);
  let slices = 0;
  for (const part of parts) {
    out.writeValue(part);
    if (++slices % SLICES_PER_PIECE === 0) yield out.releaseBuffer();
  }
  out.writeValue(null);
  yield out.releaseBuffer();
}

/** @throws where the bytes are no record of this or an earlier version of the engine. */
export function decodeRecord(bytes: Buffer): DecodedRecord {
  const input = new DefaultDeserializer(bytes);
  input.readHeader();
  const head: unknown = input.readValue();
  const parts: (readonly [string, unknown])[] = [];
  for (;;) {
    const part: unknown = input.readValue();
    if (part === null) return { head, parts };
    if (!Array.isArray(part) || typeof part[0] !== 'string') throw new Error('a part has no name');
    parts.push([part[0], part[1]]);
  }
}
