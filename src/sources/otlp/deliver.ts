/**
 * One OTLP request as lines, handed to the sink in slices so that nobody else waits long. The request is looked through whole first:
 * one that is broken, or holds too much, is refused before anything of it is counted. A broken record is rejected alone, and what
 * is no event of a client is counted and passed over.
 */
import { type Refusal, refusal } from '../ingest-answer.ts';
import { accountant, type Batch, emptyBatch, SLICE_BYTES, SLICE_LINES } from '../ingest-batch.ts';
import type { Delivery } from '../ingest-protocol.ts';
import { nextTurn } from '../next-turn.ts';
import type { LineSink, Slicer } from '../source.ts';
import { findJsonRecords } from './find-json.ts';
import { findProtobufRecords } from './find-protobuf.ts';
import { logLine } from './log-line.ts';
import { readJsonBody, readJsonResource, readJsonSpan } from './read-json.ts';
import { createProtobufRecords } from './read-protobuf.ts';
import { MAX_RECORDS, type RecordIndex, RequestFault } from './record-index.ts';
import type { Signal } from './signals.ts';
import { NO_RESOURCE, type ResourceFacts } from './span-facts.ts';
import { type Digest, IGNORED, type Mapped, spanLine } from './span-line.ts';

export type OtlpFormat = 'json' | 'protobuf';

/** Reads one record; @throws where its bytes are broken. */
type ReadRecord = (start: number, end: number, resource: ResourceFacts) => Mapped;

interface Records {
  readonly index: RecordIndex;
  readonly read: ReadRecord;
  readonly resource: (start: number, end: number) => ResourceFacts;
  readonly broken: 'not_json' | 'not_protobuf';
}

function open(bytes: Slicer, format: OtlpFormat, signal: Signal, digest: Digest): Records {
  const isTraces = signal.name === 'traces';
  if (format === 'json') {
    const text = (start: number, end: number): string => bytes.utf8Slice(start, end);
    return {
      index: findJsonRecords(bytes, signal),
      read: isTraces
        ? (start, end, resource) => spanLine(readJsonSpan(text(start, end)), resource, digest)
        : (start, end) => logLine(readJsonBody(text(start, end))),
      resource: (start, end) => readJsonResource(text(start, end)),
      broken: 'not_json',
    };
  }
  const records = createProtobufRecords(bytes);
  return {
    index: findProtobufRecords(bytes),
    read: isTraces
      ? (start, end, resource) => spanLine(records.span(start, end), resource, digest)
      : (start, end) => logLine(records.body(start, end)),
    resource: records.resource,
    broken: 'not_protobuf',
  };
}

const refused = ({ why, at }: RequestFault, format: OtlpFormat): Refusal =>
  why === 'too_many'
    ? refusal('too_large', `more than ${MAX_RECORDS} records or groups; send smaller batches`)
    : refusal('bad_otlp', `no whole OTLP request in ${format}: it breaks at byte ${at}; nothing of it was counted`);

export async function deliverOtlp(
  chunks: readonly Buffer[],
  { origin, maxLineBytes, ...delivery }: Delivery,
  { signal, digest }: { readonly signal: Signal; readonly digest: Digest },
  sink: LineSink,
): Promise<Batch | Refusal> {
  const format = delivery.format as OtlpFormat;
  const bytes = (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)) as Slicer;
  let records: Records;
  try {
    records = open(bytes, format, signal, digest);
  } catch (error) {
    if (error instanceof RequestFault) return refused(error, format);
    throw error;
  }
  const batch = emptyBatch();
  const receiver = accountant(batch, sink);
  const { index, read, broken } = records;
  const resourceOf = createResources(records, maxLineBytes);

  /** A record becomes a line or a reason, whatever its bytes are. */
  const map = (n: number, start: number, end: number): Mapped => {
    if (end - start > maxLineBytes) return { rejected: 'oversize' };
    try {
      return read(start, end, resourceOf(index.resources[n] as number));
    } catch {
      return { rejected: broken };
    }
  };
  const take = (n: number, start: number, end: number): void => {
    const mapped = map(n, start, end);
    if (typeof mapped === 'string') receiver.line(mapped, origin, n + 1, start);
    else if (IGNORED.has(mapped.rejected)) sink.reject(mapped.rejected, origin, n + 1, start);
    else receiver.reject(mapped.rejected, origin, n + 1, start);
  };

  let sliceEnd = SLICE_BYTES;
  for (let n = 0; n < index.starts.length; n++) {
    const start = index.starts[n] as number;
    if (n > 0 && (start >= sliceEnd || n % SLICE_LINES === 0)) {
      sliceEnd = start + SLICE_BYTES;
      await nextTurn();
    }
    while (sink.pause?.() !== undefined) await sink.pause?.();
    take(n, start, index.ends[n] as number);
  }
  return batch;
}

/** The resource of a record: read once for all records that follow each other. */
function createResources({ index, resource }: Records, maxBytes: number): (n: number) => ResourceFacts {
  let latest = -1;
  let facts = NO_RESOURCE;
  return (n) => {
    if (n === latest) return facts;
    latest = n;
    const start = index.resourceStarts[n] as number;
    const end = index.resourceEnds[n] as number;
    facts = NO_RESOURCE;
    // A resource that cannot be read names nobody; its records tell what they tell.
    if (end > start && end - start <= maxBytes) {
      try {
        facts = resource(start, end);
      } catch {}
    }
    return facts;
  };
}
