/** The host mended broken JSON before it used it. */
import { detector, placeOf } from './detector.ts';

export const repairedArguments = detector({
  rule: 'repaired_arguments',
  on: ['parse'],
  fires: 'a parse line says that the payload was repaired',
  means: 'What was cut off is gone; the tool ran on what a repair made of the rest.',
  needs: '`parse` lines with `repaired`',
  source: 'seed document on truncated tool arguments',
  action: 'Refuse payloads that do not parse; never repair the arguments of a write.',
  create: () => (fact, emit) => {
    if (!fact.repaired) return;
    const { server, exchange, ts, of, bytes } = fact;
    emit({
      is: 'finding',
      rule: 'repaired_arguments',
      server,
      exchange,
      ts,
      trace: fact.trace,
      at: placeOf(fact),
      evidence: { of, bytes },
    });
  },
});
