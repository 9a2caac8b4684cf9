/** A response stream ended and nothing proves that it was complete or cut. */
import { detector, placeOf } from './detector.ts';

export const ambiguousClose = detector({
  rule: 'ambiguous_close',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a response stream ended with outcome `ambiguous`',
  means: 'Nobody can say whether the answer was complete. The caller may hold a part of it, or wait for ever.',
  needs: 'nothing more than `close` lines',
  source: 'seed document on stream completion; design section 4, row 13',
  action: 'Find who ends the streams (a rollout, a proxy limit); let the server declare a mandatory terminal message.',
  create: () => (fact, emit) => {
    const { exchange, verdict } = fact;
    if (verdict?.outcome !== 'ambiguous') return;
    emit({
      is: 'finding',
      rule: 'ambiguous_close',
      server: exchange.server,
      exchange: exchange.id,
      trace: exchange.fields.trace ?? null,
      ts: exchange.closeTs,
      at: placeOf(exchange),
      evidence: {
        cause: verdict.cause,
        cut: verdict.cut,
        stage: verdict.stage,
        bytes: exchange.fields.bytes ?? null,
        framing: exchange.fields.framing ?? null,
        endpoint: exchange.endpoint,
      },
    });
  },
});
