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
    if (event.fields.executed !== true || attempt === null || attempt.terminal || attempt.verdict === null) return;
    // A whole payload without the message of the protocol is proof enough.
    if (attempt.verdict.outcome === 'clean') return;
    emit(
      aboutAttempt('executed_without_terminal', attempt, event.ts, {
        cause: attempt.verdict.cause,
        cut: attempt.verdict.cut,
      }),
    );
  },
});
