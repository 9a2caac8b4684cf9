/** A call that nobody was ever told about: its stream has ended, its caller still waits. */
import { clientKey } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutAttempt, detector } from './detector.ts';

export const silentHang = detector({
  rule: 'silent_hang',
  on: ['operation', 'settle'],
  fires:
    'the last attempt of an operation ended undelivered and its caller was told nothing for 120 s, on a client that reports what callers are told',
  means: 'The client noticed neither an answer nor an error. The agent that made the call is stuck.',
  needs: '`settle` lines of the client',
  source: 'modelcontextprotocol/typescript-sdk issue 2739; measured with three TypeScript clients',
  action: 'Set a request time-out in the host; upgrade the SDK; remove what cuts the stream.',
  create({ memory, limits }) {
    const reporting = memory<{ ts: number; readonly since: number }>('reporting_clients', LIMITS.clients);
    return (fact, emit) => {
      if (fact.is === 'settle') {
        const { ts } = fact.event;
        const known = reporting.get(fact.client);
        if (known === undefined) reporting.set(fact.client, { ts, since: ts });
        else known.ts = Math.max(known.ts, ts);
        return;
      }
      // Its caller gave it up, or nothing is concluded from its state.
      if (fact.result !== 'surfaced') return;
      const { attempts } = fact.operation;
      const last = attempts.at(-1);
      if (last === undefined || last.verdict === null || attempts.some(({ settled }) => settled !== null)) return;
      if (last.verdict.by === 'client' && last.verdict.outcome === 'abandoned') return;
      // By the time at which its operation was over: when it was counted is a matter of ticks.
      const client = reporting.get(clientKey(last.host, last.client, last.server));
      if (client === undefined || client.since > last.closeTs + LIMITS.joinUndeliveredMs) return;
      const { cause, cut, stage } = last.verdict;
      emit(aboutAttempt('silent_hang', last, last.closeTs + limits.silent_hang_ms, { cause, cut, stage }));
    };
  },
});
