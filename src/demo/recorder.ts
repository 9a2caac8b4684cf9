/**
 * A first recorder at the host's fetch: hand the returned function to an SDK transport as its `fetch` option. It writes what
 * happened to every MCP exchange as schema-v1 lines and changes nothing: same responses, same errors, same timing of reads. It
 * judges nothing, and no payload, header value, session id or error message may reach a line.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { EventLog, LineFields } from './event-log.ts';
import { type ExchangeRecord, recordExchange } from './exchange-record.ts';
import { describeRequest } from './request-facts.ts';

export type FetchLike = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** One try of a tool call, as the host sees it; the recorder notes which exchange carried it. */
export interface Attempt {
  exchange?: string;
}

export interface RecordingOptions {
  readonly log: EventLog;
  readonly fetch?: FetchLike;
  /** Where the host keeps the attempt it is making, so that its `settle` line can name the exchange. */
  readonly attempts?: AsyncLocalStorage<Attempt>;
  /** Annotations that the server declared for a tool. */
  readonly annotationsOf?: (tool: string) => LineFields['annotations'];
  /** Demo only: send the exchange id along under this header name, so that two records can be compared one by one. */
  readonly exchangeHeader?: string;
}

export function createRecordingFetch(options: RecordingOptions): FetchLike {
  const upstream: FetchLike = options.fetch ?? globalThis.fetch;
  /** Where MCP was spoken: a GET or DELETE says nothing about itself. */
  const known = new Set<string>();

  const open = (input: string | URL, init: RequestInit | undefined): ExchangeRecord | undefined => {
    const url = new URL(input);
    const facts = describeRequest(url, init, known.has(url.origin + url.pathname));
    if (facts === null) return undefined;
    known.add(url.origin + url.pathname);
    const { target } = facts.open;
    const annotations = facts.method === 'tools/call' && target ? options.annotationsOf?.(target) : undefined;
    const record = recordExchange(options.log, facts, init?.signal ?? undefined, annotations);
    const attempt = options.attempts?.getStore();
    if (attempt !== undefined && facts.requestId !== undefined) attempt.exchange = record.exchange;
    return record;
  };

  return async (input, init) => {
    const record = unlessItThrows(() => open(input, init));
    if (record === undefined) return upstream(input, init);
    let response: Response;
    try {
      response = await upstream(input, withHeader(init, options.exchangeHeader, record.exchange));
    } catch (reason) {
      unlessItThrows(() => record.failed(reason));
      throw reason;
    }
    return unlessItThrows(() => record.answered(response)) ?? response;
  };
}

/** Fail open: whatever goes wrong while recording, the host's call goes on. */
function unlessItThrows<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}

function withHeader(init: RequestInit | undefined, name: string | undefined, value: string): RequestInit | undefined {
  if (name === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set(name, value);
  return { ...init, headers };
}
