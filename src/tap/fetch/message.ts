/**
 * Is this fetch an MCP exchange? Reads the JSON-RPC message out of a request body, within bounds, and applies the one rule of
 * recognition. OAuth and all other traffic of the host must give undefined: it passes untouched and unrecorded.
 */
import { types } from 'node:util';
import { METHODS } from '../../core/protocol/methods.ts';
import { fetchMethods } from './fetch-classes.ts';
import type { HeaderReader } from './given.ts';

export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: Record<string, unknown>;
}

export interface SentMessage {
  readonly message: Message;
  readonly bytes: number;
}

/** Longer bodies are not parsed: twice the work of the host for its largest messages, on its own thread. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Methods that name MCP by themselves. Those of `tasks/` do not: other JSON-RPC protocols have them too. */
const OWN_METHODS: ReadonlySet<unknown> = new Set(
  METHODS.filter((method) => method !== '_other' && method !== 'ping' && !method.startsWith('tasks/')),
);
const OWN_NOTIFICATIONS: ReadonlySet<unknown> = new Set(['notifications/initialized', 'notifications/cancelled']);

/** The message in a body that is at hand: text or bytes. Of a batch, its first request. */
export function readMessage(body: unknown): SentMessage | undefined {
  if (typeof body === 'string') {
    const first = body.trimStart().charCodeAt(0);
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return undefined;
    if (body.length > MAX_BODY_BYTES || !body.includes('"jsonrpc"')) return undefined;
    return withBytes(parseMessage(body), Buffer.byteLength(body));
  }
  const bytes = bytesOf(body);
  if (bytes === undefined || bytes.length === 0 || bytes.length > MAX_BODY_BYTES) return undefined;
  const first = bytes.find((byte) => byte > 0x20);
  if ((first !== OPEN_BRACE && first !== OPEN_BRACKET) || !bytes.includes('"jsonrpc"')) return undefined;
  return withBytes(parseMessage(bytes.toString('utf8')), bytes.length);
}

function bytesOf(body: unknown): Buffer | undefined {
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return types.isArrayBuffer(body) ? Buffer.from(body) : undefined;
}

const withBytes = (message: Message | undefined, bytes: number): SentMessage | undefined =>
  message === undefined ? undefined : { message, bytes };

function parseMessage(text: string): Message | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed)) return isMessage(parsed) ? parsed : undefined;
    const batch = parsed.filter(isMessage);
    return batch.find((each) => each.id !== undefined && each.method !== undefined) ?? batch[0];
  } catch {
    return undefined;
  }
}

const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && (value as Message).jsonrpc === '2.0';

/** `known`: MCP was spoken at this URL before. */
export function isMcpPost({ method }: Message, header: HeaderReader, known: boolean): boolean {
  if (known || header('mcp-protocol-version') !== null || header('mcp-session-id') !== null) return true;
  return OWN_METHODS.has(method) || OWN_NOTIFICATIONS.has(method);
}

/** A GET or DELETE says little about itself. A version header alone is no sign: the SDKs' OAuth discovery sends it too. */
export const isMcpOther = (header: HeaderReader, known: boolean): boolean => known || header('mcp-session-id') !== null;

const MAX_COPY_BYTES = 1024 * 1024;

/** May the body of this Request be looked at? Only where MCP is likely: a copy costs memory. */
export function mayCopy(request: Request, header: HeaderReader): boolean {
  if (request.body === null || request.bodyUsed) return false;
  if (header('content-type')?.includes('json') !== true) return false;
  return (
    header('accept')?.includes('text/event-stream') === true ||
    header('mcp-protocol-version') !== null ||
    header('mcp-session-id') !== null
  );
}

/**
 * The message in the body of a Request, whose text is not at hand (dd-trace and MSW hand the call on as such). Its body is read
 * from a copy of at most 1 MiB; the rest of the copy is given up then, so that no more than that is ever held.
 */
export async function copyMessage(request: Request): Promise<SentMessage | undefined> {
  const copy = Reflect.apply(fetchMethods().clone, request, []);
  const reader = (copy.body as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; bytes <= MAX_COPY_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return readMessage(Buffer.concat(chunks));
    chunks.push(value);
    bytes += value.length;
  }
  reader.cancel().catch(() => {});
  return undefined;
}
