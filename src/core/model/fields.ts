/**
 * The event schema v1 as one table: the decoder's guard, the TypeScript types, `docs/event.schema.json` and `docs/events.md`
 * all derive from it. Design contract section 3. Wire names keep their snake case everywhere.
 */

/** Longest id in bytes (design section 3). */
export const MAX_ID_BYTES = 128;
/** Longest free text field in characters: a method target may be a resource URI. */
export const MAX_TEXT_CHARS = 2048;
/** Longest code word in characters (error names, media types, versions). */
export const MAX_WORD_CHARS = 128;

export interface FieldSpec {
  /** id: 1..128 bytes; word: a code word; text: a name or URL; count: integer >= 0; int: any safe integer; ms: number >= 0. */
  readonly is: 'id' | 'word' | 'text' | 'bool' | 'count' | 'int' | 'ms' | 'time' | 'object' | readonly string[];
  readonly of?: Readonly<Record<string, FieldSpec>>;
  readonly doc: string;
}

const id = (doc: string) => ({ is: 'id', doc }) as const;
const word = (doc: string) => ({ is: 'word', doc }) as const;
const text = (doc: string) => ({ is: 'text', doc }) as const;
const bool = (doc: string) => ({ is: 'bool', doc }) as const;
const count = (doc: string) => ({ is: 'count', doc }) as const;
const int = (doc: string) => ({ is: 'int', doc }) as const;
const ms = (doc: string) => ({ is: 'ms', doc }) as const;
const time = (doc: string) => ({ is: 'time', doc }) as const;
const oneOf = <const T extends readonly string[]>(is: T, doc: string) => ({ is, doc }) as const;

