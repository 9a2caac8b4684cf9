/** One client used the same JSON-RPC id for two requests at a time: it cannot tell the answers apart. */
import { clientOf, isRequest } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

interface Call {
  id: string;
  exchange: string;
  openTs: number;
  closeTs: number;
}
interface Recent {
  ts: number;
  /** Latest close. */
  until: number;
  /** A ring, whose places are used again: an object per exchange would be the dearest part of this rule. */
  readonly calls: Call[];
  next: number;
}
/** Latest calls of one client that are compared. */
const KEPT = 32;
/** A client that goes on is set again so often, which keeps it from the oldest, that a full store gives up. */
const RENEW_MS = 60_000;

function note(recent: Recent, id: string, exchange: string, openTs: number, closeTs: number): void {
  const { calls } = recent;
  const at = recent.next % KEPT;
  recent.next = at + 1;
  const place = calls[at];
  if (place === undefined) {
    calls.push({ id, exchange, openTs, closeTs });
    return;
  }
  place.id = id;
  place.exchange = exchange;
  place.openTs = openTs;
  place.closeTs = closeTs;
}

export const duplicateInFlightId = detector({
  rule: 'duplicate_in_flight_id',
  on: ['verdict'],
  fires: 'two requests of one client with the same JSON-RPC id were in flight at the same time',
  means: 'An answer can reach the wrong caller, or nobody.',
  needs: '`client`, `rpc_id`, open times',
  source: 'JSON-RPC 2.0; MCP basic: request ids must be unique within a session',
  action: 'Give each client its own id counter; look for two processes that share one client identity.',
  create({ memory }) {
    const clients = memory<Recent>('client_calls', LIMITS.patterns);
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
      const recent = clients.get(key);
      if (recent === undefined) {
        const calls = [{ id, exchange: exchange.id, openTs, closeTs }];
        clients.set(key, { ts: closeTs, until: closeTs, calls, next: 1 });
        return;
      }
      // One call after another, as most clients do, has nothing to compare.
      const other =
        openTs >= recent.until
          ? undefined
          : recent.calls.find((each) => each.id === id && each.openTs < closeTs && openTs < each.closeTs);
      if (closeTs - recent.ts > RENEW_MS) {
        recent.ts = closeTs;
        clients.set(key, recent);
      }
      recent.until = Math.max(recent.until, closeTs);
      note(recent, id, exchange.id, openTs, closeTs);
      if (other !== undefined)
        emit(
          aboutExchange('duplicate_in_flight_id', exchange, {
            other: other.exchange,
            overlap_ms: Math.min(closeTs, other.closeTs) - Math.max(openTs, other.openTs),
          }),
        );
    };
  },
});
