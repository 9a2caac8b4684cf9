/** Calls on a client that has broken or was closed: they fail without a packet. */
import { clientOf as exchangeClient } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { aboutLine, detector } from './detector.ts';

export const closedClientCall = detector({
  rule: 'closed_client_call',
  on: ['verdict', 'suspended', 'client', 'settle'],
  ignoresPlainWithout: 'broken_clients',
  fires: 'a call was settled `error` without any exchange, after its client had broken or was closed',
  means: 'One failure closed the whole client. The server is well; every later call on this client fails.',
  needs: '`settle` lines with `on_wire: false`',
  source: 'modelcontextprotocol/python-sdk issue 3522',
  action: 'Let the host make a new client after a failure; repeating calls on a closed one never helps.',
  create({ memory }) {
    const broken = memory<{ ts: number; readonly cause: string }>('broken_clients', LIMITS.patterns);
    return (fact, emit) => {
      if (fact.is === 'client') {
        const { event } = fact.event.fields;
        if (event === 'closed') broken.set(fact.client, { ts: fact.event.ts, cause: 'closed' });
        else if (event !== 'session_deleted') broken.delete(fact.client);
      } else if (fact.is === 'suspended') {
        // What broke while it could be resumed has broken its client by then.
        const { exchange } = fact;
        const { how, by } = exchange.fields;
        const key = exchangeClient(exchange);
        if (how === 'error' && by !== 'client' && exchange.client !== null && !broken.has(key))
          broken.set(key, { ts: exchange.closeTs, cause: 'transport_error' });
      } else if (fact.is === 'verdict') {
        const { exchange, verdict } = fact;
        if (verdict === null || verdict.row === 6 || exchange.client === null) return;
        const key = exchangeClient(exchange);
        if (verdict.outcome !== 'clean' && verdict.by !== 'client') {
          if (!broken.has(key)) broken.set(key, { ts: exchange.closeTs, cause: verdict.cause });
        } else if (broken.size > 0 && verdict.outcome === 'clean') {
          // It still reaches the wire.
          const known = broken.get(key);
          if (known !== undefined && known.cause !== 'closed' && exchange.openTs > known.ts) broken.delete(key);
        }
      } else {
        const { fields, ts } = fact.event;
        if (fields.on_wire !== false || fields.result !== 'error' || typeof fields.client !== 'string') return;
        const known = broken.get(fact.client);
        if (known === undefined || known.ts > ts) return;
        const evidence = { broken_by: known.cause, after_ms: ts - known.ts };
        emit(aboutLine('closed_client_call', fact.server, fact.event, evidence));
      }
    };
  },
});
