/**
 * An evidence record as an OpenTelemetry log record: its severity, its event name and the trace it belongs to. The body is the record as
 * it was cleaned for evidence, so nothing is in a log that is not in `/api/evidence`. It sends nothing.
 */
import type { Fact, FindingFact } from '../core/model/facts.ts';
import type { Attempt, OperationFact, OperationResult } from '../core/model/operation.ts';
import { contextOf, operationContext, type TraceContext } from './otel-ids.ts';

/** Of OpenTelemetry: its number and its text. */
export const SEVERITIES = { INFO: 9, WARN: 13, ERROR: 17 } as const;
export type Severity = keyof typeof SEVERITIES;

export interface PlainLog {
  /** Unix ms of event time. */
  readonly atMs: number;
  readonly severity: Severity;
  readonly eventName: string;
  readonly context: TraceContext | null;
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What nobody was told of but went well is for information; what somebody has to look into is an error. */
const BY_RESULT: Readonly<Record<OperationResult, Severity>> = {
  first_try: 'INFO',
  masked_rotated: 'INFO',
  masked: 'INFO',
  masked_unknown: 'INFO',
  cancelled: 'INFO',
  unresolved: 'WARN',
  surfaced: 'ERROR',
  unproven: 'ERROR',
};
/** Findings about something that may have happened twice, or not at all. */
const ERRORS: ReadonlySet<FindingFact['rule']> = new Set([
  'uncertain_write',
  'unsafe_retry',
  'duplicate_execution_among_successes',
  'executed_without_terminal',
]);

const operationSeverity = ({ result, nextAction }: OperationFact): Severity =>
  nextAction === 'confirm_outcome' ? 'ERROR' : BY_RESULT[result];

const word = (value: unknown): string => (typeof value === 'string' ? value : 'unknown');

/** null: a fact that has no evidence. `record`: what evidence.ts made of it. */
export function logOf(fact: Fact, record: Readonly<Record<string, unknown>>): PlainLog | null {
  const attributes = (key: string, value: string): Record<string, string> => ({
    'tailfin.record': fact.is,
    'tailfin.server': word(record.server),
    [key]: value,
  });
  const base = { eventName: `tailfin.${fact.is}`, body: record };
  switch (fact.is) {
    case 'verdict':
      return {
        ...base,
        atMs: fact.exchange.closeTs,
        severity: 'WARN',
        context: contextOf(fact.exchange.fields.trace),
        attributes: attributes('tailfin.outcome', word(record.outcome)),
      };
    case 'operation':
      return {
        ...base,
        atMs: fact.ts,
        severity: operationSeverity(fact),
        context: operationContext(fact.trace, fact.operation.attempts[0] as Attempt),
        attributes: attributes('tailfin.operation.result', fact.result),
      };
    case 'finding':
      return {
        ...base,
        atMs: fact.ts,
        severity: ERRORS.has(fact.rule) ? 'ERROR' : 'WARN',
        context: contextOf(fact.trace),
        attributes: attributes('tailfin.rule', fact.rule),
      };
    default:
      return null;
  }
}
