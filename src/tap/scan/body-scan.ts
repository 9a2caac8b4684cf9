/**
 * What the body of one response says about itself, from its bytes as they pass: fields of the `close`, `parse` and `discovery`
 * lines. Never throws, keeps no payload, holds bounded memory. How the exchange ended is the fetch layer's knowledge.
 */
import { mediaOf } from '../../core/protocol/media.ts';
import { type Answer, mayHoldText, noAnswer, parsedBroken, parsedWhole } from './answer.ts';
import { createAnswers } from './answers.ts';
import type { LineFields } from './line-fields.ts';
import type { ListPages } from './list-pages.ts';
import { MessageScan } from './message-scan.ts';
import type { ToolHints } from './results.ts';
import { SseScan } from './sse-scan.ts';

export interface BodyScanOptions {
  readonly mediaType: string | null;
  readonly status: number;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  /**
   * Is this id (canonical JSON text: 7 and "7" differ) that of a request whose answer may come on this body? POST: its own.
   * GET legs and carriers: whatever the fetch layer waits for.
   */
  idMatch(idJson: string): boolean;
  /** JSON-RPC method of the request, '' for a GET: tells what may be looked into. */
  readonly method: string;
  /** Keyed digest. */
  digest(text: string): string;
  now(): number;
  /** Pages of the list that this request asks for, per server and method; without it only lists of one page are reported. */
  readonly pages?: ListPages | undefined;
  /** `params.cursor` of a list request; undefined: the first page. */
  readonly cursor?: string | undefined;
  /** A whole answer was seen that is waited for, maybe long before the body ends. */
  onAnswer?(answer: Answer): void;
  onServerCancelled?(): void;
}

export interface BodyScan {
  push(chunk: Uint8Array): void;
  /** What a `close` line says of the body if it ended here. */
  close(): LineFields;
  /** The `parse` line of `message`: what any client had to parse. undefined: no answer came, or none was due. */
  parse(): LineFields | undefined;
  /** Fields of a `discovery` line, from the result of server/discover or initialize. */
  discovery(): LineFields | undefined;
  /** Hints of the tools on this page of a tools/list result. */
  tools(): ToolHints | undefined;
  /** Something was longer or deeper than is followed here. */
  readonly oversize: boolean;
}

type Body = Pick<BodyScan, 'push' | 'close' | 'parse'> & Partial<BodyScan>;

export function createBodyScan(options: BodyScanOptions): BodyScan {
  const media = mediaOf(options.mediaType, false);
  const body = media === 'json' ? jsonBody(options) : media === 'sse' ? eventStreamBody(options) : otherBody(options);
  let bytes = 0;
  let broken = false;
  const safely = <T>(step: () => T): T | undefined => {
    if (broken) return undefined;
    try {
      return step();
    } catch {
      // The host must not notice: from here on only the size of the body is known.
      broken = true;
      return undefined;
    }
  };
  return {
    push(chunk) {
      bytes += chunk.length;
      safely(() => body.push(chunk));
    },
    close: () => safely(() => body.close()) ?? { bytes },
    parse: () => safely(() => body.parse()),
    discovery: () => safely(() => body.discovery?.()),
    tools: () => safely(() => body.tools?.()),
    get oversize() {
      return safely(() => body.oversize) ?? false;
    },
  };
}

const isEncoded = ({ contentEncoding }: BodyScanOptions): boolean =>
  contentEncoding !== null && contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity';
const isSuccess = (status: number): boolean => status >= 200 && status < 300;
/** Statuses that come without content. */
const isBare = (status: number): boolean => status === 202 || status === 204;

function jsonBody(options: BodyScanOptions): Body {
  const { method, status, contentLength } = options;
  const answers = createAnswers(options);
  const scan = new MessageScan({ idMatch: (id) => options.idMatch(id), inner: mayHoldText(method) }, true);
  let taken = false;
  const isWhole = (): boolean => scan.state() === 'complete';
  return {
    push(chunk) {
      scan.push(chunk);
      answers.capture?.add(chunk, 0, chunk.length);
      if (taken || !isWhole()) return;
      taken = true;
      answers.take(scan);
    },
    close() {
      const { bytes } = scan;
      const state = scan.state();
      if (bytes === 0 && isBare(status)) return { bytes, cut: 'none', ...answers.close(false) };
      // What follows a whole document takes it back: no client can parse it.
      const said = taken && state !== 'complete' ? noAnswer(method) : answers.close(false);
      if (state === 'unknown') return { bytes };
      const cut = state === 'empty' ? 'none' : state === 'cut' ? 'mid' : 'boundary';
      return { bytes, json: state, cut, ...said };
    },
    parse() {
      const state = scan.state();
      const due = method !== '' && isSuccess(status) && !isBare(status);
      const answered = isWhole() && answers.bytes !== undefined && method !== '';
      if (state === 'unknown' || !(due || answered)) return undefined;
      const expected = contentLength !== null && !isEncoded(options) ? { expected_bytes: contentLength } : {};
      return { ...(isWhole() ? parsedWhole(scan.bytes) : parsedBroken(scan)), ...expected };
    },
    discovery: () => (isWhole() ? answers.facts.discovery : undefined),
    tools: () => (isWhole() ? answers.facts.tools : undefined),
    get oversize() {
      return scan.state() === 'unknown';
    },
  };
}

function eventStreamBody(options: BodyScanOptions): Body {
  const { method, digest } = options;
  const answers = createAnswers(options);
  const scan = new MessageScan({ idMatch: (id) => options.idMatch(id), inner: mayHoldText(method) }, false);
  let broken: LineFields | undefined;
  let tooDeep = false;
  const events = new SseScan({
    scan,
    message(message) {
      const state = message.state();
      if (state === 'complete') answers.take(message);
      else if (state === 'unknown') tooDeep = true;
      else if (state !== 'empty' && message.isAnswering) broken = parsedBroken(message);
    },
    ...(answers.capture && {
      began: () => answers.capture?.clear(),
      data: (chunk: Uint8Array, from: number, to: number) => answers.capture?.add(chunk, from, to),
    }),
  });
  return {
    push: (chunk) => events.push(chunk),
    close: () => ({
      bytes: events.bytes,
      events: events.events,
      notifications: answers.notifications,
      event_ids: events.eventIds,
      ...(events.lastEventId === undefined ? {} : { event_id_digest: digest(events.lastEventId) }),
      cut: events.cut(),
      ...answers.close(method === ''),
    }),
    parse() {
      if (answers.bytes !== undefined) return parsedWhole(answers.bytes);
      if (broken !== undefined) return broken;
      const { pending } = events;
      return pending?.isAnswering && pending.state() !== 'unknown' ? parsedBroken(pending) : undefined;
    },
    discovery: () => answers.facts.discovery,
    tools: () => answers.facts.tools,
    get oversize() {
      return events.oversize || tooDeep || events.pending?.state() === 'unknown';
    },
  };
}

/** HTML, plain text, no media type: only its size can be told. */
function otherBody(options: BodyScanOptions): Body {
  const { contentLength, method } = options;
  let bytes = 0;
  return {
    push(chunk) {
      bytes += chunk.length;
    },
    close() {
      const isShort = contentLength !== null && !isEncoded(options) && bytes < contentLength;
      return { bytes, cut: bytes === 0 ? 'none' : isShort ? 'mid' : 'boundary', ...noAnswer(method) };
    },
    parse: () => undefined,
  };
}
