/** A hard limit on the way: everything at or above some size fails, everything below it passes. */
import { detector, placeOf } from './detector.ts';
import { createTrendWindows } from './trend-window.ts';

export const parseFailureSizeStep = detector({
  rule: 'parse_failure_size_step',
  on: ['trend'],
  fires: 'at least 10 attempts at or above some size all fail and at least 20 below it all pass, in 30 min',
  means: 'A hard limit on the way: all that is longer is cut.',
  needs: '`parse` lines with lengths',
  source: 'design section 6',
  action: 'Find the limit of that size: a proxy buffer, a gateway quota, a maximum body.',
  create: ({ health, limits }) => {
    // What arrived of a cut payload is a lower bound of its size, so a step shows even if no full length ever becomes known.
    const add = createTrendWindows(
      'size_step_windows',
      health,
      (w) => w.failed >= limits.size_step_failed && w.ok >= limits.size_step_ok && w.largestOk < w.smallestFailed,
    );
    return (fact, emit) => {
      const crossed = add(fact);
      if (crossed === null) return;
      emit({
        is: 'finding',
        rule: 'parse_failure_size_step',
        server: fact.server,
        exchange: fact.exchange,
        trace: fact.trace,
        ts: fact.ts,
        at: placeOf(fact),
        evidence: {
          of: fact.of,
          largest_ok_bytes: crossed.largestOk,
          smallest_failed_bytes: crossed.smallestFailed,
          failed: crossed.failed,
          ok: crossed.ok,
        },
      });
    };
  },
});
