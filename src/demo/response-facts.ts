/**
 * What one response says about itself: fields of the `headers` line, and from the bytes of the body fields of the `close` line
 * and the `parse` line. Sizes and closed words only. It reports facts; verdicts are the sidecar's.
 * This first recorder does not follow resumed streams: an answer on a GET stream is not matched to its request.
 */
import { digest } from './digest.ts';
import type { LineFields } from './event-log.ts';
import { JsonRpcScan } from './json-rpc-scan.ts';
import { SseScan } from './sse-scan.ts';

export interface BodyScan {
  push(chunk: Uint8Array): void;
  /** What to say in the `close` line if the body ended here. */
  close(): LineFields;
  /** What any client had to parse of an answered request; undefined where nothing came. */
  parse(): LineFields | undefined;
}

export const isJson = (mediaType: string | null): boolean => mediaType === 'application/json';
export const isEventStream = (mediaType: string | null): boolean => mediaType === 'text/event-stream';

export function describeHead(response: Response): LineFields {
  const { headers, status } = response;
  const length = headers.get('content-length');
  const chunked = headers.get('transfer-encoding')?.includes('chunked') === true;
  const framing =
    length !== null ? 'content_length' : chunked ? 'chunked' : response.body ? 'close_delimited' : undefined;
  return {
    status,
    content_type: headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? null,
    ...(framing === undefined ? {} : { framing }),
    ...(length === null ? {} : { content_length: Number(length) }),
    content_encoding: headers.get('content-encoding'),
    session_issued: headers.has('mcp-session-id'),
  };
}

export function createBodyScan(mediaType: string | null, requestId: string | number | undefined): BodyScan {
  if (isJson(mediaType)) return jsonBody(requestId);
  if (isEventStream(mediaType)) return eventStreamBody(requestId);
  let bytes = 0;
  return {
    push: (chunk) => {
      bytes += chunk.length;
    },
    close: () => ({ bytes, ...(requestId === undefined ? {} : { terminal: false }) }),
    parse: () => undefined,
  };
}

function jsonBody(requestId: string | number | undefined): BodyScan {
  const scan = new JsonRpcScan();
  return {
    push: (chunk) => scan.push(chunk),
    close: () => {
      const json = scan.state();
      const cut = json === 'cut' ? 'mid' : scan.bytes === 0 ? 'none' : undefined;
      return { bytes: scan.bytes, json, ...(cut && { cut }), ...answerFields(scan, requestId) };
    },
    parse: () => parseFields(scan, scan.state() === 'complete'),
  };
}

function eventStreamBody(requestId: string | number | undefined): BodyScan {
  let notifications = 0;
  let answer: JsonRpcScan | undefined;
  let broken: JsonRpcScan | undefined;
  let terminalTs: number | undefined;
  const scan = new SseScan((message) => {
    const { method, id } = message.envelope;
    if (message.state() !== 'complete') broken = message.state() === 'empty' ? broken : message;
    else if (method === true && id === undefined) notifications++;
    else if (requestId !== undefined && terminalTs === undefined && message.idMatch(requestId) !== undefined) {
      answer = message;
      if (message.idMatch(requestId) === 'match') terminalTs = Date.now();
    }
  });
  return {
    push: (chunk) => scan.push(chunk),
    close: () => ({
      bytes: scan.bytes,
      events: scan.events,
      notifications,
      event_ids: scan.eventIds,
      ...(scan.lastEventId === undefined ? {} : { event_id_digest: digest(scan.lastEventId) }),
      cut: scan.cut(),
      ...answerFields(answer, requestId),
      ...(terminalTs === undefined ? {} : { terminal_ts: terminalTs }),
    }),
    parse: () => {
      if (answer !== undefined) return parseFields(answer, true);
      const unfinished = broken ?? scan.pending;
      return unfinished?.envelope.answer === undefined ? undefined : parseFields(unfinished, false);
    },
  };
}

function answerFields(scan: JsonRpcScan | undefined, requestId: string | number | undefined): LineFields {
  if (requestId === undefined) return {};
  const match = scan?.state() === 'complete' ? scan.idMatch(requestId) : undefined;
  if (scan === undefined || match === undefined) return { terminal: false };
  const { answer, errorCode, isError, resultType } = scan.envelope;
  return {
    terminal: match === 'match',
    id_match: match,
    ...(match === 'match' && answer !== undefined ? { terminal_kind: answer } : {}),
    ...(errorCode === undefined ? {} : { error_code: errorCode }),
    ...(isError === undefined ? {} : { is_error: isError }),
    ...(resultType === undefined ? {} : { result_type: resultType }),
  };
}

/** `ok` is not just "complete": a whole document in an event without its blank line never reaches the parser's caller. */
function parseFields(scan: JsonRpcScan, ok: boolean): LineFields {
  const { bytes, malformedAt } = scan;
  if (ok) return { of: 'message', ok, bytes };
  return {
    of: 'message',
    ok,
    bytes,
    ...(malformedAt === undefined ? { at_end: true } : { at: malformedAt, at_end: false }),
  };
}
