/**
 * What the verdict table looks at, found out from the record of one closed exchange. It decides nothing: that is the table's work
 * (classify.ts).
 */
import { type Exchange, hasHead } from '../model/exchange.ts';
import type { Cut, JudgedKind } from '../model/verdict.ts';
import { type Media, mediaOf } from '../protocol/media.ts';

/** What the table looks at. Kept apart from the exchange so that the public `classifyStreamOutcome` is the very same rule. */
export interface StreamFacts {
  readonly kind: JudgedKind;
  readonly head: boolean;
  readonly notSent: boolean;
  readonly how: 'eof' | 'error' | 'no_response' | 'cancel' | 'unknown';
  readonly terminal: boolean;
  readonly media: Media;
  /** Declared by event or contract (a JSON body is self-delimiting by its media type). */
  readonly selfDelimiting: boolean;
  /** Does the payload prove itself whole, or cut? unknown: nothing was reported. */
  readonly whole: 'whole' | 'cut' | 'malformed' | 'unknown';
  /** The client ended it: cancel, timeout, or null. */
  readonly gaveUp: 'client_cancel' | 'client_timeout' | null;
  /** The client ended it, in whatever way. */
  readonly byClient: boolean;
  /** The server's notifications/cancelled for this listen was seen. */
  readonly serverCancelled: boolean;
  readonly eventId: boolean;
  readonly carrierLost: boolean;
  readonly status: number | null;
  readonly cut: Cut;
  readonly mandated: boolean;
  readonly cutMid: 'ambiguous' | 'abandoned';
}

export const TIMEOUT_WORDS: ReadonlySet<string> = new Set([
  'TimeoutError',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** Did the client end it, and why (row 5)? */
function whoGaveUp(exchange: Exchange, media: Media): StreamFacts['gaveUp'] {
  const { how, by, error, status } = exchange.fields;
  if (exchange.timeoutTs !== null && exchange.timeoutTs <= exchange.closeTs) return 'client_timeout';
  const failed = how === 'error' || how === 'no_response';
  if (how === 'cancel' ? !isDiscard(status, media) : failed && (by === 'client' || (by !== 'peer' && isAbort(error))))
    return TIMEOUT_WORDS.has(error ?? '') ? 'client_timeout' : 'client_cancel';
  if (exchange.cancelled || exchange.sessionDeleted) return 'client_cancel';
  return null;
}
const isAbort = (error: string | null | undefined): boolean => error === 'AbortError' || error === 'TimeoutError';

/** SDKs cancel the body of an answer that they do not read: no sign of giving up. */
const isDiscard = (status: number | null | undefined, media: Media): boolean =>
  media === 'absent' ||
  media === 'other' ||
  (typeof status === 'number' &&
    (status === 202 || status === 204 || status === 405 || (status >= 300 && status < 400)));

function wholeness(exchange: Exchange, media: Media): StreamFacts['whole'] {
  const { integrity_ok, json, bytes, cut } = exchange.fields;
  if (integrity_ok === true || json === 'complete') return 'whole';
  if (json === 'malformed') return 'malformed';
  if (json === 'cut' || json === 'empty' || integrity_ok === false) return 'cut';
  // Nothing judged the JSON text, yet no bytes, or bytes that stop inside a token, are no document (where there should be one).
  const { how, status } = exchange.fields;
  const none = status === 202 || status === 204 || status === 405 || (how === 'cancel' && isDiscard(status, media));
  return media === 'json' && !none && (bytes === 0 || cut === 'mid') ? 'cut' : 'unknown';
}

/** Found out as it is asked for: of most exchanges, whose answer was seen, hardly anything is. */
class FactsOfExchange implements StreamFacts {
  #media: Media | null = null;

  constructor(
    private readonly exchange: Exchange,
    readonly kind: JudgedKind,
    readonly cutMid: StreamFacts['cutMid'],
  ) {}

  get head() {
    return hasHead(this.exchange);
  }
  get notSent() {
    return this.exchange.fields.sent === 'none';
  }
  get how() {
    return this.exchange.fields.how as StreamFacts['how'];
  }
  get terminal() {
    return this.exchange.terminal;
  }
  get media() {
    this.#media ??= mediaOfBody(this.exchange);
    return this.#media;
  }
  get selfDelimiting() {
    const { fields, contract } = this.exchange;
    return fields.self_delimiting === true || contract?.selfDelimiting === true;
  }
  get whole() {
    return wholeness(this.exchange, this.media);
  }
  get gaveUp() {
    return whoGaveUp(this.exchange, this.media);
  }
  get byClient() {
    return this.exchange.fields.by === 'client';
  }
  get serverCancelled() {
    return this.exchange.fields.cancelled === true;
  }
  get eventId() {
    return this.exchange.eventId;
  }
  get carrierLost() {
    return typeof this.exchange.fields.carrier === 'string' && this.exchange.carrierEnded;
  }
  get status() {
    return this.exchange.fields.status ?? null;
  }
  get cut() {
    return this.exchange.fields.cut ?? 'unknown';
  }
  get mandated() {
    return this.exchange.contract?.sentinel === 'mandated';
  }
}

function mediaOfBody({ fields: { content_type, json, status, bytes } }: Exchange): Media {
  const reported = mediaOf(content_type, json !== undefined && json !== null);
  // No content is expected with these.
  const whole = json === 'complete' || json === 'cut' || json === 'malformed';
  const empty = (status === 202 || status === 204) && !((bytes ?? 0) > 0) && !whole;
  return empty && reported !== 'sse' ? 'absent' : reported;
}

/** Valid as long as the exchange stays as it is. */
export const factsOf = (exchange: Exchange, kind: JudgedKind, cutMid: StreamFacts['cutMid']): StreamFacts =>
  new FactsOfExchange(exchange, kind, cutMid);

/** The same to keep, or to change. */
export const keptFacts = (x: StreamFacts): StreamFacts => ({
  kind: x.kind,
  head: x.head,
  notSent: x.notSent,
  how: x.how,
  terminal: x.terminal,
  media: x.media,
  selfDelimiting: x.selfDelimiting,
  whole: x.whole,
  gaveUp: x.gaveUp,
  byClient: x.byClient,
  serverCancelled: x.serverCancelled,
  eventId: x.eventId,
  carrierLost: x.carrierLost,
  status: x.status,
  cut: x.cut,
  mandated: x.mandated,
  cutMid: x.cutMid,
});
