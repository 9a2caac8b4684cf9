/** A call that nobody was ever told about: its stream has ended, its caller still waits. */
import { clientKey } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutAttempt, detector } from './detector.ts';

/** A client that goes on is set again so often, which keeps it from the oldest, that a full store gives up. */
const RENEW_MS = 60_000;

export const silentHang = detector({
  rule: 'silent_hang',
  on: ['operation', 'settle', 'reports'],
  ignoresPlain: true,
  fires:
    'the last attempt of an operation ended undelivered and its caller was told nothing for 120 s, and later no `timeout`, on a client that reports what callers are told',
  means: 'The client noticed neither an answer nor an error. The agent that made the call is stuck.',
  needs: '`settle` lines of the client',
  source: 'modelcontextprotocol/typescript-sdk issue 2739; measured with three TypeScript clients',
  action: 'Set a request time-out in the host; upgrade the SDK; remove what cuts the stream.',
  create({ memory, limits }) {
    const reporting = memory<{ readonly ts: number; readonly since: number }>('reporting_clients', LIMITS.clients);
    return (fact, emit) => {
      if (fact.is !== 'operation') {
        // By the line where it names its client: when one is joined to its exchange is a matter of ticks.
        if (fact.is === 'settle' && typeof fact.event.fields.client === 'string') return;
        const ts = fact.is === 'settle' ? fact.event.ts : fact.ts;
        const known = reporting.get(fact.client);
        if (known === undefined) reporting.set(fact.client, { ts, since: ts });
        else if (ts - known.ts > RENEW_MS) reporting.set(fact.client, { ts, since: known.since });
        return;
      }
      // It was delivered, or nothing is concluded from its state.
      if (fact.result !== 'surfaced' && fact.result !== 'unproven' && fact.result !== 'cancelled') return;
      const { attempts } = fact.operation;
      const last = attempts.at(-1);
      if (last === undefined || last.verdict === null) return;
      // Its caller gave it up.
      if (last.verdict.by === 'client' && last.verdict.outcome === 'abandoned') return;
      const until = last.closeTs + limits.silent_hang_ms;
      // One that was told `timeout` in the end is a misattributed time-out, which says how late it was.
      if (attempts.some(({ settled, settledTs }) => settled === 'timeout' || (settled !== null && settledTs <= until)))
        return;
      // By the time at which its operation was over: when it was counted is a matter of ticks.
      const client = reporting.get(clientKey(last.host, last.client, last.server));
      if (client === undefined || client.since > last.closeTs + LIMITS.joinUndeliveredMs) return;
      const { cause, cut, stage } = last.verdict;
      emit(aboutAttempt('silent_hang', last, until, { cause, cut, stage }));
    };
  },
});
