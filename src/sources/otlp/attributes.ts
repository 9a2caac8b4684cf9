/**
 * The attributes that are read, as one table: what is not in it is stepped over, whatever it holds. Only texts, numbers and
 * booleans are kept; of an attribute that may hold a payload nothing but that it is there.
 */
interface AttributeSpec {
  /** there: its value is never read. */
  readonly is: 'text' | 'number' | 'number_or_text' | 'there';
  readonly doc: string;
}

/** Of a span. */
export const SPAN_ATTRIBUTES = {
  'mcp.method.name': { is: 'text', doc: '`method`; a span without it is no span of MCP' },
  'mcp.protocol.version': { is: 'text', doc: '`protocol_version`' },
  'mcp.session.id': { is: 'text', doc: '`client`, as a keyed digest; without a key it is dropped' },
  'jsonrpc.request.id': {
    is: 'number_or_text',
    doc: '`rpc_id`, where the session is known: ids count up in each session',
  },
  'rpc.response.status_code': { is: 'number_or_text', doc: '`error_code`, where it proves an answer (above)' },
  'error.type': { is: 'text', doc: 'how the call failed, as one of the words above; never as it is' },
  'http.response.status_code': { is: 'number', doc: '`status`' },
  'gen_ai.tool.name': { is: 'text', doc: '`target` of a tools/call' },
  'gen_ai.prompt.name': { is: 'text', doc: '`target` of a prompts/get' },
  'gen_ai.tool.call.result': { is: 'there', doc: 'that a result arrived; its value is not read' },
  'server.address': { is: 'text', doc: '`endpoint`, with the port' },
  'server.port': { is: 'number', doc: '`endpoint`' },
  'service.peer.name': { is: 'text', doc: '`server`' },
  'peer.service': { is: 'text', doc: '`server`, where `service.peer.name` is not set' },
  'tailfin.operation.result': {
    is: 'there',
    doc: 'that the span is one of Tailfin itself: `not_client`. A Collector that sends them here would go in circles',
  },
} as const satisfies Readonly<Record<string, AttributeSpec>>;

/** Of the resource, which is the process that sent it. */
export const RESOURCE_ATTRIBUTES = {
  'service.instance.id': { is: 'text', doc: '`host`' },
  'service.name': { is: 'text', doc: '`host`, where `service.instance.id` is not set' },
} as const satisfies Readonly<Record<string, AttributeSpec>>;

/** Of the event named `exception` of a span. */
export const EXCEPTION_ATTRIBUTES = {
  'exception.type': { is: 'text', doc: 'whether it was a timeout or a cancellation, where `error.type` does not tell' },
} as const satisfies Readonly<Record<string, AttributeSpec>>;

type Value<S extends AttributeSpec> = S['is'] extends 'text'
  ? string
  : S['is'] extends 'number'
    ? number
    : S['is'] extends 'there'
      ? true
      : string | number;
export type Attributes<T extends Readonly<Record<string, AttributeSpec>>> = { -readonly [K in keyof T]?: Value<T[K]> };
export type AttributeTable = Readonly<Record<string, AttributeSpec>>;

/** Longer texts name nothing. */
const MAX_TEXT_CHARS = 512;

/** A value as it arrived: undefined for what is neither text nor number. */
export function accept(spec: AttributeSpec, value: string | number | undefined): string | number | true | undefined {
  if (spec.is === 'there') return true;
  if (typeof value === 'string') {
    if (spec.is === 'number' || value.length > MAX_TEXT_CHARS) return undefined;
    return value;
  }
  return spec.is === 'text' ? undefined : value;
}