export const FIELDS = {
  // envelope
  writer: id('who wrote the line; default: the source'),
  seq: count('per writer, counts up by one; a hole is missing events, 0 starts afresh'),
  client: id('one transport instance of the host'),
  host: id('the MCP host; default: the name configured for the source'),
  server: id('logical MCP server; default: host:port of the endpoint, else `unknown`'),
  endpoint: text('resolved address or instance that answered (URL or host:port)'),
  trace: text('W3C traceparent'),
  // exchange: request side
  exchange: id('one HTTP request and its response; unique within a host'),
  http_method: word('HTTP method; default POST'),
  rpc_kind: oneOf(['request', 'notification', 'response', 'none'], 'what the POST carried; default request'),
  method: word('JSON-RPC method'),
  target: text('tool, prompt or resource name'),
  rpc_id: id('JSON-RPC id as a string'),
  protocol_version: word('MCP-Protocol-Version header'),
  meta_protocol_version: word('protocolVersion in `_meta`; null = known to be absent'),
  meta_capabilities: bool('clientCapabilities were in `_meta`; null = known to be absent'),
  session: bool('a session id header was sent'),
  last_event_id: bool('a Last-Event-ID header was sent'),
  event_id_digest: id('keyed digest of an SSE event id (of the header on a resume GET, of the last event on a close)'),
  request_key: id('client-generated key of the logical request'),
  idempotency_key: bool('the request carried a business idempotency key'),
  args_digest: id('keyed digest of the canonical arguments'),
  request_bytes: count('size of the request body in bytes'),
  annotations: {
    is: 'object',
    doc: 'annotations of the called tool (hints)',
    of: {
      read_only: bool('readOnlyHint'),
      idempotent: bool('idempotentHint'),
      destructive: bool('destructiveHint'),
    },
  },
  input_responses: bool('an MRTR re-send: carries inputResponses'),
  cancel_of: id('rpc_id or exchange that a notifications/cancelled names'),
  carrier: id('exchange of the GET stream that will carry the answer (legacy HTTP+SSE)'),
  sent: oneOf(['none', 'headers', 'body'], 'how much of the request was written'),
  connection: {
    is: 'object',
    doc: 'connection that carried the request',
    of: { id: id('connection id'), reused: bool('was kept alive'), idle_ms: ms('idle time before this request') },
  },
  // exchange: response side
  status: count('HTTP status'),
  content_type: word('media type without parameters; null = absent'),
  framing: oneOf(['content_length', 'chunked', 'close_delimited', 'h2'], 'how HTTP delimits the body'),
  content_length: count('Content-Length in bytes'),
  content_encoding: word('Content-Encoding; null = absent'),
  session_issued: bool('the response issued a session id'),
  rpc: oneOf(['result', 'error', 'notification', 'request', 'prime', 'cancelled'], 'kind of the message'),
  id_match: oneOf(['match', 'mismatch', 'null_id'], 'id of the answer against the id of the request'),
  bytes: count('bytes of the body, the message or the parsed payload'),
  error_code: int('JSON-RPC error code'),
  is_error: bool('the result carried isError'),
  result_type: word('resultType of the result (2026-07-28)'),
  how: oneOf(
    ['eof', 'error', 'no_response', 'cancel', 'unknown'],
    'how the exchange ended; unknown: nobody saw its end on the wire, and all that the line says of it is what it names',
  ),
  by: oneOf(['peer', 'client'], 'which side ended it'),
  error: word('code word of the error, never its message'),
  open_ts: time('when the exchange was opened, where there was no `open` line'),
  events: count('SSE events seen (in an `end` line: lines written)'),
  notifications: count('JSON-RPC notifications seen'),
  event_ids: count('SSE events that carried an id'),
  terminal: bool('the JSON-RPC response with the id of the request was seen'),
  terminal_kind: oneOf(['result', 'error'], 'what the terminal message was'),
  terminal_ts: time('when the terminal message was complete'),
  cancelled: bool("the server's notifications/cancelled for this listen was seen"),
  json: oneOf(['empty', 'complete', 'cut', 'malformed'], 'state of a JSON body'),
  cut: oneOf(['none', 'boundary', 'mid'], 'where the bytes stop'),
  inner_json: oneOf(['none', 'ok', 'bad'], 'a text part that looks like JSON parses'),
  self_delimiting: bool('the payload carries its own length or integrity check (declared)'),
  integrity_ok: bool('that check passed'),
  list: {
    is: 'object',
    doc: 'what a list result held',
    of: {
      count: count('items'),
      digest: id('keyed digest of the items'),
      auth: id('keyed digest of the authorization'),
    },
  },
  // parse
  of: oneOf(['arguments', 'result', 'message'], 'what the host parsed'),
  ok: bool('the parse succeeded'),
  expected_bytes: count('full length of the payload, where known'),
  at: count('position of the parse error in bytes'),
  at_end: bool('the error is at the end of the input'),
  repaired: bool('the payload was repaired before use'),
  // settle
  result: oneOf(['ok', 'tool_error', 'rpc_error', 'error', 'timeout', 'cancelled'], 'what the caller received'),
  waited_ms: ms('how long the caller waited'),
  on_wire: bool('false: failed without any exchange'),
  executed: bool('a tool ran on this payload'),
  // discovery
  sentinel: oneOf(['mandated', 'optional'], 'does the server promise a terminal message'),
  sticky: bool('discovery is sticky for a logical request'),
  sessions: oneOf(['stateless', 'stateful'], 'session semantics'),
  digest: id('digest of what was discovered'),
  // client
  event: oneOf(['created', 'closed', 'reconnected', 'reinitialized', 'session_deleted'], 'what happened to the client'),
  cause: word('code word of the reason'),
  // gap, segment, end
  dropped: count('events the writer lost'),
  reason: word('why'),
  id: id('random id of the segment file'),
  n: count('generation of the segment'),
  prev: id('id of the segment before'),
  key_id: id('which digest key was used'),
  // of a close line too, and last: fields have their place by number
  oversize: bool('an event or message was longer or deeper than the tap follows; what is said of it may not be all'),
} as const satisfies Record<string, FieldSpec>;

export type FieldName = keyof typeof FIELDS;

