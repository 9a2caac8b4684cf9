/**
 * The protobuf wire format as OTLP uses it, over the reader of @bufbuild/protobuf: nested messages stay within the one around them,
 * times and ids come out as Tailfin writes them. Everything throws on bytes that are no protobuf; the callers say what that means.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

export const createReader = (bytes: Uint8Array): BinaryReader => new BinaryReader(bytes);

export const isMessage = (type: WireType): boolean => type === WireType.LengthDelimited;
export const isVarint = (type: WireType): boolean => type === WireType.Varint;
export const isFixed64 = (type: WireType): boolean => type === WireType.Bit64;

const leave = (): never => {
  throw new RangeError('longer than the message around it');
};

/** Where the message, text or bytes that begin here end. */
export function endOfMessage(reader: BinaryReader, outerEnd: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  return end > outerEnd ? leave() : end;
}

export function skipField(reader: BinaryReader, type: WireType, field: number, outerEnd: number): void {
  // Its own way for what is skipped most: the reader's returns what was skipped.
  if (type === WireType.LengthDelimited) {
    reader.pos = endOfMessage(reader, outerEnd);
    return;
  }
  reader.skip(type, field);
  if (reader.pos > outerEnd) leave();
}

/** Unix nanoseconds to milliseconds, to the microsecond: what a number holds. */
export const millisOf = (nanos: number): number => Math.round(nanos / 1000) / 1000;

/** A fixed64 of Unix nanoseconds in milliseconds. */
export function readMillis(reader: BinaryReader): number {
  const low = reader.fixed32();
  return millisOf(reader.fixed32() * 4_294_967_296 + low);
}
