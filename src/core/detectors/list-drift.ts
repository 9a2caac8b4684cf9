/** Two instances, or two connections, give the same caller different lists. */

import { isStateless } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutExchange, detector } from './detector.ts';
import { announces, listKey } from './listed.ts';

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

/** By what two answers come from different places; unknown is not different. */
function placesDiffer(a: Answer, b: Answer): 'endpoint' | 'client' | null {
  if (a.endpoint !== null && b.endpoint !== null && a.endpoint !== b.endpoint) return 'endpoint';
  return a.client !== null && b.client !== null && a.client !== b.client ? 'client' : null;
}

export const listDrift = detector({
  rule: 'list_drift',
  on: ['verdict', 'notified'],
  ignoresPlain: true,
  fires:
    'on 2026-07-28 two endpoints or clients got lists of different content within 5 min, with the same authorisation and no notification in between',
  means:
    'Instances of one server differ, or keep state per connection: which tools an agent sees depends on where it lands.',
  needs: '`list` with `digest` and `auth`',
  source: 'stateless checklist (seed 003); mcp-hangar/mcp-hangar issue 886',
  action: 'Compare versions and configuration of the instances; a list must depend on authorisation alone.',
  create({ memory, limits }) {
    const lists = memory<Answers>('list_answers', LIMITS.patterns);
    const announced = memory<{ readonly ts: number }>('list_announcements', LIMITS.patterns);
    const note = (server: string, ts: number): void =>
      announced.set(server, { ts: Math.max(ts, announced.get(server)?.ts ?? ts) });
    return (fact, emit) => {
      if (fact.is === 'notified') {
        note(fact.server, fact.ts);
        return;
      }
      const { exchange, kind } = fact;
      if (announces(exchange, kind)) note(exchange.server, exchange.closeTs);
      const { list } = exchange.fields;
      const digest = list?.digest;
      // Unknown is not equal: only a known authorisation, or a known absence of one, can be compared.
      if (typeof digest !== 'string' || list?.auth === undefined || !isStateless(exchange)) return;
      const key = listKey(exchange);
      if (key === null) return;
      const answers = lists.get(key) ?? { ts: 0, latest: [], armed: true };
      lists.set(key, answers);
      const { closeTs: ts, endpoint, client } = exchange;
      const answer = { ts, digest, endpoint, client };
      const since = announced.get(exchange.server)?.ts ?? Number.NEGATIVE_INFINITY;
      const others = answers.latest.filter(
        (other) =>
          !(other.endpoint === endpoint && other.client === client) && Math.abs(ts - other.ts) <= limits.list_drift_ms,
      );
      answers.ts = Math.max(answers.ts, ts);
      answers.latest = [...others, answer].slice(-KEPT);
      // What was announced in between is an honest change.
      const isHonest = (other: Answer): boolean => Math.min(other.ts, ts) <= since && since <= Math.max(other.ts, ts);
      const different = others.find(
        (other) => other.digest !== digest && placesDiffer(other, answer) !== null && !isHonest(other),
      );
      if (different === undefined) {
        answers.armed = true;
        return;
      }
      if (!answers.armed) return;
      answers.armed = false;
      emit(
        aboutExchange('list_drift', exchange, {
          by: placesDiffer(different, answer),
          endpoint,
          other_endpoint: different.endpoint,
          apart_ms: Math.abs(ts - different.ts),
          count: list.count ?? null,
        }),
      );
    };
  },
});
