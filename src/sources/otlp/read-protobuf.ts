/**
 * Reads one record of OTLP/protobuf, field by field: what the tables do not name is stepped over and never becomes a text or an
 * object. A field of another wire type than it should have is not there, as in every protobuf reader.
 */
import type { Slicer } from '../source.ts';
import {
  type Attributes,
  type AttributeTable,
  accept,
  EXCEPTION_ATTRIBUTES,
  RESOURCE_ATTRIBUTES,
  SPAN_ATTRIBUTES,
} from './attributes.ts';
import { ANY_VALUE, EVENT, KEY_VALUE, LOG_RECORD, RESOURCE, SPAN, STATUS, VALUES } from './signals.ts';
import {
  EXCEPTION_EVENT,
  emptySpan,
  type ResourceFacts,
  SPAN_ID_BYTES,
  type SpanFacts,
  TRACE_ID_BYTES,
} from './span-facts.ts';
import { type TOO_DEEP, type Tree, treeOf } from './tree.ts';
import { createReader, endOfMessage, isFixed64, isMessage, isVarint, readMillis, skipField } from './wire.ts';

/** Of the names in the tables. */
const MAX_KEY_BYTES = 64;

export interface ProtobufRecords {
  readonly span: (start: number, end: number) => SpanFacts;
  readonly resource: (start: number, end: number) => ResourceFacts;
  readonly body: (start: number, end: number) => Tree | typeof TOO_DEEP;
}

