/**
 * What the head of one response says: fields of the `headers` line. Sizes and closed words only. The body is the tap's to read.
 */
import type { LineFields } from './event-log.ts';

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
