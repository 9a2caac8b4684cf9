/** Calls that were hurt by another one's failure: they were in flight on the same client when it broke. */
import { clientOf } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

interface Break {
  readonly ts: number;
  readonly exchange: string;
  readonly endpoint: string | null;
  readonly cause: string;
}
interface Breaks {
  ts: number;
  all: readonly Break[];
}
/** More breaks of one client within the time that a sibling takes to fail say nothing new. */
const KEPT = 8;

export const collateralFailure = detector({
  rule: 'collateral_failure',
  on: ['verdict'],
  fires:
    'an exchange that was in flight on a client when another one of it broke failed within 1 s, and not because its endpoint ended it',
  means: 'The client gave up healthy calls together with the broken one.',
  needs: '`client`, and the open time of the exchanges',
  source: 'modelcontextprotocol/python-sdk issue 3522',
  action: 'Use one client per independent task until the SDK is fixed; look at the exchange that broke first.',
  create({ memory, limits }) {
    const clients = memory<Breaks>('client_breaks', LIMITS.clients);
    return (fact, emit) => {
      const { exchange, kind, verdict } = fact;
      if (verdict === null || verdict.outcome === 'clean' || exchange.client === null) return;
      // An open or subscribed stream that ends is no call that was hurt, but it can be what broke.
      const key = clientOf(exchange);
      const known = clients.get(key);
      if (known !== undefined && kind === 'response') {
        const by = known.all.find(
          (other) =>
            exchange.openKnown &&
            exchange.openTs <= other.ts &&
            other.ts <= exchange.closeTs &&
            exchange.closeTs - other.ts <= limits.collateral_ms &&
            !(verdict.by === 'peer' && (exchange.endpoint === null || exchange.endpoint === other.endpoint)),
        );
        if (by !== undefined)
          emit(
            aboutExchange('collateral_failure', exchange, {
              broken: by.exchange,
              cause: by.cause,
              after_ms: exchange.closeTs - by.ts,
            }),
          );
      }
      if (verdict.by === 'client') return;
      const { closeTs: ts, id, endpoint } = exchange;
      const all = [...(known?.all ?? []), { ts, exchange: id, endpoint, cause: verdict.cause }].slice(-KEPT);
      clients.set(key, { ts, all });
    };
  },
});
