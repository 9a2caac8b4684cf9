/** Reads one record of OTLP/JSON. Only what the tables name leaves it; a member of another type than it should have is not there. */
import {
  type Attributes,
  type AttributeTable,
  accept,
  EXCEPTION_ATTRIBUTES,
  RESOURCE_ATTRIBUTES,
  SPAN_ATTRIBUTES,
} from './attributes.ts';
import {
  EXCEPTION_EVENT,
  emptySpan,
  type ResourceFacts,
  SPAN_ID_BYTES,
  type SpanFacts,
  TRACE_ID_BYTES,
} from './span-facts.ts';
import { type TOO_DEEP, type Tree, treeOf } from './tree.ts';
import { millisOf } from './wire.ts';

type Json = Readonly<Record<string, unknown>>;
const HEX = /^[0-9a-f]*$/;

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const integerOf = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);

/** int64 and fixed64 are texts of digits in JSON; numbers are taken too. */
function wholeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? Number(value) : undefined;
}

const nanosOf = (value: unknown): number => {
  const nanos = wholeOf(value);
  return nanos === undefined || nanos < 0 ? 0 : millisOf(nanos);
};

function idOf(value: unknown, bytes: number): string {
  const id = textOf(value).toLowerCase();
  return id.length === 2 * bytes && HEX.test(id) ? id : '';
}

function scalarOf(value: unknown): string | number | undefined {
  const { stringValue, intValue } = objectOf(value);
  if (typeof stringValue === 'string') return stringValue;
  const whole = wholeOf(intValue);
  return Number.isSafeInteger(whole) ? whole : undefined;
}

function attributesOf<T extends AttributeTable>(value: unknown, table: T): Attributes<T> {
  const found: Record<string, unknown> = {};
  for (const each of listOf(value)) {
    const { key, value: own } = objectOf(each);
    if (typeof key !== 'string' || !Object.hasOwn(table, key)) continue;
    const taken = accept(table[key] as T[string], scalarOf(own));
    if (taken !== undefined) found[key] = taken;
  }
  return found as Attributes<T>;
}

/** @throws SyntaxError where it is no JSON. */
export function readJsonSpan(text: string): SpanFacts {
  const json = objectOf(JSON.parse(text));
  const span = emptySpan();
  span.attributes = attributesOf(json.attributes, SPAN_ATTRIBUTES);
  if (span.attributes['mcp.method.name'] === undefined) return span;
  span.traceId = idOf(json.traceId, TRACE_ID_BYTES);
  span.spanId = idOf(json.spanId, SPAN_ID_BYTES);
  span.name = textOf(json.name);
  span.kind = integerOf(json.kind);
  span.start = nanosOf(json.startTimeUnixNano);
  span.end = nanosOf(json.endTimeUnixNano);
  span.status = integerOf(objectOf(json.status).code);
  for (const each of listOf(json.events)) {
    const { name, attributes } = objectOf(each);
    if (name !== EXCEPTION_EVENT) continue;
    span.exception = attributesOf(attributes, EXCEPTION_ATTRIBUTES)['exception.type'] ?? span.exception;
  }
  return span;
}

/** @throws SyntaxError where it is no JSON. */
export const readJsonResource = (text: string): ResourceFacts =>
  attributesOf(objectOf(JSON.parse(text)).attributes, RESOURCE_ATTRIBUTES);

/** The body of a log record as the value that it stands for. @throws SyntaxError where it is no JSON. */
export const readJsonBody = (text: string): Tree | typeof TOO_DEEP => treeFrom(objectOf(JSON.parse(text)).body, 0);

function treeFrom(value: unknown, depth: number): Tree | typeof TOO_DEEP {
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = objectOf(value);
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (intValue !== undefined) return wholeOf(intValue) ?? null;
  // Texts stand for what is no number in JSON.
  if (typeof doubleValue === 'number' || typeof doubleValue === 'string') return doubleValue;
  if (typeof bytesValue === 'string') return bytesValue;
  if (arrayValue !== undefined)
    return treeOf.list(listOf(objectOf(arrayValue).values), depth, (each) => treeFrom(each, depth + 1));
  if (kvlistValue === undefined) return null;
  const entries = listOf(objectOf(kvlistValue).values).map((each) => {
    const { key, value: own } = objectOf(each);
    return [textOf(key), own] as const;
  });
  return treeOf.map(entries, depth, (each) => treeFrom(each, depth + 1));
}
