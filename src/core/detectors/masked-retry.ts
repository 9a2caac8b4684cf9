/** A failed attempt was repeated and the repetition delivered: no error was ever counted. */
import type { Attempt } from '../model/operation.ts';
import { detector, placeOf } from './detector.ts';

export const maskedRetry = detector({
  rule: 'masked_retry',
  on: ['operation'],
  ignoresPlain: true,
  fires: 'an operation was delivered by a retry (`masked_rotated`, `masked` or `masked_unknown`)',
  means: 'A failure that no error rate shows. If the call writes, it may have run twice.',
  needs: '`args_digest` or `request_key`, `endpoint`',
  source: 'design section 5',
  action: 'Look at the first attempt, not at the one that worked; see unsafe_retry for writes.',
  create: () => (fact, emit) => {
    if (!fact.result.startsWith('masked')) return;
    const { operation, result, edges, ts } = fact;
    const last = operation.attempts.at(-1) as Attempt;
    emit({
      is: 'finding',
      rule: 'masked_retry',
      server: operation.server,
      exchange: last.exchange,
      trace: last.trace,
      ts,
      at: placeOf(last),
      evidence: {
        result,
        method: operation.method,
        attempts: operation.attempts.length,
        after: edges[0]?.after ?? null,
        safety: edges.some((edge) => edge.safety === 'unsafe') ? 'unsafe' : (edges[0]?.safety ?? null),
      },
    });
  },
});
