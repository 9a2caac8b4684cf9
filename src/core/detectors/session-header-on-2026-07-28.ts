/** A session header on the revision that has no sessions. */
import { isStateless } from '../model/exchange.ts';
import { aboutExchange, detector } from './detector.ts';

export const sessionHeaderOn20260728 = detector({
  rule: 'session_header_on_2026_07_28',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'on 2026-07-28 a request carried a session header, or a response issued one',
  means: 'A peer still keeps protocol sessions: requests that land on another instance may fail.',
  needs: '`session` or `session_issued`',
  source: 'MCP 2026-07-28, basic/transports (Streamable HTTP) and changelog',
  action: 'Upgrade the peer that sends or issues it; do not pin requests to an instance to make it work.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    const { session, session_issued } = exchange.fields;
    if ((session !== true && session_issued !== true) || !isStateless(exchange)) return;
    emit(
      aboutExchange('session_header_on_2026_07_28', exchange, {
        sent: session === true,
        issued: session_issued === true,
      }),
    );
  },
});
