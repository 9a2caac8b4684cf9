/** An exchange while it is open and at its close: the union of its lines (later values win) and what only context tells. */
import { hostPort } from '../protocol/endpoint.ts';
import { mediaOf } from '../protocol/media.ts';
import { LISTEN } from '../protocol/methods.ts';
import { isStatelessRevision, type Version, versionLabel } from '../protocol/revisions.ts';
import type { Due } from './due.ts';
import type { EventFields, Origin, WireEvent } from './event.ts';
import { LINE_FIELDS } from './fields.ts';
import { type FieldsHolder, pickFields } from './keep.ts';
import type { Pair } from './pair-keys.ts';
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
  /** Its latest line, which is the closing one when it is judged. */
  origin: Origin;
  line: number;
  /** Union of the lines so far. */
  fields: EventFields;
  client: string | null;
  /** What exchange-names.ts found; null until it was asked. */
  ofClient: Pair | null;
  ofTool: Pair | null;
  ofRpc: number | null;
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
  /** Suspended until then (event time), unless it is resumed. */
  waitsUntil: number;
  /** Its operation was counted while it was open. */
  counted: boolean;
  /** It was open between two lines: other stages may know it. */
  wasOpen: boolean;
  /** A `headers` or `message` line was seen: there was a response head. */
  headSeen: boolean;
  /** Its last SSE event id, as a digest (not that of a Last-Event-ID header). */
  lastEventDigest: string | undefined;
  /** A JSON-RPC error was seen, whatever its id. */
  errorSeen: boolean;
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
  /** Resume GETs that were accepted and brought no answer. */
  resumes: number;
  /** A resume GET that took up a suspended stream. */
  takesUp: boolean;
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
/** One writer: names are unique within a host, and nearly all are of the host that the source stands for. */
export function writerKey(
  line: { readonly writer?: string | null | undefined; readonly host?: string | null | undefined },
  origin: Origin,
): string {
  const writer = line.writer ?? origin.writer;
  const host = line.host ?? origin.host;
  return host === origin.host ? writer : `${host}\n${writer}`;
}
/** The `server` value of a line or record: named, else host:port of the endpoint, else `unknown` (design section 3). */
export const serverName = (fields: Pick<EventFields, 'server' | 'endpoint'>): string =>
  fields.server ?? hostPort(fields.endpoint) ?? 'unknown';

function identify(exchange: Exchange, policy: Policy): void {
  const { fields } = exchange;
  exchange.ofClient = null;
  exchange.ofTool = null;
  exchange.ofRpc = null;
  const name = serverName(fields);
  exchange.policy = policy.servers.length === 0 ? undefined : policy.server(name);
  exchange.server = exchange.policy?.name ?? name;
  exchange.endpoint = hostPort(fields.endpoint);
  exchange.version = versionLabel(fields.protocol_version, fields.meta_protocol_version);
  const method = fields.http_method ?? 'POST';
  exchange.http = method === 'POST' ? method : method.toUpperCase();
}

/** Server label of a line that stands alone: the name that the operator gave it, else its own. */
export function serverLabel(fields: Pick<EventFields, 'server' | 'endpoint'>, policy: Policy): string {
  const name = serverName(fields);
  return policy.server(name)?.name ?? name;
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
    writer: writerKey(fields, event.origin),
    origin: event.origin,
    line: event.line,
    // The line of a lone close is read and dropped; what stays open keeps its own copy.
    fields: type === 'close' ? fields : pickFields(fields, LINE_FIELDS[type as 'open']),
    client: fields.client ?? null,
    ofClient: null,
    ofTool: null,
    ofRpc: null,
    server: '',
    policy: undefined,
    endpoint: null,
    version: 'unknown',
    openTs: openTs === null ? ts : Math.min(openTs, ts),
    openKnown: type === 'open' || openTs !== null,
    lastTs: ts,
    closeTs: Number.NaN,
    waitsUntil: Number.NEGATIVE_INFINITY,
    counted: false,
    wasOpen: false,
    headSeen: type === 'headers',
    lastEventDigest: undefined,
    errorSeen: false,
    terminal: false,
    eventId: false,
    contract: undefined,
    cancelled: false,
    timeoutTs: null,
    sessionDeleted: false,
    resumes: 0,
    takesUp: false,
    carrierEnded: false,
    waiting: null,
    deadline: Number.POSITIVE_INFINITY,
    place: null,
  };
  identify(exchange, policy);
  noteMessage(exchange, event);
  return exchange;
}

