/**
 * From a span to one line of the event schema, or to the reason why there is none. A span becomes a `close` line with
 * `how: unknown`: that its call is over, and what proof.ts says is proven. Names are those of the conventions; nothing leaves that
 * has not the form of what it should be.
 */
import { isIPv6 } from 'node:net';
import { NO_FAULTS, type RejectionReason } from '../../core/model/event.ts';
import { MAX_ID_BYTES } from '../../core/model/fields.ts';
import { callOf, prove } from './proof.ts';
import { CLIENT_KIND } from './signals.ts';
import type { ResourceFacts, SpanFacts } from './span-facts.ts';

/** A keyed digest; undefined: there is no key. */
export type Digest = ((text: string) => string) | undefined;

export type Mapped = string | { readonly rejected: RejectionReason; readonly field?: string };

/** Not of a client, though of MCP or of others: nothing is wrong with them. */
export const IGNORED: ReadonlySet<RejectionReason> = new Set(NO_FAULTS);

const METHOD = /^(?:initialize|ping|[a-z][\w-]{0,40}(?:\/[\w-]{1,40}){1,3})$/i;
const VERSION = /^\d{4}-\d\d-\d\d$/;
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/i;
const PRINTABLE = /^[\x20-\x7e]+$/;
const NOTIFICATION = 'notifications/';
const LISTEN = 'subscriptions/listen';
/** What servers ask of clients: a CLIENT span of these is the server's. */
const OF_SERVERS: ReadonlySet<string> = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);
/** Methods whose span name ends with the name of what they ask for, and the attribute that holds it. */
const TARGETS: Readonly<Record<string, 'gen_ai.tool.name' | 'gen_ai.prompt.name'>> = {
  'tools/call': 'gen_ai.tool.name',
  'prompts/get': 'gen_ai.prompt.name',
};

/** What Tailfin exported itself tells of calls that were counted: they would be counted, and exported, again and again. */
const isOurs = ({ attributes }: SpanFacts): boolean => attributes['tailfin.operation.result'] === true;

const nameOf = (text: string | undefined): string | undefined =>
  text !== undefined && PRINTABLE.test(text) && text.length <= MAX_ID_BYTES ? text : undefined;

/** `{method} {target}`; the Python SDK writes `MCP send {method} {target}`. */
function targetOf({ name, attributes }: SpanFacts, method: string): string | undefined {
  const key = TARGETS[method];
  if (key === undefined) return undefined;
  const own = attributes[key];
  if (own !== undefined) return own;
  const at = name.indexOf(`${method} `);
  return (at === 0 || name.startsWith('MCP send ')) && at >= 0
    ? name.slice(at + method.length + 1) || undefined
    : undefined;
}

function endpointOf({ attributes }: SpanFacts): string | undefined {
  const { 'server.address': address, 'server.port': port } = attributes;
  if (address === undefined) return undefined;
  const host = isIPv6(address) ? `[${address}]` : HOST_NAME.test(address) ? address : undefined;
  if (host === undefined) return undefined;
  return port !== undefined && port > 0 && port < 65_536 ? `${host}:${port}` : host;
}

const statusOf = (status: number | undefined): number | undefined =>
  status !== undefined && status >= 100 && status <= 599 ? status : undefined;

const ZEROS = /^0+$/;
const isId = (id: string): boolean => id !== '' && !ZEROS.test(id);

export function spanLine(span: SpanFacts, resource: ResourceFacts, digest: Digest): Mapped {
  const { attributes, traceId, spanId, start, end } = span;
  const method = attributes['mcp.method.name'];
  if (method === undefined) return { rejected: 'not_mcp' };
  if (span.kind !== CLIENT_KIND || OF_SERVERS.has(method) || isOurs(span)) return { rejected: 'not_client' };
  if (!METHOD.test(method)) return { rejected: 'bad_field', field: 'mcp.method.name' };
  if (!isId(traceId)) return { rejected: 'missing_field', field: 'trace_id' };
  if (!isId(spanId)) return { rejected: 'missing_field', field: 'span_id' };
  if (end === 0) return { rejected: 'missing_field', field: 'end_time_unix_nano' };
  if (start > end) return { rejected: 'bad_field', field: 'end_time_unix_nano' };

  const isNotification = method.startsWith(NOTIFICATION);
  const session = attributes['mcp.session.id'];
  const client = digest === undefined || !session ? undefined : `session-${digest(session)}`;
  const id = attributes['jsonrpc.request.id'];
  const version = attributes['mcp.protocol.version'];
  return JSON.stringify({
    v: 1,
    type: 'close',
    ts: end,
    exchange: traceId + spanId,
    how: 'unknown',
    open_ts: start === 0 ? undefined : start,
    rpc_kind: isNotification ? 'notification' : undefined,
    method,
    target: targetOf(span, method),
    client,
    // Each session counts its own ids: without one they would only seem to be used twice.
    rpc_id: client === undefined ? undefined : nameOf(id === undefined ? id : String(id)),
    host: nameOf(resource['service.instance.id']) ?? nameOf(resource['service.name']),
    server: nameOf(attributes['service.peer.name']) ?? nameOf(attributes['peer.service']),
    endpoint: endpointOf(span),
    protocol_version: version !== undefined && VERSION.test(version) ? version : undefined,
    status: statusOf(attributes['http.response.status_code']),
    // What the server was sent as its parent: the context of this very span, which was sampled, since it is here.
    trace: `00-${traceId}-${spanId}-01`,
    ...prove(callOf(span, !isNotification && method !== LISTEN)),
  });
}
