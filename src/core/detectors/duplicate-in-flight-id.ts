/** One client used the same JSON-RPC id for two requests at a time: it cannot tell the answers apart. */
import { hash53 } from '../generation-set.ts';
import { clientOf, isRequest } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

/** The latest calls of one client in a ring: numbers alone, since strings in it would be most of what the collector has to keep. */
interface Recent {
  ts: number;
  /** Latest close. */
  until: number;
  next: number;
  /** Of the JSON-RPC id. */
  readonly hashes: number[];
  readonly opens: number[];
  readonly closes: number[];
}
/** Calls of one client that are compared. */
const KEPT = 32;
/** A client that goes on is set again so often, which keeps it from the oldest, that a full store gives up. */
const RENEW_MS = 60_000;

const ringOf = (ts: number): Recent => ({
  ...{ ts, until: Number.NEGATIVE_INFINITY, next: 0 },
  ...{ hashes: [], opens: [], closes: [] },
});

function note(recent: Recent, hash: number, openTs: number, closeTs: number): void {
  const at = recent.next;
  recent.next = (at + 1) % KEPT;
  recent.hashes[at] = hash;
  recent.opens[at] = openTs;
  recent.closes[at] = closeTs;
}

/** The place of a call with this id that was in flight together with one of these times, or -1. */
function inFlight({ hashes, opens, closes }: Recent, hash: number, openTs: number, closeTs: number): number {
  for (let i = 0; i < hashes.length; i++)
    if (hashes[i] === hash && (opens[i] as number) < closeTs && openTs < (closes[i] as number)) return i;
  return -1;
}

const overlapOf = ({ opens, closes }: Recent, at: number, openTs: number, closeTs: number) => ({
  other_opened_ms: opens[at] as number,
  overlap_ms: Math.min(closeTs, closes[at] as number) - Math.max(openTs, opens[at] as number),
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
      const key = clientOf(exchange);
      const known = clients.get(key);
      const recent = known ?? ringOf(closeTs);
      if (known === undefined || closeTs - known.ts > RENEW_MS) {
        recent.ts = closeTs;
        clients.set(key, recent);
      }
      const hash = hash53(id);
      // One call after another, as most clients do, has nothing to compare.
      const other = openTs >= recent.until ? -1 : inFlight(recent, hash, openTs, closeTs);
      const evidence = other < 0 ? null : overlapOf(recent, other, openTs, closeTs);
      recent.until = Math.max(recent.until, closeTs);
      note(recent, hash, openTs, closeTs);
      if (evidence !== null) emit(aboutExchange('duplicate_in_flight_id', exchange, evidence));
    };
  },
});
