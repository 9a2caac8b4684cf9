/** A client resumes a stream that had brought its answer: an error answer does not count for it. */
import { clientOf } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

interface Answered {
  readonly ts: number;
  readonly exchange: string;
  readonly digest: string | undefined;
}
/** The SDK that does it waits one second, or as long as the server asks. */
const WITHIN_MS = 60_000;

export const needlessReconnect = detector({
  rule: 'needless_reconnect',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a resume GET followed a stream that had brought a JSON-RPC error as its answer',
  means: 'A bug of the client: one more request, and a stream that the server keeps open for nothing.',
  needs: '`event_ids`, `last_event_id`; digests make it certain',
  source: 'measured with @modelcontextprotocol/sdk 1.32.2',
  action: 'Upgrade the client.',
  create({ memory }) {
    const answered = memory<Answered>('error_answers', LIMITS.patterns);
    return (fact, emit) => {
      const { exchange, kind } = fact;
      const { fields } = exchange;
      if (kind === 'response' && exchange.eventId && exchange.terminal && exchange.errorSeen) {
        answered.set(clientOf(exchange), {
          ts: exchange.closeTs,
          exchange: exchange.id,
          digest: exchange.lastEventDigest,
        });
        return;
      }
      // One that takes up a stream without an answer has a reason of its own.
      if (kind !== 'resume' || exchange.takesUp || answered.size === 0) return;
      const key = clientOf(exchange);
      const before = answered.get(key);
      if (before === undefined || exchange.openTs < before.ts || exchange.openTs - before.ts > WITHIN_MS) return;
      const asked = fields.event_id_digest;
      if (typeof asked === 'string' && before.digest !== undefined && asked !== before.digest) return;
      answered.delete(key);
      emit(
        aboutExchange('needless_reconnect', exchange, {
          answered: before.exchange,
          after_ms: exchange.openTs - before.ts,
        }),
      );
    };
  },
});
