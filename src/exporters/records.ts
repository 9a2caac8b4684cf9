/** Facts as JSON records, one per line (design section 9): all that `replay --format json` prints, and the start of evidence.ts. */
import type { Fact, FindingFact, VerdictFact } from '../core/model/facts.ts';
import type { OperationFact } from '../core/model/operation.ts';

export type RecordLine = Readonly<Record<string, unknown>>;

function verdictRecord({ exchange, kind, verdict }: VerdictFact): RecordLine | null {
  if (verdict === null) return null;
  const { fields } = exchange;
  return {
    record: 'verdict',
    ts: exchange.closeTs,
    exchange: exchange.id,
    client: exchange.client,
    server: exchange.server,
    endpoint: exchange.endpoint,
    method: fields.method ?? null,
    target: fields.target ?? null,
    protocol_version: exchange.version,
    stream: kind,
    outcome: verdict.outcome,
    cause: verdict.cause,
    regime: verdict.regime,
    cut: verdict.cut,
    stage: verdict.stage,
    by: verdict.by,
    status: fields.status ?? null,
    bytes: fields.bytes ?? null,
  };
}

export const endpointsOf = (fact: OperationFact): string[] => [
  ...new Set(fact.operation.attempts.flatMap((attempt) => (attempt.endpoint === null ? [] : [attempt.endpoint]))),
];

function operationRecord(fact: OperationFact): RecordLine {
  const { operation } = fact;
  return {
    record: 'operation',
    key: operation.key,
    server: operation.server,
    method: operation.method,
    target: operation.target,
    result: fact.result,
    attempts: operation.attempts.length,
    endpoints: endpointsOf(fact),
    next_action: fact.nextAction,
    exchange: operation.attempts.at(-1)?.exchange ?? null,
    ts: fact.ts,
  };
}

const findingRecord = (fact: FindingFact): RecordLine => ({
  record: 'finding',
  rule: fact.rule,
  server: fact.server,
  exchange: fact.exchange,
  ts: fact.ts,
  ...fact.evidence,
});

/** null: a fact that has no record. */
export function recordOf(fact: Fact): RecordLine | null {
  switch (fact.is) {
    case 'verdict':
      return verdictRecord(fact);
    case 'operation':
      return operationRecord(fact);
    case 'finding':
      return findingRecord(fact);
    default:
      return null;
  }
}
