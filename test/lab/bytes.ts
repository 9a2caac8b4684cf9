/** HTTP answers as bytes: heads, chunks, events. Builds what it is told to, whole or broken; when and how to send is the scripts'. */

export type Headers = Readonly<Record<string, string | number>>;

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  202: 'Accepted',
  307: 'Temporary Redirect',
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
};

export function head(status: number, headers: Headers, version = '1.1'): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/${version} ${status} ${REASONS[status] ?? 'Other'}\r\n${lines.join('')}\r\n`, 'latin1');
}

export const JSON_TYPE = { 'Content-Type': 'application/json' } as const;
export const SSE_TYPE = { 'Content-Type': 'text/event-stream' } as const;
export const HTML_TYPE = { 'Content-Type': 'text/html; charset=utf-8' } as const;
export const CHUNKED = { 'Transfer-Encoding': 'chunked' } as const;
export const length = (bytes: string | Uint8Array): Headers => ({ 'Content-Length': Buffer.byteLength(bytes) });

export const LAST_CHUNK = '0\r\n\r\n';

/** One HTTP chunk; none for no bytes, since an empty chunk is the last one. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes);
  return data.length === 0 ? data : join(data.length.toString(16), '\r\n', data, '\r\n');
}

export const join = (...parts: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));

/** A whole answer with its length. */
export const withLength = (status: number, type: Headers, body: string | Uint8Array): Buffer =>
  join(head(status, { ...type, ...length(body) }), body);

export interface EventOptions {
  readonly id?: string;
  readonly retry?: number;
}

/** One SSE event, with its blank line. */
export function event(data: string, { id, retry }: EventOptions = {}): string {
  const lines = [...(id === undefined ? [] : [`id: ${id}`]), ...(retry === undefined ? [] : [`retry: ${retry}`])];
  return [...lines, 'event: message', `data: ${data}`, '', ''].join('\n');
}

export const HTML = '<!doctype html><html><body><h1>not the server that was meant</h1></body></html>';
