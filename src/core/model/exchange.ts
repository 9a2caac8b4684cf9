/** An exchange while it is open and at its close: the union of its lines (later values win) and what only context tells. */
import { hostPort } from '../protocol/endpoint.ts';
import { LISTEN } from '../protocol/methods.ts';
import { isStatelessRevision, type Version, versionLabel } from '../protocol/revisions.ts';
import type { Due } from '../store.ts';
import type { EventFields, WireEvent } from './event.ts';
import type { FieldName } from './fields.ts';
import { declaredFields } from './keep.ts';
import type { Policy, ServerPolicy } from './policy.ts';
import type { StreamKind } from './verdict.ts';

/** What a server is held to: operator configuration first, else the last `discovery` before the exchange opened. */
export interface Contract {
  readonly sentinel: 'mandated' | 'optional' | undefined;
  readonly selfDelimiting: boolean | undefined;
}

export interface Exchange extends Due {
  readonly key: string;
  /** Hash of the key, for the memory of closed exchanges. */
  readonly hash: number;
  /** HTTP method in capitals. */
  http: string;
  readonly id: string;
  readonly host: string;
  readonly writer: string;
  /** Union of the lines so far. */
  fields: EventFields;
  client: string | null;
  server: string;
  policy: ServerPolicy | undefined;
  /** host:port, null where no line named one. */
  endpoint: string | null;
  version: Version;
  /** Event time of the first line, or `open_ts`. */
  openTs: number;
  /** false: only a close line without `open_ts` is known; no duration is sampled. */
  openKnown: boolean;
  lastTs: number;
  closeTs: number;
  /** It was open between two lines: other stages may know it. */
  wasOpen: boolean;
  /** A `headers` line was seen. */
  headersSeen: boolean;
  /** The terminal message was seen; stays true whatever a later line says. */
  terminal: boolean;
  /** An SSE event id was seen on the stream. */
  eventId: boolean;
  contract: Contract | undefined;
  /** Named by a notifications/cancelled while open. */
  cancelled: boolean;
  /** The caller was told `timeout` while the stream was open: event time of that settle, else null. */
  timeoutTs: number | null;
  /** The client deleted its session between open and close. */
  sessionDeleted: boolean;
  /** The GET stream that should carry the answer has ended. */
  carrierEnded: boolean;
  /** Lines about its payload that came before its close. */
  waiting: WireEvent[] | null;
}

/**
 * Key of an exchange: unique by host and id. Exchanges of the home host, nearly all, keep their id as it is: joining the two
 * strings would be the dearest step of tracking.
 */
export type ExchangeKey = (host: string, id: string) => string;
export const createExchangeKey =
  (home: string): ExchangeKey =>
  (host, id) =>
    host === home && id.charCodeAt(0) !== 0 ? id : `\0${host}\0${id}`;
/** One transport instance; exchanges without a client are told apart by server at least. */
export const clientKey = (host: string, client: string | null, server: string): string =>
  client === null ? `${host}\n\n${server}` : `${host}\n${client}`;

/** The `server` value of a line or record: named, else host:port of the endpoint, else `unknown` (design section 3). */
export const serverName = (fields: Pick<EventFields, 'server' | 'endpoint'>): string =>
  fields.server ?? hostPort(fields.endpoint) ?? 'unknown';

function identify(exchange: Exchange, policy: Policy): void {
  const { fields } = exchange;
  const name = serverName(fields);
  exchange.policy = policy.servers.length === 0 ? undefined : policy.server(name);
  exchange.server = exchange.policy?.name ?? name;
  exchange.endpoint = hostPort(fields.endpoint);
  exchange.version = versionLabel(fields.protocol_version, fields.meta_protocol_version);
  const method = fields.http_method ?? 'POST';
  exchange.http = method === 'POST' ? method : method.toUpperCase();
}

/** Starts the union with the fields of the first line. */
export function createExchange(key: string, hash: number, host: string, event: WireEvent, policy: Policy): Exchange {
  const { fields, ts, type } = event;
  const openTs = fields.open_ts ?? null;
  const exchange: Exchange = {
    key,
    hash,
    http: 'POST',
    id: fields.exchange as string,
    host,
    writer: fields.writer ?? event.origin.writer,
    // The line of a lone close is read and dropped; what stays open keeps its own copy.
    fields: type === 'close' ? fields : declaredFields(fields),
    client: fields.client ?? null,
    server: '',
    policy: undefined,
    endpoint: null,
    version: 'unknown',
    openTs: openTs === null ? ts : Math.min(openTs, ts),
    openKnown: type === 'open' || openTs !== null,
    lastTs: ts,
    closeTs: Number.NaN,
    wasOpen: false,
    headersSeen: type === 'headers',
    terminal: false,
    eventId: false,
    contract: undefined,
    cancelled: false,
    timeoutTs: null,
    sessionDeleted: false,
    carrierEnded: false,
    waiting: null,
    deadline: Number.POSITIVE_INFINITY,
    place: null,
  };
  identify(exchange, policy);
  noteMessage(exchange, event);
  return exchange;
}

