/** Long-lived streams that all end at the same age: a timer on the way cuts them. */
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

interface Lives {
  ts: number;
  lives: number[];
  armed: boolean;
}

export const periodicCut = detector({
  rule: 'periodic_cut',
  on: ['verdict'],
  fires:
    'at least 4 standalone or listen streams of a server in a row end, not by their client, with lives that differ by less than 5 %',
  means: 'An idle or total time limit of a load balancer or proxy ends the streams; the evidence says its length.',
  needs: 'the open time of the streams',
  source: 'anthropics/claude-code issue 38631',
  action: 'Raise that limit above the keep-alive interval of the server, or send comments more often than it.',
  create({ memory, limits }) {
    const streams = memory<Lives>('periodic_cuts', LIMITS.patterns);
    return (fact, emit) => {
      const { exchange, kind, verdict } = fact;
      if ((kind !== 'standalone' && kind !== 'listen') || verdict === null || !verdict.head) return;
      if (!exchange.openKnown || verdict.by === 'client' || exchange.terminal) return;
      const life = exchange.closeTs - exchange.openTs;
      // Shorter ones are a loop, which has a rule of its own.
      if (life < limits.loop_life_ms) return;
      const key = `${exchange.host}\n${exchange.server}\n${kind}`;
      const state = streams.get(key) ?? { ts: 0, lives: [], armed: true };
      streams.set(key, state);
      state.ts = exchange.closeTs;
      state.lives = [...state.lives, life].slice(-limits.periodic_count);
      const mean = state.lives.reduce((sum, each) => sum + each, 0) / state.lives.length;
      const spread = (Math.max(...state.lives) - Math.min(...state.lives)) / mean;
      if (state.lives.length < limits.periodic_count || spread >= limits.periodic_spread) {
        state.armed = true;
        return;
      }
      if (!state.armed) return;
      state.armed = false;
      emit(
        aboutExchange('periodic_cut', exchange, {
          stream: kind,
          period_ms: Math.round(mean),
          spread: Math.round(spread * 1000) / 1000,
        }),
      );
    };
  },
});
