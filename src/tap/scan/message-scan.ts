/**
 * Reads the JSON-RPC messages of one document while its bytes pass: a message, or a batch of them (revision 2025-03-26). Says
 * which answers it holds and what else; what that means for the exchange is decided by the body scans. No payload is kept.
 */
import { answerOf, type Envelope, emptyEnvelope, MEMBERS, type ResultType } from './envelope.ts';
import { type InnerJson, InnerJsonScan } from './inner-json.ts';
import { type JsonListener, JsonScan, KEEP, SKIP, STREAM, type Want } from './json-scan.ts';

export type IdMatch = 'match' | 'mismatch' | 'null_id';

export interface FoundAnswer {
  readonly idJson: string | undefined;
  /** undefined: the id is too long to tell. */
  readonly match: IdMatch | undefined;
  readonly kind: 'result' | 'error';
  readonly errorCode: number | undefined;
  readonly isError: boolean | undefined;
  readonly resultType: ResultType | undefined;
  readonly inner: InnerJson;
}

/** What a document holds; to be believed when it is complete. */
export interface Messages {
  /** Answers that the exchange waits for, in their order. */
  readonly matched: readonly FoundAnswer[];
  /** The first answer that it does not wait for. */
  readonly other: FoundAnswer | undefined;
  readonly notifications: number;
  /** Ids that a notifications/cancelled names; undefined stands for one that names none. */
  readonly cancelled: readonly (string | undefined)[];
}

export interface MessageScanOptions {
  idMatch(idJson: string): boolean;
  /** Look at text parts of results that look like JSON. */
  readonly inner: boolean;
  readonly bom: boolean;
}

/** Answers and cancellations kept of one batch. */
const MAX_KEPT = 256;
const CANCELLED = 'notifications/cancelled';

/** Followed containers, from the outside in. A batch stands around the message, or it does not. */
type Place = 'document' | 'batch' | 'message' | 'result' | 'error' | 'params' | 'content' | 'part';
const OUTER: Record<Exclude<Place, 'message' | 'document'>, Place> = {
  batch: 'document',
  result: 'message',
  error: 'message',
  params: 'message',
  content: 'result',
  part: 'content',
};

class MessageReader implements JsonListener {
  matched: FoundAnswer[] = [];
  other: FoundAnswer | undefined;
  notifications = 0;
  cancelled: (string | undefined)[] = [];
  envelope: Envelope = emptyEnvelope();
  /** Some message of the document has a result or an error. */
  answering = false;
  readonly #options: MessageScanOptions;
  readonly #innerScan: InnerJsonScan | undefined;
  #place: Place = 'document';
  #isBatch = false;
  #key: string | undefined;
  /** Of the text part being read. */
  #isText = false;
  #partInner: InnerJson = 'none';

  constructor(options: MessageScanOptions) {
    this.#options = options;
    this.#innerScan = options.inner ? new InnerJsonScan() : undefined;
  }

