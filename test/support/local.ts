/** What a running sidecar serves on its loopback listener, and the lines of exchanges that broke. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { LogLine } from './cli.ts';

/** `http://127.0.0.1:PORT`, from the log line that says so. */
export function localUrl(logs: readonly LogLine[]): string {
  const url = logs.map(({ msg }) => /^for this pod alone: (http:\S+)\/$/.exec(msg)?.[1]).find(Boolean);
  assert.ok(url !== undefined, JSON.stringify(logs));
  return url;
}

export type EvidenceLine = Readonly<Record<string, unknown>>;

export interface EvidenceAnswer {
  readonly records: readonly EvidenceLine[];
  readonly kept: number;
  readonly suppressed: number;
}

/** `query` with its question mark. Anything but 200 fails. */
export async function evidence(url: string, query = ''): Promise<EvidenceAnswer> {
  const response = await fetch(`${url}/api/evidence${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as EvidenceAnswer;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A request with headers that `fetch` does not let through, such as Host. */
export function ask(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** A tools/call whose stream broke, whole in one line. */
export const broken = (id: string, ts: number, more: Readonly<Record<string, unknown>> = {}): string =>
  `${JSON.stringify({
    ...{ v: 1, type: 'close', ts, open_ts: ts - 5, client: 'c', server: 'shop', endpoint: 'http://10.0.0.1:80/mcp' },
    ...{ exchange: id, method: 'tools/call', target: 'get', args_digest: id, status: 200, sent: 'body' },
    ...{ content_type: 'text/event-stream', how: 'error', by: 'peer', error: 'ECONNRESET', bytes: 100, ...more },
  })}\n`;
