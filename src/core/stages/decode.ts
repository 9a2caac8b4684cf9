/**
 * One line of text to one event, or to a counted reason. This is the hand-written guard at the edge of the core: behind it a
 * field has its declared type, ids are bounded, and nothing of the line but declared fields is kept.
 */
import type { EventFields, Origin, Rejection, WireEvent } from '../model/event.ts';
import {
  EVENT_TYPES,
  type EventType,
  FIELDS,
  type FieldSpec,
  MAX_ID_BYTES,
  MAX_TEXT_CHARS,
  MAX_WORD_CHARS,
} from '../model/fields.ts';

type Check = (value: unknown) => boolean;

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

const isCount: Check = (v) => Number.isSafeInteger(v) && (v as number) >= 0;

const CHECKS: Record<Exclude<FieldSpec['is'], readonly string[] | 'object' | 'time'>, Check> = {
  id: (v) => typeof v === 'string' && v.length > 0 && (v.length * 3 <= MAX_ID_BYTES || utf8Length(v) <= MAX_ID_BYTES),
  word: (v) => typeof v === 'string' && v.length <= MAX_WORD_CHARS,
  text: (v) => typeof v === 'string' && v.length <= MAX_TEXT_CHARS,
  bool: (v) => typeof v === 'boolean',
  count: isCount,
  int: (v) => Number.isSafeInteger(v),
  ms: (v) => typeof v === 'number' && Number.isFinite(v) && v >= 0,
};

interface Field {
  readonly check: Check;
  readonly time: boolean;
  readonly parts: ReadonlyMap<string, Field> | null;
}

const compile = (spec: FieldSpec): Field => {
  const is = spec.is;
  if (typeof is !== 'string') return { check: (v) => is.includes(v as string), time: false, parts: null };
  if (is === 'object') return { check: () => true, time: false, parts: compileAll(spec.of ?? {}) };
  if (is === 'time') return { check: () => true, time: true, parts: null };
  return { check: CHECKS[is], time: false, parts: null };
};
const compileAll = (specs: Readonly<Record<string, FieldSpec>>): Map<string, Field> =>
  new Map(Object.entries(specs).map(([name, spec]) => [name, compile(spec)]));

const KNOWN = compileAll(FIELDS);
const REQUIRED = new Map<string, readonly (keyof EventFields)[]>(
  Object.entries(EVENT_TYPES).map(([type, spec]) => [type, spec.required]),
);
// The envelope is part of the template so that an event never changes its hidden class.
const TEMPLATE = Object.fromEntries(
  [...Object.keys(FIELDS), 'type', 'ts', 'origin', 'line', 'offset'].map((name) => [name, undefined]),
) as unknown as WireEvent;

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
const MAX_TIME = 8.64e15;

/** Unix ms of a `ts` value (number of ms, or RFC 3339 text), or NaN. */
function parseTime(value: unknown): number {
  if (typeof value === 'number') return value >= 0 && value <= MAX_TIME ? value : Number.NaN;
  return typeof value === 'string' && RFC3339.test(value) ? Date.parse(value) : Number.NaN;
}

function readObject(value: unknown, parts: ReadonlyMap<string, Field>): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const out: Record<string, unknown> = {};
  for (const name in value) {
    const field = parts.get(name);
    if (field === undefined) continue;
    const part = (value as Record<string, unknown>)[name];
    if (part !== null && !field.check(part)) return null;
    out[name] = part;
  }
  return out;
}

const reject = (rejected: Rejection['rejected'], field?: string): Rejection =>
  field === undefined ? { rejected } : { rejected, field };

/**
 * Decodes one line (no line end, not blank). Never throws.
 * A field of the wrong type rejects the line (`bad_field`): a half-understood line must not decide a verdict.
 */
export function decode(text: string, origin: Origin, line: number, offset: number): WireEvent | Rejection {
  let raw: Record<string, unknown>;
  try {
    raw = JSON.parse(text);
  } catch {
    return reject('not_json');
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return reject('not_object');
  if (raw.v !== 1) return raw.v === undefined ? reject('missing_field', 'v') : reject('bad_version');
  const type = raw.type;
  if (type === undefined || type === null) return reject('missing_field', 'type');
  const required = REQUIRED.get(type as string);
  if (required === undefined) return reject('unknown_type');
  if (raw.ts === undefined || raw.ts === null) return reject('missing_field', 'ts');
  const ts = parseTime(raw.ts);
  if (Number.isNaN(ts)) return reject('bad_field', 'ts');

  const event: WireEvent = { ...TEMPLATE };
  for (const name in raw) {
    const field = KNOWN.get(name);
    if (field === undefined) continue;
    let value = raw[name];
    if (value !== null) {
      if (field.parts !== null) {
        value = readObject(value, field.parts);
        if (value === null) return reject('bad_field', name);
      } else if (field.time) {
        value = parseTime(value);
        if (Number.isNaN(value as number)) return reject('bad_field', name);
      } else if (!field.check(value)) return reject('bad_field', name);
    }
    (event as unknown as Record<string, unknown>)[name] = value;
  }
  for (const name of required) {
    const value = event[name];
    if (value === undefined || value === null) return reject('missing_field', name);
  }
  event.type = type as EventType;
  event.ts = ts;
  event.origin = origin;
  event.line = line;
  event.offset = offset;
  return event;
}

export const isRejection = (decoded: WireEvent | Rejection): decoded is Rejection => 'rejected' in decoded;
