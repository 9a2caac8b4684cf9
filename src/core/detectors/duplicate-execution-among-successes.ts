/** The same write succeeded twice, with no failure that an error rate could show. */

import type { Exchange } from '../model/exchange.ts';
import { hash53 } from '../model/hash53.ts';
import { LIMITS } from '../model/limits.ts';
import { CALL } from '../protocol/methods.ts';
import { aboutExchange, detector } from './detector.ts';
import { callHash, clientBits, createSuccessLog, exchangeBits, type Success } from './success-log.ts';

/** Replacements of one client that are remembered. */
const KEPT_REPLACEMENTS = 4;
interface Noted {
  readonly ts: number;
}

export const duplicateExecutionAmongSuccesses = detector({
  rule: 'duplicate_execution_among_successes',
  on: ['verdict', 'settle', 'client'],
  fires:
    'two equal tools/call with different ids both brought a result; they overlapped, or the second opened within 120 s after the caller of the first was told timeout or cancelled, or its client was replaced',
  means:
    'A layer above the client ran the call again while, or although, the first one worked. A write was done twice.',
  needs: '`args_digest`, `rpc_id`',
  source: 'deltawi/deltallm PR 279, first-tree-ai/opentag PR 652',
  action:
    'Check the destination for doubles. Give such writes an idempotency key, and remove one of the retrying layers.',
  create({ memory, limits, health, exchangeKey }) {
    const successes = createSuccessLog(health, limits.duplicate_ms);
    /** The caller of an exchange was told timeout or cancelled; a client was replaced. */
    const told = memory<Noted>('told_callers', LIMITS.troubledCalls);
    const replaced = memory<Noted & { readonly all: readonly number[] }>('lost_clients', LIMITS.patterns);

    /** What made the second one look like a repetition: overlap, or a cause that lies between the two. */
    const causeOf = (first: Success, second: Success): string | null => {
      const after = (ts: number | undefined): boolean =>
        ts !== undefined && ts >= first.openTs && second.openTs >= ts && second.openTs - ts <= limits.duplicate_ms;
      const wasReplaced = replaced.get(String(first.client))?.all.some(after) === true;
      // Of two clients only a replaced one says that the second call repeats the first.
      if (first.client === second.client || first.client === 0 || second.client === 0) {
        if (first.openKnown && second.openKnown && second.openTs < first.ts) return 'overlap';
        if (after(told.get(String(first.exchange))?.ts)) return 'caller_gave_up';
      }
      return wasReplaced ? 'client_replaced' : null;
    };

    const onSuccess = (exchange: Exchange): Parameters<typeof aboutExchange> | null => {
      const hash = callHash(exchange);
      const pair = hash === null ? undefined : successes.swap(hash, exchange);
      if (pair === undefined) return null;
      const { before, now } = pair;
      const [first, second] = before.openTs <= now.openTs ? [before, now] : [now, before];
      // The same id on the same client is the same request: a hop, or a line of another writer. Ids of two clients do not compare.
      const mayBeOne = first.rpc === 0 || second.rpc === 0 || first.rpc === second.rpc;
      if (first.client === second.client && mayBeOne) return null;
      const cause = causeOf(first, second);
      if (cause === null) return null;
      const evidence = { cause, other_opened_ms: before.openTs, apart_ms: second.openTs - first.openTs };
      return ['duplicate_execution_among_successes', exchange, evidence];
    };

    return (fact, emit) => {
      if (fact.is === 'settle') {
        const { fields, origin, ts } = fact.event;
        const { result, exchange } = fields;
        if ((result !== 'timeout' && result !== 'cancelled') || typeof exchange !== 'string') return;
        const key = String(exchangeBits({ hash: hash53(exchangeKey(fields.host ?? origin.host, exchange)) }));
        if (!told.has(key)) told.set(key, { ts });
        return;
      }
      if (fact.is === 'client') {
        const { event } = fact.event.fields;
        if (event === 'closed' || event === 'reconnected' || event === 'reinitialized')
          replaced.set(clientBits(fact.client), {
            ts: fact.event.ts,
            all: [...(replaced.get(clientBits(fact.client))?.all ?? []), fact.event.ts].slice(-KEPT_REPLACEMENTS),
          });
        return;
      }
      const { exchange, kind } = fact;
      const { fields } = exchange;
      if (kind !== 'response' || fields.method !== CALL || !exchange.terminal || fields.terminal_kind === 'error')
        return;
      if (typeof fields.error_code === 'number' || fields.result_type === 'input_required') return;
      if (fields.idempotency_key === true || fields.annotations?.read_only === true) return;
      if (typeof fields.target === 'string' && exchange.policy?.isReadOnlyTool(fields.target)) return;
      // When it was cancelled is not known: at the latest when it ended.
      if (exchange.timeoutTs !== null || exchange.cancelled) {
        const key = String(exchangeBits(exchange));
        if (!told.has(key)) told.set(key, { ts: exchange.timeoutTs ?? exchange.closeTs });
      }
      const finding = onSuccess(exchange);
      if (finding !== null) emit(aboutExchange(...finding));
    };
  },
});
