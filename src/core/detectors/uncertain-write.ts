/** A call that may have changed something, and no evidence tells whether it did. */
import type { Attempt } from '../model/operation.ts';
import { detector, placeOf } from './detector.ts';

export const uncertainWrite = detector({
  rule: 'uncertain_write',
  on: ['operation'],
  ignoresPlain: true,
  fires: 'the next action of an operation is `confirm_outcome`',
  means: 'It was sent, it is not known to be harmless, and nothing proves its outcome.',
  needs: '`sent`, `method`',
  source: 'seed 002: evidence and next action',
  action: 'Confirm at the destination before anything is repeated.',
  create: () => (fact, emit) => {
    if (fact.nextAction !== 'confirm_outcome') return;
    const { operation, result, hint, ts } = fact;
    const last = operation.attempts.at(-1) as Attempt;
    emit({
      is: 'finding',
      rule: 'uncertain_write',
      server: operation.server,
      exchange: last.exchange,
      trace: last.trace,
      ts,
      at: placeOf(last),
      evidence: { result, hint, attempts: operation.attempts.length, method: operation.method },
    });
  },
});
