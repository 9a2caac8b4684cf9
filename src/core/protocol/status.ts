/** What an HTTP status means in MCP, by revision (design section 6). First row that matches names it. */
import { type Exchange, isRequest } from '../model/exchange.ts';
import { mediaOf } from './media.ts';
import { isStatelessRevision, predatesStreamableHttp } from './revisions.ts';

export const MEANINGS = [
  'method_not_found',
  'method_not_found_nonconformant',
  'session_expired',
  'session_unknown_nonconformant',
  'stream_not_offered',
  'route_missing',
  'header_mismatch',
  'missing_capability',
  'unsupported_version',
  'invalid_params_meta',
  'bad_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'upstream_error',
  'redirect',
  'other',
  'request_answered_202',
  'rpc_error',
] as const;
export type Meaning = (typeof MEANINGS)[number];

interface Answer {
  readonly status: number;
  readonly stateless: boolean;
  readonly http: string;
  readonly code: number | null;
  readonly session: boolean;
  readonly html: boolean;
  readonly noMetaVersion: boolean;
  readonly sessionIssued: boolean;
  readonly request: boolean;
  readonly legacyTransport: boolean;
}

interface Row {
  readonly when: (a: Answer) => boolean;
  readonly means: Meaning;
}

const stateful =
  (when: Row['when']): Row['when'] =>
  (a) =>
    !a.stateless && when(a);
const stateless =
  (when: Row['when']): Row['when'] =>
  (a) =>
    a.stateless && when(a);

export const STATUS_TABLE: readonly Row[] = [
  {
    when: stateful((a) => (a.status === 404 || a.status === 400) && a.code === -32601),
    means: 'method_not_found_nonconformant',
  },
  { when: stateful((a) => a.status === 404 && a.session && !a.html && a.http !== 'DELETE'), means: 'session_expired' },
  {
    when: stateful((a) => a.http === 'GET' && (a.status === 405 || (a.status === 404 && !a.session))),
    means: 'stream_not_offered',
  },
  { when: stateful((a) => a.status === 400 && a.session), means: 'session_unknown_nonconformant' },
  {
    when: stateful((a) => a.status === 200 && a.session && a.sessionIssued),
    means: 'session_unknown_nonconformant',
  },
  { when: stateless((a) => a.status === 404 && a.code === -32601), means: 'method_not_found' },
  { when: stateless((a) => a.status === 400 && a.code === -32020), means: 'header_mismatch' },
  { when: stateless((a) => a.status === 400 && a.code === -32021), means: 'missing_capability' },
  { when: stateless((a) => a.status === 400 && a.code === -32022), means: 'unsupported_version' },
  { when: stateless((a) => a.status === 400 && a.code === -32602 && a.noMetaVersion), means: 'invalid_params_meta' },
  {
    when: stateless((a) => a.status === 405 && (a.http === 'GET' || a.http === 'DELETE')),
    means: 'stream_not_offered',
  },
  { when: (a) => a.status === 404, means: 'route_missing' },
  { when: (a) => a.status === 400, means: 'bad_request' },
  { when: (a) => a.status === 401, means: 'unauthorized' },
  { when: (a) => a.status === 403, means: 'forbidden' },
  { when: (a) => a.status === 429, means: 'rate_limited' },
  { when: (a) => a.status >= 500, means: 'upstream_error' },
  { when: (a) => a.status >= 300 && a.status < 400, means: 'redirect' },
  { when: (a) => a.status < 200 || a.status >= 300, means: 'other' },
  {
    when: (a) => a.request && !a.legacyTransport && (a.status === 202 || a.status === 204),
    means: 'request_answered_202',
  },
  { when: (a) => a.status === 200, means: 'rpc_error' },
];

/** null: nothing to say (an ordinary 2xx, or no status). */
export function statusMeaning(exchange: Exchange): Meaning | null {
  const { fields } = exchange;
  const { status } = fields;
  if (status === undefined || status === null) return null;
  if (status === 200 && !exchange.errorSeen) return null;
  const answer: Answer = {
    status,
    stateless: isStatelessRevision(fields.protocol_version, fields.meta_protocol_version),
    http: exchange.http,
    code: fields.error_code ?? null,
    session: fields.session === true,
    html: mediaOf(fields.content_type, false) === 'other' && (fields.content_type ?? '').toLowerCase().includes('html'),
    noMetaVersion: fields.meta_protocol_version === null,
    sessionIssued: fields.session_issued === true,
    request: isRequest(exchange),
    legacyTransport:
      predatesStreamableHttp(fields.protocol_version, fields.meta_protocol_version) ||
      typeof fields.carrier === 'string',
  };
  return STATUS_TABLE.find((row) => row.when(answer))?.means ?? null;
}
