/**
 * The short way from bytes to an event, for lines as writers send them: flat, printable ASCII, no escapes, no blanks, declared
 * fields only, each once. It accepts a line only if `decode` would accept it with the very same result (tested by mutations); at any
 * doubt it returns null and `decode` has the word, which alone rejects. More than twice as fast as JSON.parse: a program (assembly/, run by
 * machine.ts) reads the bytes and tells what differs from the line before, so that few values are made anew.
 */
import type { Origin, WireEvent } from '../model/event.ts';
import { type EventType, MAX_ID_BYTES } from '../model/fields.ts';
import { internalized } from '../model/intern.ts';
import { isOfExchange, recordFrom, SLOTS } from '../model/record.ts';
import { REQUIRED_FIELDS } from '../stages/decode.ts';
import { IdBytes } from './id-bytes.ts';
import { createKeys, type IdName, type Key, TS, TYPE, typeBit, V } from './keys.ts';
import { createMachine, LINE_AT, MAX_LINE_BYTES, type Machine } from './machine.ts';
import {
  INTS,
  IS_ABSENT,
  IS_FALSE,
  IS_ID,
  IS_NEW,
  IS_NULL,
  IS_NUMBER,
  IS_OWN,
  IS_TRUE,
  OTHER_SIZE,
  OTHERS,
  PRESENT,
  TEXT_PLACES,
  TEXTS,
  TYPES,
} from './program.ts';
import type { TextBytes } from './text-bytes.ts';

const EXCHANGE = SLOTS.get('exchange') as number;
const ARGS_DIGEST = SLOTS.get('args_digest') as number;
const RPC_ID = SLOTS.get('rpc_id') as number;
const NAMES = [...SLOTS.keys()];
type IdFields = { [K in IdName]?: string | null | undefined };
/** Every word is four bytes. */
const TEXT_WORDS = TEXTS / 4;
const INT_WORDS = INTS / 4;
const OTHER_WORDS = OTHERS / 4;
const WORDS_OF_OTHER = OTHER_SIZE / 4;
const PRESENT_WORDS = PRESENT / 4;
const TYPES_WORD = TYPES / 4;
const LOW_BYTE = 0xff;
const LOW_HALF = 0xffff;
const ZERO = 0x30;
const FEW_DIGITS = 9;

/** Of a type of line: the slots that must have a value, a bit each, in three words. */
interface TypeSlots {
  readonly required: readonly [number, number, number];
  readonly bit: number;
  readonly ofExchange: boolean;
}

function typeSlots(type: EventType, names: readonly string[]): TypeSlots {
  const required: [number, number, number] = [0, 0, 0];
  for (const name of names) {
    const slot = SLOTS.get(name as never) as number;
    required[slot >> 5] = (required[slot >> 5] as number) | (1 << (slot & 31));
  }
  return { required, bit: typeBit(type), ofExchange: isOfExchange(type) };
}

export class LineScanner {
  /** Those of the line that was scanned last, until they are ended. */
  readonly ids = new IdBytes();
  /** Undefined until there is something to scan; null: every line takes the long way. */
  #machine: Machine | null | undefined;
  readonly #accepts: Key['accepts'][] = [];
  /** The strings of the table of texts, by place. */
  readonly #texts: string[] = new Array(TEXT_PLACES + 1).fill('');
  readonly #types = new Map<string, TypeSlots>();
  /** That of the line before: mostly it is the same. */
  #type = '';
  #slots: TypeSlots = { required: [0, 0, 0], bit: 0, ofExchange: false };
  /** What stands in each slot: what did on the line before, but for the changes. */
  readonly #values: unknown[] = new Array(TS + 1).fill(undefined);
  /** What was scanned last, and its address; -1: it stands elsewhere. To ask bytes for these costs more than to compare them. */
  #bytes: TextBytes | undefined;
  #base = -1;
  /** Where the ids of the line begin in the memory. */
  #exchangeAt = 0;
  #digestAt = 0;

  constructor() {
    for (const [type, names] of REQUIRED_FIELDS) this.#types.set(type, typeSlots(type as EventType, names));
  }

