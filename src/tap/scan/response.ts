/** What the head of a response says about its body: whether a client looks at it, and how long it is. */
import type { BodyScanOptions } from './body-scan.ts';

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Statuses that come without content. */
export const isBare = (status: number): boolean => status === 202 || status === 204;

/** Content-Length, where it counts the bytes that the caller reads: fetch has undone any encoding. */
export function plainLength({ contentEncoding, contentLength }: BodyScanOptions): number | null {
  const isPlain = contentEncoding === null || contentEncoding === '' || contentEncoding.toLowerCase() === 'identity';
  return isPlain ? contentLength : null;
}
