/** One operation told in plain words: its attempts, what became of each, and what the evidence allows next. */
import type { Attempt, EdgeFact, NextAction, OperationFact, OperationResult } from '../core/model/operation.ts';
import type { Cause } from '../core/model/verdict.ts';
import { plain } from './plain.ts';

export const RESULT_TEXT: Readonly<Record<OperationResult, string>> = {
  first_try: 'delivered without a retry',
  masked_rotated: 'delivered by a retry on another endpoint: no error was counted',
  masked: 'delivered by a retry on the same endpoint: no error was counted',
  masked_unknown: 'delivered by a retry, on which endpoint is unknown: no error was counted',
  surfaced: 'never delivered',
  unproven: 'the caller took an unproven payload for success',
  cancelled: 'cancelled by the client',
  unresolved: 'how it ended was never seen',
};

export const ACTION_TEXT: Readonly<Record<NextAction, string>> = {
  confirm_outcome:
    'confirm at the destination whether it ran before anything is repeated: it was sent and nothing proves its outcome',
  retrieve_result: 'fetch the result: the answer had arrived, its caller lost it',
  reissue_bounded: 'repeat it within bounds: a second run does no harm',
  send_normally: 'send it again: it never ran',
};

export const CAUSE_TEXT: Readonly<Record<Cause, string>> = {
  terminal_seen: 'the answer arrived',
  connect_failed: 'no connection, nothing was sent',
  no_response: 'sent, but no response head came back',
  client_cancel: 'the client gave it up',
  client_timeout: 'the client ran out of patience',
  integrity_ok: 'a whole JSON document arrived',
  listen_ended: 'the stream was ended on purpose',
  resumed: 'resumed on another stream, where the answer arrived',
  not_resumed: 'the stream ended early and was never resumed',
  sentinel_missing: 'the terminal message is mandatory here and never came',
  transport_error: 'the connection broke',
  cut_payload: 'the payload was cut',
  malformed_payload: 'the payload was no JSON',
  carrier_lost: 'the stream that should carry the answer was lost',
  http_response: 'an HTTP answer without an MCP result',
  listen_dropped: 'the subscription was dropped',
  no_evidence: 'the stream ended, and nothing proves whether it was complete or cut',
};

export const seconds = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 90_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
};
export const bytes = (n: number): string => {
  if (n < 1024) return `${n} B`;
  return n < 1024 * 1024 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1024 / 1024).toFixed(1)} MiB`;
};

function evidenceOf(attempt: Attempt): string {
  const { verdict } = attempt;
  const facts = [
    ...(attempt.status === null ? [] : [`status ${attempt.status}`]),
    ...(attempt.bytes > 0 ? [bytes(attempt.bytes)] : []),
    ...(verdict === null || verdict.outcome === 'clean' ? [] : [`regime ${verdict.regime}`, `cut ${verdict.cut}`]),
    ...(verdict?.stage ? [`failed at ${verdict.stage}`] : []),
    ...(attempt.parseFailed ? ['its payload did not parse'] : []),
    ...(attempt.settled === null ? [] : [`caller was told ${attempt.settled}`]),
  ];
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`;
}

function verdictText(attempt: Attempt): string {
  const { verdict } = attempt;
  if (verdict !== null) return `${verdict.outcome}: ${CAUSE_TEXT[verdict.cause]}`;
  if (Number.isNaN(attempt.closeTs)) return 'still open when it was counted';
  return attempt.unseen ? 'no verdict: how it ended was never seen' : 'no verdict: a redirect or a refusal';
}

function attemptLine(
  attempt: Attempt,
  number: number,
  before: Attempt | undefined,
  edge: EdgeFact | undefined,
): string {
  const since =
    before === undefined
      ? ''
      : `, ${seconds(Math.max(0, attempt.openTs - (Number.isNaN(before.closeTs) ? before.openTs : before.closeTs)))} later`;
  const how =
    edge === undefined
      ? ''
      : `, ${edge.endpoint === 'unknown' ? 'endpoint unknown' : edge.endpoint}, ${edge.safety} retry`;
  const where = `${attempt.exchange} on ${attempt.endpoint ?? 'endpoint unknown'}`;
  return `   ${number}. ${plain(where)}${since}${how}\n      ${verdictText(attempt)}${evidenceOf(attempt)}\n`;
}

/** Ends with a line end. `title` goes before the method, e.g. a number. */
export function tellStory(fact: OperationFact, title: string): string {
  const { operation, edges } = fact;
  const what = `${operation.method ?? 'unknown method'}${operation.target === null ? '' : ` ${operation.target}`}`;
  let text = `${title}${plain(`${what} on ${operation.server}`)}: ${fact.result}, ${RESULT_TEXT[fact.result]}\n`;
  for (const [i, attempt] of operation.attempts.entries())
    text += attemptLine(
      attempt,
      i + 1,
      operation.attempts[i - 1],
      edges.find((edge) => edge.to === attempt),
    );
  if (fact.nextAction !== null) text += `   next: ${fact.nextAction}: ${ACTION_TEXT[fact.nextAction]}\n`;
  return text;
}
