/**
 * What one MCP request says about itself, as fields of an `open` line. Reads an allow list of three headers, the JSON-RPC
 * envelope and the name of the target; arguments leave as a keyed digest. Requests that are not MCP (OAuth runs through the same
 * fetch) give null and must pass unrecorded.
 */

import { canonicalJson, digest } from './digest.ts';
import type { LineFields } from './event-log.ts';

export interface RequestFacts {
  readonly open: LineFields;
  /** Of a JSON-RPC request; undefined for everything that expects no answer. */
  readonly requestId: string | number | undefined;
  readonly method: string | undefined;
}

type Message = { jsonrpc?: unknown; id?: unknown; method?: unknown; params?: Record<string, unknown> };

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** Revision that carries version and capabilities in `_meta`; on earlier ones their absence says nothing. */
const STATELESS_REVISION = '2026-07-28';

/** `known`: MCP was spoken at this URL before. */
export function describeRequest(url: URL, init: RequestInit | undefined, known: boolean): RequestFacts | null {
  const httpMethod = (init?.method ?? 'GET').toUpperCase();
  const headers = new Headers(init?.headers);
  const lastEventId = headers.get('last-event-id');
  const common: LineFields = {
    endpoint: url.origin + url.pathname,
    http_method: httpMethod,
    protocol_version: headers.get('mcp-protocol-version'),
    session: headers.has('mcp-session-id'),
    last_event_id: lastEventId !== null,
    ...(lastEventId === null ? {} : { event_id_digest: digest(lastEventId) }),
  };
  if (httpMethod !== 'POST') {
    if (!known) return null;
    return { open: { ...common, rpc_kind: 'none' }, requestId: undefined, method: undefined };
  }
  const message = typeof init?.body === 'string' ? parseMessage(init.body) : null;
  if (message === null) return null;
  const { id, method, params = {} } = message;
  const expectsAnswer = typeof method === 'string' && (typeof id === 'string' || typeof id === 'number');
  const open: LineFields = {
    ...common,
    rpc_kind: expectsAnswer ? 'request' : typeof method === 'string' ? 'notification' : 'response',
    request_bytes: Buffer.byteLength(init?.body as string),
  };
  if (typeof method === 'string') open.method = method;
  if (expectsAnswer)
    Object.assign(open, requestFields(String(id), params, common.protocol_version === STATELESS_REVISION));
  if (method === 'notifications/cancelled') open.cancel_of = String(params.requestId);
  return {
    open,
    requestId: expectsAnswer ? (id as string | number) : undefined,
    method: typeof method === 'string' ? method : undefined,
  };
}

function requestFields(id: string, params: Record<string, unknown>, metaExpected: boolean): LineFields {
  const { _meta, inputResponses, requestState, ...args } = params;
  const meta = (_meta ?? {}) as Record<string, unknown>;
  const version = meta[META_VERSION];
  const capabilities = META_CAPABILITIES in meta;
  return {
    rpc_id: id,
    args_digest: digest(canonicalJson(args)),
    input_responses: inputResponses !== undefined,
    ...(typeof args.name === 'string'
      ? { target: args.name }
      : typeof args.uri === 'string'
        ? { target: args.uri }
        : {}),
    ...(metaExpected ? { meta_protocol_version: typeof version === 'string' ? version : null } : {}),
    ...(metaExpected ? { meta_capabilities: capabilities ? true : null } : {}),
  };
}

function parseMessage(body: string): Message | null {
  try {
    const message: Message = JSON.parse(body);
    return typeof message === 'object' && message?.jsonrpc === '2.0' ? message : null;
  } catch {
    return null;
  }
}
