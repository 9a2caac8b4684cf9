/** A stream that is opened and closed again and again and carries nothing. */
import { clientOf } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { LISTEN } from '../protocol/methods.ts';
import { aboutExchange, detector } from './detector.ts';
import { createRecent, crosses, type Recent } from './recent.ts';

export const openCloseLoop = detector({
  rule: 'open_close_loop',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'at least 10 GET or listen streams of one client in 60 s that lived less than 2 s and carried no message',
  means: 'The client opens a stream that the server or a proxy closes at once, and has no back-off: load without use.',
  needs: 'the open time of the streams',
  source: 'design section 6',
  action:
    'Find who closes the stream (a proxy without streaming, a server without that feature); answer 405 if it is not offered.',
  create({ memory, limits }) {
    const loops = memory<Recent>('open_close_loops', LIMITS.patterns);
    return (fact, emit) => {
      const { exchange } = fact;
      const { fields } = exchange;
      if (exchange.http !== 'GET' && fields.method !== LISTEN) return;
      if (!exchange.openKnown || exchange.closeTs - exchange.openTs >= limits.loop_life_ms) return;
      if (exchange.terminal || (fields.events ?? 0) > 0 || (fields.notifications ?? 0) > 0) return;
      const key = `${clientOf(exchange)}\n${exchange.server}`;
      const recent = loops.get(key) ?? createRecent(exchange.closeTs);
      loops.set(key, recent);
      if (!crosses(recent, exchange.closeTs, limits.loop_count, limits.loop_window_ms)) return;
      emit(aboutExchange('open_close_loop', exchange, { count: limits.loop_count, status: fields.status ?? null }));
    };
  },
});
