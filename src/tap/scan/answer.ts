/**
 * What an answer, or the lack of one, says in a `close` and a `parse` line. It states what was seen; verdicts are the sidecar's.
 */
import type { InnerJson } from './inner-json.ts';
import type { LineFields } from './line-fields.ts';
import type { FoundAnswer } from './message-reader.ts';
import type { MessageScan } from './message-scan.ts';
import type { ToolHints } from './results.ts';

/** An answer that the fetch layer waits for, whole. */
export interface Answer {
  /** Canonical JSON text of its id. */
  readonly idJson: string;
  readonly kind: 'result' | 'error';
  readonly ts: number;
  /** Of the message or, in a batch, of the batch. */
  readonly bytes: number;
  /** Its part of a `close` line, for an exchange whose answer came on another one. */
  readonly close: LineFields;
  /** The `parse` line of that exchange. */
  readonly parse: LineFields;
  /** Hints of the tools on this page of a tools/list result. */
  readonly tools: ToolHints | undefined;
}

const CALL = 'tools/call';
/** A notification gets no answer: there is nothing to say about a terminal message. */
const expectsAnswer = (method: string): boolean => !method.startsWith('notifications/');
export const noAnswer = (method: string): LineFields => (expectsAnswer(method) ? { terminal: false } : {});
/** Results whose text parts are looked at; '' may carry the answer of a call. */
export const mayHoldText = (method: string): boolean => method === CALL || method === '';

export function answerFields(answer: FoundAnswer, terminalTs: number | undefined): LineFields {
  const { match, kind, errorCode, isError, resultType } = answer;
  const fields: LineFields = {};
  if (match !== undefined) {
    fields.terminal = match === 'match';
    fields.id_match = match;
  }
  if (match === 'match') {
    fields.terminal_kind = kind;
    if (terminalTs !== undefined) fields.terminal_ts = terminalTs;
  }
  if (errorCode !== undefined) fields.error_code = errorCode;
  if (isError !== undefined) fields.is_error = isError;
  if (resultType !== undefined) fields.result_type = resultType;
  return fields;
}

/** One word for the text parts of all answers. */
export function innerJsonOf(answers: readonly FoundAnswer[]): InnerJson {
  let word: InnerJson = 'none';
  for (const { inner } of answers) if (word !== 'bad' && inner !== 'none') word = inner;
  return word;
}

export const parsedWhole = (bytes: number): LineFields => ({ of: 'message', ok: true, bytes });

/** Not whole, or whole in an event without its blank line: it never reaches the caller of a parser. */
export function parsedBroken({ bytes, malformedAt }: MessageScan): LineFields {
  const where = malformedAt === undefined ? { at_end: true } : { at: malformedAt, at_end: false };
  return { of: 'message', ok: false, bytes, ...where };
}
