/**
 * Facts to evidence records: one for each exchange that was not clean, each operation that was not delivered at the first try, each
 * finding. It says what there is to show; what of it may be shown is decided in evidence-fields.ts.
 */
import type { Place } from '../core/model/event.ts';
import type { Fact, FindingFact, VerdictFact } from '../core/model/facts.ts';
import type { Attempt, OperationFact } from '../core/model/operation.ts';
import type { Verdict } from '../core/model/verdict.ts';
import { failedAttempts, failureClass } from '../core/stages/outcome.ts';
import { redact } from './evidence-fields.ts';
import { type RecordLine, recordOf } from './records.ts';

/** `yes`: the answer arrived whole; `no`: it did not; `unknown`: nothing proves either. */
type Completeness = 'yes' | 'no' | 'unknown';

export const EVIDENCE_RECORDS = ['verdict', 'operation', 'finding'] as const;
export type EvidenceRecord = (typeof EVIDENCE_RECORDS)[number];

/** What a record will be about, known before it is built: a closed word of its own kind. */
export interface Subject {
  readonly record: EvidenceRecord;
  /** Outcome, result or rule. */
  readonly word: string;
}

const subjects = new Map<string, Subject>();
/** One object per pair: this is asked for every fact, and nearly all of those that pass are alike. */
function subject(record: EvidenceRecord, word: string): Subject {
  const key = `${record} ${word}`;
  let known = subjects.get(key);
  if (known === undefined) {
    known = { record, word };
    subjects.set(key, known);
  }
  return known;
}

/** null: nothing to show. */
export function subjectOf(fact: Fact): Subject | null {
  switch (fact.is) {
    case 'verdict':
      return fact.verdict === null || fact.verdict.outcome === 'clean'
        ? null
        : subject('verdict', fact.verdict.outcome);
    case 'operation':
      return fact.result === 'first_try' ? null : subject('operation', fact.result);
    case 'finding':
      return subject('finding', fact.rule);
    default:
      return null;
  }
}

function completeness(verdict: Verdict | null, terminal: boolean, isOpen: boolean): Completeness {
  const cause = verdict?.cause;
  if (terminal || cause === 'integrity_ok' || cause === 'resumed') return 'yes';
  return isOpen || verdict?.outcome === 'ambiguous' ? 'unknown' : 'no';
}

const placeFields = (place: Place | null): RecordLine =>
  place === null ? {} : { source: place.origin.source, file: place.origin.file, line: place.line };

function verdictEvidence({ exchange, verdict }: VerdictFact): RecordLine {
  const { fields } = exchange;
  return {
    request: verdict?.request,
    error: fields.error,
    error_code: fields.error_code,
    is_error: fields.is_error,
    complete_result: completeness(verdict, exchange.terminal, false),
    trace_id: fields.trace,
    ...placeFields(exchange),
  };
}

const isOpen = (attempt: Attempt): boolean => Number.isNaN(attempt.closeTs);
const attemptCompleteness = (attempt: Attempt): Completeness =>
  completeness(attempt.verdict, attempt.terminal, isOpen(attempt));

/** What became of an attempt: the class of its failure, or one of `delivered`, `followed_up`, `open`. */
export function attemptClass(attempt: Attempt, failed: readonly Attempt[]): string {
  if (isOpen(attempt) && attempt.settled === null) return 'open';
  if (failed.includes(attempt)) return failureClass(attempt);
  // A hop or a round that the next request followed up is no failure, and brought no answer either.
  return attempt.inputRequired || attemptCompleteness(attempt) !== 'yes' ? 'followed_up' : 'delivered';
}

function attemptEvidence(attempt: Attempt, failed: readonly Attempt[]): RecordLine {
  const { verdict } = attempt;
  return {
    exchange: attempt.exchange,
    endpoint: attempt.endpoint,
    class: attemptClass(attempt, failed),
    outcome: verdict?.outcome,
    cause: verdict?.cause,
    stage: verdict?.stage,
    status: attempt.status,
    error_code: attempt.errorCode,
    is_error: attempt.isError,
    complete_result: attemptCompleteness(attempt),
    settled: attempt.settled,
    ms: attempt.openKnown && !isOpen(attempt) ? Math.max(0, attempt.closeTs - attempt.openTs) : null,
  };
}

/** Not every attempt may be traced. */
const traceOf = (attempts: readonly Attempt[]): string | null =>
  attempts.find(({ trace }) => trace !== null)?.trace ?? null;

function operationEvidence(fact: OperationFact): RecordLine {
  const { operation, edges } = fact;
  const { attempts } = operation;
  const failed = failedAttempts(operation);
  const all = attempts.map(attemptCompleteness);
  const last = attempts.at(-1) as Attempt;
  const { origin, line } = last;
  return {
    protocol_version: fact.version,
    hint: fact.nextAction === 'confirm_outcome' ? fact.hint : null,
    error_type: fact.errorType,
    duration_ms: fact.durationMs,
    complete_result: all.find((each) => each === 'yes') ?? all.find((each) => each === 'unknown') ?? 'no',
    attempt_count: attempts.length,
    attempts: attempts.map((attempt) => attemptEvidence(attempt, failed)),
    edges: edges.map(({ after, endpoint, outcome, safety }) => ({ after, endpoint, outcome, safety })),
    trace_id: traceOf(attempts),
    ...placeFields(origin === null ? null : { origin, line }),
  };
}

/** What the finding's own exchange tells: findings are stated while the fact that led to them is still delivered. */
function contextOf(fact: FindingFact, cause: Fact | null): RecordLine {
  if (fact.exchange === null) return {};
  if (cause?.is === 'verdict' && cause.exchange.id === fact.exchange) {
    const { fields, version } = cause.exchange;
    return { protocol_version: version, method: fields.method, target: fields.target, trace_id: fields.trace };
  }
  if (cause?.is !== 'operation') return {};
  const { attempts } = cause.operation;
  const attempt = attempts.find(({ exchange }) => exchange === fact.exchange);
  if (attempt === undefined) return {};
  const { version, method, target, trace } = attempt;
  return { protocol_version: version, method, target, trace_id: trace ?? traceOf(attempts) };
}

/**
 * The record of a fact that has a subject; `cause` of a finding: the fact that it was found in. To be built while the fact is delivered:
 * it is valid so long.
 */
export function evidenceOf(fact: Fact, cause: Fact | null): Record<string, unknown> {
  const base = recordOf(fact) ?? {};
  switch (fact.is) {
    case 'verdict':
      return redact({ ...base, ...verdictEvidence(fact) });
    case 'operation':
      return redact({ ...base, ...operationEvidence(fact) });
    case 'finding': {
      const { record, rule, server, exchange, ts } = base;
      return redact({
        ...{ record, rule, server, exchange, ts },
        ...{ evidence: fact.evidence, ...contextOf(fact, cause), ...placeFields(fact.at) },
      });
    }
    default:
      return {};
  }
}
