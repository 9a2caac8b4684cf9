/** Long-lived streams that all end at the same age: a timer on the way cuts them. */
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

interface Lives {
  ts: number;
  /** The latest one. */
  openTs: number;
  lives: number[];
  armed: boolean;
}

const TIMERS = new Set(['TimeoutError', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

export const periodicCut = detector({
  rule: 'periodic_cut',
  on: ['verdict'],
  ignoresPlain: true,
  fires:
    'at least 4 standalone or listen streams of a server in a row end after lives that differ by less than 5 %, not closed by their client (a time limit of its own counts) and not all at once',
  means: 'An idle or total time limit of a load balancer or proxy ends the streams; the evidence says its length.',
  needs: 'the open time of the streams',
  source: 'anthropics/claude-code issue 38631',
  action: 'Raise that limit above the keep-alive interval of the server, or send comments more often than it.',
  create({ memory, limits }) {
    const streams = memory<Lives>('periodic_cuts', LIMITS.patterns);
    return (fact, emit) => {
      const { exchange, kind, verdict } = fact;
      if ((kind !== 'standalone' && kind !== 'listen') || verdict === null || !verdict.head) return;
      if (!exchange.openKnown || exchange.terminal) return;
      // A time limit of the client's own HTTP library cuts like any other.
      if (verdict.by === 'client' && !TIMERS.has(exchange.fields.error ?? '')) return;
      const life = exchange.closeTs - exchange.openTs;
      // Shorter ones are a loop, which has a rule of its own.
      if (life < limits.loop_life_ms) return;
      const key = `${exchange.host}\n${exchange.server}\n${kind}`;
      const state = streams.get(key) ?? { ts: 0, openTs: 0, lives: [], armed: true };
      // Streams that began and ended together tell of one end: an instance that was stopped.
      const isSame = (a: number, b: number): boolean => Math.abs(a - b) < limits.periodic_spread * life;
      if (isSame(state.ts, exchange.closeTs) && isSame(state.openTs, exchange.openTs)) return;
      streams.set(key, state);
      state.ts = exchange.closeTs;
      state.openTs = exchange.openTs;
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
