/** A request that may have run was sent again with nothing that makes a second run harmless. */
import { type DetectorSpec, stateless } from './detector.ts';

export const unsafeRetry: DetectorSpec = {
  rule: 'unsafe_retry',
  fires: 'a retry edge has safety `unsafe`',
  create: stateless((fact, emit) => {
    if (fact.is !== 'operation') return;
    for (const edge of fact.edges) {
      if (edge.safety !== 'unsafe') continue;
      emit({
        is: 'finding',
        rule: 'unsafe_retry',
        server: fact.operation.server,
        exchange: edge.to.exchange,
        ts: edge.to.openTs,
        evidence: { after: edge.after, endpoint: edge.endpoint, outcome: edge.outcome, earlier: edge.from.exchange },
      });
    }
  }),
};