  #start(): Machine | null {
    const machine = createMachine();
    this.#machine = machine;
    if (machine === null) return null;
    for (const { text, slot, kind, types, accepts } of createKeys()) {
      for (let i = 0; i < text.length; i++) machine.bytes[LINE_AT + i] = text.charCodeAt(i);
      machine.program.addKey(LINE_AT, text.length, slot, kind, types);
      this.#accepts[slot] = accepts;
    }
    return machine;
  }

  /** Memory for this many bytes of lines: such as stand there need not be copied. Undefined: none is left. Null: there is no scanner. */
  room(bytes: number): Uint8Array | null | undefined {
    const machine = this.#machine === undefined ? this.#start() : this.#machine;
    return machine === null ? null : machine.room(bytes);
  }

  /** The event of the line in `bytes[start, end)`, or null: it takes the long way. */
  scan(bytes: TextBytes, start: number, end: number, origin: Origin, line: number, offset: number): WireEvent | null {
    const machine = this.#machine === undefined ? this.#start() : this.#machine;
    if (machine === null || end - start < 2) return null;
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#base = bytes.buffer === machine.bytes.buffer ? bytes.byteOffset : -1;
    }
    let at = this.#base + start;
    if (this.#base === -1) {
      if (end - start > MAX_LINE_BYTES) return null;
      at = LINE_AT;
      bytes.copy(machine.bytes, at, start, end);
    }
    const counts = machine.program.scan(at, at + end - start, MAX_ID_BYTES);
    if (counts < 0 || !this.#take(machine, counts, bytes, start - at)) {
      this.#values.fill(undefined);
      return null;
    }
    const values = this.#values;
    const type = values[TYPE] as EventType | null | undefined;
    const ts = values[TS] as number | null | undefined;
    if (values[V] !== 1 || type === undefined || type === null || ts === undefined || ts === null) return null;
    if (type !== this.#type) {
      this.#slots = this.#types.get(type) as TypeSlots;
      this.#type = type;
    }
    const { required, bit, ofExchange } = this.#slots;
    const { words } = machine;
    if (((words[TYPES_WORD] as number) & bit) === 0) return null;
    for (let i = 0; i < required.length; i++) {
      const needed = required[i] as number;
      if (((words[PRESENT_WORDS + i] as number) & needed) !== needed) return null;
    }
    const fields = recordFrom(values, ofExchange);
    this.#addIds(fields as IdFields, words, counts, bytes, start - at);
    const event: WireEvent = { type, ts, origin, line, offset, fields };
    const { exchange, args_digest } = fields;
    this.ids.begin(machine.bytes, machine.view, exchange, this.#exchangeAt, args_digest, this.#digestAt);
    return event;
  }

  /**
   * Brings the values up to date. `shift`: from an address to its place in `bytes`. Returns false where a field does not take its text;
   * then nothing stands anywhere.
   */
  #take({ program, view, words }: Machine, counts: number, bytes: TextBytes, shift: number): boolean {
    const values = this.#values;
    const texts = this.#texts;
    // These first: what is new may take the place of one of them.
    for (let i = TEXT_WORDS, end = i + (counts & LOW_BYTE); i < end; i++) {
      const word = words[i] as number;
      values[word >> 16] = texts[word & LOW_HALF];
    }
    for (let i = INT_WORDS, end = i + 2 * ((counts >> 8) & LOW_BYTE); i < end; i += 2)
      values[words[i] as number] = words[i + 1];
    let isTaken = true;
    for (let i = OTHER_WORDS, end = i + WORDS_OF_OTHER * (counts >> 16); i < end; i += WORDS_OF_OTHER) {
      const slot = words[i] as number;
      const code = words[i + 1] as number;
      if (code === IS_ID) values[slot] = undefined;
      else if (code === IS_NUMBER) values[slot] = view.getFloat64(4 * i + 8, true);
      else if (code === IS_ABSENT) values[slot] = undefined;
      else if (code === IS_NULL) values[slot] = null;
      else if (code === IS_TRUE || code === IS_FALSE) values[slot] = code === IS_TRUE;
      else {
        const place = words[i + 4] as number;
        if (code === IS_OWN) {
          const own = internalized(texts[place] as string);
          texts[place] = own;
          values[slot] = own;
          continue;
        }
        const from = (words[i + 2] as number) + shift;
        const text = bytes.latin1Slice(from, from + (words[i + 3] as number));
        const isGood = (this.#accepts[slot] as Key['accepts'])(text);
        values[slot] = text;
        if (code === IS_NEW) {
          texts[place] = text;
          if (!isGood) program.forget(place);
        }
        if (!isGood) isTaken = false;
      }
    }
    if (!isTaken) program.reset();
    return isTaken;
  }

  /** They go straight into the record: kept among the values, which live long, each would be a new thing for the collector to look at. */
  #addIds(fields: IdFields, words: Int32Array, counts: number, bytes: TextBytes, shift: number): void {
    for (let i = OTHER_WORDS, end = i + WORDS_OF_OTHER * (counts >> 16); i < end; i += WORDS_OF_OTHER) {
      if (words[i + 1] !== IS_ID) continue;
      const slot = words[i] as number;
      const at = words[i + 2] as number;
      const id = idOf(bytes, at + shift, at + shift + (words[i + 3] as number));
      if (slot === EXCHANGE) {
        this.#exchangeAt = at;
        fields.exchange = id;
      } else if (slot === ARGS_DIGEST) {
        this.#digestAt = at;
        fields.args_digest = id;
      } else if (slot === RPC_ID) fields.rpc_id = id;
      else fields[NAMES[slot] as IdName] = id;
    }
  }
}

/** Small numbers, as most rpc ids are, cost less than a call into the engine. */
const SMALL: (string | undefined)[] = new Array(4096).fill(undefined);
const numberText = (value: number): string => {
  if (value >= SMALL.length) return String(value);
  let text = SMALL[value];
  if (text === undefined) {
    text = String(value);
    SMALL[value] = text;
  }
  return text;
};

function idOf(bytes: TextBytes, from: number, to: number): string {
  if (to - from <= FEW_DIGITS && bytes[from] !== ZERO) {
    let number = 0;
    let at = from;
    for (; at < to; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      number = (number * 10 + digit) | 0;
    }
    if (at === to) return numberText(number);
  }
  return bytes.latin1Slice(from, to);
}
