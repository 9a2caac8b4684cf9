/**
 * The listener of a message scan: knows where in a JSON-RPC document the scanner is (batch, message, result, content, part), and
 * notes the answers and notifications as their messages end. No payload is kept.
 */
import * as at from './envelope.ts';
import { Envelope, type ResultType } from './envelope.ts';
import { type InnerJson, InnerJsonScan } from './inner-json.ts';
import { type JsonListener, KEEP, SKIP, STREAM, type Want } from './json-listener.ts';

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
  /** A notification says that a list of the server has changed. */
  readonly listChanged: boolean;
}

/** Is this id (canonical JSON text) that of a request whose answer may come here? */
export interface IdMatcher {
  idMatch(idJson: string): boolean;
}

/** Answers and cancellations kept of one batch. */
const MAX_KEPT = 256;
const CANCELLED = 'notifications/cancelled';
const LIST_CHANGED: ReadonlySet<string> = new Set(
  ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`),
);

/** Followed containers besides those that have members of interest. */
const DOCUMENT = 5;
const BATCH = 6;
const CONTENT_LIST = 7;

export class MessageReader implements JsonListener, Messages {
  matched: FoundAnswer[] = [];
  other: FoundAnswer | undefined = undefined;
  notifications = 0;
  cancelled: (string | undefined)[] = [];
  listChanged = false;
  /** Some message of the document has a result or an error. */
  answering = false;
  readonly envelope = new Envelope();
  readonly #ids: IdMatcher;
  readonly #looksAtText: boolean;
  #innerScan: InnerJsonScan | undefined = undefined;
  #place = DOCUMENT;
  #isBatch = false;
  /** The member whose value comes next, or passes. */
  #member = at.NO_MEMBER;
  /** Of the part being read: its last `type` says text, and what its last `text` holds. */
  #isText = false;
  #partInner: InnerJson = 'none';

  /** `looksAtText`: say of text parts of results whether they are JSON. */
  constructor(ids: IdMatcher, looksAtText: boolean) {
    this.#ids = ids;
    this.#looksAtText = looksAtText;
  }

  clear(): void {
    if (this.matched.length > 0) this.matched = [];
    if (this.cancelled.length > 0) this.cancelled = [];
    this.other = undefined;
    this.notifications = 0;
    this.listChanged = false;
    this.answering = false;
    this.envelope.clear();
    this.#place = DOCUMENT;
    this.#isBatch = false;
    this.#member = at.NO_MEMBER;
    this.#innerScan?.end();
  }

  opened(isList: boolean): boolean {
    this.#begin();
    const next = this.#placeWithin(isList);
    if (next < 0) return false;
    if (next === BATCH) this.#isBatch = true;
    else if (next === at.MESSAGE) this.envelope.clear();
    else if (next === at.PART) {
      this.#isText = false;
      this.#partInner = 'none';
    }
    this.#place = next;
    this.#member = at.NO_MEMBER;
    return true;
  }

  closed(): void {
    this.#member = at.NO_MEMBER;
    switch (this.#place) {
      case at.MESSAGE:
        this.#noteMessage();
        this.#place = this.#isBatch ? BATCH : DOCUMENT;
        break;
      case at.PART:
        if (this.#isText && this.#partInner !== 'none' && this.envelope.inner !== 'bad')
          this.envelope.inner = this.#partInner;
        this.#place = CONTENT_LIST;
        break;
      case CONTENT_LIST:
        this.#place = at.RESULT;
        break;
      case BATCH:
        this.#place = DOCUMENT;
        break;
      default:
        this.#place = at.MESSAGE;
    }
  }

  key(bytes: Uint8Array, from: number, to: number): void {
    this.#member = at.memberOf(this.#place, bytes, from, to);
  }

  wants(isString: boolean): Want {
    this.#begin();
    if (this.#member === at.TEXT) return isString ? STREAM : SKIP;
    return at.isRead(this.#member) ? KEEP : SKIP;
  }

  scalar(text: string | undefined, isString: boolean): void {
    if (this.#member === at.TYPE) this.#isText = isString && text === 'text';
    else this.envelope.value(this.#member, text, isString);
  }

  text(chunk: Uint8Array, from: number, to: number): number {
    this.#innerScan ??= new InnerJsonScan();
    return this.#innerScan.push(chunk, from, to);
  }

  escaped(c: number): void {
    this.#innerScan?.escaped(c);
  }

  textEnd(): void {
    this.#partInner = this.#innerScan?.end() ?? 'none';
  }

  #begin(): void {
    const member = this.#member;
    if (member === at.NO_MEMBER) return;
    if (member === at.TYPE) this.#isText = false;
    else if (member === at.TEXT) this.#partInner = 'none';
    else this.envelope.begin(member);
    if (member === at.RESULT_MEMBER || member === at.ERROR_MEMBER) this.answering = true;
  }

  /** The place that a container at the current position is; -1: none to follow. */
  #placeWithin(isList: boolean): number {
    switch (this.#place) {
      case DOCUMENT:
        return isList ? BATCH : at.MESSAGE;
      case BATCH:
        return isList ? -1 : at.MESSAGE;
      case CONTENT_LIST:
        return isList ? -1 : at.PART;
    }
    switch (this.#member) {
      case at.RESULT_MEMBER:
        return isList ? -1 : at.RESULT;
      case at.ERROR_MEMBER:
        return isList ? -1 : at.ERROR;
      case at.PARAMS_MEMBER:
        return isList ? -1 : at.PARAMS;
      case at.CONTENT:
        return isList && this.#looksAtText ? CONTENT_LIST : -1;
      default:
        return -1;
    }
  }

  #noteMessage(): void {
    const { envelope } = this;
    const kind = envelope.answer;
    if (kind !== undefined) this.#noteAnswer(kind);
    else if (envelope.method !== undefined && envelope.id === undefined && !envelope.idTooLong) {
      this.notifications++;
      if (envelope.method === CANCELLED && this.cancelled.length < MAX_KEPT) this.cancelled.push(envelope.requestId);
      else if (LIST_CHANGED.has(envelope.method)) this.listChanged = true;
    }
  }

  #noteAnswer(kind: 'result' | 'error'): void {
    const { id, idTooLong, errorCode, isError, resultType, inner } = this.envelope;
    const absent = idTooLong ? undefined : 'null_id';
    const match = id === undefined ? absent : this.#ids.idMatch(id) ? 'match' : 'mismatch';
    const answer: FoundAnswer = { idJson: id, match, kind, errorCode, isError, resultType, inner };
    if (match !== 'match') this.other ??= answer;
    else if (this.matched.length < MAX_KEPT) this.matched.push(answer);
  }
}
