/** The keys that a line may have, as the program wants to know them, and what their fields take. */
import { type EventType, type FieldName, fieldsOf } from '../model/fields.ts';
import { SLOTS } from '../model/record.ts';
import { type Field, fits, KNOWN_FIELDS, REQUIRED_FIELDS } from '../stages/decode.ts';
import { KIND_BOOL, KIND_COUNT, KIND_ID, KIND_INT, KIND_NEVER, KIND_TEXT } from './program.ts';

export interface Key {
  /** The name in quotes and its colon. */
  readonly text: string;
  readonly slot: number;
  readonly kind: number;
  /** The types of line that may have it, a bit each (`typeBit`). */
  readonly types: number;
  /** Text that may stand here; values that were found good are remembered. */
  readonly accepts: (text: string) => boolean;
}

/** Slots behind those of the fields. */
export const V = SLOTS.size;
export const TYPE = V + 1;
export const TS = V + 2;

/** Texts that differ on nearly every line: not worth remembering. */
const ID_NAMES = [
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
] satisfies FieldName[];
export type IdName = (typeof ID_NAMES)[number];
const IDS: ReadonlySet<string> = new Set(ID_NAMES);

function kindOf(field: Field): number {
  switch (field.kind) {
    case 'bool':
      return KIND_BOOL;
    case 'count':
    case 'ms':
    case 'time':
      return KIND_COUNT;
    case 'int':
      return KIND_INT;
    case 'object':
      return KIND_NEVER;
    case 'id':
      return IDS.has(field.name) ? KIND_ID : KIND_TEXT;
    default:
      return KIND_TEXT;
  }
}

const EVENT_TYPES = [...REQUIRED_FIELDS.keys()] as readonly EventType[];
export const typeBit = (type: string): number => 1 << EVENT_TYPES.indexOf(type as EventType);
/** Every line has `v`, `type` and `ts`. */
const typesOf = (name: string, slot: number): number => {
  let types = 0;
  for (const type of EVENT_TYPES) if (slot >= V || fieldsOf(type).includes(name as FieldName)) types |= typeBit(type);
  return types;
};

const createKey = (name: string, slot: number, kind: number, accepts: Key['accepts']): Key => ({
  text: `"${name}":`,
  slot,
  kind,
  types: typesOf(name, slot),
  accepts,
});

/** `decode` would take it as it is: neither cut nor dropped. */
const isPlainFor = (field: Field, text: string): boolean =>
  fits(text, field) && text.length <= field.maxChars && (field.kind !== 'enum' || field.words.includes(text));

export const createKeys = (): Key[] => [
  createKey('v', V, KIND_COUNT, () => false),
  createKey('type', TYPE, KIND_TEXT, (text) => REQUIRED_FIELDS.has(text)),
  createKey('ts', TS, KIND_COUNT, () => false),
  ...[...KNOWN_FIELDS].map(([name, field]) =>
    createKey(name, SLOTS.get(name as FieldName) as number, kindOf(field), (text) => isPlainFor(field, text)),
  ),
];
