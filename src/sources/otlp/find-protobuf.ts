/**
 * Finds the records of an OTLP/protobuf request in its bytes. Decides whether the messages around the records are whole; what is
 * inside a record is found when it is read.
 */
import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { RecordIndex, RequestFault } from './record-index.ts';
import { GROUP, REQUEST, SCOPE } from './signals.ts';
import { createReader, endOfMessage, isMessage, skipField } from './wire.ts';

/** @throws RequestFault where the request is not whole. */
export function findProtobufRecords(bytes: Buffer): RecordIndex {
  const index = new RecordIndex();
  const reader = createReader(bytes);
  try {
    walk(reader, index);
  } catch (error) {
    throw error instanceof RequestFault ? error : new RequestFault('broken', Math.min(reader.pos, bytes.length));
  }
  return index;
}

function walk(reader: BinaryReader, index: RecordIndex): void {
  const eachField = (end: number, no: number, take: (end: number) => void, other?: (no: number) => boolean): void => {
    while (reader.pos < end) {
      index.step(reader.pos);
      const [field, type] = reader.tag();
      if (isMessage(type) && field === no) take(endOfMessage(reader, end));
      else if (!isMessage(type) || other?.(field) !== true) skipField(reader, type, field, end);
    }
  };
  const takeRecord = (end: number): void => {
    index.addRecord(reader.pos, end);
    reader.pos = end;
  };
  eachField(reader.len, REQUEST.groups, (groupEnd) => {
    index.openResource(reader.pos);
    const takeResource = (field: number): boolean => {
      if (field !== GROUP.resource) return false;
      const end = endOfMessage(reader, groupEnd);
      index.setResource(reader.pos, end);
      reader.pos = end;
      return true;
    };
    eachField(groupEnd, GROUP.scopes, (scopeEnd) => eachField(scopeEnd, SCOPE.records, takeRecord), takeResource);
  });
}
