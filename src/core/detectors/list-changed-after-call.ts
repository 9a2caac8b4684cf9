/** A tool call changed what a later list returns, and nobody said so. */

import { isStateless } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { CALL } from '../protocol/methods.ts';
import { aboutExchange, detector } from './detector.ts';

interface Seen {
  ts: number;
  calledTs: number;
  notifiedTs: number;
  /** Latest digest by list, place and authorisation. */
  lists: Map<string, { readonly ts: number; readonly digest: string; readonly count: number | null }>;
}
const KEPT = 64;

export const listChangedAfterCall = detector({
  rule: 'list_changed_after_call',
  on: ['verdict', 'notified'],
  fires:
    'on 2026-07-28 a list differs from the one before it at the same endpoint and client, a tools/call on that server lies between them, and no notification came',
  means: 'The server keeps state between calls (a login, an unlock): what an agent sees depends on its past.',
  needs: '`list` with `digest`',
  source: 'stateless checklist (seed 003)',
  action: 'Expose every tool from the start and refuse by authorisation, or announce the change with `list_changed`.',
  create({ memory }) {
    const servers = memory<Seen>('listed_servers', LIMITS.patterns);
    return (fact, emit) => {
      if (fact.is === 'notified') {
        const seen = servers.get(fact.server);
        if (seen !== undefined) seen.notifiedTs = Math.max(seen.notifiedTs, fact.ts);
        return;
      }
      const { exchange } = fact;
      const { fields, closeTs, server } = exchange;
      const seen = servers.get(server);
      // Which notification it was is not in the events: any one may have announced the change.
      if (seen !== undefined && (fields.notifications ?? 0) > 0) seen.notifiedTs = Math.max(seen.notifiedTs, closeTs);
      if (fields.method === CALL) {
        if (seen !== undefined) seen.calledTs = Math.max(seen.calledTs, closeTs);
        return;
      }
      const { list, method } = fields;
      if (typeof list?.digest !== 'string' || typeof method !== 'string' || !isStateless(exchange)) return;
      const known = seen ?? {
        ts: 0,
        calledTs: Number.NEGATIVE_INFINITY,
        notifiedTs: Number.NEGATIVE_INFINITY,
        lists: new Map(),
      };
      known.ts = closeTs;
      servers.set(server, known);
      const key = [exchange.writer, exchange.client, exchange.endpoint, method, list.auth ?? ''].join('\n');
      const before = known.lists.get(key);
      known.lists.delete(key);
      if (known.lists.size >= KEPT) known.lists.delete(known.lists.keys().next().value as string);
      known.lists.set(key, { ts: closeTs, digest: list.digest, count: list.count ?? null });
      if (before === undefined || before.digest === list.digest) return;
      const called = known.calledTs >= before.ts && known.calledTs <= closeTs;
      if (!called || known.notifiedTs >= before.ts) return;
      emit(
        aboutExchange('list_changed_after_call', exchange, {
          method,
          count: list.count ?? null,
          before: before.count,
          after_call_ms: closeTs - known.calledTs,
        }),
      );
    };
  },
});
