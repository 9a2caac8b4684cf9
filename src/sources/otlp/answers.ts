/**
 * Answers as OTLP/HTTP has them: Export*ServiceResponse with what was rejected, and google.rpc.Status for a refusal, in the encoding
 * of the request. They hold numbers and closed words only.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { answerBytes, linger, type Refusal } from '../ingest-answer.ts';
import type { Batch } from '../ingest-batch.ts';
import { PARTIAL_SUCCESS, RESPONSE, RPC_STATUS, type Signal } from './signals.ts';

export const PROTOBUF = 'application/x-protobuf';
export const JSON_TYPE = 'application/json';

/** google.rpc.Code by HTTP status. */
const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  405: 12,
  413: 8,
  415: 3,
  429: 8,
  503: 14,
};
const UNKNOWN = 2;

const isProtobuf = (request: IncomingMessage): boolean =>
  (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === PROTOBUF;

/** The reasons of `tailfin_events_rejected_total`, of the first hundred. */
const messageOf = ({ account }: Batch): string => [...new Set(account.errors.map(({ reason }) => reason))].join(', ');

function partialSuccess(rejected: number, message: string): Uint8Array {
  const inner = new BinaryWriter();
  inner.tag(PARTIAL_SUCCESS.rejected, WireType.Varint).int64(rejected);
  inner.tag(PARTIAL_SUCCESS.message, WireType.LengthDelimited).string(message);
  return new BinaryWriter().tag(RESPONSE.partialSuccess, WireType.LengthDelimited).bytes(inner.finish()).finish();
}

export function answerOtlp(request: IncomingMessage, response: ServerResponse, batch: Batch, signal: Signal): void {
  const { rejected } = batch.account;
  const errorMessage = messageOf(batch);
  if (isProtobuf(request)) {
    const bytes = rejected === 0 ? new Uint8Array() : partialSuccess(rejected, errorMessage);
    answerBytes(response, 200, bytes, { 'Content-Type': PROTOBUF });
    return;
  }
  // int64 is a text in JSON.
  const partial = rejected === 0 ? {} : { partialSuccess: { [signal.rejected]: String(rejected), errorMessage } };
  answerBytes(response, 200, Buffer.from(JSON.stringify(partial)), { 'Content-Type': JSON_TYPE });
}

export function refuseOtlp(request: IncomingMessage, response: ServerResponse, why: Refusal): void {
  const code = CODES[why.status] ?? UNKNOWN;
  const message = `${why.error}: ${why.message}`;
  const bytes = isProtobuf(request)
    ? new BinaryWriter()
        .tag(RPC_STATUS.code, WireType.Varint)
        .int32(code)
        .tag(RPC_STATUS.message, WireType.LengthDelimited)
        .string(message)
        .finish()
    : Buffer.from(JSON.stringify({ code, message }));
  answerBytes(response, why.status, bytes, {
    'Content-Type': isProtobuf(request) ? PROTOBUF : JSON_TYPE,
    ...why.headers,
  });
  linger(request);
}