/** Adds one more line to the union, which is the exchange's own by now (`declaredFields`). */
export function mergeLine(exchange: Exchange, event: WireEvent, names: readonly FieldName[], policy: Policy): void {
  const union = exchange.fields as Record<string, unknown>;
  const { fields, ts } = event;
  for (const name of names) {
    const value = fields[name];
    if (value !== undefined) union[name] = value;
  }
  if (fields.client !== undefined) exchange.client = fields.client;
  identify(exchange, policy);
  if (event.type === 'open') {
    exchange.openTs = ts;
    exchange.openKnown = true;
  } else if (fields.open_ts !== undefined && fields.open_ts !== null) {
    exchange.openTs = Math.min(fields.open_ts, ts);
    exchange.openKnown = true;
  }
  if (event.type === 'headers') exchange.headersSeen = true;
  exchange.lastTs = Math.max(exchange.lastTs, ts);
  noteMessage(exchange, event);
}

/** What a message or close line proves for good. */
function noteMessage(exchange: Exchange, event: WireEvent): void {
  const { type, fields } = event;
  if (type !== 'message' && type !== 'close') return;
  const { rpc, id_match } = fields;
  const answers = fields.terminal === true || (type === 'message' && (rpc === 'result' || rpc === 'error'));
  if (answers && id_match !== 'mismatch' && id_match !== 'null_id') {
    exchange.terminal = true;
    if (type === 'message') exchange.fields.terminal_kind = rpc as 'result' | 'error';
  }
  if (type === 'message' && rpc === 'cancelled') exchange.fields.cancelled = true;
  if (rpc === 'prime' || (fields.event_ids ?? 0) > 0 || typeof fields.event_id_digest === 'string')
    exchange.eventId = true;
}

export const rpcKind = (exchange: Exchange): string =>
  exchange.fields.rpc_kind ?? (exchange.http === 'POST' ? 'request' : 'none');
/** POST with a JSON-RPC request. */
export const isRequest = (exchange: Exchange): boolean => exchange.http === 'POST' && rpcKind(exchange) === 'request';
/** A JSON-RPC request that somebody waits for: every one but a subscription. */
export const isOperation = (exchange: Exchange): boolean => isRequest(exchange) && exchange.fields.method !== LISTEN;
export const isResumeLeg = (exchange: Exchange): boolean =>
  exchange.http === 'GET' && exchange.fields.last_event_id === true;

/** Did a response head arrive? An unreported status does not hide a body that was seen. */
export function hasHead(exchange: Exchange): boolean {
  const { fields } = exchange;
  if (typeof fields.status === 'number' || exchange.headersSeen || exchange.terminal) return true;
  if (fields.how === 'no_response') return false;
  return fields.how === 'eof' || (fields.bytes ?? 0) > 0 || (fields.events ?? 0) > 0;
}

const isRefusal = (status: number | null | undefined): boolean =>
  typeof status === 'number' && ((status >= 300 && status < 400) || status === 401 || status === 403);

/** Stream kind (design section 4). */
export function kindOf(exchange: Exchange): StreamKind {
  const { fields } = exchange;
  if (isResumeLeg(exchange)) return 'resume';
  const method = exchange.http;
  if (method === 'GET') {
    if (isStatelessRevision(fields.protocol_version, fields.meta_protocol_version)) return 'none';
    if (!hasHead(exchange)) return 'standalone';
    const ok = fields.status === undefined || fields.status === null || (fields.status >= 200 && fields.status < 300);
    return ok && isEventStream(fields.content_type, fields.events) ? 'standalone' : 'none';
  }
  if (!isRequest(exchange) || isRefusal(fields.status)) return 'none';
  return fields.method === LISTEN ? 'listen' : 'response';
}

const isEventStream = (contentType: string | null | undefined, events: number | null | undefined): boolean =>
  contentType === undefined ? (events ?? 0) > 0 : (contentType?.startsWith('text/event-stream') ?? false);
