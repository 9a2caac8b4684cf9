/** The answer had arrived, and its caller was told of a failure all the same. */
import { aboutAttempt, detector } from './detector.ts';

export const discardedResponse = detector({
  rule: 'discarded_response',
  on: ['operation'],
  ignoresPlain: true,
  fires: 'the terminal message of a 2xx response was seen, and the caller was then told `error` or `timeout`',
  means:
    'The server did the work and answered; the client threw the answer away (a late transport error, a payload it could not parse).',
  needs: '`settle` lines',
  source: 'measured with both TypeScript SDKs (a missing chunk terminator behind a whole JSON document)',
  action: 'Fetch the result instead of repeating the call; look for the proxy that drops the end of the body.',
  create: () => (fact, emit) => {
    if (fact.result === 'first_try') return;
    for (const attempt of fact.operation.attempts) {
      const { settled, settledTs, terminal, terminalTs, status } = attempt;
      if (!terminal || (settled !== 'error' && settled !== 'timeout')) continue;
      // An answer that came after its caller had given up was late, not thrown away.
      if (settledTs < (terminalTs ?? attempt.closeTs)) continue;
      if (status !== null && (status < 200 || status > 299)) continue;
      emit(aboutAttempt('discarded_response', attempt, settledTs, { settled, parse_failed: attempt.parseFailed }));
    }
  },
});
