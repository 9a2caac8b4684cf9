/**
 * Collects what the documents of one body hold, whether it is one JSON document or a stream of them: the answer that was waited
 * for, and what came beside it. Tells the fetch layer of every answer as soon as it is whole.
 */
import { LISTEN } from '../../core/protocol/methods.ts';
import { type Answer, answerFields, innerJsonOf, mayHoldText, noAnswer, parsedWhole } from './answer.ts';
import type { BodyScanOptions } from './body-scan.ts';
import { type Capture, createCapture } from './capture.ts';
import type { LineFields } from './line-fields.ts';
import { createListPages } from './list-pages.ts';
import type { FoundAnswer } from './message-reader.ts';
import type { MessageScan } from './message-scan.ts';
import { mayLookInto, type ResultFacts, readResult } from './results.ts';

export interface Answers {
  /** A whole document. */
  take(scan: MessageScan): void;
  /** Where the bytes of a document go that may be looked into; undefined for all other methods. */
  readonly capture: Capture | undefined;
  /** Fields of a `close` line. `lenient`: a foreign answer is no mismatch (a stream that serves many requests). */
  close(lenient: boolean): LineFields;
  /** Bytes of the document that held the answer, any answer; undefined: none came. */
  readonly bytes: number | undefined;
  readonly notifications: number;
  readonly facts: ResultFacts;
}

export function createAnswers(options: BodyScanOptions): Answers {
  const { method, digest } = options;
  const capture = mayLookInto(method) ? createCapture() : undefined;
  let first: FoundAnswer | undefined;
  let other: FoundAnswer | undefined;
  let terminalTs: number | undefined;
  let bytes: number | undefined;
  let notifications = 0;
  let cancelled = false;
  let inner: FoundAnswer['inner'] | undefined;
  let facts: ResultFacts = {};

  const lookInto = (answer: FoundAnswer): ResultFacts => {
    if (capture === undefined || answer.kind !== 'result') return {};
    const document = capture.parse();
    const messages: unknown[] = Array.isArray(document) ? document : [document];
    const message = messages.find((one) => isAnswer(one, answer.idJson as string));
    if (message === undefined) return {};
    const { pages = createListPages(digest), cursor } = options;
    return readResult((message as { result?: unknown }).result, capture.bytes, { method, digest, pages, cursor });
  };

  const noteAnswer = (answer: FoundAnswer, scan: MessageScan): void => {
    const ts = options.now();
    if (first === undefined) {
      [first, terminalTs, bytes] = [answer, ts, scan.bytes];
      facts = lookInto(answer);
    }
    const text = mayHoldText(method) && answer.kind === 'result' ? { inner_json: answer.inner } : {};
    options.onAnswer?.({
      idJson: answer.idJson as string,
      kind: answer.kind,
      ts,
      bytes: scan.bytes,
      close: { ...answerFields(answer, ts), ...text },
      parse: parsedWhole(scan.bytes),
      tools: facts.tools,
    } satisfies Answer);
  };

  return {
    capture,
    take(scan) {
      const { messages } = scan;
      notifications += messages.notifications;
      if (messages.cancelled.some((id) => endsListening(id, options))) {
        if (!cancelled) options.onServerCancelled?.();
        cancelled = true;
      }
      if (messages.matched.length > 0 && mayHoldText(method) && messages.matched.some(({ kind }) => kind === 'result'))
        inner ??= innerJsonOf(messages.matched);
      for (const answer of messages.matched) noteAnswer(answer, scan);
      other ??= messages.other;
      if (messages.other !== undefined) bytes ??= scan.bytes;
    },
    close(lenient) {
      const seen = first ?? (lenient ? undefined : other);
      return {
        ...(seen === undefined ? noAnswer(method) : answerFields(seen, terminalTs)),
        ...(cancelled ? { cancelled } : {}),
        ...(inner === undefined ? {} : { inner_json: inner }),
        ...(facts.list === undefined ? {} : { list: facts.list }),
      };
    },
    get bytes() {
      return bytes;
    },
    get notifications() {
      return notifications;
    },
    get facts() {
      return facts;
    },
  };
}

const isAnswer = (message: unknown, idJson: string): boolean =>
  typeof message === 'object' &&
  message !== null &&
  'result' in message &&
  'id' in message &&
  JSON.stringify(message.id) === idJson;

/**
 * A server's notifications/cancelled ends a listen that it names (or that it can only mean). On other exchanges it takes back a
 * request of the server's own, whose ids may be the same numbers.
 */
const endsListening = (idJson: string | undefined, { method, idMatch }: BodyScanOptions): boolean =>
  (method === LISTEN && (idJson === undefined || idMatch(idJson))) ||
  (method === '' && idJson !== undefined && idMatch(idJson));
