/**
 * One record of a checkpoint as bytes: what the sources and the pipeline saved, as one graph of plain values, in which shared objects stay
 * shared. It decides the order and the end of a record, and that those of earlier versions are read; what is in the parts it must not
 * know.
 */
import { DefaultDeserializer } from 'node:v8';
import type { Saved } from '../../core/state.ts';
import { ENGINE_FORM } from './graph-format.ts';
import { createGraphReader, NO_MORE } from './graph-reader.ts';
import { GraphWriter } from './graph-writer.ts';

export interface DecodedRecord {
  readonly head: unknown;
  readonly parts: readonly (readonly [part: string, value: unknown])[];
}

/**
 * The bytes in pieces, each a few milliseconds of work; nothing that is saved may change until the last one was taken, and a piece holds
 * only until the next one is asked for. A record is never in memory as a whole.
 */
export function* encodeRecord(head: unknown, parts: Saved): Generator<Buffer, void> {
  const out = new GraphWriter();
  yield* out.write(head);
  for (const part of parts) yield* out.write(part);
  yield out.end();
}

/** Versions before 0.2 wrote with the engine's serialiser, and null behind the last part. */
function engineReader(bytes: Buffer): () => unknown {
  const input = new DefaultDeserializer(bytes);
  input.readHeader();
  return () => input.readValue() ?? NO_MORE;
}

/** @throws where the bytes are no record of this or an earlier version. */
export function decodeRecord(bytes: Buffer): DecodedRecord {
  const next = bytes[0] === ENGINE_FORM ? engineReader(bytes) : createGraphReader(bytes).read;
  const head = next();
  const parts: (readonly [string, unknown])[] = [];
  for (let part = next(); part !== NO_MORE; part = next()) {
    if (!Array.isArray(part) || typeof part[0] !== 'string') throw new Error('a part has no name');
    parts.push([part[0], part[1]]);
  }
  return { head, parts };
}
