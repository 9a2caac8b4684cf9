/** A client asked for the new revision and then fell back to the old handshake. */
import { clientOf } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

interface Probe {
  readonly ts: number;
  readonly exchange: string;
  readonly client: string | null;
  readonly status: number | null;
  readonly answered: boolean;
}
/** Where the client of one is not known: a probe and the handshake that follows it belong to one start of a host. */
const WITHIN_MS = 60_000;

export const eraDowngrade = detector({
  rule: 'era_downgrade',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a client sent `server/discover` and then `initialize` to one server',
  means:
    'The probe for 2026-07-28 did not get a usable answer, and the client silently went back to sessions and resumption.',
  needs: '`method`',
  source: 'measured with @modelcontextprotocol/client 2.4.0 in its automatic mode',
  action:
    'If the server speaks 2026-07-28, find what breaks the probe (a 404 of a gateway, a wrong route); else pin the older revision.',
  create({ memory }) {
    const probes = memory<Probe>('discover_probes', LIMITS.patterns);
    return (fact, emit) => {
      const { exchange } = fact;
      const { method, status } = exchange.fields;
      if (method !== 'server/discover' && method !== 'initialize') return;
      const own = `${clientOf(exchange)}\n${exchange.server}`;
      const shared = `${exchange.host}\n${exchange.server}\n`;
      if (method === 'server/discover') {
        const answered =
          exchange.terminal &&
          exchange.fields.terminal_kind !== 'error' &&
          typeof exchange.fields.error_code !== 'number';
        const probe = {
          ts: exchange.closeTs,
          exchange: exchange.id,
          client: exchange.client,
          status: status ?? null,
          answered,
        };
        probes.set(shared, probe);
        if (exchange.client !== null) probes.set(own, probe);
        return;
      }
      const mine = exchange.client === null ? undefined : probes.get(own);
      const any = probes.get(shared);
      // Another client's probe that worked is no downgrade of this one.
      const isNear = any !== undefined && exchange.openTs - any.ts <= WITHIN_MS;
      const isNameless = any?.client === null || exchange.client === null;
      const probe = mine ?? (isNear && isNameless && !any.answered ? any : undefined);
      if (probe === undefined || exchange.openTs < probe.ts) return;
      probes.delete(shared);
      probes.delete(own);
      emit(
        aboutExchange('era_downgrade', exchange, {
          probe: probe.exchange,
          status: probe.status,
          answered: probe.answered,
        }),
      );
    };
  },
});
