/** Builds body scans with every option filled in, for the request with the id 7. */
import { type BodyScan, type BodyScanOptions, createBodyScan } from '../../src/tap/scan/body-scan.ts';

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';
/** Shows what was digested: only for tests. */
export const plainDigest = (text: string): string => `d(${text})`;

export function bodyScan(options: Partial<BodyScanOptions> = {}): BodyScan {
  return createBodyScan({
    mediaType: JSON_TYPE,
    status: 200,
    contentEncoding: null,
    contentLength: null,
    idMatch: (id) => id === '7',
    method: 'tools/call',
    digest: plainDigest,
    now: () => 1000,
    ...options,
  });
}

/** The scan after these chunks; text is encoded. */
export function scanOf(
  chunks: string | Uint8Array | readonly Uint8Array[],
  options: Partial<BodyScanOptions> = {},
): BodyScan {
  const scan = bodyScan(options);
  const parts =
    typeof chunks === 'string' ? [new TextEncoder().encode(chunks)] : chunks instanceof Uint8Array ? [chunks] : chunks;
  for (const part of parts) scan.push(part);
  return scan;
}

export const event = (message: unknown, ...fields: readonly string[]): string =>
  [...fields, `data: ${typeof message === 'string' ? message : JSON.stringify(message)}`, '', ''].join('\n');
