/**
 * Writes plain values as one graph (graph-format.ts): an object that is met again is the same one, within all that one writer is given,
 * but for typed arrays, of which each place has its own.
 * In small pieces and without a copy of the whole; nothing that was given may change until the last piece was taken. Why not the
 * engine's serialiser: its table of objects is put in order again after every collection of garbage, in one go (300 ms at the
 * caps), and it writes the names of all fields each time.
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

export interface GraphWriter {
  /** Yields what there is after a few milliseconds of work; the bytes are those of the caller until it asks for more. */
  write(value: unknown): Generator<Buffer, void>;
  /** The rest. */
  end(): Buffer;
}

const PIECE_BYTES = 64 * 1024;
/** So much of a piece is handed over: what one object adds fits behind it, as a rule. */
const FULL_BYTES = 32 * 1024;
const OBJECTS_PER_PIECE = 512;
const MAX_VARINT = 8;
/** Texts up to this length are copied faster here than by a call. */
const LOOP_LENGTH = 24;

export function createGraphWriter(): GraphWriter {
  let whole = Buffer.allocUnsafe(PIECE_BYTES);
  /** What is free of it, and how much of that is filled. */
  let piece = whole;
  let at = 0;
  /** Full ones that nobody has taken yet. */
  let full: Buffer[] = [];
  const bytesOfDouble = new Uint8Array(8);
  const double = new DataView(bytesOfDouble.buffer);
  const remembered: string[] = new Array(F.PLACES).fill('');
  const shapes = new Map<string, Shape>();
  const lists = new Map<object, number>();
  const inLists: (Shape | undefined)[] = [undefined];
  let numbers = 0;
  let kept = 0;
  /** Announced, and not told yet. */
  let queue: object[] = [];
  let shapesOfQueue: (Shape | undefined)[] = [];
  let next = 0;

  piece[at++] = F.FORM;

  /** Room for so many bytes in one piece. */
  function room(bytes: number): void {
    if (at + bytes <= piece.length) return;
    full.push(piece.subarray(0, at));
    whole = Buffer.allocUnsafe(Math.max(PIECE_BYTES, bytes));
    piece = whole;
    at = 0;
  }

  /** Room was made. */
  function varint(value: number): void {
    while (value >= 128) {
      piece[at++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    piece[at++] = value;
  }

  function tagged(tag: number, value: number): void {
    room(1 + MAX_VARINT);
    piece[at++] = tag;
    varint(value);
  }

  function number(value: number): void {
    if (!F.isWhole(value)) {
      room(9);
      piece[at++] = F.DOUBLE;
      double.setFloat64(0, value, true);
      piece.set(bytesOfDouble, at);
      at += 8;
    } else if (value >= 0 && value < F.SMALLS) {
      room(1);
      piece[at++] = F.SMALL + value;
    } else if (value >= 0) tagged(F.INTEGER, value);
    else tagged(F.NEGATIVE, -1 - value);
  }

  function text(value: string): void {
    const { length } = value;
    if (length > 0 && length <= F.REMEMBERED_LENGTH) {
      const place = F.placeOf(value);
      if (remembered[place] === value) {
        tagged(F.SAME_TEXT, place);
        return;
      }
      remembered[place] = value;
    }
    room(1 + MAX_VARINT + 3 * length);
    const start = at;
    if (length < F.SHORT_TEXTS) piece[at++] = F.SHORT_TEXT + length;
    else tagged(F.TEXT, length);
    if (length > LOOP_LENGTH) {
      // As many bytes as characters: one each.
      const written = piece.write(value, at);
      if (written === length) at += length;
      else {
        at = start;
        wideText(value);
      }
      return;
    }
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 255) {
        at = start;
        wideText(value);
        return;
      }
      piece[at++] = code;
    }
  }

  function wideText(value: string): void {
    room(1 + MAX_VARINT + 2 * value.length);
    tagged(F.WIDE_TEXT, value.length);
    at += piece.write(value, at, 'ucs2');
  }

  function isLike(value: object, { keys }: Shape): boolean {
    const list = keptFields(value);
    if (list !== undefined) return F.isSameList(list, keys);
    let i = 0;
    // Without a list of its keys: there are too many objects.
    for (const key in value) if (key !== keys[i++]) return false;
    return i === keys.length;
  }

  function shapeLike(value: object, guess: Shape | undefined): Shape {
    if (guess !== undefined && isLike(value, guess)) return guess;
    const keys = keptFields(value) ?? Object.keys(value);
    const name = keys.join('\n');
    const known = shapes.get(name);
    // Keys may have line ends of their own.
    if (known !== undefined && isLike(value, known)) return known;
    const isKept = known === undefined && shapes.size < F.MAX_SHAPES && keys.length <= F.MAX_KEYS;
    const shape = { number: isKept ? kept++ : -1, keys, numbers: new Map(), guesses: new Array(keys.length) };
    if (isKept) shapes.set(name, shape);
    return shape;
  }

  const tableOf = (shape: Shape | undefined): Map<object, number> =>
    shape === undefined || shape.number < 0 ? lists : shape.numbers;

  function announce(value: object, shape: Shape | undefined): void {
    tableOf(shape).set(value, numbers++);
    queue.push(value);
    shapesOfQueue.push(shape);
  }

  function typed(value: ArrayBufferView): void {
    const kind = F.TYPED_KINDS.findIndex((each) => value instanceof each);
    if (kind === -1) throw new Error(`cannot be kept: ${value.constructor.name}`);
    room(2 + MAX_VARINT);
    piece[at++] = F.TYPED;
    piece[at++] = kind;
    varint(value.byteLength);
    // Not remembered, and so free again once it is taken: parts make them for the record, or hold one alone.
    numbers++;
    // As it is: it does not change until all is taken.
    full.push(piece.subarray(0, at), Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    piece = piece.subarray(at);
    at = 0;
  }

  function list(value: object): void {
    if (ArrayBuffer.isView(value)) {
      typed(value);
      return;
    }
    const known = lists.get(value);
    if (known !== undefined) tagged(F.SAME, known);
    else {
      if (Array.isArray(value)) tagged(F.ARRAY, value.length);
      else tagged(value instanceof Map ? F.MAP : F.SET, (value as Set<unknown>).size);
      announce(value, undefined);
    }
  }

  /** `guesses[i]`: the shape that stood here last. */
  function object(value: object, guesses: (Shape | undefined)[], i: number): void {
    const shape = shapeLike(value, guesses[i]);
    guesses[i] = shape;
    const known = tableOf(shape).get(value);
    if (known !== undefined) {
      tagged(F.SAME, known);
      return;
    }
    // With its first object.
    if (shape.number >= 0 && shape.numbers.size > 0) tagged(F.OBJECT, shape.number);
    else {
      tagged(shape.number >= 0 ? F.NEW_SHAPE : F.LONE_SHAPE, shape.keys.length);
      for (const key of shape.keys) text(key);
    }
    announce(value, shape);
  }

  function one(value: unknown, guesses: (Shape | undefined)[], i: number): void {
    switch (typeof value) {
      case 'string':
        text(value);
        return;
      case 'number':
        number(value);
        return;
      case 'boolean':
        tag(value ? F.TRUE : F.FALSE);
        return;
      case 'undefined':
        tag(F.UNDEFINED);
        return;
      case 'object':
        if (value === null) tag(F.NULL);
        else if (F.isList(value)) list(value);
        else object(value, guesses, i);
        return;
      default:
        throw new Error(`cannot be kept: a ${typeof value}`);
    }
  }

  function tag(value: number): void {
    room(1);
    piece[at++] = value;
  }

  function fields(value: Record<string, unknown>, { keys, guesses }: Shape): void {
    let unknown = 0;
    for (let i = 0; i < keys.length; i++) {
      const each = value[keys[i] as string];
      if (each === undefined) {
        unknown++;
        continue;
      }
      if (unknown > 0) tagged(F.UNDEFINEDS, unknown);
      unknown = 0;
      one(each, guesses, i);
    }
    if (unknown > 0) tagged(F.UNDEFINEDS, unknown);
  }

  /** What is in an object that was announced. */
  function tell(value: object, shape: Shape | undefined): void {
    if (shape !== undefined) {
      fields(value as Record<string, unknown>, shape);
    } else if (Array.isArray(value)) for (let i = 0; i < value.length; i++) one(value[i], inLists, 0);
    else if (value instanceof Set) for (const each of value) one(each, inLists, 0);
    else
      for (const [key, each] of value as Map<unknown, unknown>) {
        one(key, inLists, 0);
        one(each, inLists, 0);
      }
  }

  function* taken(): Generator<Buffer, void> {
    const pieces = full;
    full = [];
    yield* pieces;
    if (at > 0) yield piece.subarray(0, at);
    piece = whole;
    at = 0;
  }

  return {
    *write(value) {
      one(value, inLists, 0);
      for (let told = 1; next < queue.length; told++) {
        const each = queue[next] as object;
        const shape = shapesOfQueue[next++];
        tell(each, shape);
        if (full.length > 0 || at >= FULL_BYTES || told % OBJECTS_PER_PIECE === 0) yield* taken();
      }
      queue = [];
      shapesOfQueue = [];
      next = 0;
    },
    end() {
      tag(F.END);
      return Buffer.concat([...full, piece.subarray(0, at)]);
    },
  };
}
