/**
 * The pure rules of design section 5 over one operation: delivered or not, the class of a failure, the safety of a retry, the
 * result, the next action. No state; correlate.ts decides what belongs together, this file what it means.
 */
import type {
  Attempt,
  Edge,
  EdgeFact,
  ErrorType,
  FailureClass,
  Hint,
  NextAction,
  Operation,
  OperationResult,
  Safety,
} from '../model/operation.ts';
import { NEXT_ACTIONS } from '../model/operation.ts';
import { compareEndpoints } from '../protocol/endpoint.ts';
import { CALL } from '../protocol/methods.ts';

const is2xx = (status: number | null): boolean => status === null || (status >= 200 && status < 300);
const is4xx = (status: number | null): boolean => status !== null && status >= 400 && status < 500;

export function isDelivered(attempt: Attempt): boolean {
  const cause = attempt.verdict?.cause;
  const whole =
    cause === 'terminal_seen' ||
    cause === 'resumed' ||
    (cause === 'integrity_ok' && attempt.idMatch !== 'mismatch' && attempt.idMatch !== 'null_id');
  if (!whole || attempt.parseFailed) return false;
  // A resumed answer came on the GET: the status of the first leg is 2xx already.
  if (!is2xx(attempt.status)) return false;
  return attempt.settled !== 'timeout' && attempt.settled !== 'error' && attempt.settled !== 'cancelled';
}

export function failureClass(attempt: Attempt): FailureClass {
  const { verdict, status } = attempt;
  if (verdict?.cause === 'client_timeout' || attempt.timedOutOpen || attempt.unseen === 'timeout') return 'timeout';
  if (attempt.suspended !== false && verdict === null) return 'ambiguous';
  if (verdict?.outcome === 'ambiguous') return 'ambiguous';
  if (verdict?.outcome === 'abandoned') return 'abandoned';
  if (status !== null && (status === 404 || status === 429 || status >= 500)) return 'http_error';
  if (status !== null && status >= 300) return 'refused';
  return attempt.parseFailed ? 'parse_failure' : 'unusable';
}

/**
 * A step of the protocol that is no failure when the next request follows: a redirect, re-authorisation, or the re-send after
 * -32020 / -32021 / -32022.
 */
export function isHop(attempt: Attempt): boolean {
  const { status, errorCode } = attempt;
  if (errorCode === -32020 || errorCode === -32021 || errorCode === -32022) return !Number.isNaN(attempt.closeTs);
  return status !== null && ((status >= 300 && status < 400) || status === 401 || status === 403);
}

/**
 * Nobody saw how it ended, and nobody said that it failed: nothing is concluded from it. It is no retry either, which would be
 * counted as delivered or failed.
 */
export const isUntold = ({ unseen, settled }: Attempt): boolean => unseen === 'nothing' && settled === null;

/** An MRTR round: the server asked for input, the same call goes on. */
export const isRound = (attempt: Attempt): boolean => attempt.inputRequired && isDelivered(attempt);

const isCall = (operation: Operation): boolean => operation.method === CALL || operation.method === null;
const readOnly = (operation: Operation): boolean =>
  operation.target !== null && operation.policy?.isReadOnlyTool(operation.target) === true;

/** Why a retry is as safe as it is, and what follows from that. */
export const SAFETY_BY_REASON = {
  not_a_call: 'safe',
  not_sent: 'safe',
  answered_4xx: 'safe',
  idempotency_key: 'safe',
  read_only_tool: 'safe',
  annotations: 'declared',
  nothing: 'unsafe',
} as const satisfies Record<string, Safety>;
export type SafetyReason = keyof typeof SAFETY_BY_REASON;

export function safetyReason(operation: Operation, { from, to }: Pick<Edge, 'from' | 'to'>): SafetyReason {
  if (!isCall(operation)) return 'not_a_call';
  if (from.notSent) return 'not_sent';
  if (is4xx(from.status)) return 'answered_4xx';
  // A key on the repetition alone does not undo a first run without one.
  if (from.idempotent) return 'idempotency_key';
  if (readOnly(operation)) return 'read_only_tool';
  return from.declaredSafe || to.declaredSafe ? 'annotations' : 'nothing';
}
export const safetyOf = (operation: Operation, edge: Pick<Edge, 'from' | 'to'>): Safety =>
  SAFETY_BY_REASON[safetyReason(operation, edge)];

export function edgeFact(operation: Operation, edge: Edge): EdgeFact {
  return {
    from: edge.from,
    to: edge.to,
    after: edge.whileSuspended ? 'ambiguous' : failureClass(edge.from),
    endpoint: compareEndpoints(edge.from.endpoint, edge.to.endpoint, operation.policy?.endpoints),
    outcome: isDelivered(edge.to) ? 'delivered' : 'failed',
    safety: safetyOf(operation, edge),
  };
}

/** Attempts that failed: hops and rounds that were followed up are no failures. */
export function failedAttempts(operation: Operation): Attempt[] {
  const last = operation.attempts.at(-1);
  return operation.attempts.filter(
    (attempt) => !isDelivered(attempt) && !isUntold(attempt) && (attempt === last || !isHop(attempt)),
  );
}

