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

/** Yields after each slice of work, so that others may have a turn; nothing that is saved may change until it returns. */
export function* encodeRecord(head: unknown, parts: Saved): Generator<void, Buffer> {
  const out = new DefaultSerializer();
  out.writeHeader();
  out.writeValue(head);
  for (const part of parts) {
    out.writeValue(part);
    yield;
  }
  out.writeValue(null);
  return out.releaseBuffer();
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
