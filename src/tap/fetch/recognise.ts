/**
 * Which fetch calls are MCP exchanges, from the arguments alone. OAuth and all other traffic of the host must give undefined, and
 * must cost next to nothing: it passes untouched and unrecorded.
 */
import { findSdkCaller } from '../settle/find-sdk.ts';
import { fetchMethods } from './fetch-classes.ts';
import { type HeaderReader, headerReader, memberOf, UNREADABLE } from './given.ts';
import { isMcpOther, isMcpPost, mayCopy, readMessage, type SentMessage } from './message.ts';
import { urlOf } from './place.ts';

export interface Call {
  readonly url: URL;
  readonly httpMethod: string;
  readonly header: HeaderReader;
  readonly signal: AbortSignal | undefined;
  /** The signal is the caller's own, not one that a Request made of it. */
  readonly ownSignal: boolean;
}

export interface Direct {
  readonly call: Call;
  readonly sent: SentMessage | undefined;
}
/** The message is in the body of this Request: it can be told when a copy was read. */
export interface Copied {
  readonly call: Call;
  readonly copy: Request;
}

/** `knows`: was MCP spoken at this URL before? */
export function recognise(args: readonly unknown[], knows: (url: URL) => boolean): Direct | Copied | undefined {
  fetchMethods();
  const [input, init] = args;
  const request = input instanceof Request ? input : undefined;
  // Anything else becomes a text by code of the caller.
  if (request === undefined && typeof input !== 'string' && !(input instanceof URL)) return undefined;
  const givenMethod = memberOf(init, 'method') ?? request?.method ?? 'GET';
  if (typeof givenMethod !== 'string') return undefined;
  const httpMethod = givenMethod.toUpperCase();
  const isPost = httpMethod === 'POST';
  if (!isPost && httpMethod !== 'GET' && httpMethod !== 'DELETE') return undefined;
  const body = memberOf(init, 'body') ?? undefined;
  const sent = isPost && body !== undefined ? readMessage(body) : undefined;
  if (isPost && sent === undefined && (request === undefined || body !== undefined)) return undefined;

  const header = headerReader(memberOf(init, 'headers') ?? request?.headers);
  const url = input instanceof URL ? input : urlOf(request?.url ?? (input as string));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  const ownSignal = memberOf(init, 'signal') ?? undefined;
  const signal = ownSignal === UNREADABLE ? undefined : ((ownSignal as AbortSignal | undefined) ?? request?.signal);
  const call: Call = { url, httpMethod, header, signal, ownSignal: signal !== undefined && signal === ownSignal };
  if (sent !== undefined) return isMcpPost(sent.message, header, knows(url)) ? { call, sent } : undefined;
  if (isPost) return mayCopy(request as Request, header) ? { call, copy: request as Request } : undefined;
  if (isMcpOther(header, knows(url)) || isOlderStream(httpMethod, header)) return { call, sent: undefined };
  return undefined;
}

/** The older HTTP+SSE transport begins with a GET that nothing tells from other event streams but its caller. */
const isOlderStream = (httpMethod: string, header: HeaderReader): boolean =>
  httpMethod === 'GET' && header('accept')?.includes('text/event-stream') === true && findSdkCaller() !== undefined;
