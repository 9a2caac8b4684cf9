/** A response stream ended and nothing proves that it was complete or cut. */
import { type DetectorSpec, stateless } from './detector.ts';

export const ambiguousClose: DetectorSpec = {
  rule: 'ambiguous_close',
  fires: 'a response stream ended with outcome `ambiguous`',
  create: stateless((fact, emit) => {
    if (fact.is !== 'verdict' || fact.verdict?.outcome !== 'ambiguous') return;
    const { exchange, verdict } = fact;
    emit({
      is: 'finding',
      rule: 'ambiguous_close',
      server: exchange.server,
      exchange: exchange.id,
      ts: exchange.closeTs,
      evidence: {
        cause: verdict.cause,
        cut: verdict.cut,
        stage: verdict.stage,
        bytes: exchange.fields.bytes ?? null,
        framing: exchange.fields.framing ?? null,
        endpoint: exchange.endpoint,
      },
    });
  }),
};
