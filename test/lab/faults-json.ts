/** Faults of answers whose body is one JSON document: rows a to f and k to k2 of the table. */
import { gzipSync } from 'node:zlib';
import { CHUNKED, chunk, head, JSON_TYPE, join, LAST_CHUNK, length, withLength } from './bytes.ts';
import { MARK } from './mark.ts';
import { rpcError } from './messages.ts';
import { answer, type Call } from './script.ts';

const OK = { ...JSON_TYPE, ...MARK };
const GZIP = { 'Content-Encoding': 'gzip' };

const half = (body: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(body);
  return bytes.subarray(0, bytes.length >> 1);
};

/** Ends after the first of several bytes of a character. */
const cutInCharacter = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  const start = bytes.findIndex((byte) => byte >= 0xe0);
  return bytes.subarray(0, start + 1);
};

/** Large and hard to compress, so that half of the compressed bytes is a good part of the document. */
const large = (call: Call): string => {
  const noise = Array.from({ length: 4000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 0).join(' ');
  return call.result().replace('käse', noise);
};

const chunkedBody = (body: string | Uint8Array): Buffer =>
  join(head(200, { ...OK, ...CHUNKED }), chunk(body), LAST_CHUNK);
const unended = (body: string | Uint8Array): Buffer => join(head(200, { ...OK, ...CHUNKED }), chunk(body));

export const a = answer((call) => withLength(200, OK, call.result()));
export const b = answer((call) => chunkedBody(call.result()));
export const c = answer((call) => chunkedBody(half(call.result())));
export const c2 = answer((call) => withLength(200, OK, half(call.result())));
export const c3 = answer(() => chunkedBody(''));
export const c4 = answer((call) => withLength(200, OK, call.result().replace(/"id":\d+/, '"id":4711')));
export const c5 = answer((call) =>
  join(head(200, { ...OK, ...CHUNKED, ...GZIP }), chunk(half(gzipSync(large(call)))), LAST_CHUNK),
);
export const c6 = answer((call) => withLength(200, { ...OK, ...GZIP }, gzipSync(call.result())));
export const c7 = answer((call) => chunkedBody(cutInCharacter(call.result())));

const tooShort = (call: Call): Buffer => join(head(200, { ...OK, ...length(call.result()) }), half(call.result()));
export const d = answer(tooShort, 'fin');
export const e = answer((call) => unended(half(call.result())), 'fin');
export const e2 = answer((call) => unended(call.result()), 'fin');
export const f = answer((call) => unended(half(call.result())), 'rst');

export const k = answer((call) => join(head(200, OK, '1.0'), call.result()), 'fin');
export const k1 = answer((call) => join(head(200, { ...OK, Connection: 'close' }), call.result()), 'fin');
export const k2 = answer((call) => join(head(200, { ...OK, Connection: 'close' }), half(call.result())), 'fin');

export const q4 = answer((call) => withLength(200, OK, rpcError(call.request.id ?? null, -32602)));
export const q5 = answer((call) => withLength(200, OK, call.result(true)));
