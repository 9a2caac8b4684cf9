/**
 * One line of text to one event, or to a counted reason. This is the hand-written guard at the edge of the core: behind it a
 * declared field has its declared type and bounded size. Undeclared fields are dropped.
 */

import type { Origin, Rejection, WireEvent } from '../model/event.ts';
import {
  EVENT_TYPES,
  type EventType,
  FIELDS,
  type FieldName,
  type FieldSpec,
  fieldsOf,
  MAX_ID_BYTES,
  MAX_TEXT_CHARS,
  MAX_WORD_CHARS,
} from '../model/fields.ts';
import { intern, internalized } from '../model/intern.ts';
import { isOfExchange, recordFrom, SLOTS } from '../model/record.ts';

/** UTF-8 length without an encoder (the core has no Buffer); a lone surrogate counts as the 3 bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number;
    bytes += code > 0xffff ? 4 : code > 0x7ff ? 3 : code > 0x7f ? 2 : 1;
    if (code > 0xffff) i++;
  }
  return bytes;
}

type Kind = Exclude<FieldSpec['is'], readonly string[]> | 'enum';

export interface Field {
  readonly name: string;
  /** Place in a record (model/record.ts); parts of objects have none. */
  readonly slot: number;
  /** Text that comes again on many lines. */
  readonly shared: boolean;
  readonly kind: Kind;
  /** Words of an enum. */
  readonly words: readonly string[];
  /** Longer text is cut. */
  readonly maxChars: number;
  /** Parts of an object. */
  readonly parts: ReadonlyMap<string, Field>;
  /** The declared field that came after it last time: writers keep their order, so the next look-up is mostly a comparison. */
  next: Field | undefined;
}

const SHARED: ReadonlySet<string> = new Set<FieldName>([
  ...(['writer', 'host', 'client', 'server', 'endpoint', 'method', 'target', 'protocol_version'] as const),
]);

const compile = (name: string, spec: FieldSpec): Field => ({
  name,
  slot: SLOTS.get(name as FieldName) ?? -1,
  shared: SHARED.has(name) || typeof spec.is !== 'string' || spec.is === 'word',
  kind: typeof spec.is === 'string' ? spec.is : 'enum',
  words: typeof spec.is === 'string' ? [] : spec.is,
  maxChars: spec.is === 'word' ? MAX_WORD_CHARS : spec.is === 'text' ? MAX_TEXT_CHARS : Number.POSITIVE_INFINITY,
  parts: compileAll(spec.of ?? {}),
  next: undefined,
});
const compileAll = (specs: Readonly<Record<string, FieldSpec>>): Map<string, Field> =>
  new Map(Object.entries(specs).map(([name, spec]) => [name, compile(name, spec)]));

export const KNOWN_FIELDS: ReadonlyMap<string, Field> = compileAll(FIELDS);
/** Fields by line type: what is declared for another type is unknown here. */
const KNOWN = new Map<string, ReadonlyMap<string, Field>>(
  (Object.keys(EVENT_TYPES) as EventType[]).map((type) => [
    type,
    new Map(fieldsOf(type).map((name) => [name, compile(name, FIELDS[name])])),
  ]),
);
/** Before the first field of a line. */
const START = new Map([...KNOWN.keys()].map((type) => [type, compile('', { is: 'bool', doc: '' })]));
export const REQUIRED_FIELDS: ReadonlyMap<string, readonly FieldName[]> = new Map<string, readonly FieldName[]>(
  Object.entries(EVENT_TYPES).map(([type, spec]) => [type, spec.required]),
);

/** Is a value (not null, no time, no object) of the declared kind? */
export function fits(value: unknown, field: Field): boolean {
  switch (field.kind) {
    case 'id':
      if (typeof value !== 'string') return false;
      return value.length * 3 <= MAX_ID_BYTES || utf8Length(value) <= MAX_ID_BYTES;
    case 'word':
    case 'text':
      return typeof value === 'string';
    case 'enum':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'count':
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case 'int':
      return Number.isSafeInteger(value);
    case 'ms':
      return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
    default:
      return false;
  }
}

const JSON_BLANKS = ' \t\n\r';
const RFC3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const MAX_TIME = 8.64e15;

/** Unix ms of a `ts` value (number of ms, or RFC 3339 text), or NaN. */
function parseTime(value: unknown): number {
  if (typeof value === 'number') return value >= 0 && value <= MAX_TIME ? value : Number.NaN;
  const match = typeof value === 'string' ? RFC3339.exec(value) : null;
  if (match === null) return Number.NaN;
  const [, date, minute, second, fraction = '', zone] = match;
  // A leap second is the first moment of the next minute, as Unix time has it.
  const leap = second === '60';
  return Date.parse(`${date}T${minute}:${leap ? '59' : second}${fraction.slice(0, 4)}${zone}`) + (leap ? 1000 : 0);
}

