/**
 * The keys that a line may have, as bytes to compare with. Each remembers which key came after it last time: writers keep their order,
 * so most keys are confirmed, not searched.
 */
import type { FieldName } from '../model/fields.ts';
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
  /** The same, four bytes each; the last word overlaps the one before (a key has four bytes at least). */
  readonly words: Int32Array;
  readonly slot: number;
  readonly kind: number;
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

function createKey(name: string, slot: number, kind: number, accepts: Key['accepts']): Key {
  const bytes = asciiOf(`"${name}":`);
  const view = new DataView(bytes.buffer);
  const words = Int32Array.from({ length: Math.ceil(bytes.length / 4) }, (_, i) =>
    view.getInt32(Math.min(4 * i, bytes.length - 4), true),
  );
  const key: Omit<Key, 'next' | 'other' | 'place'> = { bytes, words, slot, kind, accepts };
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

export function isAt(view: DataView, at: number, { words, bytes }: Key): boolean {
  const last = words.length - 1;
  for (let i = 0; i < last; i++) if (view.getInt32(at + 4 * i, true) !== words[i]) return false;
  return view.getInt32(at + bytes.length - 4, true) === words[last];
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
      if (at + key.bytes.length <= last && isAt(view, at, key)) return key;
    }
  }
}
