/** The caller was told `timeout` long after the stream had ended: nothing had timed out, the end went unnoticed. */
import { aboutAttempt, detector } from './detector.ts';

export const misattributedTimeout = detector({
  rule: 'misattributed_timeout',
  on: ['operation'],
  ignoresPlain: true,
  fires:
    'the caller was told `timeout` at least 1 s after the stream had ended, not by the client, without its terminal message',
  means: 'The client did not notice the end of the stream. Dashboards show a slow server where a connection was cut.',
  needs: '`settle` lines',
  source: 'modelcontextprotocol/python-sdk issue 3441, typescript-sdk issue 2739',
  action: 'Look at the cause of the stream end, not at latency. A longer time-out only makes callers wait longer.',
  create:
    ({ limits }) =>
    (fact, emit) => {
      if (fact.result === 'first_try') return;
      for (const attempt of fact.operation.attempts) {
        const { settled, settledTs, terminal, verdict, closeTs } = attempt;
        if (settled !== 'timeout' || terminal || verdict === null) continue;
        // The client ended the stream itself: it knew.
        if (verdict.by === 'client' && verdict.outcome === 'abandoned') continue;
        const ended = verdict.cause === 'resumed' ? attempt.judgedTs : closeTs;
        // NaN while open: no comparison holds.
        if (!(settledTs - ended >= limits.misattributed_ms)) continue;
        emit(
          aboutAttempt('misattributed_timeout', attempt, settledTs, {
            lag_ms: settledTs - ended,
            cause: verdict.cause,
            cut: verdict.cut,
          }),
        );
      }
    },
});