  clear(): void {
    [this.matched, this.other, this.notifications, this.cancelled] = [[], undefined, 0, []];
    [this.#place, this.#isBatch, this.answering, this.envelope] = ['document', false, false, emptyEnvelope()];
    this.#innerScan?.end();
  }

  opened(isList: boolean): boolean {
    this.#begin();
    const next = this.#inner(isList);
    if (next === undefined) return false;
    if (next === 'batch') this.#isBatch = true;
    if (next === 'message') this.envelope = emptyEnvelope();
    if (next === 'part') [this.#isText, this.#partInner] = [false, 'none'];
    this.#place = next;
    this.#key = undefined;
    return true;
  }

  closed(): void {
    const place = this.#place;
    if (place === 'message') {
      this.#noteMessage();
      this.#place = this.#isBatch ? 'batch' : 'document';
      return;
    }
    if (place === 'part' && this.#isText && this.#partInner !== 'none' && this.envelope.inner !== 'bad')
      this.envelope.inner = this.#partInner;
    this.#place = place === 'document' ? place : OUTER[place];
    // The text of the parent's key is gone, and its value is over.
    this.#key = undefined;
  }

  key(key: string | undefined): void {
    this.#key = key;
  }

  wants(isString: boolean): Want {
    this.#begin();
    if (this.#place === 'part') {
      if (!isString) return SKIP;
      return this.#key === 'type' ? KEEP : this.#key === 'text' ? STREAM : SKIP;
    }
    return this.#member()?.value === undefined ? SKIP : KEEP;
  }

  scalar(text: string | undefined): void {
    if (this.#place === 'part') this.#isText = text === '"text"';
    else this.#member()?.value?.(this.envelope, text);
  }

  text(chunk: Uint8Array, from: number, to: number): void {
    this.#innerScan?.push(chunk, from, to);
  }

  textEnd(): void {
    this.#partInner = this.#innerScan?.end() ?? 'none';
  }

  /** A value begins at the current key: it replaces an earlier one of the same name. */
  #begin(): void {
    if (this.#place === 'part') {
      if (this.#key === 'type') this.#isText = false;
      if (this.#key === 'text') this.#partInner = 'none';
      return;
    }
    this.#member()?.begin(this.envelope);
    if (this.#place === 'message' && (this.#key === 'result' || this.#key === 'error')) this.answering = true;
  }

  #member() {
    const key = this.#key;
    if (key === undefined) return undefined;
    switch (this.#place) {
      case 'message':
        return ROOT.get(key);
      case 'result':
        return OF_RESULT.get(key);
      case 'error':
        return OF_ERROR.get(key);
      case 'params':
        return OF_PARAMS.get(key);
      default:
        return undefined;
    }
  }

  /** The place that a container at the current position is, if it is one to follow. */
  #inner(isList: boolean): Place | undefined {
    const key = this.#key;
    switch (this.#place) {
      case 'document':
        return isList ? 'batch' : 'message';
      case 'batch':
        return isList ? undefined : 'message';
      case 'message':
        return !isList && (key === 'result' || key === 'error' || key === 'params') ? key : undefined;
      case 'result':
        return isList && key === 'content' && this.#innerScan !== undefined ? 'content' : undefined;
      case 'content':
        return isList ? undefined : 'part';
      default:
        return undefined;
    }
  }

  #noteMessage(): void {
    const { envelope } = this;
    const kind = answerOf(envelope);
    if (kind !== undefined) this.#noteAnswer(kind);
    else if (envelope.method !== undefined && envelope.id === undefined && !envelope.idTooLong) {
      this.notifications++;
      if (envelope.method === CANCELLED && this.cancelled.length < MAX_KEPT) this.cancelled.push(envelope.requestId);
    }
  }

  #noteAnswer(kind: 'result' | 'error'): void {
    const { id, idTooLong, errorCode, isError, resultType, inner } = this.envelope;
    const absent = idTooLong ? undefined : 'null_id';
    const match = id === undefined ? absent : this.#options.idMatch(id) ? 'match' : 'mismatch';
    const answer: FoundAnswer = { idJson: id, match, kind, errorCode, isError, resultType, inner };
    if (match !== 'match') this.other ??= answer;
    else if (this.matched.length < MAX_KEPT) this.matched.push(answer);
  }
}

const below = (parent: string) =>
  new Map([...MEMBERS].filter(([path]) => path.startsWith(parent)).map(([path, m]) => [path.slice(parent.length), m]));
const ROOT = new Map([...MEMBERS].filter(([path]) => !path.includes('.')));
const OF_RESULT = below('result.');
const OF_ERROR = below('error.');
const OF_PARAMS = below('params.');

export class MessageScan extends JsonScan {
  readonly #reader: MessageReader;

  constructor(options: MessageScanOptions) {
    const reader = new MessageReader(options);
    super({ listener: reader, bom: options.bom });
    this.#reader = reader;
  }

  override reset(): void {
    super.reset();
    this.#reader.clear();
  }

  get messages(): Messages {
    return this.#reader;
  }

  /** Is this the answer, or would it have become one? True as soon as a result or an error begins. */
  get isAnswering(): boolean {
    return this.#reader.answering && !this.#reader.envelope.hasMethod;
  }
}