/** Readers of the records of one request. Each @throws where the bytes are no protobuf. */
export function createProtobufRecords(bytes: Slicer): ProtobufRecords {
  const reader = createReader(bytes);

  const eachField = (end: number, take: (field: number, type: number) => boolean): void => {
    while (reader.pos < end) {
      const [field, type] = reader.tag();
      if (!take(field, type)) skipField(reader, type, field, end);
      if (reader.pos > end) throw new RangeError('longer than the message around it');
    }
  };
  const takeText = (outerEnd: number): string => {
    const end = endOfMessage(reader, outerEnd);
    const text = bytes.utf8Slice(reader.pos, end);
    reader.pos = end;
    return text;
  };
  const takeId = (outerEnd: number, size: number): string => {
    const end = endOfMessage(reader, outerEnd);
    const id = end - reader.pos === size ? bytes.toString('hex', reader.pos, end) : '';
    reader.pos = end;
    return id;
  };
  const takeInt = (): number => Number(reader.int64());

  const takeScalar = (outerEnd: number): string | number | undefined => {
    const end = endOfMessage(reader, outerEnd);
    let value: string | number | undefined;
    eachField(end, (field, type) => {
      if (field === ANY_VALUE.text && isMessage(type)) value = takeText(end);
      else if (field === ANY_VALUE.int && isVarint(type)) {
        const whole = takeInt();
        value = Number.isSafeInteger(whole) ? whole : undefined;
      } else return false;
      return true;
    });
    return value;
  };

  /** One KeyValue into `found`, if the table names it. */
  const takeAttribute = (outerEnd: number, table: AttributeTable, found: Record<string, unknown>): void => {
    const end = endOfMessage(reader, outerEnd);
    let key = '';
    let valueAt = -1;
    // A loop of its own: most of what a span holds are attributes that nobody asks for.
    while (reader.pos < end) {
      const [field, type] = reader.tag();
      const isPart = isMessage(type) && (field === KEY_VALUE.key || field === KEY_VALUE.value);
      if (!isPart) {
        skipField(reader, type, field, end);
        continue;
      }
      const start = reader.pos;
      const partEnd = endOfMessage(reader, end);
      if (field === KEY_VALUE.value) valueAt = start;
      // Longer ones name nothing that is read.
      else key = partEnd - reader.pos > MAX_KEY_BYTES ? '' : bytes.latin1Slice(reader.pos, partEnd);
      reader.pos = partEnd;
    }
    if (valueAt < 0 || !Object.hasOwn(table, key)) return;
    const spec = table[key] as AttributeTable[string];
    reader.pos = valueAt;
    const taken = accept(spec, spec.is === 'there' ? undefined : takeScalar(end));
    if (taken !== undefined) found[key] = taken;
    reader.pos = end;
  };

  const takeException = (outerEnd: number): string | undefined => {
    const end = endOfMessage(reader, outerEnd);
    let name = '';
    const found: Attributes<typeof EXCEPTION_ATTRIBUTES> = {};
    eachField(end, (field, type) => {
      if (field === EVENT.name && isMessage(type)) name = takeText(end);
      else if (field === EVENT.attributes && isMessage(type)) takeAttribute(end, EXCEPTION_ATTRIBUTES, found);
      else return false;
      return true;
    });
    return name === EXCEPTION_EVENT ? found['exception.type'] : undefined;
  };

  const takeStatus = (outerEnd: number): number => {
    const end = endOfMessage(reader, outerEnd);
    let code = 0;
    eachField(end, (field, type) => {
      if (field !== STATUS.code || !isVarint(type)) return false;
      code = reader.int32();
      return true;
    });
    return code;
  };

  const takeSpanField = (span: SpanFacts, field: number, type: number, end: number): boolean => {
    if (isMessage(type)) {
      if (field === SPAN.attributes) takeAttribute(end, SPAN_ATTRIBUTES, span.attributes);
      else if (field === SPAN.traceId) span.traceId = takeId(end, TRACE_ID_BYTES);
      else if (field === SPAN.spanId) span.spanId = takeId(end, SPAN_ID_BYTES);
      else if (field === SPAN.name) span.name = takeText(end);
      else if (field === SPAN.status) span.status = takeStatus(end);
      else if (field === SPAN.events) span.exception = takeException(end) ?? span.exception;
      else return false;
    } else if (isFixed64(type) && field === SPAN.start) span.start = readMillis(reader);
    else if (isFixed64(type) && field === SPAN.end) span.end = readMillis(reader);
    else if (isVarint(type) && field === SPAN.kind) span.kind = reader.int32();
    else return false;
    return true;
  };

  const takeValue = (outerEnd: number, depth: number): Tree | typeof TOO_DEEP => {
    const end = endOfMessage(reader, outerEnd);
    let value: Tree | typeof TOO_DEEP = null;
    eachField(end, (field, type) => {
      if (isMessage(type)) {
        if (field === ANY_VALUE.text) value = takeText(end);
        else if (field === ANY_VALUE.bytes) value = bytes.toString('base64', ...takeRange(end));
        else if (field === ANY_VALUE.array) value = treeOf.list(rangesOf(end), depth, (at) => valueAt(at, depth + 1));
        else if (field === ANY_VALUE.map) value = treeOf.map(entriesOf(end), depth, (at) => valueAt(at, depth + 1));
        else return false;
      } else if (field === ANY_VALUE.bool && isVarint(type)) value = reader.bool();
      else if (field === ANY_VALUE.int && isVarint(type)) value = takeInt();
      else if (field === ANY_VALUE.double && isFixed64(type)) value = doubleOf(reader.double());
      else return false;
      return true;
    });
    return value;
  };
  const takeRange = (outerEnd: number): [start: number, end: number] => {
    const end = endOfMessage(reader, outerEnd);
    const start = reader.pos;
    reader.pos = end;
    return [start, end];
  };
  /** Where the value of a message that begins with its length stands: `at` is that length's place. */
  interface Place {
    readonly at: number;
    readonly end: number;
  }
  const valueAt = ({ at, end }: Place, depth: number): Tree | typeof TOO_DEEP => {
    if (at < 0) return null;
    const back = reader.pos;
    reader.pos = at;
    const value = takeValue(end, depth);
    reader.pos = back;
    return value;
  };
  const rangesOf = (outerEnd: number): Place[] => {
    const end = endOfMessage(reader, outerEnd);
    const places: Place[] = [];
    eachField(end, (field, type) => {
      if (field !== VALUES || !isMessage(type)) return false;
      places.push({ at: reader.pos, end });
      takeRange(end);
      return true;
    });
    return places;
  };
  const entriesOf = (outerEnd: number): (readonly [string, Place])[] => {
    const back = reader.pos;
    const entries = rangesOf(outerEnd).map(({ at, end }) => {
      reader.pos = at;
      const entryEnd = endOfMessage(reader, end);
      let key = '';
      let value = -1;
      eachField(entryEnd, (field, type) => {
        if (field === KEY_VALUE.key && isMessage(type)) key = takeText(entryEnd);
        else if (field === KEY_VALUE.value && isMessage(type)) {
          value = reader.pos;
          takeRange(entryEnd);
        } else return false;
        return true;
      });
      return [key, { at: value, end: entryEnd }] as const;
    });
    reader.pos = back;
    takeRange(outerEnd);
    return entries;
  };

  return {
    span(start, end) {
      const span = emptySpan();
      reader.pos = start;
      eachField(end, (field, type) => takeSpanField(span, field, type, end));
      return span;
    },
    resource(start, end) {
      const found: ResourceFacts = {};
      reader.pos = start;
      eachField(end, (field, type) => {
        if (field !== RESOURCE.attributes || !isMessage(type)) return false;
        takeAttribute(end, RESOURCE_ATTRIBUTES, found);
        return true;
      });
      return found;
    },
    body(start, end) {
      let body: Tree | typeof TOO_DEEP = null;
      reader.pos = start;
      eachField(end, (field, type) => {
        if (field !== LOG_RECORD.body || !isMessage(type)) return false;
        body = takeValue(end, 0);
        return true;
      });
      return body;
    },
  };
}

/** JSON has no other numbers; as texts they are of the wrong type wherever a number is due. */
const doubleOf = (value: number): number | string => (Number.isFinite(value) ? value : String(value));
