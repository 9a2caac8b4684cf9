/**
 * Finds the records of an OTLP/JSON request in its bytes, without building it: a request of 8 MiB as objects would be many times
 * that. Decides whether the request around the records is whole; a record that is no JSON is found when it is read.
 */
import {
  behindBom,
  behindKey,
  behindSpace,
  behindValue,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
} from '../json-bytes.ts';
import type { Slicer } from '../source.ts';
import { RecordIndex, RequestFault } from './record-index.ts';
import type { Signal } from './signals.ts';

const NULL = 'null';

/** @throws RequestFault where the request is not whole. */
export function findJsonRecords(bytes: Slicer, { json }: Signal): RecordIndex {
  const index = new RecordIndex();
  let at = behindBom(bytes);

  const fail = (): never => {
    throw new RequestFault('broken', at);
  };
  const skipSpace = (): void => {
    at = behindSpace(bytes, at);
  };
  const expect = (byte: number): void => {
    if (bytes[at] !== byte) fail();
    at++;
    skipSpace();
  };
  const skipValue = (): void => {
    const start = at;
    at = behindValue(bytes, at, true);
    // A place without a value, or one that is cut: something must follow.
    if (at === start || at >= bytes.length) fail();
  };
  /** The places between two brackets; `take` moves behind its own. */
  const eachPlace = (open: number, close: number, take: () => void): void => {
    expect(open);
    for (let isFirst = true; bytes[at] !== close; isFirst = false) {
      if (!isFirst) expect(COMMA);
      index.step(at);
      take();
      skipSpace();
    }
    at++;
  };
  /** null stands for nothing. */
  const isNull = (): boolean => {
    if (at + NULL.length > bytes.length || bytes.latin1Slice(at, at + NULL.length) !== NULL) return false;
    at += NULL.length;
    return true;
  };
  const eachElement = (take: () => void): void => {
    if (!isNull()) eachPlace(OPEN_BRACKET, CLOSE_BRACKET, take);
  };
  /** Members by name; those that are not asked for are stepped over. */
  const eachMember = (take: Readonly<Record<string, () => void>>): void => {
    if (isNull()) return;
    eachPlace(OPEN_BRACE, CLOSE_BRACE, () => {
      const start = at;
      at = behindKey(bytes, at);
      if (at < 0) fail();
      const key = bytes.latin1Slice(start + 1, at - 1);
      skipSpace();
      expect(COLON);
      (Object.hasOwn(take, key) ? (take[key] as () => void) : skipValue)();
    });
  };

  const takeRecord = (): void => {
    const start = at;
    skipValue();
    index.addRecord(start, at);
  };
  const takeResource = (): void => {
    const start = at;
    skipValue();
    index.setResource(start, at);
  };
  const takeScope = (): void => eachMember({ [json.records]: () => eachElement(takeRecord) });
  const takeGroup = (): void => {
    index.openResource(at);
    eachMember({ resource: takeResource, [json.scopes]: () => eachElement(takeScope) });
  };

  skipSpace();
  eachMember({ [json.groups]: () => eachElement(takeGroup) });
  skipSpace();
  if (at !== bytes.length) fail();
  return index;
}
