/** A failed attempt was repeated and the repetition delivered: no error was ever counted. */
import { type DetectorSpec, stateless } from './detector.ts';

export const maskedRetry: DetectorSpec = {
  rule: 'masked_retry',
  fires: 'an operation was delivered by a retry (`masked_rotated`, `masked` or `masked_unknown`)',
  create: stateless((fact, emit) => {
    if (fact.is !== 'operation' || !fact.result.startsWith('masked')) return;
    const { operation, result, edges, ts } = fact;
    emit({
      is: 'finding',
      rule: 'masked_retry',
      server: operation.server,
      exchange: operation.attempts.at(-1)?.exchange ?? null,
      ts,
      evidence: {
        result,
        method: operation.method,
        attempts: operation.attempts.length,
        after: edges[0]?.after ?? null,
        safety: edges.some((edge) => edge.safety === 'unsafe') ? 'unsafe' : (edges[0]?.safety ?? null),
      },
    });
  }),
};
