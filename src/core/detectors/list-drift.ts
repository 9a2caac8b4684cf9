/** Two instances, or two connections, give the same caller different lists. */

import { isStateless } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';

interface Answer {
  readonly ts: number;
  readonly digest: string;
  readonly endpoint: string | null;
  readonly client: string | null;
}
interface Answers {
  ts: number;
  latest: readonly Answer[];
  armed: boolean;
}
/** Endpoints and clients of one list that are compared. */
const KEPT = 16;

const isOther = (a: Answer, b: Answer): boolean => a.endpoint !== b.endpoint || a.client !== b.client;

export const listDrift = detector({
  rule: 'list_drift',
  on: ['verdict'],
  fires:
    'on 2026-07-28 two endpoints or clients got lists of different content within 5 min, with the same authorisation',
  means:
    'Instances of one server differ, or keep state per connection: which tools an agent sees depends on where it lands.',
  needs: '`list` with `digest` and `auth`',
  source: 'stateless checklist (seed 003); mcp-hangar/mcp-hangar issue 886',
  action: 'Compare versions and configuration of the instances; a list must depend on authorisation alone.',
  create({ memory, limits }) {
    const lists = memory<Answers>('list_answers', LIMITS.patterns);
    return (fact, emit) => {
      const { exchange } = fact;
      const { list, method } = exchange.fields;
      const digest = list?.digest;
      // Unknown is not equal: only a known authorisation, or a known absence of one, can be compared.
      if (typeof digest !== 'string' || list?.auth === undefined || typeof method !== 'string') return;
      if (!isStateless(exchange)) return;
      // Digests compare only within one key: that of one writer.
      const key = `${exchange.writer}\n${exchange.server}\n${method}\n${list.auth ?? ''}`;
      const answers = lists.get(key) ?? { ts: 0, latest: [], armed: true };
      lists.set(key, answers);
      const answer = { ts: exchange.closeTs, digest, endpoint: exchange.endpoint, client: exchange.client };
      const others = answers.latest.filter(
        (other) => isOther(other, answer) && answer.ts - other.ts <= limits.list_drift_ms,
      );
      answers.ts = answer.ts;
      answers.latest = [...others, answer].slice(-KEPT);
      const different = others.find((other) => other.digest !== digest);
      if (different === undefined) {
        answers.armed = true;
        return;
      }
      if (!answers.armed) return;
      answers.armed = false;
      const by = different.endpoint === answer.endpoint ? 'client' : 'endpoint';
      emit(
        aboutExchange('list_drift', exchange, {
          by,
          endpoint: answer.endpoint,
          other_endpoint: different.endpoint,
          apart_ms: answer.ts - different.ts,
          count: list.count ?? null,
        }),
      );
    };
  },
});
