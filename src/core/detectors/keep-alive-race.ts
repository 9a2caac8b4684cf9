/** The server closed an idle connection just as the client used it again. */
import type { Exchange } from '../model/exchange.ts';
import type { Side } from '../model/verdict.ts';
import { aboutExchange, detector } from './detector.ts';

const RESETS = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET']);
/** A wait that ran out is no reset; of an error without a name only its side tells. */
const isReset = ({ fields: { error } }: Exchange, by: Side): boolean =>
  by !== 'client' && (typeof error === 'string' ? RESETS.has(error) : by === 'peer');

export const keepAliveRace = detector({
  rule: 'keep_alive_race',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a reset before the response head, with 0 bytes, on a reused connection that had been idle for at least 1 s',
  means: 'The keep-alive time of the peer is shorter than that of the client; the call may or may not have been read.',
  needs: '`connection.reused`, `connection.idle_ms`',
  source: 'RFC 9112 section 9.3',
  action: 'Make the idle time-out of the client shorter than that of the proxy or server.',
  create:
    ({ limits }) =>
    (fact, emit) => {
      const { exchange, verdict } = fact;
      const { connection } = exchange.fields;
      // What was not sent at all has met the end of the connection while it was written.
      if (verdict?.cause !== 'no_response' && verdict?.cause !== 'connect_failed') return;
      if (connection?.reused !== true || !isReset(exchange, verdict.by)) return;
      const idle = connection.idle_ms;
      if (typeof idle !== 'number' || idle < limits.keep_alive_idle_ms || (exchange.fields.bytes ?? 0) > 0) return;
      emit(aboutExchange('keep_alive_race', exchange, { idle_ms: idle, endpoint: exchange.endpoint }));
    },
});
