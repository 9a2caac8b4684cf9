/** Many streams of one endpoint end at once: an instance was stopped, or a proxy in front of it. */
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';
import { createRecent, crosses, type Recent } from './recent.ts';

export const endpointTerminationBurst = detector({
  rule: 'endpoint_termination_burst',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'at least 5 exchanges on one endpoint end abandoned or ambiguous within 1 s, none of them by its client',
  means:
    'One instance went away with its calls in flight: a rollout, an eviction, a crash, a load balancer that drains too fast.',
  needs: '`endpoint`',
  source: 'design section 6',
  action:
    'Compare with rollouts and restarts at that minute; give the server time to finish its streams before it stops.',
  create({ memory, limits }) {
    const endpoints = memory<Recent>('endpoint_bursts', LIMITS.patterns);
    return (fact, emit) => {
      const { exchange, verdict } = fact;
      if (verdict === null || verdict.outcome === 'clean' || verdict.by === 'client' || exchange.endpoint === null)
        return;
      const key = `${exchange.server}\n${exchange.endpoint}`;
      const recent = endpoints.get(key) ?? createRecent(exchange.closeTs);
      endpoints.set(key, recent);
      if (!crosses(recent, exchange.closeTs, limits.burst_count, limits.burst_window_ms)) return;
      emit(
        aboutExchange('endpoint_termination_burst', exchange, {
          endpoint: exchange.endpoint,
          count: limits.burst_count,
        }),
      );
    };
  },
});
