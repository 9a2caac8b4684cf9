/**
 * What one MCP request says about itself, as fields of an `open` line: an allow list of headers, the JSON-RPC envelope, the name of
 * the target. Arguments leave as a keyed digest; a resource URI, a session id or any other value does not leave at all.
 */
import { isStatelessRevision } from '../../core/protocol/revisions.ts';
import { canonicalJson, type Digester } from '../digest.ts';
import { quietly } from '../quietly.ts';
import { targetOf } from '../target.ts';
import type { LineFields } from '../writer/lines.ts';
import { type HeaderReader, UNREAD } from './given.ts';
import type { Message, SentMessage } from './message.ts';
import { placeOf } from './place.ts';
import { methodWord, traceWord, versionWord } from './words.ts';

export interface RequestFacts {
  readonly open: LineFields;
  /** JSON text of the id of a request (7 and "7" differ); undefined for everything that expects no answer. */
  readonly idJson: string | undefined;
  /** JSON-RPC method; '' where there is none. */
  readonly method: string;
  /** The revision that cancels by closing the stream and uses one signal per request. */
  readonly stateless: boolean;
  /** A list, and which page of it; undefined: the first one. */
  readonly lists: boolean;
  readonly cursor: string | undefined;
}

export interface RequestInput {
  readonly url: URL;
  readonly httpMethod: string;
  readonly header: HeaderReader;
  readonly sent: SentMessage | undefined;
}

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const MAX_ID_BYTES = 128;
const IDEMPOTENCY = /^(x-)?idempotency[-_]?key$/i;

export function describeRequest({ url, httpMethod, header, sent }: RequestInput, digester: Digester): RequestFacts {
  const lastEventId = header('last-event-id');
  const version = versionWord(header('mcp-protocol-version'));
  const open: LineFields = {
    endpoint: placeOf(url).endpoint,
    http_method: /^[A-Z]{1,16}$/.test(httpMethod) ? httpMethod : 'OTHER',
  };
  // What was not read is unknown, which is not the same as absent.
  if (header !== UNREAD) {
    open.protocol_version = version;
    open.session = header('mcp-session-id') !== null;
    open.last_event_id = lastEventId !== null;
  }
  if (lastEventId !== null) open.event_id_digest = digester.digest(lastEventId);
  const trace = traceWord(metaOf(sent?.message).traceparent) ?? traceWord(header('traceparent'));
  if (trace !== undefined) open.trace = trace;
  if (sent === undefined) {
    open.rpc_kind = 'none';
    const stateless = isStatelessRevision(version, null);
    return { open, idJson: undefined, method: '', stateless, lists: false, cursor: undefined };
  }
  return describeMessage(sent, open, header, digester);
}

function describeMessage(
  { message, bytes }: SentMessage,
  open: LineFields,
  header: HeaderReader,
  digester: Digester,
): RequestFacts {
  const { id, method } = message;
  const params = paramsOf(message);
  const named = typeof method === 'string';
  const isRequest = named && (typeof id === 'string' || typeof id === 'number');
  open.rpc_kind = isRequest ? 'request' : named ? 'notification' : 'response';
  open.request_bytes = bytes;
  if (named) open.method = methodWord(method);
  if (method === 'notifications/cancelled') open.cancel_of = idText(params.requestId, digester);
  const metaVersion = versionWord(metaOf(message)[META_VERSION]);
  const stateless = isStatelessRevision(open.protocol_version, metaVersion);
  if (isRequest) {
    open.rpc_id = idText(id, digester);
    describeParams(method, params, open, digester);
    // On earlier revisions their absence says nothing.
    if (stateless || metaVersion !== null) {
      open.meta_protocol_version = metaVersion;
      open.meta_capabilities = META_CAPABILITIES in metaOf(message) ? true : null;
    }
    if (header('idempotency-key') !== null || hasIdempotencyKey(message)) open.idempotency_key = true;
  }
  return {
    open,
    idJson: isRequest ? JSON.stringify(id) : undefined,
    method: named ? method : '',
    stateless,
    lists: isRequest && named && method.endsWith('/list'),
    cursor: typeof params.cursor === 'string' ? params.cursor : undefined,
  };
}

function describeParams(method: string, params: Record<string, unknown>, open: LineFields, digester: Digester): void {
  const { _meta, inputResponses, requestState, ...args } = params;
  // Nested deeper than the stack: what they are is unknown, the exchange is one all the same.
  const digest = quietly(() => digester.digest(canonicalJson(args)));
  if (digest !== undefined) open.args_digest = digest;
  open.input_responses = inputResponses !== undefined;
  const target = targetOf(method, args);
  if (target !== undefined) open.target = target;
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const paramsOf = (message: Message | undefined) => asRecord(message?.params);
const metaOf = (message: Message | undefined) => asRecord(paramsOf(message)._meta);

/** Only whether there is one: in the arguments of a tool, or in `_meta`. */
function hasIdempotencyKey(message: Message): boolean {
  const places = [metaOf(message), asRecord(paramsOf(message).arguments)];
  return places.some((place) => Object.keys(place).some((name) => IDEMPOTENCY.test(name)));
}

/** An id as a line may carry it; one that is too long is told apart by its digest. */
function idText(id: unknown, digester: Digester): string {
  const text = typeof id === 'string' || typeof id === 'number' ? String(id) : 'none';
  return text !== '' && Buffer.byteLength(text) <= MAX_ID_BYTES ? text : digester.digest(text);
}