/** The declared parts of an object field, or null if one does not fit. */
function readObject(value: unknown, parts: ReadonlyMap<string, Field>): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const out: Record<string, unknown> = {};
  for (const name in value) {
    const field = parts.get(name);
    if (field === undefined) continue;
    const part = (value as Record<string, unknown>)[name];
    if (part !== null && !fits(part, field)) return null;
    out[name] = part;
  }
  return out;
}

/** `raw`: the parsed line; its place in the sequence is known even if nothing else of it is good. */
function reject(rejected: Rejection['rejected'], field?: string, raw?: Record<string, unknown>): Rejection {
  const { seq, writer, host } = raw ?? {};
  return {
    rejected,
    ...(field !== undefined && { field }),
    ...(Number.isSafeInteger(seq) && (seq as number) >= 0 && { seq: seq as number }),
    ...(typeof writer === 'string' && writer.length <= MAX_ID_BYTES && { writer }),
    ...(typeof host === 'string' && host.length <= MAX_ID_BYTES && { host }),
  };
}

/** By the first character of a JSON text: how its last one must be. A number begins with a digit or `-`. */
const LAST_OF: Readonly<Record<string, RegExp>> = {
  ...{ '{': /\}/, '[': /\]/, '"': /"/, t: /e/, f: /e/, n: /l/ },
  ...Object.fromEntries([...'-0123456789'].map((first) => [first, /\d/])),
};

/**
 * True only for what JSON.parse would refuse: its exception costs ten times as much as a good line, and whoever sends no JSON at
 * all may send millions of lines.
 */
export function isNoJson(text: string): boolean {
  let start = 0;
  let end = text.length - 1;
  while (start <= end && JSON_BLANKS.includes(text[start] as string)) start++;
  while (end > start && JSON_BLANKS.includes(text[end] as string)) end--;
  return LAST_OF[text[start] ?? '']?.test(text[end] as string) !== true;
}

/**
 * Decodes one line (no line end, not blank). Never throws.
 * A field of the wrong type rejects the line (`bad_field`): a half-understood line must not decide a verdict.
 */
export function decode(text: string, origin: Origin, line: number, offset: number): WireEvent | Rejection {
  if (isNoJson(text)) return reject('not_json');
  let raw: Record<string, unknown>;
  try {
    raw = JSON.parse(text);
  } catch {
    return reject('not_json');
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return reject('not_object');
  if (raw.v !== 1)
    return raw.v === undefined ? reject('missing_field', 'v', raw) : reject('bad_version', undefined, raw);
  const type = raw.type;
  if (type === undefined || type === null) return reject('missing_field', 'type', raw);
  const required = REQUIRED_FIELDS.get(type as string);
  if (required === undefined) return reject('unknown_type', undefined, raw);
  if (raw.ts === undefined || raw.ts === null) return reject('missing_field', 'ts', raw);
  const ts = parseTime(raw.ts);
  if (Number.isNaN(ts)) return reject('bad_field', 'ts', raw);

  const values: unknown[] = new Array(SLOTS.size).fill(undefined);
  const known = KNOWN.get(type as string) as ReadonlyMap<string, Field>;
  let before: Field = START.get(type as string) as Field;
  for (const name in raw) {
    let field = before.next;
    if (field === undefined || field.name !== name) {
      field = known.get(name);
      if (field === undefined) continue;
      before.next = field;
    }
    before = field;
    const value = raw[name];
    values[field.slot] = value;
    if (value === null) continue;
    if (field.kind === 'time') {
      const time = parseTime(value);
      if (Number.isNaN(time)) return reject('bad_field', name, raw);
      values[field.slot] = time;
    } else if (field.kind === 'object') {
      const parts = readObject(value, field.parts);
      if (parts === null) return reject('bad_field', name, raw);
      values[field.slot] = parts;
    } else if (!fits(value, field)) return reject('bad_field', name, raw);
    // A word that is not known (a later writer's) says nothing; where the line needs it, it is no line of ours.
    else if (field.kind === 'enum' && !field.words.includes(value as string)) values[field.slot] = undefined;
    else if (typeof value === 'string') {
      // Names that servers choose may be longer than anybody needs; the line is none the worse for it.
      // A cut text would keep the whole one alive, up to 1 MiB of it, for as long as somebody holds it.
      const text = value.length > field.maxChars ? internalized(value.slice(0, field.maxChars)) : value;
      values[field.slot] = field.shared ? intern(text) : text;
    }
  }
  const fields = recordFrom(values, isOfExchange(type as EventType));
  for (const name of required) {
    const value = fields[name];
    if (value === undefined || value === null || value === '') return reject('missing_field', name, raw);
  }
  return { type: type as EventType, ts, origin, line, offset, fields };
}

export const isRejection = (decoded: WireEvent | Rejection): decoded is Rejection => 'rejected' in decoded;
