/**
 * Closed code words for errors, header values and versions: the only form in which any of them reaches a line. Never an error's
 * message: undici and the SDKs put addresses and whole bodies into it.
 */
import { knownWord } from '../error-words.ts';

/** Errors of a fetch that failed before any byte of the request was written. */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);
export const isNotSent = (word: string): boolean => NOT_SENT.has(word);

/** The code of the cause, else of the error, else its name; a closed word. */
export function errorWord(reason: unknown): string {
  const { cause, code, name } = (reason ?? {}) as { cause?: { code?: unknown }; code?: unknown; name?: unknown };
  return knownWord(cause?.code, code, name);
}

/** Code of the older SDK for its own timeout. Servers use the number too: only the SDK's error carries the limit along. */
const REQUEST_TIMEOUT = -32001;

/** Is this error, or reason of an abort, somebody's clock that ran out? By class and code, never by its text. */
export function isTimeout(reason: unknown): boolean {
  if (typeof reason !== 'object' || reason === null) return false;
  const { name, code, data } = reason as { name?: unknown; code?: unknown; data?: unknown };
  if (name === 'TimeoutError' || code === 'REQUEST_TIMEOUT') return true;
  const { timeout, maxTotalTimeout } = (data ?? {}) as { timeout?: unknown; maxTotalTimeout?: unknown };
  return code === REQUEST_TIMEOUT && (typeof timeout === 'number' || typeof maxTotalTimeout === 'number');
}

export const abortWord = (reason: unknown): 'TimeoutError' | 'AbortError' =>
  isTimeout(reason) ? 'TimeoutError' : 'AbortError';

/** A protocol version is a date; whatever else a header holds is not repeated. */
export const versionWord = (value: unknown): string | null =>
  typeof value !== 'string' ? null : /^\d{4}-\d\d-\d\d$/.test(value) ? value : 'other';

export const methodWord = (method: string): string => (/^[\w$./-]{1,128}$/.test(method) ? method : '_other');

const MEDIA: ReadonlySet<string> = new Set([
  ...['application/json', 'text/event-stream', 'text/html', 'text/plain', 'text/xml', 'application/xml'],
  ...['application/problem+json', 'application/jsonl', 'application/x-ndjson', 'application/octet-stream'],
]);

/** The media type without parameters. A type nobody knows might be anything: it keeps only whether it is JSON. */
export function mediaWord(header: string | null): string | null {
  // As nearly every server writes it.
  if (header === null || MEDIA.has(header)) return header;
  const essence = (header.split(';', 1)[0] as string).trim().toLowerCase();
  if (MEDIA.has(essence)) return essence;
  return essence.endsWith('+json') ? 'application/other+json' : 'other/other';
}

const ENCODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'compress', 'identity']);
export function encodingWord(header: string | null): string | null {
  if (header === null) return null;
  const all = header.toLowerCase().split(',', 4);
  return all.map((each) => (ENCODINGS.has(each.trim()) ? each.trim() : 'other')).join(',');
}

/** W3C traceparent, where it is one. */
export const traceWord = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(value) ? value : undefined;
