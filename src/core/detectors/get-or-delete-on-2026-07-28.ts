/** GET and DELETE on the revision that knows POST alone. */
import { isStateless } from '../model/exchange.ts';
import { aboutExchange, detector } from './detector.ts';

export const getOrDeleteOn20260728 = detector({
  rule: 'get_or_delete_on_2026_07_28',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'on 2026-07-28 a GET or DELETE was sent to an MCP endpoint',
  means: 'The client still opens standalone streams or deletes sessions; both were removed.',
  needs: '`http_method`',
  source: 'MCP 2026-07-28, basic/transports (Streamable HTTP) and changelog',
  action: 'Upgrade the client; notifications come on `subscriptions/listen`.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    if ((exchange.http !== 'GET' && exchange.http !== 'DELETE') || !isStateless(exchange)) return;
    emit(
      aboutExchange('get_or_delete_on_2026_07_28', exchange, {
        http_method: exchange.http,
        status: exchange.fields.status ?? null,
      }),
    );
  },
});
