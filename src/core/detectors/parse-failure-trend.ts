/** Parse failures grow with the length of the payload: truncation that looks like bad JSON. */
import { detector, placeOf } from './detector.ts';
import { createTrendWindows } from './trend-window.ts';

const MIN_Z = 4;
const MIN_R = 0.1;
const MIN_FAILURES = 10;

export const parseFailureTrend = detector({
  rule: 'parse_failure_trend',
  on: 'trend',
  fires: `z > ${MIN_Z}, r > ${MIN_R} and at least ${MIN_FAILURES} failures of known full length in 30 min`,
  create: (health) => {
    const add = createTrendWindows(
      'trend_windows',
      health,
      (w) => w.nFailed >= MIN_FAILURES && w.z > MIN_Z && w.r > MIN_R,
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
