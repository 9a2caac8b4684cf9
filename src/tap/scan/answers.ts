/**
 * Collects what the documents of one body hold, whether it is one JSON document or a stream of them: the answer that was waited
 * for, and what came beside it. Tells the fetch layer of every answer as soon as it is whole.
 */
import { LISTEN } from '../../core/protocol/methods.ts';
import { answerFields, innerJsonOf, mayHoldText, noAnswer, parsedWhole } from './answer.ts';
import type { BodyScanOptions } from './body-scan.ts';
import { Capture } from './capture.ts';
import type { InnerJson } from './inner-json.ts';
import type { LineFields } from './line-fields.ts';
import { createListPages } from './list-pages.ts';
import type { FoundAnswer } from './message-reader.ts';
import type { MessageScan } from './message-scan.ts';
import { mayLookInto, type ResultFacts, readResult } from './results.ts';

const NOTHING: ResultFacts = {};

export class Answers {
  /** Where the bytes of a document go that may be looked into; undefined for all other methods. */
  readonly capture: Capture | undefined;
  /** Bytes of the document that held the first answer, whosever it is; undefined: none came. */
  bytes: number | undefined = undefined;
  notifications = 0;
  facts = NOTHING;
  readonly #options: BodyScanOptions;
  readonly #mayHoldText: boolean;
  #first: FoundAnswer | undefined = undefined;
  #other: FoundAnswer | undefined = undefined;
  #terminalTs: number | undefined = undefined;
  #cancelled = false;
  #inner: InnerJson | undefined = undefined;

  constructor(options: BodyScanOptions) {
    this.#options = options;
    this.#mayHoldText = mayHoldText(options.method);
    this.capture = mayLookInto(options.method) ? new Capture() : undefined;
  }

  /** Takes note of a whole document. */
  take(scan: MessageScan): void {
    const { matched, other, notifications, cancelled, listChanged } = scan.messages;
    this.notifications += notifications;
    if (!this.#cancelled && cancelled.length > 0 && cancelled.some((id) => endsListening(id, this.#options))) {
      this.#cancelled = true;
    }
    if (listChanged) this.#options.onListChanged?.(scan.bytes);
    if (this.#mayHoldText && matched.some(({ kind }) => kind === 'result')) this.#inner ??= innerJsonOf(matched);
    for (const answer of matched) this.#note(answer, scan.bytes);
    if (other === undefined) return;
    this.#other ??= other;
    this.bytes ??= scan.bytes;
  }

  /** Fields of a `close` line. `lenient`: a foreign answer is no mismatch (a stream that serves many requests). */
  close(lenient: boolean): LineFields {
    const seen = this.#first ?? (lenient ? undefined : this.#other);
    const fields = seen === undefined ? noAnswer(this.#options.method) : answerFields(seen, this.#terminalTs);
    if (this.#cancelled) fields.cancelled = true;
    if (this.#inner !== undefined) fields.inner_json = this.#inner;
    if (this.facts.list !== undefined) fields.list = this.facts.list;
    return fields;
  }

  #note(answer: FoundAnswer, bytes: number): void {
    const ts = this.#options.now();
    if (this.#first === undefined) {
      this.#first = answer;
      this.#terminalTs = ts;
      this.bytes = bytes;
      this.facts = this.#lookInto(answer);
    }
    if (this.#options.onAnswer === undefined) return;
    const close = answerFields(answer, ts);
    if (this.#mayHoldText && answer.kind === 'result') close.inner_json = answer.inner;
    this.#options.onAnswer({
      idJson: answer.idJson as string,
      kind: answer.kind,
      ts,
      bytes,
      close,
      parse: parsedWhole(bytes),
      tools: this.facts.tools,
    });
  }

  #lookInto(answer: FoundAnswer): ResultFacts {
    const { capture } = this;
    if (capture === undefined || answer.kind !== 'result') return NOTHING;
    const document = capture.parse();
    const messages: unknown[] = Array.isArray(document) ? document : [document];
    const message = messages.find((one) => isResultOf(one, answer.idJson as string));
    if (message === undefined) return NOTHING;
    const { method, digest, pages, cursor } = this.#options;
    const source = { method, digest, pages: pages ?? createListPages(digest), cursor };
    try {
      return readResult((message as { result?: unknown }).result, capture.bytes, source);
    } catch {
      // Nested deeper than the stack: the answer is an answer all the same.
      return NOTHING;
    }
  }
}

const isResultOf = (message: unknown, idJson: string): boolean =>
  typeof message === 'object' &&
  message !== null &&
  'result' in message &&
  'id' in message &&
  JSON.stringify(message.id) === idJson;

/**
 * A server's notifications/cancelled ends a listen that it names (or that it can only mean). On other exchanges it takes back a
 * request of the server's own, whose ids may be the same numbers.
 */
const endsListening = (idJson: string | undefined, options: BodyScanOptions): boolean =>
  (options.method === LISTEN && (idJson === undefined || options.idMatch(idJson))) ||
  (options.method === '' && idJson !== undefined && options.idMatch(idJson));
