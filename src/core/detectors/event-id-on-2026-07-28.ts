/** SSE event ids on the revision that cannot resume. */
import { type Exchange, isStateless } from '../model/exchange.ts';
import { aboutExchange, detector } from './detector.ts';

/** Which of the three signs it was. */
function shownBy({ fields, lastEventDigest }: Exchange): 'count' | 'digest' | 'prime' {
  if ((fields.event_ids ?? 0) > 0) return 'count';
  return lastEventDigest === undefined ? 'prime' : 'digest';
}

export const eventIdOn20260728 = detector({
  rule: 'event_id_on_2026_07_28',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'on 2026-07-28 a response stream carried SSE event ids',
  means:
    'The server promises resumption that this revision does not have; clients that believe it wait instead of sending again.',
  needs: '`event_ids`, `event_id_digest` or a `message` of `prime`',
  source: 'MCP 2026-07-28, basic/transports (Streamable HTTP) and changelog',
  action: 'Switch event ids off on the server for this revision.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    if (!exchange.eventId || !isStateless(exchange)) return;
    emit(
      aboutExchange('event_id_on_2026_07_28', exchange, {
        seen: shownBy(exchange),
        event_ids: exchange.fields.event_ids ?? null,
      }),
    );
  },
});
