/** A session is dead and its client goes on using it. */
import { clientOf } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { statusMeaning } from '../protocol/status.ts';
import { aboutExchange, detector } from './detector.ts';

interface Dead {
  readonly ts: number;
  readonly exchange: string;
  fired: boolean;
}

export const missingReinitialize = detector({
  rule: 'missing_reinitialize',
  on: ['verdict', 'client'],
  ignoresPlainWithout: 'dead_sessions',
  fires:
    'a request with a session header was sent after the server had said that the session is gone, without `initialize` in between',
  means: 'The client does not recover from an expired session: every call fails until somebody restarts it.',
  needs: '`session`, `status`; `client`',
  source: 'MCP 2025-11-25, basic/transports: on 404 a client must start a new session',
  action: 'Recreate the client on 404. Neither TypeScript SDK does it by itself (measured).',
  create({ memory }) {
    const dead = memory<Dead>('dead_sessions', LIMITS.patterns);
    return (fact, emit) => {
      if (fact.is === 'client') {
        const { event } = fact.event.fields;
        if (event !== 'closed') dead.delete(fact.client);
        return;
      }
      const { exchange } = fact;
      if (exchange.client === null) return;
      if (exchange.fields.method === 'initialize') {
        if (dead.size > 0 && exchange.terminal) dead.delete(clientOf(exchange));
        return;
      }
      if (exchange.fields.session !== true) return;
      const refused = statusMeaning(exchange) === 'session_expired';
      if (!refused && dead.size === 0) return;
      const key = clientOf(exchange);
      const known = dead.get(key);
      if (known === undefined) {
        if (refused) dead.set(key, { ts: exchange.closeTs, exchange: exchange.id, fired: false });
        return;
      }
      // What was on its way when the session died could not know. A DELETE only tidies up.
      if (known.fired || exchange.openTs <= known.ts || exchange.http === 'DELETE') return;
      // An answer says that it lives after all; a use that failed otherwise is a use of a dead session too.
      const { status } = exchange.fields;
      if (!refused && (exchange.terminal || (typeof status === 'number' && status < 300))) {
        dead.delete(key);
        return;
      }
      known.fired = true;
      emit(
        aboutExchange('missing_reinitialize', exchange, {
          dead_since_ms: exchange.openTs - known.ts,
          first: known.exchange,
        }),
      );
    };
  },
});
