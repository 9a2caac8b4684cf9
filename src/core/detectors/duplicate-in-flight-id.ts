/** One client used the same JSON-RPC id for two requests at a time: it cannot tell the answers apart. */
import { isRequest } from '../model/exchange.ts';
import { knownClientOf, rpcHash } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

/** The latest calls of one client in a ring: numbers alone, since strings in it would be most of what the collector has to keep. */
interface Recent {
  ts: number;
  /** Where the next call goes, then the hash of each call's JSON-RPC id. */
  readonly ids: number[];
  /** The latest close, then the open and close time of each call. */
  readonly times: number[];
}
/** Calls of one client that are compared. */
const KEPT = 32;
/** A client that goes on is set again so often, which keeps it from the oldest, that a full store gives up. */
const RENEW_MS = 60_000;

/**
 * With its first call. Written out: put together from parts each would be a shape of its own, and every access a search; filled one
 * by one the lists would have room for 17 at once.
 */
const ringOf = (hash: number, openTs: number, closeTs: number): Recent => ({
  ts: closeTs,
  ids: [1, hash],
  times: [closeTs, openTs, closeTs],
});

function note({ ids, times }: Recent, hash: number, openTs: number, closeTs: number): void {
  const at = ids[0] as number;
  ids[0] = (at + 1) % KEPT;
  ids[at + 1] = hash;
  times[2 * at + 1] = openTs;
  times[2 * at + 2] = closeTs;
  if (closeTs > (times[0] as number)) times[0] = closeTs;
}

/** The place of a call with this id that was in flight together with one of these times, or -1. */
function inFlight({ ids, times }: Recent, hash: number, openTs: number, closeTs: number): number {
  for (let i = 1; i < ids.length; i++) {
    if (ids[i] !== hash) continue;
    if ((times[2 * i - 1] as number) < closeTs && openTs < (times[2 * i] as number)) return i;
  }
  return -1;
}

const overlapOf = ({ times }: Recent, at: number, openTs: number, closeTs: number) => ({
  other_opened_ms: times[2 * at - 1] as number,
  overlap_ms: Math.min(closeTs, times[2 * at] as number) - Math.max(openTs, times[2 * at - 1] as number),
});

export const duplicateInFlightId = detector({
  rule: 'duplicate_in_flight_id',
  on: ['verdict'],
  fires: 'two requests of one client with the same JSON-RPC id were in flight at the same time',
  means: 'An answer can reach the wrong caller, or nobody.',
  needs: '`client`, `rpc_id`, open times',
  source: 'JSON-RPC 2.0; MCP basic: request ids must be unique within a session',
  action: 'Give each client its own id counter; look for two processes that share one client identity.',
  create({ memory }) {
    const clients = memory<Recent>('client_calls', LIMITS.clients);
    return (fact, emit) => {
      // What was refused or sent elsewhere was answered by its status, whenever its stream ended.
      const { exchange, kind } = fact;
      if (kind === 'none') return;
      const id = exchange.fields.rpc_id;
      if (typeof id !== 'string' || exchange.client === null || !exchange.openKnown || !isRequest(exchange)) return;
      const { openTs } = exchange;
      // Answered is not in flight any more, though the stream may go on.
      const closeTs = Math.min(exchange.closeTs, exchange.fields.terminal_ts ?? exchange.closeTs);
      const { key } = knownClientOf(exchange, exchange.client);
      // 32 bits: small integers are compared without a look into the memory.
      const hash = rpcHash(exchange) | 0;
      const recent = clients.get(key);
      if (recent === undefined) {
        clients.set(key, ringOf(hash, openTs, closeTs));
        return;
      }
      if (closeTs - recent.ts > RENEW_MS) {
        recent.ts = closeTs;
        clients.set(key, recent);
      }
      // One call after another, as most clients do, has nothing to compare.
      const other = openTs >= (recent.times[0] as number) ? -1 : inFlight(recent, hash, openTs, closeTs);
      const evidence = other < 0 ? null : overlapOf(recent, other, openTs, closeTs);
      note(recent, hash, openTs, closeTs);
      if (evidence !== null) emit(aboutExchange('duplicate_in_flight_id', exchange, evidence));
    };
  },
});
