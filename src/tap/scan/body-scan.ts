/**
 * What the body of one response says about itself, from its bytes as they pass: fields of the `close`, `parse` and `discovery`
 * lines. Never throws, keeps no payload, holds bounded memory. How the exchange ended is the fetch layer's knowledge.
 */
import { mediaOf } from '../../core/protocol/media.ts';
import type { Answer } from './answer.ts';
import { EventStreamBody } from './event-stream-body.ts';
import { JsonBody } from './json-body.ts';
import type { LineFields } from './line-fields.ts';
import type { ListPages } from './list-pages.ts';
import { OtherBody } from './other-body.ts';
import type { ResultFacts } from './results.ts';

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
  /** A whole answer was seen that is waited for, maybe long before the body ends: what follows may still spoil a JSON body. */
  onAnswer?(answer: Answer): void;
  /** A notification that a list of the server has changed, and its size. */
  onListChanged?(bytes: number): void;
}

export interface BodyScan {
  push(chunk: Uint8Array): void;
  /** What a `close` line says of the body if it ended here. */
  close(): LineFields;
  /** The `parse` line of `message`: what any client had to parse. undefined: no answer came, or none was due. */
  parse(): LineFields | undefined;
  /** Fields of a `discovery` line, from the result of server/discover or initialize. */
  discovery(): LineFields | undefined;
}

/** What a kind of body does with its bytes. */
export interface Body {
  push(chunk: Uint8Array): void;
  close(): LineFields;
  parse(): LineFields | undefined;
  facts(): ResultFacts;
  /** Something was longer or deeper than is followed here: what is said of the body may not be all. */
  isOversize(): boolean;
}

export function createBodyScan(options: BodyScanOptions): BodyScan {
  return new SafeBodyScan(options);
}

/** The host must not notice a fault in here: after one, only the size of the body is known. */
class SafeBodyScan implements BodyScan {
  #bytes = 0;
  #body: Body | undefined;

  constructor(options: BodyScanOptions) {
    const media = mediaOf(options.mediaType, false);
    this.#body =
      media === 'json'
        ? new JsonBody(options)
        : media === 'sse'
          ? new EventStreamBody(options)
          : new OtherBody(options);
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    try {
      this.#body?.push(chunk);
    } catch {
      this.#body = undefined;
    }
  }

  close(): LineFields {
    const fields = this.#ask((body) => body.close()) ?? { bytes: this.#bytes };
    if (this.#ask((body) => body.isOversize()) === true) fields.oversize = true;
    return fields;
  }

  parse(): LineFields | undefined {
    return this.#ask((body) => body.parse());
  }

  discovery(): LineFields | undefined {
    return this.#ask((body) => body.facts().discovery);
  }

  #ask<T>(question: (body: Body) => T): T | undefined {
    try {
      return this.#body === undefined ? undefined : question(this.#body);
    } catch {
      this.#body = undefined;
      return undefined;
    }
  }
}
