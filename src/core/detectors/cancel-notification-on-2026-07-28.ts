/** A cancel notification on the revision where closing the stream cancels. */
import { isStateless } from '../model/exchange.ts';
import { aboutExchange, detector } from './detector.ts';

export const cancelNotificationOn20260728 = detector({
  rule: 'cancel_notification_on_2026_07_28',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'on 2026-07-28 a client sent `notifications/cancelled`',
  means: 'Closing the response stream is the cancellation on this revision; the server may go on working on the call.',
  needs: '`method`',
  source: 'MCP 2026-07-28, basic/transports (Streamable HTTP) and changelog',
  action: 'Upgrade the client, so that it closes the stream of the call it gives up.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    const { method, cancel_of } = exchange.fields;
    if (method !== 'notifications/cancelled' && typeof cancel_of !== 'string') return;
    if (isStateless(exchange))
      emit(aboutExchange('cancel_notification_on_2026_07_28', exchange, { status: exchange.fields.status ?? null }));
  },
});
