/**
 * An answer whose id is not the request's. A refusal (4xx, 5xx) with a null id is ordinary JSON-RPC: the server could not read
 * the request; on a 2xx it leaves the caller waiting.
 */
import { detector, placeOf } from './detector.ts';

export const idMismatch = detector({
  rule: 'id_mismatch',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a response carried another id than the request, or a null id with a 2xx status',
  means: 'The caller waits for an answer that it will never recognise.',
  needs: '`id_match`',
  source: 'JSON-RPC 2.0, section 5',
  action: 'Fix the server or the gateway that rewrites ids.',
  create: () => (fact, emit) => {
    if (fact.verdict === null || fact.exchange.terminal) return;
    const { exchange } = fact;
    const { id_match, status } = exchange.fields;
    const answered = status === undefined || status === null || status < 300;
    if (id_match !== 'mismatch' && !(id_match === 'null_id' && answered)) return;
    emit({
      is: 'finding',
      rule: 'id_mismatch',
      server: exchange.server,
      exchange: exchange.id,
      trace: exchange.fields.trace ?? null,
      ts: exchange.closeTs,
      at: placeOf(exchange),
      evidence: { id_match, status: status ?? null, error_code: exchange.fields.error_code ?? null },
    });
  },
});