/** Adds one more line to the union, which is the exchange's own by now. */
export function mergeLine(exchange: Exchange, event: WireEvent, policy: Policy): void {
  const union = exchange.fields as Record<string, unknown>;
  const { fields, ts } = event;
  for (const name of LINE_FIELDS[event.type as 'open']) {
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
  if (event.type === 'headers') exchange.headSeen = true;
  exchange.lastTs = Math.max(exchange.lastTs, ts);
  exchange.origin = event.origin;
  exchange.line = event.line;
  noteMessage(exchange, event);
}

/** Itself, and the lines that wait for its end. */
export const recordsOf = (exchange: Exchange): readonly FieldsHolder[] =>
  exchange.waiting === null ? [exchange] : [exchange, ...exchange.waiting];

/** What a message or close line proves for good. */
function noteMessage(exchange: Exchange, event: WireEvent): void {
  const { type, fields } = event;
  if (type === 'message') {
    exchange.headSeen = true;
    const { rpc } = fields;
    if (rpc === 'error') exchange.errorSeen = true;
    if ((rpc === 'result' || rpc === 'error') && fields.id_match !== 'mismatch' && fields.id_match !== 'null_id') {
      exchange.terminal = true;
      exchange.fields.terminal_kind = rpc;
      exchange.fields.terminal_ts ??= event.ts;
    }
    if (rpc === 'cancelled') exchange.fields.cancelled = true;
    if (rpc === 'prime') exchange.eventId = true;
  } else if (type === 'close') {
    if (fields.terminal === true && fields.id_match !== 'mismatch' && fields.id_match !== 'null_id')
      exchange.terminal = true;
    if (fields.terminal_kind === 'error' || (fields.error_code ?? null) !== null) exchange.errorSeen = true;
    if ((fields.event_ids ?? 0) > 0) exchange.eventId = true;
    // On a lone close line of a resume GET the digest is that of the header.
    if (isResumeLeg(exchange) && !exchange.wasOpen) return;
  } else return;
  if (typeof fields.event_id_digest !== 'string') return;
  exchange.eventId = true;
  exchange.lastEventDigest = fields.event_id_digest;
}

export const rpcKind = (exchange: Exchange): string =>
  exchange.fields.rpc_kind ?? (exchange.http === 'POST' ? 'request' : 'none');
/** POST with a JSON-RPC request. */
export const isRequest = (exchange: Exchange): boolean => exchange.http === 'POST' && rpcKind(exchange) === 'request';
/** A JSON-RPC request that somebody waits for: every one but a subscription. */
export const isOperation = (exchange: Exchange): boolean => isRequest(exchange) && exchange.fields.method !== LISTEN;
export const isResumeLeg = (exchange: Exchange): boolean =>
  exchange.http === 'GET' && exchange.fields.last_event_id === true;

/**
 * Did a response head arrive? A status that was not reported does not hide an answer that was seen; one that is known to be absent
 * (null) needs more than an orderly end.
 */
export function hasHead(exchange: Exchange): boolean {
  const { fields } = exchange;
  if (typeof fields.status === 'number' || exchange.headSeen || exchange.terminal) return true;
  const some = (n: number | null | undefined): boolean => (n ?? 0) > 0;
  if (typeof fields.content_type === 'string' || typeof fields.content_length === 'number') return true;
  if (fields.framing ?? fields.json ?? null) return true;
  if (fields.session_issued === true || fields.cut === 'boundary' || fields.cut === 'mid') return true;
  if (some(fields.bytes) || some(fields.events) || some(fields.notifications) || some(fields.event_ids)) return true;
  return fields.how === 'eof' && fields.status === undefined;
}

const isRefusal = (status: number | null | undefined): boolean =>
  typeof status === 'number' && ((status >= 300 && status < 400) || status === 401 || status === 403);

/** On a revision without sessions and resumption (2026-07-28 and later). */
export const isStateless = ({ fields }: Exchange): boolean =>
  isStatelessRevision(fields.protocol_version, fields.meta_protocol_version);

/** It is over, and neither its end on the wire nor its answer was seen: nothing can be judged (decision 0020). */
export const isUnseen = ({ fields, terminal }: Pick<Exchange, 'fields' | 'terminal'>): boolean =>
  fields.how === 'unknown' && !terminal;

/** Stream kind (design section 4). */
export function kindOf(exchange: Exchange): StreamKind {
  const { fields } = exchange;
  if (isUnseen(exchange)) return 'none';
  if (isResumeLeg(exchange)) return 'resume';
  const method = exchange.http;
  if (method === 'GET') {
    if (isStatelessRevision(fields.protocol_version, fields.meta_protocol_version)) return 'none';
    if (!hasHead(exchange)) return 'standalone';
    const ok = fields.status === undefined || fields.status === null || (fields.status >= 200 && fields.status < 300);
    return ok && isEventStream(exchange) ? 'standalone' : 'none';
  }
  if (!isRequest(exchange) || isRefusal(fields.status)) return 'none';
  return fields.method === LISTEN ? 'listen' : 'response';
}

const isEventStream = ({ fields, headSeen, lastEventDigest }: Exchange): boolean => {
  const media = mediaOf(fields.content_type, false);
  if (media !== 'unknown') return media === 'sse';
  return (fields.events ?? 0) > 0 || lastEventDigest !== undefined || (headSeen && fields.notifications !== undefined);
};
