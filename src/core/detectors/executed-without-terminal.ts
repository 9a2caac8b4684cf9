/** A tool ran on a payload whose exchange never brought its answer. */
import { aboutAttempt, detector } from './detector.ts';

export const executedWithoutTerminal = detector({
  rule: 'executed_without_terminal',
  on: ['settle'],
  fires: 'the host reports that a tool ran on the payload of an exchange that ended without its terminal message',
  means: 'Something was executed on arguments or a result that may have been cut.',
  needs: '`settle` lines with `executed`',
  source: 'seed document on stream completion: never run a tool on an unproven stream',
  action: 'Make the host wait for the terminal message before it executes; check what the tool did.',
  create: () => (fact, emit) => {
    const { attempt, event } = fact;
    if (event.fields.executed !== true || attempt === null || attempt.terminal) return;
    const { verdict, suspended, idMatch } = attempt;
    // Open, or a kind that is not judged. One that waits for a resume has ended without its answer.
    if (verdict === null && suspended === false) return;
    // A whole payload of the same id is proof enough, without the message of the protocol.
    if (verdict?.cause === 'integrity_ok' && idMatch !== 'mismatch' && idMatch !== 'null_id') return;
    emit(
      aboutAttempt('executed_without_terminal', attempt, event.ts, {
        cause: verdict?.cause ?? 'suspended',
        cut: verdict?.cut ?? 'unknown',
      }),
    );
  },
});
