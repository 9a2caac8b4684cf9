/**
 * The bytes of a graph of plain values: tags, and what writer and reader work out alike (which texts are remembered). It
 * decides nothing else. Any change here is another `FORM`.
 *
 * A value is a tag and what belongs to it. An object is announced where it is met first (its kind and size, or its shape: the list of
 * its keys) and gets the next number; what is in it follows when its turn comes, first announced, first told. So neither side recurses, however
 * deep the graph is, and the writer can stop after any object.
 */

/** First byte of a record; those of the engine's own serialiser, which earlier versions wrote, begin with 255. */
export const FORM = 2;
export const ENGINE_FORM = 255;

export const NULL = 0;
export const UNDEFINED = 1;
export const TRUE = 2;
export const FALSE = 3;
/** A whole number as a varint; below 0: -1 - n. */
export const INTEGER = 4;
export const NEGATIVE = 5;
export const DOUBLE = 6;
/** One byte each (Latin-1); two bytes each. */
export const TEXT = 7;
export const WIDE_TEXT = 8;
/** One that is remembered, by its place. */
export const SAME_TEXT = 9;
/** An object that was announced, by its number. */
export const SAME = 10;
export const OBJECT = 11;
/** An object whose shape is told here: how many keys, each as a text. */
export const NEW_SHAPE = 12;
/** The same, of a shape that gets no number. */
export const LONE_SHAPE = 19;
export const ARRAY = 13;
export const MAP = 14;
export const SET = 15;
/** Kind, length in bytes, bytes (little endian). */
export const TYPED = 16;
/** So many values in a row that are undefined, of an object with a shape: what a line did not tell. */
export const UNDEFINEDS = 17;
/** Behind the last value. */
export const END = 18;
/** From here: the short texts by their length, then the small numbers by themselves. */
export const SHORT_TEXT = 64;
export const SMALL = 128;
export const SHORT_TEXTS = SMALL - SHORT_TEXT;
export const SMALLS = 256 - SMALL;

export const TYPED_KINDS = [
  Float64Array,
  Uint32Array,
  Int32Array,
  Uint16Array,
  Int16Array,
  Uint8Array,
  Int8Array,
] as const;

/** More are told each time anew, as are longer ones: maps by another name. */
export const MAX_SHAPES = 4096;
export const MAX_KEYS = 256;

/** Texts of this length at most are remembered, the latest at each place: names, methods and versions come again and again. */
export const REMEMBERED_LENGTH = 48;
export const PLACES = 4096;

export function placeOf(text: string): number {
  const { length } = text;
  let hash = length;
  // Names differ in their ends.
  for (let i = length > 8 ? length - 8 : 0; i < length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ text.charCodeAt(0), 0x01000193);
  return ((hash >>> 16) ^ hash) & (PLACES - 1);
}

export const isWhole = (value: number): boolean => Number.isSafeInteger(value) && !Object.is(value, -0);
export const isList = (value: object): boolean =>
  Array.isArray(value) || value instanceof Map || value instanceof Set || ArrayBuffer.isView(value);
export const isSameList = (a: readonly string[], b: readonly string[]): boolean =>
  a === b || (a.length === b.length && a.every((each, i) => each === b[i]));
