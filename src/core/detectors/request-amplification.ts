/** Many requests on the wire for each call that a caller made. */
import { LIMITS } from '../model/limits.ts';
import { createPairs } from '../model/pair-keys.ts';
import { aboutLine, detector } from './detector.ts';

interface Step {
  readonly index: number;
  requests: number;
  settled: number;
}
interface Window {
  ts: number;
  steps: Step[];
  /** Step of the first settle: the requests before it are not known, so it is no part of the ratio. */
  readonly first: number;
  armed: boolean;
}
const STEPS = 10;

export const requestAmplification = detector({
  rule: 'request_amplification',
  on: ['verdict', 'settle'],
  ignoresPlainWithout: 'amplification_windows',
  fires: 'a host sent at least 5 requests to a server per settled operation, over at least 20 operations in 10 min',
  means:
    'Hidden retries, a new session for each call, or polling: the server carries a multiple of the load that callers see.',
  needs: '`settle` lines',
  source: 'design section 6',
  action:
    'Look at the methods and at the retries of that server: keep clients alive, remove one of the retrying layers.',
  create({ memory, limits }) {
    const hosts = createPairs();
    const windows = memory<Window>('amplification_windows', LIMITS.patterns);
    const stepMs = limits.amplification_window_ms / STEPS;

    const stepOf = (window: Window, ts: number): Step | undefined => {
      const index = Math.floor(ts / stepMs);
      const newest = window.steps.at(-1);
      if (newest !== undefined && index <= newest.index) return window.steps.find((step) => step.index === index);
      const step = { index, requests: 0, settled: 0 };
      // No room for more than there are: most windows of a flood have one.
      window.steps = window.steps.filter((known) => known.index > index - STEPS).concat(step);
      return step;
    };

    return (fact, emit) => {
      if (fact.is === 'verdict') {
        // Only where callers are seen, and only from then on.
        const { host, server } = fact.exchange;
        const window = windows.size === 0 ? undefined : windows.get(hosts(host, server).key);
        const step = window === undefined ? undefined : stepOf(window, fact.exchange.closeTs);
        if (step !== undefined) step.requests++;
        return;
      }
      const { ts, fields, origin } = fact.event;
      if (fields.on_wire === false) return;
      // Other hosts of the server may not report what their callers are told.
      const { key } = hosts(fact.attempt?.host ?? fields.host ?? origin.host, fact.server);
      const window = windows.get(key) ?? { ts, steps: [], first: Math.floor(ts / stepMs), armed: true };
      const isFirst = !windows.has(key);
      window.ts = Math.max(window.ts, ts);
      windows.set(key, window);
      const step = stepOf(window, ts);
      if (step !== undefined && !isFirst) step.settled++;
      const requests = window.steps.reduce((sum, each) => sum + each.requests, 0);
      const settled = window.steps.reduce((sum, each) => sum + each.settled, 0);
      const operations = settled + (window.steps.some(({ index }) => index === window.first) ? 1 : 0);
      if (operations < limits.amplification_operations || requests < limits.amplification_ratio * settled) {
        window.armed = true;
        return;
      }
      if (!window.armed) return;
      window.armed = false;
      const evidence = { requests, settled: operations, ratio: Math.round((10 * requests) / settled) / 10 };
      emit(aboutLine('request_amplification', fact.server, fact.event, evidence));
    };
  },
});