const ENVELOPE = ['writer', 'seq', 'client', 'host', 'server', 'endpoint', 'trace'] as const;
const OPEN = [
  ...['http_method', 'rpc_kind', 'method', 'target', 'rpc_id', 'protocol_version', 'meta_protocol_version'],
  ...[
    'meta_capabilities',
    'session',
    'last_event_id',
    'event_id_digest',
    'request_key',
    'idempotency_key',
    'args_digest',
  ],
  ...['request_bytes', 'annotations', 'input_responses', 'cancel_of', 'carrier', 'sent', 'connection'],
] as readonly FieldName[];
const HEADERS = [
  ...['status', 'content_type', 'framing', 'content_length', 'content_encoding', 'session_issued'],
] as readonly FieldName[];
const CLOSE = [
  ...['by', 'error', 'open_ts', 'bytes', 'events', 'notifications', 'event_ids', 'terminal', 'terminal_kind'],
  ...['terminal_ts', 'id_match', 'error_code', 'is_error', 'result_type', 'cancelled', 'json', 'cut', 'inner_json'],
  ...['oversize', 'self_delimiting', 'integrity_ok', 'list'],
] as readonly FieldName[];

export interface TypeSpec {
  readonly required: readonly FieldName[];
  readonly optional: readonly FieldName[];
  readonly doc: string;
}

/** Which fields a line type defines; on a line of another type a field is unknown, and ignored. */
export const EVENT_TYPES = {
  open: { required: ['exchange'], optional: OPEN, doc: 'an exchange started' },
  headers: {
    required: ['exchange'],
    optional: [...HEADERS, ...OPEN],
    doc: 'the response head arrived (with fields of `open` where there was no such line)',
  },
  message: {
    required: ['exchange'],
    optional: ['rpc', 'id_match', 'event_id_digest', 'bytes', 'error_code', 'is_error', 'result_type'],
    doc: 'a JSON-RPC message on the response (a tap may fold these into `close`)',
  },
  close: { required: ['exchange', 'how'], optional: [...OPEN, ...HEADERS, ...CLOSE], doc: 'the exchange ended' },
  parse: {
    required: ['of', 'ok'],
    optional: ['bytes', 'expected_bytes', 'at', 'at_end', 'repaired', 'exchange', 'target'],
    doc: 'the host tried to parse a payload',
  },
  settle: {
    required: ['result'],
    optional: ['exchange', 'method', 'target', 'error', 'waited_ms', 'on_wire', 'executed'],
    doc: 'what the caller received',
  },
  discovery: {
    required: ['server'],
    optional: ['protocol_version', 'sentinel', 'self_delimiting', 'sticky', 'sessions', 'digest'],
    doc: 'what was resolved for a server',
  },
  client: { required: ['client', 'event'], optional: ['cause'], doc: 'life cycle of a transport instance' },
  gap: { required: ['dropped'], optional: ['reason'], doc: 'the writer lost events (they did not consume `seq`)' },
  segment: {
    required: ['id'],
    optional: ['n', 'prev', 'key_id'],
    doc: "first line of a tap's segment file (not counted as an event)",
  },
  end: { required: [], optional: ['id', 'events', 'dropped'], doc: "last line of a tap's segment file (not counted)" },
} as const satisfies Record<string, TypeSpec>;

export const ENVELOPE_FIELDS: readonly FieldName[] = ENVELOPE;
export type EventType = keyof typeof EVENT_TYPES;

const BY_TYPE = new Map(
  (Object.entries(EVENT_TYPES) as [EventType, TypeSpec][]).map(([type, { required, optional }]) => [
    type,
    [...new Set([...ENVELOPE, ...required, ...optional])] as readonly FieldName[],
  ]),
);
/** All fields that a line of this type may carry. */
export const fieldsOf = (type: EventType): readonly FieldName[] => BY_TYPE.get(type) as readonly FieldName[];

/** What a line adds to the record of its exchange: the bytes of one message are not those of the body. */
export const LINE_FIELDS = {
  open: fieldsOf('open'),
  headers: fieldsOf('headers'),
  message: fieldsOf('message').filter((name) => name !== 'bytes' && name !== 'event_id_digest'),
  close: fieldsOf('close'),
} as const;
