/**
 * The older HTTP+SSE transport (2024-11-05): one GET stream names the URL for messages in its first event and carries the answers of
 * all POSTs to that URL. It decides which POST belongs to which stream. The URL holds a session id: it stays in memory.
 */
import { createBounded } from '../bounded.ts';

/** A POST whose answer comes on its carrier, maybe before the POST itself has ended. */
export interface CarriedPost<Answer> {
  answered(answer: Answer): void;
  carrierEnded(): void;
}

export interface Carrier<Answer> {
  readonly exchange: string;
  /** Bytes of the stream, until its first event was seen. */
  push(chunk: Uint8Array): void;
  waitsFor(idJson: string): boolean;
  wait(idJson: string, post: CarriedPost<Answer>): void;
  /** The POST was refused or broke: no answer will come. */
  forget(idJson: string, post: CarriedPost<Answer>): void;
  answered(idJson: string, answer: Answer): void;
  ended(): void;
}

export interface Carriers<Answer> {
  /** A GET stream that may turn out to be a carrier. */
  open(exchange: string, url: URL): Carrier<Answer>;
  of(postUrl: URL): Carrier<Answer> | undefined;
}

const CAP = 1024;
const TTL_MS = 24 * 60 * 60_000;
/** The first event is short, or it is none of this transport. */
const MAX_FIRST_EVENT = 8192;
const MAX_WAITING = 1024;

/** The target of an `endpoint` event; undefined: the first event is another one; null: not whole yet. */
function endpointEvent(text: string): string | undefined | null {
  const end = /\r\n\r\n|\n\n|\r\r/.exec(text)?.index;
  if (end === undefined) return text.length < MAX_FIRST_EVENT ? null : undefined;
  const event = text.slice(0, end);
  return /^event: ?endpoint\s*$/m.test(event) ? /^data: ?(.*?)\s*$/m.exec(event)?.[1] : undefined;
}

export function createCarriers<Answer>(now: () => number): Carriers<Answer> {
  const byUrl = createBounded<Carrier<Answer>>({ cap: CAP, ttlMs: TTL_MS, now });
  return {
    open(exchange, url) {
      const waiting = new Map<string, CarriedPost<Answer>>();
      const decoder = new TextDecoder();
      let first: string | undefined = '';
      let own: string | undefined;
      const carrier: Carrier<Answer> = {
        exchange,
        push(chunk) {
          if (first === undefined) return;
          first += decoder.decode(chunk.subarray(0, MAX_FIRST_EVENT), { stream: true });
          const target = endpointEvent(first);
          if (target === null) return;
          first = undefined;
          if (target === undefined) return;
          const post = new URL(target, url);
          if (post.origin !== url.origin) return;
          own = post.href;
          byUrl.set(own, carrier);
        },
        waitsFor: (idJson) => waiting.has(idJson),
        wait(idJson, post) {
          if (waiting.size < MAX_WAITING) waiting.set(idJson, post);
          else post.carrierEnded();
        },
        forget(idJson, post) {
          if (waiting.get(idJson) === post) waiting.delete(idJson);
        },
        answered(idJson, answer) {
          const post = waiting.get(idJson);
          waiting.delete(idJson);
          post?.answered(answer);
        },
        ended() {
          if (own !== undefined && byUrl.get(own) === carrier) byUrl.delete(own);
          for (const post of waiting.values()) post.carrierEnded();
          waiting.clear();
        },
      };
      return carrier;
    },
    of: (postUrl) => byUrl.get(postUrl.href),
  };
}
