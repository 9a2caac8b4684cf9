/** From an exchange record to the few facts about it that its operation may be asked for later. */
import type { WireEvent } from '../model/event.ts';
import type { Exchange } from '../model/exchange.ts';
import type { Attempt } from '../model/operation.ts';
import type { Verdict } from '../model/verdict.ts';

export function createAttempt(exchange: Exchange): Attempt {
  const { fields } = exchange;
  return {
    exchange: exchange.id,
    key: exchange.key,
    client: exchange.client,
    openTs: exchange.openTs,
    openKnown: exchange.openKnown,
    endpoint: exchange.endpoint,
    closeTs: null,
    judgedTs: Number.NaN,
    verdict: null,
    suspended: false,
    status: null,
    terminal: false,
    terminalKind: null,
    idMatch: null,
    errorCode: null,
    isError: false,
    inputRequired: false,
    inputResponses: fields.input_responses === true,
    notSent: fields.sent === 'none',
    idempotent: fields.idempotency_key === true,
    declaredSafe: fields.annotations?.read_only === true || fields.annotations?.idempotent === true,
    bytes: 0,
    fullLength: null,
    cutOrEmpty: false,
    parseFailed: false,
    parsedOk: false,
    okBytes: null,
    trends: null,
    settled: null,
    settledTs: Number.NaN,
    trace: fields.trace ?? null,
  };
}

/** Takes over what only the end of the exchange tells. */
export function closeAttempt(attempt: Attempt, exchange: Exchange): void {
  const { fields } = exchange;
  attempt.closeTs = exchange.closeTs;
  attempt.judgedTs = exchange.closeTs;
  attempt.endpoint = exchange.endpoint;
  attempt.status = fields.status ?? null;
  attempt.terminal = exchange.terminal;
  attempt.terminalKind = fields.terminal_kind ?? null;
  attempt.idMatch = fields.id_match ?? null;
  attempt.errorCode = fields.error_code ?? null;
  attempt.isError = fields.is_error === true;
  attempt.inputRequired = fields.result_type === 'input_required';
  attempt.notSent = fields.sent === 'none' && attempt.status === null && !exchange.terminal;
  attempt.idempotent ||= fields.idempotency_key === true;
  attempt.declaredSafe ||= fields.annotations?.read_only === true || fields.annotations?.idempotent === true;
  attempt.inputResponses ||= fields.input_responses === true;
  attempt.bytes = fields.bytes ?? 0;
  attempt.fullLength = fullLengthOf(fields);
  attempt.cutOrEmpty =
    fields.json === 'cut' ||
    fields.json === 'empty' ||
    fields.cut === 'mid' ||
    (fields.bytes === 0 && !exchange.terminal);
  attempt.trace = fields.trace ?? attempt.trace;
}

export function judgeAttempt(attempt: Attempt, verdict: Verdict | null, at: number): void {
  attempt.verdict = verdict;
  attempt.judgedTs = at;
}

/** Content-Length is the full length of the payload only where the body is not encoded. */
function fullLengthOf(fields: WireEvent): number | null {
  const { content_length, content_encoding } = fields;
  if (content_length === undefined || content_length === null) return null;
  return content_encoding === undefined || content_encoding === null || content_encoding === 'identity'
    ? content_length
    : null;
}
