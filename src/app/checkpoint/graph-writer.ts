/**
 * Writes plain values as one graph (graph-format.ts): an object that is met again is the same one, within all that one writer is given,
 * but for typed arrays, of which each place has its own. In small pieces and without a copy of the whole; nothing that was given may
 * change until the last piece was taken. Why not the engine's serialiser: its table of objects is put in order again after every
 * collection of garbage, in one go (300 ms at the caps), and it writes the names of all fields each time.
 * A class, since one is made for each record: functions made anew are compiled anew, which took as long as the writing.
 */
import { keptFields } from '../../core/state.ts';
import * as F from './graph-format.ts';

interface Shape {
  readonly number: number;
  readonly keys: readonly string[];
  /** One table each: a single large one would take too long to grow. */
  readonly numbers: Map<object, number>;
  /** The shape that the value of each key had last. */
  readonly guesses: (Shape | undefined)[];
}

const PIECE_BYTES = 64 * 1024;
/** So much of a piece is handed over: what one object adds fits behind it, as a rule. */
const FULL_BYTES = 32 * 1024;
const OBJECTS_PER_PIECE = 512;
const MAX_VARINT = 8;
/** Texts up to this length are copied faster here than by a call. */
const LOOP_LENGTH = 24;

export class GraphWriter {
  #whole = Buffer.allocUnsafe(PIECE_BYTES);
  /** What is free of it, and how much of that is filled. */
  #piece = this.#whole;
  #at = 0;
  /** Full ones that nobody has taken yet. */
  #full: Buffer[] = [];
  readonly #bytesOfDouble = new Uint8Array(8);
  readonly #double = new DataView(this.#bytesOfDouble.buffer);
  readonly #remembered: string[] = new Array(F.PLACES).fill('');
  readonly #shapes = new Map<string, Shape>();
  readonly #lists = new Map<object, number>();
  readonly #inLists: (Shape | undefined)[] = [undefined];
  #numbers = 0;
  #kept = 0;
  /** Announced, and not told yet. */
  #queue: object[] = [];
  #shapesOfQueue: (Shape | undefined)[] = [];
  #next = 0;

  constructor() {
    this.#piece[this.#at++] = F.FORM;
  }

