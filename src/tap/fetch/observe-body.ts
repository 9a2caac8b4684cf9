/**
 * Lets an observer see the bytes of a response without altering what the caller gets. The response stays the very object, without a
 * property more; the methods of its class lead past the observer (response-class.ts): read whole (text, json, arrayBuffer), it is read
 * as fetch itself would; anything else gets a pull-based stream, so that back-pressure and cancellation pass through. Never tee() or
 * clone(), which buffer. The reader is taken when reading begins: taken earlier, a response that nobody reads would never be released.
 */
import * as streams from 'node:stream';
import { types } from 'node:util';
import { quietly } from '../quietly.ts';
import { fetchMethods } from './fetch-classes.ts';
import {
  type Likeness,
  type Natives,
  responseClassOf,
  type Use,
  type WatchedResponse,
  watch,
} from './response-class.ts';
import { type BodyObserver, watchedStream, whenDropped } from './watched-stream.ts';

type Ask = (stream: ReadableStream) => boolean;
const { isDisturbed, isErrored } = streams as unknown as { isDisturbed: Ask; isErrored: Ask };

const { isUint8Array } = types;

type Whole = 'text' | 'json' | 'arrayBuffer';

const utf8 = new TextDecoder();
const CONVERT: Readonly<Record<Whole, (bytes: Uint8Array) => unknown>> = {
  text: (bytes) => utf8.decode(bytes),
  json: (bytes) => JSON.parse(utf8.decode(bytes)),
  arrayBuffer: (bytes) => new Uint8Array(bytes).buffer,
};

export function observeBody(response: Response, observer: BodyObserver): void {
  const kind = responseClassOf(response);
  // One response for two calls (a shared promise, a mock): its body is watched for the first of them.
  if (kind === undefined || !kind.stands || kind.isWatched(response)) return;
  const { natives } = kind;
  const upstream = natives.get('body', response);
  if (upstream === null) quietly(() => observer.end());
  // Other kinds of streams (node-fetch has those of Node) are the host's as they are.
  if (!(upstream instanceof ReadableStream) || upstream.locked || natives.get('bodyUsed', response) === true) return;
  watch(response, new WatchedBody(natives, upstream, observer));
  whenDropped.register(response, observer, observer);
}

class WatchedBody implements WatchedResponse {
  readonly #natives: Natives;
  readonly #upstream: ReadableStream<Uint8Array>;
  readonly #observer: BodyObserver;
  #stream: ReadableStream<Uint8Array> | undefined;
  /** For what reads the body in a way of its own. */
  #rebuilt: Response | undefined;

  constructor(natives: Natives, upstream: ReadableStream<Uint8Array>, observer: BodyObserver) {
    this.#natives = natives;
    this.#upstream = upstream;
    this.#observer = observer;
  }

  body(response: Response): ReadableStream<Uint8Array> | null {
    if (this.#rebuilt !== undefined) return this.#natives.get('body', this.#rebuilt) as ReadableStream<Uint8Array>;
    if (this.#stream !== undefined) return this.#stream;
    return this.#isSpent(response)
      ? (this.#natives.get('body', response) as ReadableStream<Uint8Array>)
      : this.#makeStream(response);
  }

  bodyUsed(response: Response): boolean {
    if (this.#rebuilt !== undefined) return this.#natives.get('bodyUsed', this.#rebuilt) as boolean;
    const isStarted = this.#stream !== undefined && isDisturbed(this.#stream);
    return isStarted || (this.#natives.get('bodyUsed', response) as boolean);
  }

  use(name: Use, response: Response): unknown {
    const natives = this.#natives;
    const upstream = this.#upstream;
    if (this.#rebuilt !== undefined) return natives.call(name, this.#rebuilt);
    if (this.#stream !== undefined && (this.#stream.locked || isDisturbed(this.#stream)))
      return natives.call(name, unusable(natives));
    if (isErrored(upstream) && !upstream.locked) {
      tellError(upstream, this.#observer);
      const failed = natives.call(name, response);
      // The stream that the host has seen is that body: locked where the method locks it.
      if (upstream.locked) this.#stream?.getReader();
      return failed;
    }
    if (this.#stream === undefined) {
      if (this.#isSpent(response)) return natives.call(name, response);
      if (name in CONVERT && natives.isFetchsOwn(name))
        return readWhole(upstream, this.#observer).then(CONVERT[name as Whole]);
    }
    this.#rebuilt = natives.make(this.#stream ?? this.#makeStream(response), {
      status: natives.get('status', response) as number,
      statusText: natives.get('statusText', response) as string,
      headers: natives.get('headers', response) as Headers,
    });
    natives.liken(this.#rebuilt, likenessOf(natives, response));
    return natives.call(name, this.#rebuilt);
  }

  /** Read past this, or read whole: from here on the response speaks for itself. */
  #isSpent(response: Response): boolean {
    return this.#upstream.locked || this.#natives.get('bodyUsed', response) === true;
  }

  #makeStream(response: Response): ReadableStream<Uint8Array> {
    this.#stream = watchedStream(this.#upstream, this.#observer, {
      response,
      isFetched: this.#natives.get('type', response) !== 'default',
    });
    return this.#stream;
  }
}

/** It broke before it was read: fetch itself knows how each use fails then. Why is asked without reading. */
function tellError(upstream: ReadableStream<Uint8Array>, observer: BodyObserver): void {
  const reader = upstream.getReader();
  const { closed } = reader;
  reader.releaseLock();
  whenDropped.unregister(observer);
  closed.catch((reason) => quietly(() => observer.error(reason)));
}

async function readWhole(upstream: ReadableStream<Uint8Array>, observer: BodyObserver): Promise<Uint8Array> {
  const reader = upstream.getReader();
  // Who waits for the text need not hold the response.
  whenDropped.unregister(observer);
  const chunks: Uint8Array[] = [];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const { value } = part;
      // Of whatever realm: a test runner has its own.
      if (!isUint8Array(value)) throw new TypeError('Received non-Uint8Array chunk');
      quietly(() => observer.chunk(value));
      chunks.push(value);
    }
  } catch (reason) {
    quietly(() => observer.error(reason));
    throw reason;
  }
  quietly(() => observer.end());
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

/** Fails in every use as a response does whose body has been read. */
function unusable(natives: Natives): Response {
  const response = natives.make('x');
  (natives.get('body', response) as ReadableStream).getReader();
  return response;
}

/** What the constructor cannot set. Headers of fetch refuse changes: those that do are shared, for nobody can tell. */
function likenessOf(natives: Natives, response: Response): Likeness {
  const url = natives.get('url', response) as string;
  const redirected = natives.get('redirected', response) as boolean;
  const type = natives.get('type', response) as string;
  const headers = natives.get('headers', response) as Headers;
  try {
    Reflect.apply(fetchMethods().delete, headers, ['x-tailfin-absent']);
    return { url, redirected, type };
  } catch {
    return { url, redirected, type, headers };
  }
}
