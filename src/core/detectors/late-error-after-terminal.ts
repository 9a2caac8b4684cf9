/** The answer had arrived, then the transport broke: hosts show an error for a call that worked. */
import { type DetectorSpec, stateless } from './detector.ts';

export const lateErrorAfterTerminal: DetectorSpec = {
  rule: 'late_error_after_terminal',
  fires: 'the terminal message was seen and the exchange then ended in an error that the client did not cause',
  create: stateless((fact, emit) => {
    if (fact.is !== 'verdict' || fact.verdict === null) return;
    const { exchange } = fact;
    const { how, by, error } = exchange.fields;
    if (!exchange.terminal || how !== 'error' || by === 'client') return;
    emit({
      is: 'finding',
      rule: 'late_error_after_terminal',
      server: exchange.server,
      exchange: exchange.id,
      ts: exchange.closeTs,
      evidence: { error: error ?? null, bytes: exchange.fields.bytes ?? null },
    });
  }),
};
