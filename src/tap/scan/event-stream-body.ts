/** A body of server-sent events: how many, where they stop, and the answer among them. */
import { mayHoldText, parsedBroken, parsedWhole } from './answer.ts';
import { Answers } from './answers.ts';
import type { Body, BodyScanOptions } from './body-scan.ts';
import type { LineFields } from './line-fields.ts';
import { MessageScan } from './message-scan.ts';
import type { ResultFacts } from './results.ts';
import { type SseListener, SseScan } from './sse-scan.ts';

export class EventStreamBody implements Body, SseListener {
  readonly #options: BodyScanOptions;
  readonly #answers: Answers;
  readonly #events: SseScan;
  /** The `parse` line of an answer whose event is whole and whose JSON is not. */
  #broken: LineFields | undefined = undefined;
  #tooDeep = false;

  constructor(options: BodyScanOptions) {
    this.#options = options;
    this.#answers = new Answers(options);
    this.#events = new SseScan(new MessageScan(options, mayHoldText(options.method), false), this);
  }

  push(chunk: Uint8Array): void {
    this.#events.push(chunk);
  }

  began(): void {
    this.#answers.capture?.clear();
  }

  data(chunk: Uint8Array, from: number, to: number): void {
    this.#answers.capture?.add(chunk, from, to);
  }

  message(message: MessageScan): void {
    const state = message.state();
    if (state === 'complete') this.#answers.take(message);
    else if (state === 'unknown') this.#tooDeep = true;
    else if (state !== 'empty' && message.isAnswering) this.#broken = parsedBroken(message);
  }

  close(): LineFields {
    const { bytes, events, eventIds, lastEventId } = this.#events;
    // A GET stream serves many requests, maybe some that nobody waits for any more.
    const fields = this.#answers.close(this.#options.method === '');
    fields.bytes = bytes;
    fields.events = events;
    fields.notifications = this.#answers.notifications;
    fields.event_ids = eventIds;
    fields.cut = this.#events.cut();
    // The answer may have been in an event that was not followed to its end.
    if (this.#tooDeep && fields.terminal === false) fields.terminal = undefined;
    if (lastEventId !== undefined) fields.event_id_digest = this.#options.digest(lastEventId);
    return fields;
  }

  parse(): LineFields | undefined {
    if (this.#answers.bytes !== undefined) return parsedWhole(this.#answers.bytes);
    if (this.#broken !== undefined) return this.#broken;
    const { pending } = this.#events;
    return pending?.isAnswering && pending.state() !== 'unknown' ? parsedBroken(pending) : undefined;
  }

  facts(): ResultFacts {
    return this.#answers.facts;
  }

  isOversize(): boolean {
    return this.#events.oversize || this.#tooDeep || this.#events.pending?.state() === 'unknown';
  }
}
