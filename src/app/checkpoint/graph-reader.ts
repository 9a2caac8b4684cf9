/**
 * Reads what graph-writer.ts wrote. It decides what is no graph; bytes may be anything, so every number is checked against what is
 * there before room is made for it.
 */
import * as F from './graph-format.ts';

interface Shape {
  readonly keys: readonly string[];
  /** As JSON, everything null: an object that is made of it at once stays a fast one, which one that grows key by key would not. */
  readonly template: string;
}

export interface GraphReader {
  /** The next value that was given to the writer; `END` behind the last one. @throws where the bytes are no graph. */
  read(): unknown;
}

export const NO_MORE: unique symbol = Symbol('no more');

export function createGraphReader(bytes: Buffer): GraphReader {
  let at = 0;
  const doubles = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const remembered: string[] = new Array(F.PLACES).fill('');
  const shapes: Shape[] = [];
  const objects: object[] = [];
  let queue: object[] = [];
  /** Keys of the object, or how many entries the list has. */
  let wants: (readonly string[] | number)[] = [];
  let next = 0;

  const bad = (what: string): Error => new Error(`byte ${at}: ${what}`);

  if (byte() !== F.FORM) throw bad('another form of a record');

  function byte(): number {
    if (at >= bytes.length) throw bad('it is cut short');
    return bytes[at++] as number;
  }

  function varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const part = byte();
      value += (part & 127) * factor;
      if (part < 128) break;
    }
    if (!Number.isSafeInteger(value)) throw bad('no number');
    return value;
  }

  /** At least so many bytes must follow. */
  function count(bytesEach: number): number {
    const value = varint();
    if (value * bytesEach > bytes.length - at) throw bad('it is cut short');
    return value;
  }

  function text(length: number): string {
    if (length > bytes.length - at) throw bad('it is cut short');
    const value = bytes.toString('latin1', at, at + length);
    at += length;
    return remember(value);
  }

  function remember(value: string): string {
    if (value.length > 0 && value.length <= F.REMEMBERED_LENGTH) remembered[F.placeOf(value)] = value;
    return value;
  }

  function wideText(): string {
    const length = count(2);
    const value = bytes.toString('ucs2', at, at + 2 * length);
    at += 2 * length;
    return remember(value);
  }

  function sameText(): string {
    const value = remembered[varint()];
    if (value === undefined || value === '') throw bad('no text there');
    return value;
  }

  function typed(): object {
    const kind = F.TYPED_KINDS[byte()];
    const length = count(1);
    if (kind === undefined || length % kind.BYTES_PER_ELEMENT !== 0) throw bad('no list of numbers');
    const value = new kind(length / kind.BYTES_PER_ELEMENT);
    bytes.copy(new Uint8Array(value.buffer), 0, at, at + length);
    at += length;
    objects.push(value);
    return value;
  }

  function newShape(): Shape {
    const keys = Array.from({ length: count(1) }, () => {
      const key = one();
      if (typeof key !== 'string') throw bad('a key is no text');
      return key;
    });
    const template = `{${keys.map((key) => `${JSON.stringify(key)}:null`).join()}}`;
    return { keys, template };
  }

  function announced(value: object, want: readonly string[] | number): object {
    objects.push(value);
    queue.push(value);
    wants.push(want);
    return value;
  }

  function object(shape: Shape | undefined): object {
    if (shape === undefined) throw bad('no such shape');
    return announced(JSON.parse(shape.template), shape.keys);
  }

  function same(): object {
    const value = objects[varint()];
    if (value === undefined) throw bad('no such object');
    return value;
  }

  function double(): number {
    if (bytes.length - at < 8) throw bad('it is cut short');
    at += 8;
    return doubles.getFloat64(at - 8, true);
  }

  function one(): unknown {
    const tag = byte();
    if (tag >= F.SMALL) return tag - F.SMALL;
    if (tag >= F.SHORT_TEXT) return text(tag - F.SHORT_TEXT);
    switch (tag) {
      case F.NULL:
        return null;
      case F.UNDEFINED:
        return undefined;
      case F.TRUE:
        return true;
      case F.FALSE:
        return false;
      case F.INTEGER:
        return varint();
      case F.NEGATIVE:
        return -1 - varint();
      case F.DOUBLE:
        return double();
      case F.TEXT:
        return text(count(1));
      case F.WIDE_TEXT:
        return wideText();
      case F.SAME_TEXT:
        return sameText();
      case F.SAME:
        return same();
      case F.OBJECT:
        return object(shapes[varint()]);
      case F.NEW_SHAPE:
        shapes.push(newShape());
        return object(shapes.at(-1));
      case F.LONE_SHAPE:
        return object(newShape());
      case F.ARRAY:
        return announced([], count(1));
      case F.MAP:
        return announced(new Map(), count(2));
      case F.SET:
        return announced(new Set(), count(1));
      case F.TYPED:
        return typed();
      default:
        throw bad(`no value begins with ${tag}`);
    }
  }

  function fields(value: Record<string, unknown>, keys: readonly string[]): void {
    for (let i = 0; i < keys.length; ) {
      if (bytes[at] !== F.UNDEFINEDS) value[keys[i++] as string] = one();
      else {
        at++;
        for (let left = varint(); left > 0 && i < keys.length; left--) value[keys[i++] as string] = undefined;
      }
    }
  }

  function fill(value: object, want: readonly string[] | number): void {
    if (typeof want !== 'number') fields(value as Record<string, unknown>, want);
    else if (Array.isArray(value)) for (let i = 0; i < want; i++) value.push(one());
    else if (value instanceof Set) for (let i = 0; i < want; i++) value.add(one());
    else for (let i = 0; i < want; i++) (value as Map<unknown, unknown>).set(one(), one());
  }

  return {
    read() {
      if (bytes[at] === F.END) return NO_MORE;
      const value = one();
      while (next < queue.length) {
        const each = queue[next] as object;
        fill(each, wants[next++] as readonly string[] | number);
      }
      queue = [];
      wants = [];
      next = 0;
      return value;
    },
  };
}
