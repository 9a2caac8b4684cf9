/** OTLP requests straight into a pipeline, and protobuf by hand. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { LIMITS } from '../../src/core/model/limits.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import type { Refusal } from '../../src/sources/ingest-answer.ts';
import type { Batch } from '../../src/sources/ingest-batch.ts';
import { deliverOtlp, type OtlpFormat } from '../../src/sources/otlp/deliver.ts';
import { type Signal, TRACES } from '../../src/sources/otlp/signals.ts';
import type { LineSink } from '../../src/sources/source.ts';
import { createDigester } from '../../src/tap/digest.ts';

export const T0 = Date.parse('2026-11-30T00:00:00Z');
const ORIGIN = { source: 'otlp', writer: 'otlp', host: 'otlp', mayRepeat: true };
export const { digest } = createDigester(new Uint8Array(32).fill(7));

export interface Delivered {
  readonly result: Batch | Refusal;
  readonly lines: readonly string[];
  readonly rejected: number;
}

const pipeline = createPipeline();

export async function deliver(body: Buffer | string, format: OtlpFormat, signal: Signal = TRACES): Promise<Delivered> {
  const lines: string[] = [];
  let rejected = 0;
  const sink: LineSink = {
    line(text, origin, line, offset) {
      lines.push(text);
      return pipeline.line(text, origin, line, offset);
    },
    reject(reason, origin) {
      rejected++;
      pipeline.reject(reason, origin);
    },
    invalidUtf8: pipeline.invalidUtf8,
    advance: () => {},
  };
  const delivery = { format, origin: ORIGIN, maxLineBytes: LIMITS.maxLineBytes };
  const result = await deliverOtlp([Buffer.from(body)], delivery, { signal, digest }, sink);
  return { result, lines, rejected };
}
export const isRefused = ({ result }: Delivered): boolean => 'error' in result;

export const field = (no: number, bytes: Uint8Array): Uint8Array =>
  new BinaryWriter().tag(no, WireType.LengthDelimited).bytes(bytes).finish();
/** A request with one record. */
export const inRequest = (record: Uint8Array): Buffer => Buffer.from(field(1, field(2, field(2, record))));
