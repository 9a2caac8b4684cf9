/** What a response head says, as fields of the `headers` line: an allow list of headers, as numbers, closed words and booleans. */
import type { LineFields } from '../writer/lines.ts';
import { responseClassOf } from './response-class.ts';
import { encodingWord, mediaWord } from './words.ts';

/** undefined: the header is absent or no length. */
function lengthOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** The facts of a response that are looked at: as its class gives them, for a getter of a subclass is code of the host. */
export interface ResponseHead {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: Headers;
  readonly hasBody: boolean;
  /** Where fetch ended up, if it followed a redirect. */
  readonly redirectedTo: string | undefined;
}

export function headOf(response: Response): ResponseHead {
  const natives = responseClassOf(response)?.natives;
  const get = <K extends 'status' | 'ok' | 'headers' | 'body' | 'redirected' | 'url'>(name: K): Response[K] =>
    (natives === undefined ? response[name] : natives.get(name, response)) as Response[K];
  return {
    status: get('status'),
    ok: get('ok'),
    headers: get('headers'),
    hasBody: get('body') !== null,
    redirectedTo: get('redirected') ? get('url') : undefined,
  };
}

export function describeHead({ headers, status, hasBody }: ResponseHead): LineFields {
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
  else if (hasBody) fields.framing = 'close_delimited';
  return fields;
}

export const isEventStream = (mediaType: string | null | undefined): boolean => mediaType === 'text/event-stream';
export const isJson = (mediaType: string | null | undefined): boolean =>
  mediaType === 'application/json' || mediaType?.endsWith('+json') === true;
