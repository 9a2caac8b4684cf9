/** A client that connects again and again. */
import { LIMITS } from '../model/limits.ts';
import { aboutLine, detector } from './detector.ts';
import { createRecent, crosses, type Recent } from './recent.ts';

export const reconnectLoop = detector({
  rule: 'reconnect_loop',
  on: ['client'],
  fires: 'a client reports at least 10 reconnects in 60 s',
  means: 'The client does not back off, and whatever ends its connection ends the next one too.',
  needs: '`client` lines',
  source: 'design section 6',
  action: 'Look at the first failure of the client, not at the last one; add a back-off.',
  create({ memory, limits }) {
    const loops = memory<Recent>('reconnect_loops', LIMITS.patterns);
    return (fact, emit) => {
      const { event, server, client } = fact;
      if (event.fields.event !== 'reconnected') return;
      const recent = loops.get(client) ?? createRecent(event.ts);
      loops.set(client, recent);
      if (!crosses(recent, event.ts, limits.loop_count, limits.loop_window_ms)) return;
      emit(aboutLine('reconnect_loop', server, event, { count: limits.loop_count }));
    };
  },
});
