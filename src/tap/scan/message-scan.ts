/**
 * Reads the JSON-RPC messages of one document while its bytes pass: a message, or a batch of them (revision 2025-03-26). Says
 * which answers it holds and what else; what that means for the exchange is decided by the body scans.
 */
import { JsonScan, type JsonState } from './json-scan.ts';
import { type IdMatcher, MessageReader, type Messages } from './message-reader.ts';

export class MessageScan {
  readonly #reader: MessageReader;
  readonly #json: JsonScan;

  /** `bom`: the bytes are those of a body, which may start with a byte order mark. */
  constructor(ids: IdMatcher, looksAtText: boolean, bom: boolean) {
    this.#reader = new MessageReader(ids, looksAtText);
    this.#json = new JsonScan(this.#reader, bom);
  }

  push(chunk: Uint8Array, from = 0, to = chunk.length): void {
    this.#json.push(chunk, from, to);
  }

  /** As new, for the next document. */
  reset(): void {
    this.#json.reset();
    this.#reader.clear();
  }

  get bytes(): number {
    return this.#json.bytes;
  }

  get malformedAt(): number | undefined {
    return this.#json.malformedAt;
  }

  state(): JsonState {
    return this.#json.state();
  }

  /** To be believed when the state is complete. */
  get messages(): Messages {
    return this.#reader;
  }

  /** Is this the answer, or would it have become one? True as soon as a result or an error begins. */
  get isAnswering(): boolean {
    return this.#reader.answering && !this.#reader.envelope.hasMethod;
  }
}
