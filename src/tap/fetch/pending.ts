/**
 * Requests whose answer may come on another stream: on a resume GET of the same client, or on the event stream of the older HTTP+SSE
 * transport. It remembers ids and exchanges in memory, bounded; it writes nothing.
 */
import { createBounded } from '../bounded.ts';

export interface Waiting {
  readonly exchange: string;
  /** JSON-RPC method of the request. */
  readonly method: string;
}

export interface Pending {
  add(scope: string, idJson: string, waiting: Waiting): void;
  get(scope: string, idJson: string): Waiting | undefined;
  remove(scope: string, idJson: string, exchange: string): void;
  readonly evicted: number;
}

const CAP = 4096;
/** As long as the sidecar waits for the end of a response. */
const TTL_MS = 15 * 60_000;

export function createPending(now: () => number): Pending {
  const waiting = createBounded<Waiting>({ cap: CAP, ttlMs: TTL_MS, now });
  const keyOf = (scope: string, idJson: string): string => `${scope}\n${idJson}`;
  return {
    add: (scope, idJson, entry) => waiting.set(keyOf(scope, idJson), entry),
    get: (scope, idJson) => waiting.get(keyOf(scope, idJson)),
    remove(scope, idJson, exchange) {
      const key = keyOf(scope, idJson);
      // Ids may be used again: by then the place belongs to another request.
      if (waiting.get(key)?.exchange === exchange) waiting.delete(key);
    },
    get evicted() {
      return waiting.evicted;
    },
  };
}
