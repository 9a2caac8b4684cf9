/** A body that is one JSON document: whole or cut, and the answer in it. */
import { mayHoldText, noAnswer, parsedBroken, parsedWhole } from './answer.ts';
import { Answers } from './answers.ts';
import type { Body, BodyScanOptions } from './body-scan.ts';
import type { LineFields } from './line-fields.ts';
import { MessageScan } from './message-scan.ts';
import { isBare, isSuccess, plainLength } from './response.ts';
import type { ResultFacts } from './results.ts';

export class JsonBody implements Body {
  readonly #options: BodyScanOptions;
  readonly #answers: Answers;
  readonly #scan: MessageScan;
  #taken = false;

  constructor(options: BodyScanOptions) {
    this.#options = options;
    this.#answers = new Answers(options);
    this.#scan = new MessageScan(options, mayHoldText(options.method), true);
  }

  push(chunk: Uint8Array): void {
    this.#scan.push(chunk);
    this.#answers.capture?.add(chunk, 0, chunk.length);
    if (this.#taken || this.#scan.state() !== 'complete') return;
    this.#taken = true;
    this.#answers.take(this.#scan);
  }

  close(): LineFields {
    const { bytes } = this.#scan;
    const state = this.#scan.state();
    if (state === 'unknown') return { bytes };
    // What follows a whole document takes it back: no client can parse it.
    const fields = this.#taken && state !== 'complete' ? noAnswer(this.#options.method) : this.#answers.close(false);
    fields.bytes = bytes;
    fields.cut = state === 'empty' ? 'none' : state === 'cut' ? 'mid' : 'boundary';
    if (bytes > 0 || !isBare(this.#options.status)) fields.json = state;
    return fields;
  }

  /** A client parses the body of a success; of a refusal, only those that hold a JSON-RPC error. */
  parse(): LineFields | undefined {
    const { method, status } = this.#options;
    const state = this.#scan.state();
    const isWhole = state === 'complete';
    const isDue = isSuccess(status) && !isBare(status);
    if (method === '' || state === 'unknown' || !(isDue || (isWhole && this.#answers.bytes !== undefined)))
      return undefined;
    const fields = isWhole ? parsedWhole(this.#scan.bytes) : parsedBroken(this.#scan);
    const expected = plainLength(this.#options);
    if (expected !== null) fields.expected_bytes = expected;
    return fields;
  }

  facts(): ResultFacts {
    return this.#scan.state() === 'complete' ? this.#answers.facts : {};
  }

  isOversize(): boolean {
    return this.#scan.state() === 'unknown';
  }
}
