/** Calls that were hurt by another one's failure: they were in flight on the same client when it broke. */
import type { Exchange } from '../model/exchange.ts';
import { clientOf } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import type { Side } from '../model/verdict.ts';
import { aboutExchange, detector } from './detector.ts';

interface Break {
  readonly ts: number;
  readonly exchange: string;
  readonly endpoint: string | null;
  readonly cause: string;
}
interface Breaks {
  readonly ts: number;
  readonly all: readonly Break[];
}
/** Did the endpoint end both? Not where the client ended this one, nor where both endpoints are known and differ. */
const mayBeBurst = (endpoint: string | null, by: Side, other: Break): boolean =>
  by !== 'client' && (endpoint === null || other.endpoint === null || endpoint === other.endpoint);
/** More breaks of one client within the time that a sibling takes to fail say nothing new. */
const KEPT = 8;

export const collateralFailure = detector({
  rule: 'collateral_failure',
  on: ['verdict', 'suspended'],
  ignoresPlain: true,
  fires:
    'an exchange that was in flight on a client when another one of it broke failed within 1 s, and not because its endpoint ended it',
  means: 'The client gave up healthy calls together with the broken one.',
  needs: '`client`, and the open time of the exchanges',
  source: 'modelcontextprotocol/python-sdk issue 3522',
  action: 'Use one client per independent task until the SDK is fixed; look at the exchange that broke first.',
  create({ memory, limits }) {
    const clients = memory<Breaks>('client_breaks', LIMITS.patterns);
    const note = ({ closeTs: ts, id, endpoint }: Exchange, key: string, cause: string): void => {
      const all = [...(clients.get(key)?.all ?? []), { ts, exchange: id, endpoint, cause }].slice(-KEPT);
      clients.set(key, { ts, all });
    };
    return (fact, emit) => {
      if (fact.is === 'suspended') {
        // What broke while it could be resumed has hurt the others by the time of its verdict.
        const { exchange } = fact;
        const { how, by } = exchange.fields;
        if (how === 'error' && by !== 'client' && exchange.client !== null)
          note(exchange, clientOf(exchange), 'transport_error');
        return;
      }
      const { exchange, kind, verdict } = fact;
      if (verdict === null || verdict.outcome === 'clean' || exchange.client === null) return;
      // An open or subscribed stream that ends is no call that was hurt, but it can be what broke.
      const key = clientOf(exchange);
      const known = clients.get(key);
      if (known !== undefined && kind === 'response') {
        const by = known.all.find(
          (other) =>
            exchange.openKnown &&
            other.exchange !== exchange.id &&
            exchange.openTs <= other.ts &&
            other.ts <= exchange.closeTs &&
            exchange.closeTs - other.ts <= limits.collateral_ms &&
            !mayBeBurst(exchange.endpoint, verdict.by, other),
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
      if (verdict.by !== 'client' && verdict.row !== 6) note(exchange, key, verdict.cause);
    };
  },
});
