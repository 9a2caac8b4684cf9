/** A resume header on the revision that cannot resume. */
import { isStateless } from '../model/exchange.ts';
import { aboutExchange, detector } from './detector.ts';

export const lastEventIdOn20260728 = detector({
  rule: 'last_event_id_on_2026_07_28',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'on 2026-07-28 a request carried `Last-Event-ID`',
  means: 'The client tries to resume a stream; on this revision a lost request has to be sent again with a new id.',
  needs: '`last_event_id`',
  source: 'MCP 2026-07-28, basic/transports (Streamable HTTP) and changelog',
  action: 'Upgrade the client. Until then its lost calls wait for a resume that cannot work.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    if (exchange.fields.last_event_id !== true || !isStateless(exchange)) return;
    emit(aboutExchange('last_event_id_on_2026_07_28', exchange, { status: exchange.fields.status ?? null }));
  },
});
