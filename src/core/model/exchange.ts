/** An exchange while it is open and at its close: the union of its lines (later values win) and what only context tells. */
import { hostPort } from '../protocol/endpoint.ts';
import { LISTEN } from '../protocol/methods.ts';
import { isStatelessRevision, type Version, versionLabel } from '../protocol/revisions.ts';
import type { Due } from '../store.ts';
import type { WireEvent } from './event.ts';
import type { FieldName } from './fields.ts';
import type { Policy, ServerPolicy } from './policy.ts';
import type { StreamKind } from './verdict.ts';

/** What a server is held to: operator configuration first, else the last `discovery` before the exchange opened. */
export interface Contract {
  readonly sentinel: 'mandated' | 'optional' | undefined;
  readonly selfDelimiting: boolean | undefined;
}

export interface Exchange extends Due {
  /** host and exchange id: unique. */
  readonly key: string;
  readonly id: string;
  readonly host: string;
  readonly writer: string;
  /** Union of the lines so far. */
  readonly fields: WireEvent;
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
  readonly waiting: WireEvent[];
}

export const exchangeKey = (host: string, exchange: string): string => `${host}\n${exchange}`;
/** One transport instance; exchanges without a client are told apart by server at least. */
export const clientKey = (host: string, client: string | null, server: string): string =>
  client === null ? `${host}\n\n${server}` : `${host}\n${client}`;

export function resolveServer(
  policy: Policy,
  event: Pick<WireEvent, 'server' | 'endpoint'>,
): { server: string; policy: ServerPolicy | undefined } {
  const name = event.server ?? hostPort(event.endpoint) ?? 'unknown';
  const configured = policy.server(name);
  return { server: configured?.name ?? name, policy: configured };
}

/** Takes the first line over as the union: it is ours, fixed in shape, and most exchanges have just this one line. */
export function createExchange(key: string, host: string, event: WireEvent, policy: Policy): Exchange {
  const resolved = resolveServer(policy, event);
  const exchange: Exchange = {
    key,
    id: event.exchange as string,
    host,
    writer: event.writer ?? event.origin.writer,
    fields: event,
    client: event.client ?? null,
    server: resolved.server,
    policy: resolved.policy,
    endpoint: hostPort(event.endpoint),
    version: versionLabel(event.protocol_version, event.meta_protocol_version),
    openTs: Math.min(event.open_ts ?? event.ts, event.ts),
    openKnown: event.type === 'open' || (event.open_ts ?? null) !== null,
    lastTs: event.ts,
    closeTs: Number.NaN,
    headersSeen: event.type === 'headers',
    terminal: false,
    eventId: false,
    contract: undefined,
    cancelled: false,
    timeoutTs: null,
    sessionDeleted: false,
    carrierEnded: false,
    waiting: [],
    deadline: Number.POSITIVE_INFINITY,
    place: null,
  };
  noteMessage(exchange, event);
  return exchange;
}

/** Adds one more line to the union. */
export function mergeLine(exchange: Exchange, event: WireEvent, names: readonly FieldName[], policy: Policy): void {
  const fields = exchange.fields as unknown as Record<string, unknown>;
  for (const name of names) {
    const value = event[name];
    if (value !== undefined) fields[name] = value;
  }
  if (event.server !== undefined || event.endpoint !== undefined) {
    const resolved = resolveServer(policy, exchange.fields);
    exchange.server = resolved.server;
    exchange.policy = resolved.policy;
    exchange.endpoint = hostPort(exchange.fields.endpoint);
  }
  if (event.client !== undefined) exchange.client = event.client;
  if (event.protocol_version !== undefined || event.meta_protocol_version !== undefined)
    exchange.version = versionLabel(exchange.fields.protocol_version, exchange.fields.meta_protocol_version);
  if (event.type === 'open') {
    exchange.openTs = event.ts;
    exchange.openKnown = true;
  } else if (event.open_ts !== undefined && event.open_ts !== null) {
    exchange.openTs = Math.min(event.open_ts, event.ts);
    exchange.openKnown = true;
  }
  if (event.type === 'headers') exchange.headersSeen = true;
  exchange.lastTs = Math.max(exchange.lastTs, event.ts);
  noteMessage(exchange, event);
}

/** What a message or close line proves for good. */
function noteMessage(exchange: Exchange, event: WireEvent): void {
  const { rpc, id_match } = event;
  const answers = event.terminal === true || (event.type === 'message' && (rpc === 'result' || rpc === 'error'));
  if (answers && id_match !== 'mismatch' && id_match !== 'null_id') {
    exchange.terminal = true;
    if (rpc === 'result' || rpc === 'error') exchange.fields.terminal_kind = rpc;
  }
  if (rpc === 'cancelled') exchange.fields.cancelled = true;
  if (rpc === 'prime' || (event.event_ids ?? 0) > 0) exchange.eventId = true;
  if ((event.type === 'message' || event.type === 'close') && typeof event.event_id_digest === 'string')
    exchange.eventId = true;
}

export const httpMethod = (exchange: Exchange): string => exchange.fields.http_method?.toUpperCase() ?? 'POST';
export const rpcKind = (exchange: Exchange): string =>
  exchange.fields.rpc_kind ?? (httpMethod(exchange) === 'POST' ? 'request' : 'none');
/** POST with a JSON-RPC request. */
export const isRequest = (exchange: Exchange): boolean =>
  httpMethod(exchange) === 'POST' && rpcKind(exchange) === 'request';
/** A JSON-RPC request that somebody waits for: every one but a subscription. */
export const isOperation = (exchange: Exchange): boolean => isRequest(exchange) && exchange.fields.method !== LISTEN;
export const isResumeLeg = (exchange: Exchange): boolean =>
  httpMethod(exchange) === 'GET' && exchange.fields.last_event_id === true;

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
  const method = httpMethod(exchange);
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
