/**
 * The keys that a line may have, as bytes to compare with. Each remembers which key came after it last time: writers keep their order,
 * so most keys are confirmed, not searched.
 */
import { type EventType, type FieldName, fieldsOf } from '../model/fields.ts';
import { SLOTS } from '../model/record.ts';
import { type Field, fits, KNOWN_FIELDS, REQUIRED_FIELDS } from '../stages/decode.ts';
import { mix, QUOTE } from './words.ts';

/** What stands under a key; the text kinds come first. */
export const UNIQUE = 0;
export const TEXT = 1;
export const BOOL = 2;
export const COUNT = 3;
export const INT = 4;
export const NEVER = 5;

export interface Key {
  /** The name in quotes and its colon. */
  readonly bytes: Uint8Array;
  readonly length: number;
  /**
   * The same, eight bytes each, the last eight overlapping those before. As floating-point numbers: printable ASCII is never NaN nor a
   * zero, so that two are equal if and only if their bytes are.
   */
  readonly eights: Float64Array;
  /** Of a shorter one: its first and its last four bytes (a key has four at least). */
  readonly head: number;
  readonly tail: number;
  readonly slot: number;
  readonly kind: number;
  /** The types of line that may have it, a bit each (`typeBit`). */
  readonly types: number;
  /** Text that may stand here; values that were found good are remembered. */
  readonly accepts: (text: string) => boolean;
  /** The key that came after it last time, and one that did before: lines of two kinds take turns. */
  next: Key;
  other: Key;
  /** Place of the text that stood here last time. */
  place: number;
}

/** Slots behind those of the fields. */
export const V = SLOTS.size;
export const TYPE = V + 1;
export const TS = V + 2;

/** Texts that differ on nearly every line: not worth remembering. */
const ALWAYS_NEW: ReadonlySet<string> = new Set<FieldName>([
  ...([
    'exchange',
    'rpc_id',
    'args_digest',
    'request_key',
    'event_id_digest',
    'trace',
    'cancel_of',
    'carrier',
  ] as const),
]);

function kindOf(field: Field): number {
  switch (field.kind) {
    case 'bool':
      return BOOL;
    case 'count':
    case 'ms':
    case 'time':
      return COUNT;
    case 'int':
      return INT;
    case 'object':
      return NEVER;
    case 'id':
      return ALWAYS_NEW.has(field.name) ? UNIQUE : TEXT;
    default:
      return TEXT;
  }
}

const asciiOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

const EVENT_TYPES = [...REQUIRED_FIELDS.keys()] as readonly EventType[];
export const typeBit = (type: string): number => 1 << EVENT_TYPES.indexOf(type as EventType);
/** Every line has `v`, `type` and `ts`. */
const typesOf = (name: string, slot: number): number => {
  let types = 0;
  for (const type of EVENT_TYPES) if (slot >= V || fieldsOf(type).includes(name as FieldName)) types |= typeBit(type);
  return types;
};

function createKey(name: string, slot: number, kind: number, accepts: Key['accepts']): Key {
  const bytes = asciiOf(`"${name}":`);
  const { length } = bytes;
  const view = new DataView(bytes.buffer);
  const eights = Float64Array.from({ length: length < 8 ? 0 : Math.ceil(length / 8) }, (_, i) =>
    view.getFloat64(Math.min(8 * i, length - 8), true),
  );
  const [head, tail] = [view.getInt32(0, true), view.getInt32(length - 4, true)];
  const key: Omit<Key, 'next' | 'other' | 'place'> = {
    bytes,
    length,
    eights,
    head,
    tail,
    slot,
    kind,
    types: typesOf(name, slot),
    accepts,
  };
  return Object.assign(key, { next: key as Key, other: key as Key, place: 0 });
}

/** `decode` would take it as it is: neither cut nor dropped. */
const isPlainFor = (field: Field, text: string): boolean =>
  fits(text, field) && text.length <= field.maxChars && (field.kind !== 'enum' || field.words.includes(text));

const createKeys = (): Key[] => [
  createKey('v', V, COUNT, () => false),
  createKey('type', TYPE, TEXT, (text) => REQUIRED_FIELDS.has(text)),
  createKey('ts', TS, COUNT, () => false),
  ...[...KNOWN_FIELDS].map(([name, field]) =>
    createKey(name, SLOTS.get(name as FieldName) as number, kindOf(field), (text) => isPlainFor(field, text)),
  ),
];

/** Far more places than keys: a search ends soon. */
const PLACES = 512;

/** Where the search for a key begins; from its first quote to before its second one. */
function placeOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let i = start + 1; i < end && bytes[i] !== QUOTE; i++) hash = mix(hash, bytes[i] as number);
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}

/** It must end within the view. */
export function isAt(view: DataView, at: number, key: Key): boolean {
  const { length } = key;
  if (length < 8) return view.getInt32(at, true) === key.head && view.getInt32(at + length - 4, true) === key.tail;
  const { eights } = key;
  const last = eights.length - 1;
  if (view.getFloat64(at + length - 8, true) !== eights[last]) return false;
  for (let i = 0; i < last; i++) if (view.getFloat64(at + 8 * i, true) !== eights[i]) return false;
  return true;
}

export class Keys {
  /** Stands before the first key of a line. */
  readonly start: Key;
  readonly #places: (Key | undefined)[] = new Array(PLACES).fill(undefined);

  constructor() {
    const keys = createKeys();
    this.start = { ...(keys[0] as Key), next: keys[0] as Key };
    for (const key of keys) {
      let place = placeOf(key.bytes, 0, key.bytes.length - 1);
      while (this.#places[place] !== undefined) place = (place + 1) & (PLACES - 1);
      this.#places[place] = key;
    }
  }

  /** The key at this quote; undefined: none that is known, or it does not end before `last`. */
  find(bytes: Uint8Array, view: DataView, at: number, last: number): Key | undefined {
    let end = at + 1;
    while (end < last && bytes[end] !== QUOTE) end++;
    for (let place = placeOf(bytes, at, end); ; place = (place + 1) & (PLACES - 1)) {
      const key = this.#places[place];
      if (key === undefined) return undefined;
      if (at + key.length <= last && isAt(view, at, key)) return key;
    }
  }
}
