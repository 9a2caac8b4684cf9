/**
 * What the HTTP source answers: the closed list of refusals with their statuses, and how an answer leaves. A sender that is still
 * at work may finish for a moment, so that it reads why it was refused; then its connection is closed. No answer repeats what
 * was sent.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const STATUSES = {
  bad_gzip: 400,
  bad_array: 400,
  bad_otlp: 400,
  unauthorized: 401,
  from_browser: 403,
  wrong_method: 405,
  too_large: 413,
  wrong_encoding: 415,
  wrong_type: 415,
  busy: 429,
  stopping: 503,
  not_stored: 503,
} as const;

export interface Refusal {
  readonly status: number;
  readonly error: keyof typeof STATUSES;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const refusal = (
  error: keyof typeof STATUSES,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal => ({ status: STATUSES[error], error, message, headers });

/** Those that are always the same. */
export const REFUSALS = {
  busy: refusal('busy', 'too many bytes in flight; send the batch again', { 'Retry-After': '1' }),
  stopping: refusal('stopping', 'not running; send the batch again', { 'Retry-After': '5' }),
  stored: refusal('not_stored', 'counted, but a crash may lose it; sent again, lines with writer and seq are known', {
    'Retry-After': '5',
  }),
  method: refusal('wrong_method', 'POST only', { Allow: 'POST' }),
  token: refusal('unauthorized', 'a bearer token is required', { 'WWW-Authenticate': 'Bearer realm="tailfin"' }),
  browser: refusal('from_browser', 'no requests of web pages (Origin)'),
  encoding: refusal('wrong_encoding', 'Content-Encoding: gzip or none', { 'Accept-Encoding': 'gzip' }),
  type: refusal('wrong_type', 'Content-Type: application/x-ndjson or application/json', {
    Accept: 'application/x-ndjson, application/json',
  }),
} as const;

/** How long a refused sender may go on, unheard. */
const LINGER_MS = 1000;

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  answerBytes(response, status, Buffer.from(`${JSON.stringify(body)}\n`), {
    'Content-Type': 'application/json',
    ...headers,
  });
}

export function answerBytes(
  response: ServerResponse,
  status: number,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'Content-Length': bytes.length, ...headers });
  response.end(bytes);
}

export function refuse(request: IncomingMessage, response: ServerResponse, why: Refusal): void {
  answer(response, why.status, { error: why.error, message: why.message }, why.headers);
  linger(request);
}

/** After a refusal: whoever still sends may go on for a moment. */
export function linger(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  request.once('close', () => clearTimeout(timer));
}