/** The attempt that delivered, if any: a round or a hop that was followed up brought an answer, not the one that was asked for. */
export function deliveredAttempt(operation: Operation): Attempt | undefined {
  const { attempts } = operation;
  for (let i = attempts.length - 1; i >= 0; i--) {
    const attempt = attempts[i] as Attempt;
    const followed = i < attempts.length - 1 && (attempt.inputRequired || isHop(attempt));
    if (!followed && isDelivered(attempt)) return attempt;
  }
  return undefined;
}

export function resultOf(operation: Operation, how: 'over' | 'expired' | 'evicted'): OperationResult {
  const delivered = deliveredAttempt(operation);
  if (delivered !== undefined) return operation.edges.length === 0 ? 'first_try' : maskedBy(operation, delivered);
  if (operation.cancelled) return 'cancelled';
  if (operation.attempts.some((attempt) => attempt.settled === 'ok')) return 'unproven';
  const last = operation.attempts.at(-1) as Attempt;
  // Nobody will tell what an attempt without an end came to.
  if (how !== 'over' || (Number.isNaN(last.closeTs) && last.settled === null) || isUntold(last)) return 'unresolved';
  const gaveUp = last.verdict?.cause === 'client_cancel' || last.unseen === 'cancelled';
  return gaveUp && last.settled === null ? 'cancelled' : 'surfaced';
}

function maskedBy(operation: Operation, delivered: Attempt): OperationResult {
  const failed = failedAttempts(operation);
  // Posted again while suspended, then both brought the answer: nothing was hidden.
  if (failed.length === 0) return 'first_try';
  let unknown = false;
  for (const attempt of failed) {
    const relation = compareEndpoints(attempt.endpoint, delivered.endpoint, operation.policy?.endpoints);
    if (relation === 'same') return 'masked';
    if (relation === 'unknown') unknown = true;
  }
  return unknown ? 'masked_unknown' : 'masked_rotated';
}

/** What a failed attempt leaves to be done, by the reason for it. */
export const ACTION_BY_REASON = {
  sent_without_answer: 'confirm_outcome',
  answered_but_failed: 'retrieve_result',
  confirmed_harmless: 'reissue_bounded',
  not_a_call: 'reissue_bounded',
  not_sent: 'send_normally',
  answered_4xx: 'send_normally',
  // A write that the server answered with an error of its own (5xx with a JSON-RPC error): it may have run in part.
  answered_with_error: 'confirm_outcome',
} as const satisfies Record<string, NextAction>;
export type ActionReason = keyof typeof ACTION_BY_REASON;

export function actionReason(operation: Operation, attempt: Attempt): ActionReason {
  const confirmed = readOnly(operation) || attempt.idempotent;
  const sent = !attempt.notSent;
  if (isCall(operation) && sent && !attempt.terminal && !is4xx(attempt.status) && !confirmed)
    return 'sent_without_answer';
  if (attempt.terminal && is2xx(attempt.status)) return 'answered_but_failed';
  if (confirmed) return 'confirmed_harmless';
  if (!isCall(operation)) return 'not_a_call';
  if (!sent) return 'not_sent';
  return is4xx(attempt.status) ? 'answered_4xx' : 'answered_with_error';
}

/** The failed attempt that leaves the worst to be done: it decides the next action. */
export function decidingAttempt(
  operation: Operation,
): { readonly attempt: Attempt; readonly reason: ActionReason } | null {
  const failed = failedAttempts(operation).map((attempt) => ({ attempt, reason: actionReason(operation, attempt) }));
  for (const action of NEXT_ACTIONS) {
    const found = failed.find(({ reason }) => ACTION_BY_REASON[reason] === action);
    if (found !== undefined) return found;
  }
  return null;
}

/** Once per operation that was retried or ended undelivered; the worst over its failed attempts. */
export function nextActionOf(operation: Operation, result: OperationResult): NextAction | null {
  const deciding = result === 'first_try' ? null : decidingAttempt(operation);
  return deciding === null ? null : ACTION_BY_REASON[deciding.reason];
}

export const hintOf = (operation: Operation): Hint =>
  operation.attempts.some((attempt) => attempt.declaredSafe) ? 'declared' : 'none';

export function errorTypeOf(operation: Operation, result: OperationResult): ErrorType {
  const delivered = deliveredAttempt(operation);
  if (delivered !== undefined) {
    if (delivered.terminalKind === 'error' || delivered.errorCode !== null || delivered.settled === 'rpc_error')
      return 'rpc_error';
    return delivered.isError || delivered.settled === 'tool_error' ? 'tool_error' : '';
  }
  if (result === 'cancelled') return 'cancelled';
  const last = operation.attempts.at(-1) as Attempt;
  if (isUntold(last)) return '';
  switch (failureClass(last)) {
    case 'timeout':
      return 'timeout';
    case 'ambiguous':
      return 'ambiguous';
    case 'abandoned':
      return 'abandoned';
    case 'http_error':
      return (last.status as number) >= 500 ? 'http_5xx' : 'http_4xx';
    case 'refused':
      return is4xx(last.status) ? 'http_4xx' : '_OTHER';
    default:
      return '_OTHER';
  }
}
