/** The answer had arrived, then the transport broke: hosts show an error for a call that worked. */
import { detector, placeOf } from './detector.ts';

export const lateErrorAfterTerminal = detector({
  rule: 'late_error_after_terminal',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'the terminal message was seen and the exchange then ended in an error that the client did not cause',
  means: 'The server did its work; hosts show an error for a call that worked.',
  needs: '`close` lines with `terminal`',
  source: 'measured with both TypeScript SDKs',
  action: 'Find who drops the end of the body (a missing chunk terminator, a reset); do not repeat the call.',
  create: () => (fact, emit) => {
    if (fact.verdict === null) return;
    const { exchange } = fact;
    const { how, by, error } = exchange.fields;
    if (!exchange.terminal || how !== 'error' || by === 'client') return;
    emit({
      is: 'finding',
      rule: 'late_error_after_terminal',
      server: exchange.server,
      exchange: exchange.id,
      trace: exchange.fields.trace ?? null,
      ts: exchange.closeTs,
      at: placeOf(exchange),
      evidence: { error: error ?? null, bytes: exchange.fields.bytes ?? null },
    });
  },
});
