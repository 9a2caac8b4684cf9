/** A tool call changed what a later list returns, and nobody said so. */

import { isStateless } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { CALL } from '../protocol/methods.ts';
import { aboutExchange, detector } from './detector.ts';
import { announces, listKey } from './listed.ts';

/** What happened on a server whose lists are seen. */
interface Seen {
  readonly ts: number;
  calledTs: number;
  notifiedTs: number;
}
/** The latest list of one place: endpoint and client, with one authorisation. */
interface Place {
  readonly ts: number;
  readonly digest: string;
  readonly count: number | null;
}

export const listChangedAfterCall = detector({
  rule: 'list_changed_after_call',
  on: ['verdict', 'notified'],
  ignoresPlainWithout: 'listed_servers',
  fires:
    'on 2026-07-28 a list differs from the one at most 5 min before it at the same endpoint and client, a tools/call on that server lies between them, and no notification came',
  means: 'The server keeps state between calls (a login, an unlock): what an agent sees depends on its past.',
  needs: '`list` with `digest`',
  source: 'stateless checklist (seed 003)',
  action: 'Expose every tool from the start and refuse by authorisation, or announce the change with `list_changed`.',
  create({ memory, limits }) {
    const servers = memory<Seen>('listed_servers', LIMITS.patterns);
    const places = memory<Place>('listed_places', LIMITS.patterns);
    return (fact, emit) => {
      if (fact.is === 'notified') {
        const seen = servers.get(fact.server);
        if (seen !== undefined) seen.notifiedTs = Math.max(seen.notifiedTs, fact.ts);
        return;
      }
      const { exchange, kind } = fact;
      const { fields, closeTs, server } = exchange;
      const seen = servers.get(server);
      if (seen !== undefined && announces(exchange, kind)) seen.notifiedTs = Math.max(seen.notifiedTs, closeTs);
      if (fields.method === CALL) {
        if (seen !== undefined) seen.calledTs = Math.max(seen.calledTs, closeTs);
        return;
      }
      const { list, method } = fields;
      const listed = listKey(exchange);
      if (typeof list?.digest !== 'string' || listed === null || !isStateless(exchange)) return;
      const { calledTs, notifiedTs } = seen ?? {
        calledTs: Number.NEGATIVE_INFINITY,
        notifiedTs: Number.NEGATIVE_INFINITY,
      };
      servers.set(server, { ts: closeTs, calledTs, notifiedTs });
      const key = [exchange.client, exchange.endpoint, listed].join('\n');
      const before = places.get(key);
      places.set(key, { ts: closeTs, digest: list.digest, count: list.count ?? null });
      if (before === undefined || before.digest === list.digest) return;
      // Of lists further apart a deployment may be the reason, and on a busy server a call always lies between.
      if (closeTs - before.ts > limits.list_drift_ms) return;
      const called = calledTs >= before.ts && calledTs <= closeTs;
      if (!called || notifiedTs >= before.ts) return;
      emit(
        aboutExchange('list_changed_after_call', exchange, {
          method: method as string,
          count: list.count ?? null,
          before: before.count,
          after_call_ms: closeTs - calledTs,
        }),
      );
    };
  },
});
