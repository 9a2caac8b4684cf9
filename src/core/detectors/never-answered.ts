/** A request that the server accepted and will never answer. */
import { methodLabel } from '../protocol/methods.ts';
import { predatesStreamableHttp } from '../protocol/revisions.ts';
import { aboutExchange, detector } from './detector.ts';

export const neverAnswered = detector({
  rule: 'never_answered',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a request was answered 202 or 204, without a carrier stream and without its terminal message',
  means: 'No answer can come any more; most clients wait for it until their time-out.',
  needs: '`status`',
  source: 'MCP 2025-11-25, basic/transports: a request is answered by JSON or a stream',
  action: 'Fix the server or the gateway: 202 is the answer to a notification.',
  create: () => (fact, emit) => {
    const { exchange, kind } = fact;
    const { status, carrier } = exchange.fields;
    // A subscription is a request too.
    if ((kind !== 'response' && kind !== 'listen') || (status !== 202 && status !== 204)) return;
    if (
      exchange.terminal ||
      typeof carrier === 'string' ||
      predatesStreamableHttp(exchange.fields.protocol_version, exchange.fields.meta_protocol_version)
    )
      return;
    emit(aboutExchange('never_answered', exchange, { status, method: methodLabel(exchange.fields.method) }));
  },
});
