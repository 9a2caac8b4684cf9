/** What a response head says, as fields of the `headers` line: an allow list of headers, as numbers, closed words and booleans. */
import type { LineFields } from '../writer/lines.ts';
import { encodingWord, mediaWord } from './words.ts';

/** undefined: the header is absent or no length. */
function lengthOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

export function describeHead({ headers, status, body }: Response): LineFields {
  const length = lengthOf(headers.get('content-length'));
  const isChunked = (): boolean => headers.get('transfer-encoding')?.toLowerCase().includes('chunked') === true;
  const fields: LineFields = {
    status,
    content_type: mediaWord(headers.get('content-type')),
    content_encoding: encodingWord(headers.get('content-encoding')),
    session_issued: headers.has('mcp-session-id'),
  };
  if (length !== undefined) fields.content_length = length;
  if (length !== undefined) fields.framing = 'content_length';
  else if (isChunked()) fields.framing = 'chunked';
  else if (body !== null) fields.framing = 'close_delimited';
  return fields;
}

export const isEventStream = (mediaType: string | null | undefined): boolean => mediaType === 'text/event-stream';
export const isJson = (mediaType: string | null | undefined): boolean =>
  mediaType === 'application/json' || mediaType?.endsWith('+json') === true;
