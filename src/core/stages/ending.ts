/** When an operation is over, how long its attempts take lines, and the fact that it is counted by. Pure functions. */
import type { Fact, ParseFact, TrendFact } from '../model/facts.ts';
import { LIMITS } from '../model/limits.ts';
import type { Attempt, Operation, OperationFact, PendingTrend } from '../model/operation.ts';
import type { Emit } from '../stage.ts';
import * as outcome from './outcome.ts';

/** The operation knows what its attempts know: the first one names it, a later one may fill what was unknown. */
export function adopt(operation: Operation, attempt: Attempt): void {
  const named = attempt === operation.attempts[0];
  if (named || operation.server === 'unknown') {
    operation.server = attempt.server;
    operation.policy = attempt.policy;
  }
  if (named || operation.version === 'unknown') operation.version = attempt.version;
  if (named) operation.method = attempt.method;
  if (named || operation.target === null) operation.target = attempt.target;
  operation.argsDigest = (named ? attempt.argsDigest : null) ?? operation.argsDigest ?? attempt.argsDigest;
  operation.requestKey = (named ? attempt.requestKey : null) ?? operation.requestKey ?? attempt.requestKey;
  operation.key = operation.requestKey ?? operation.argsDigest ?? operation.key;
}

/** Delivered at once, and nothing can follow it: no operation of its own is needed to wait for its last lines. */
export const isQuiet = (attempt: Attempt): boolean =>
  attempt.verdict !== null && !attempt.inputRequired && outcome.isDelivered(attempt) && !outcome.isHop(attempt);

const isOpen = (attempt: Attempt): boolean => Number.isNaN(attempt.closeTs) && !attempt.gone;
const isUndecided = (attempt: Attempt): boolean => attempt.suspended !== false && attempt.verdict === null;

/** parse and settle join an exchange for 30 s when it looked delivered, else for 600 s (design section 3). */
export function joinableUntil(attempt: Attempt): number {
  if (Number.isNaN(attempt.closeTs) || isUndecided(attempt)) return Number.POSITIVE_INFINITY;
  return outcome.isDelivered(attempt) || outcome.isUntold(attempt)
    ? attempt.judgedTs + LIMITS.joinDeliveredMs
    : attempt.closeTs + LIMITS.joinUndeliveredMs;
}

/** When can nothing change the result any more? (design section 5: delivered and no attempt open, or the window passed) */
export function deadlineOf(operation: Operation): number {
  const delivered = outcome.deliveredAttempt(operation);
  const last = operation.attempts.at(-1) as Attempt;
  let deadline = 0;
  for (const attempt of operation.attempts) {
    if (isOpen(attempt)) {
      // Waits for its end, unless the caller has left it.
      const left = attempt.settled === 'timeout' || attempt.settled === 'cancelled';
      if (!left) return Number.POSITIVE_INFINITY;
      deadline = Math.max(deadline, attempt.settledTs + LIMITS.joinUndeliveredMs);
    } else if (attempt.gone) continue;
    else if (isUndecided(attempt)) return Number.POSITIVE_INFINITY;
    else if (outcome.isUntold(attempt)) deadline = Math.max(deadline, attempt.closeTs + LIMITS.joinDeliveredMs);
    else if (delivered === undefined) deadline = Math.max(deadline, attempt.closeTs + LIMITS.joinUndeliveredMs);
    // The last round of an MRTR call waits for a person.
    else if (attempt === last && (outcome.isRound(attempt) || outcome.isHop(attempt)))
      deadline = Math.max(deadline, attempt.judgedTs + LIMITS.joinUndeliveredMs);
    else if (attempt === delivered) deadline = Math.max(deadline, attempt.judgedTs + LIMITS.joinDeliveredMs);
  }
  return deadline;
}

/** `evicted`: a full store gave it up, so nothing is concluded from its state. */
export function summarise(operation: Operation, how: 'over' | 'expired' | 'evicted'): OperationFact {
  const result = outcome.resultOf(operation, how);
  const first = operation.attempts[0] as Attempt;
  const last = outcome.deliveredAttempt(operation) ?? (operation.attempts.at(-1) as Attempt);
  const ts = endOf(last);
  return {
    is: 'operation',
    operation,
    server: operation.server,
    version: operation.version,
    method: operation.method,
    result,
    edges: operation.edges.length === 0 ? [] : operation.edges.map((edge) => outcome.edgeFact(operation, edge)),
    nextAction: how === 'evicted' ? null : outcome.nextActionOf(operation, result),
    hint: outcome.hintOf(operation),
    ts,
    // Nobody saw how it ended, but when.
    durationMs:
      first.openKnown && (result !== 'unresolved' || (how === 'over' && outcome.isUntold(last)))
        ? Math.max(0, ts - first.openTs)
        : null,
    errorType: outcome.errorTypeOf(operation, result),
    trace: traceOf(operation),
  };
}

function traceOf({ attempts }: Operation): string | null {
  for (let i = attempts.length - 1; i >= 0; i--) {
    const { trace } = attempts[i] as Attempt;
    if (trace !== null) return trace;
  }
  return null;
}

/** The close; the end of the stream that resumed it; or what its caller was told, for one that never closed. */
function endOf(attempt: Attempt): number {
  if (!Number.isNaN(attempt.closeTs)) return attempt.verdict?.cause === 'resumed' ? attempt.judgedTs : attempt.closeTs;
  return attempt.settled === null ? attempt.openTs : attempt.settledTs;
}

export const trendOf = (fact: ParseFact, failed: boolean, length: number | null): TrendFact => ({
  is: 'trend',
  server: fact.server,
  of: fact.of,
  failed,
  length,
  received: fact.bytes,
  exchange: fact.exchange,
  trace: fact.trace,
  ts: fact.ts,
  origin: fact.origin,
  line: fact.line,
});

/** The full length of a failed payload is that of a later attempt's good parse of the same kind (design section 7). */
export function learnedLength(operation: Operation, attempt: Attempt, of: PendingTrend['of']): number | null {
  const after = operation.attempts.slice(operation.attempts.indexOf(attempt) + 1);
  return after.find((later) => later.okBytes?.[of] !== undefined)?.okBytes?.[of] ?? null;
}

/** All that later attempts told of the full lengths of an attempt's payloads. */
export function learnedLengths(operation: Operation, attempt: Attempt): Attempt['okBytes'] {
  let learned: Attempt['okBytes'] = null;
  for (const later of operation.attempts.slice(operation.attempts.indexOf(attempt) + 1))
    if (later.okBytes !== null) learned = { ...later.okBytes, ...(learned ?? {}) };
  return learned;
}

/** What was waiting for the end of the operation. */
export function finishAttempt(operation: Operation, attempt: Attempt, emit: Emit<Fact>): void {
  for (const { of, received, ts } of attempt.trends ?? [])
    emit({
      is: 'trend',
      server: operation.server,
      of,
      failed: true,
      length: learnedLength(operation, attempt, of),
      received,
      exchange: attempt.exchange,
      trace: attempt.trace,
      ts,
      origin: attempt.origin,
      line: attempt.line,
    });
  attempt.trends = null;
  if (attempt.verdict?.row !== 13) return;
  const result = attempt.settled === 'ok' || attempt.parsedOk ? 'would_reject_complete' : 'would_resolve';
  emit({ is: 'what_if', server: operation.server, result, bytes: attempt.bytes });
}