  /** Yields what there is after a few milliseconds of work; the bytes are those of the caller until it asks for more. */
  *write(value: unknown): Generator<Buffer, void> {
    this.#one(value, this.#inLists, 0);
    for (let told = 1; this.#next < this.#queue.length; told++) {
      const each = this.#queue[this.#next] as object;
      this.#tell(each, this.#shapesOfQueue[this.#next++]);
      if (this.#full.length > 0 || this.#at >= FULL_BYTES || told % OBJECTS_PER_PIECE === 0) yield* this.#taken();
    }
    this.#queue = [];
    this.#shapesOfQueue = [];
    this.#next = 0;
  }

  /** The rest. */
  end(): Buffer {
    this.#tag(F.END);
    return Buffer.concat([...this.#full, this.#piece.subarray(0, this.#at)]);
  }

  /** Room for so many bytes in one piece. */
  #room(bytes: number): void {
    if (this.#at + bytes <= this.#piece.length) return;
    this.#full.push(this.#piece.subarray(0, this.#at));
    this.#whole = Buffer.allocUnsafe(Math.max(PIECE_BYTES, bytes));
    this.#piece = this.#whole;
    this.#at = 0;
  }

  /** Room was made. */
  #varint(value: number): void {
    const piece = this.#piece;
    let at = this.#at;
    let rest = value;
    while (rest >= 128) {
      piece[at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    piece[at++] = rest;
    this.#at = at;
  }

  #tagged(tag: number, value: number): void {
    this.#room(1 + MAX_VARINT);
    this.#piece[this.#at++] = tag;
    this.#varint(value);
  }

  #number(value: number): void {
    if (!F.isWhole(value)) {
      this.#room(9);
      this.#piece[this.#at++] = F.DOUBLE;
      this.#double.setFloat64(0, value, true);
      this.#piece.set(this.#bytesOfDouble, this.#at);
      this.#at += 8;
    } else if (value >= 0 && value < F.SMALLS) {
      this.#room(1);
      this.#piece[this.#at++] = F.SMALL + value;
    } else if (value >= 0) this.#tagged(F.INTEGER, value);
    else this.#tagged(F.NEGATIVE, -1 - value);
  }

  #text(value: string): void {
    const { length } = value;
    if (length > 0 && length <= F.REMEMBERED_LENGTH) {
      const place = F.placeOf(value);
      if (this.#remembered[place] === value) {
        this.#tagged(F.SAME_TEXT, place);
        return;
      }
      this.#remembered[place] = value;
    }
    this.#room(1 + MAX_VARINT + 3 * length);
    const start = this.#at;
    if (length < F.SHORT_TEXTS) this.#piece[this.#at++] = F.SHORT_TEXT + length;
    else this.#tagged(F.TEXT, length);
    if (length > LOOP_LENGTH) {
      // As many bytes as characters: one each.
      const written = this.#piece.write(value, this.#at);
      if (written === length) this.#at += length;
      else {
        this.#at = start;
        this.#wideText(value);
      }
      return;
    }
    const piece = this.#piece;
    let at = this.#at;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 255) {
        this.#at = start;
        this.#wideText(value);
        return;
      }
      piece[at++] = code;
    }
    this.#at = at;
  }

  #wideText(value: string): void {
    this.#room(1 + MAX_VARINT + 2 * value.length);
    this.#tagged(F.WIDE_TEXT, value.length);
    this.#at += this.#piece.write(value, this.#at, 'ucs2');
  }

  #isLike(value: object, { keys }: Shape): boolean {
    const list = keptFields(value);
    if (list !== undefined) return F.isSameList(list, keys);
    let i = 0;
    // Without a list of its keys: there are too many objects.
    for (const key in value) if (key !== keys[i++]) return false;
    return i === keys.length;
  }

  #shapeLike(value: object, guess: Shape | undefined): Shape {
    if (guess !== undefined && this.#isLike(value, guess)) return guess;
    const keys = keptFields(value) ?? Object.keys(value);
    const name = keys.join('\n');
    const known = this.#shapes.get(name);
    // Keys may have line ends of their own.
    if (known !== undefined && this.#isLike(value, known)) return known;
    const isKept = known === undefined && this.#shapes.size < F.MAX_SHAPES && keys.length <= F.MAX_KEYS;
    const shape = { number: isKept ? this.#kept++ : -1, keys, numbers: new Map(), guesses: new Array(keys.length) };
    if (isKept) this.#shapes.set(name, shape);
    return shape;
  }

  #tableOf(shape: Shape | undefined): Map<object, number> {
    return shape === undefined || shape.number < 0 ? this.#lists : shape.numbers;
  }

  #announce(value: object, shape: Shape | undefined): void {
    this.#tableOf(shape).set(value, this.#numbers++);
    this.#queue.push(value);
    this.#shapesOfQueue.push(shape);
  }

  #typed(value: ArrayBufferView): void {
    const kind = F.TYPED_KINDS.findIndex((each) => value instanceof each);
    if (kind === -1) throw new Error(`cannot be kept: ${value.constructor.name}`);
    this.#room(2 + MAX_VARINT);
    this.#piece[this.#at++] = F.TYPED;
    this.#piece[this.#at++] = kind;
    this.#varint(value.byteLength);
    // Not remembered, and so free again once it is taken: parts make them for the record, or hold one alone.
    this.#numbers++;
    // As it is: it does not change until all is taken.
    this.#full.push(this.#piece.subarray(0, this.#at), Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    this.#piece = this.#piece.subarray(this.#at);
    this.#at = 0;
  }

  #list(value: object): void {
    if (ArrayBuffer.isView(value)) {
      this.#typed(value);
      return;
    }
    const known = this.#lists.get(value);
    if (known !== undefined) this.#tagged(F.SAME, known);
    else {
      if (Array.isArray(value)) this.#tagged(F.ARRAY, value.length);
      else this.#tagged(value instanceof Map ? F.MAP : F.SET, (value as Set<unknown>).size);
      this.#announce(value, undefined);
    }
  }

  /** `guesses[i]`: the shape that stood here last. */
  #object(value: object, guesses: (Shape | undefined)[], i: number): void {
    const shape = this.#shapeLike(value, guesses[i]);
    guesses[i] = shape;
    const known = this.#tableOf(shape).get(value);
    if (known !== undefined) {
      this.#tagged(F.SAME, known);
      return;
    }
    // With its first object.
    if (shape.number >= 0 && shape.numbers.size > 0) this.#tagged(F.OBJECT, shape.number);
    else {
      this.#tagged(shape.number >= 0 ? F.NEW_SHAPE : F.LONE_SHAPE, shape.keys.length);
      for (const key of shape.keys) this.#text(key);
    }
    this.#announce(value, shape);
  }

  #one(value: unknown, guesses: (Shape | undefined)[], i: number): void {
    switch (typeof value) {
      case 'string':
        this.#text(value);
        return;
      case 'number':
        this.#number(value);
        return;
      case 'boolean':
        this.#tag(value ? F.TRUE : F.FALSE);
        return;
      case 'undefined':
        this.#tag(F.UNDEFINED);
        return;
      case 'object':
        if (value === null) this.#tag(F.NULL);
        else if (F.isList(value)) this.#list(value);
        else this.#object(value, guesses, i);
        return;
      default:
        throw new Error(`cannot be kept: a ${typeof value}`);
    }
  }

  #tag(value: number): void {
    this.#room(1);
    this.#piece[this.#at++] = value;
  }

  #fields(value: Record<string, unknown>, { keys, guesses }: Shape): void {
    let unknown = 0;
    for (let i = 0; i < keys.length; i++) {
      const each = value[keys[i] as string];
      if (each === undefined) {
        unknown++;
        continue;
      }
      if (unknown > 0) this.#tagged(F.UNDEFINEDS, unknown);
      unknown = 0;
      this.#one(each, guesses, i);
    }
    if (unknown > 0) this.#tagged(F.UNDEFINEDS, unknown);
  }

  /** What is in an object that was announced. */
  #tell(value: object, shape: Shape | undefined): void {
    if (shape !== undefined) this.#fields(value as Record<string, unknown>, shape);
    else if (Array.isArray(value)) for (let i = 0; i < value.length; i++) this.#one(value[i], this.#inLists, 0);
    else if (value instanceof Set) for (const each of value) this.#one(each, this.#inLists, 0);
    else
      for (const [key, each] of value as Map<unknown, unknown>) {
        this.#one(key, this.#inLists, 0);
        this.#one(each, this.#inLists, 0);
      }
  }

  *#taken(): Generator<Buffer, void> {
    const pieces = this.#full;
    this.#full = [];
    yield* pieces;
    if (this.#at > 0) yield this.#piece.subarray(0, this.#at);
    this.#piece = this.#whole;
    this.#at = 0;
  }
}
