/** A request that may have run was sent again with nothing that makes a second run harmless. */
import { detector, placeOf } from './detector.ts';

export const unsafeRetry = detector({
  rule: 'unsafe_retry',
  on: ['operation'],
  ignoresPlain: true,
  fires: 'a retry edge has safety `unsafe`',
  means: 'A write may have been done twice.',
  needs: '`args_digest` or `request_key`',
  source: 'design section 5; seed 002',
  action:
    'Check the destination. Use idempotency keys, or confirm the tool as read-only (`servers.NAME.read_only_tools`).',
  create: () => (fact, emit) => {
    for (const edge of fact.edges) {
      if (edge.safety !== 'unsafe') continue;
      emit({
        is: 'finding',
        rule: 'unsafe_retry',
        server: fact.operation.server,
        exchange: edge.to.exchange,
        trace: edge.to.trace,
        ts: edge.to.openTs,
        at: placeOf(edge.to),
        evidence: { after: edge.after, endpoint: edge.endpoint, outcome: edge.outcome, earlier: edge.from.exchange },
      });
    }
  },
});
