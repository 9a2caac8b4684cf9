/**
 * Which fetch calls are MCP exchanges, from the arguments alone. OAuth and all other traffic of the host must give undefined, and
 * must cost next to nothing: it passes untouched and unrecorded.
 */
import { findSdkCaller } from '../settle/find-sdk.ts';
import {
  type HeaderReader,
  headerReader,
  isMcpOther,
  isMcpPost,
  mayCopy,
  readMessage,
  type SentMessage,
} from './message.ts';
import { urlOf } from './place.ts';

export interface Call {
  readonly url: URL;
  readonly httpMethod: string;
  readonly header: HeaderReader;
  readonly signal: AbortSignal | undefined;
  /** The signal is the caller's own, not one that a Request made of it. */
  readonly ownSignal: boolean;
}

export type Recognised =
  | { readonly call: Call; readonly sent: SentMessage | undefined }
  /** The message is in the body of this Request: it can be told when a copy was read. */
  | { readonly call: Call; readonly copy: Request };

/** `knows`: was MCP spoken at this URL before? */
export function recognise(args: readonly unknown[], knows: (url: URL) => boolean): Recognised | undefined {
  const [input, init] = args as [unknown, RequestInit | undefined];
  const request = input instanceof Request ? input : undefined;
  const httpMethod = String(init?.method ?? request?.method ?? 'GET').toUpperCase();
  const isPost = httpMethod === 'POST';
  if (!isPost && httpMethod !== 'GET' && httpMethod !== 'DELETE') return undefined;
  const given = init?.body ?? undefined;
  const sent = isPost && given !== undefined ? readMessage(given) : undefined;
  if (isPost && sent === undefined && (request === undefined || given !== undefined)) return undefined;

  const header = headerReader(init?.headers ?? request?.headers);
  const url = input instanceof URL ? input : urlOf(request === undefined ? String(input) : request.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  const signal = init?.signal ?? request?.signal ?? undefined;
  const call: Call = { url, httpMethod, header, signal, ownSignal: init?.signal != null };
  if (sent !== undefined) return isMcpPost(sent.message, header, knows(url)) ? { call, sent } : undefined;
  if (isPost) return mayCopy(request as Request, header) ? { call, copy: request as Request } : undefined;
  if (isMcpOther(header, knows(url)) || isOlderStream(httpMethod, header)) return { call, sent: undefined };
  return undefined;
}

/** The older HTTP+SSE transport begins with a GET that nothing tells from other event streams but its caller. */
const isOlderStream = (httpMethod: string, header: HeaderReader): boolean =>
  httpMethod === 'GET' && header('accept')?.includes('text/event-stream') === true && findSdkCaller() !== undefined;
