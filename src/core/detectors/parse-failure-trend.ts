/** Parse failures grow with the length of the payload: truncation that looks like bad JSON. */
import { detector, placeOf } from './detector.ts';
import { createTrendWindows } from './trend-window.ts';

export const parseFailureTrend = detector({
  rule: 'parse_failure_trend',
  on: ['trend'],
  fires: 'z > 4, r > 0.1 and at least 10 failures of known full length in 30 min',
  means: 'Long answers are cut on the way. A dashboard of error rates shows a few bad parses.',
  needs: '`parse` lines with lengths',
  source: 'design section 7',
  action: 'Look for a buffer, a body limit or a time limit between host and server.',
  create: ({ health, limits }) => {
    const add = createTrendWindows(
      'trend_windows',
      health,
      (w) => w.nFailed >= limits.parse_trend_failures && w.z > limits.parse_trend_z && w.r > limits.parse_trend_r,
    );
    return (fact, emit) => {
      const crossed = add(fact);
      if (crossed === null) return;
      emit({
        is: 'finding',
        rule: 'parse_failure_trend',
        server: fact.server,
        exchange: fact.exchange,
        trace: fact.trace,
        ts: fact.ts,
        at: placeOf(fact),
        evidence: { of: fact.of, r: round(crossed.r), z: round(crossed.z), failed: crossed.failed, ok: crossed.ok },
      });
    };
  },
});

const round = (x: number): number => Math.round(x * 1000) / 1000;
