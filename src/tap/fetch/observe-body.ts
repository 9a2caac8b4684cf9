/**
 * Lets an observer see the bytes of a response without altering what the caller gets. The response stays the very object, without a
 * property more; the methods of its class lead past the observer (response-class.ts): read whole (text, json, arrayBuffer), it is read
 * as fetch itself would; anything else gets a pull-based stream, so that back-pressure and cancellation pass through. Never tee() or
 * clone(), which buffer. The reader is taken when reading begins: taken earlier, a response that nobody reads would never be released.
 */
import * as streams from 'node:stream';
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
  if (kind === undefined || kind.isWatched(response)) return;
  const { natives } = kind;
  const upstream = natives.get('body', response) as ReadableStream<Uint8Array> | null;
  if (upstream === null) quietly(() => observer.end());
  else if (natives.get('bodyUsed', response) !== true && !upstream.locked) {
    watch(response, new WatchedBody(natives, upstream, observer));
    whenDropped.register(response, observer, observer);
  }
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
    if (this.#rebuilt !== undefined) return this.#rebuilt.body;
    if (this.#stream !== undefined) return this.#stream;
    return this.#isSpent(response)
      ? (this.#natives.get('body', response) as ReadableStream<Uint8Array>)
      : this.#makeStream(response);
  }

  bodyUsed(response: Response): boolean {
    if (this.#rebuilt !== undefined) return this.#rebuilt.bodyUsed;
    const isStarted = this.#stream !== undefined && isDisturbed(this.#stream);
    return isStarted || (this.#natives.get('bodyUsed', response) as boolean);
  }

  use(name: Use, response: Response): unknown {
    const native = this.#natives.method(name);
    if (this.#rebuilt !== undefined) return call(name, this.#rebuilt);
    if (this.#stream !== undefined && (this.#stream.locked || isDisturbed(this.#stream))) return call(name, unusable());
    if (isErrored(this.#upstream) && !this.#upstream.locked) {
      tellError(this.#upstream, this.#observer);
      const failed = Reflect.apply(native, response, []);
      // The stream that the host has seen is that body: locked where the method locks it.
      if (this.#upstream.locked) this.#stream?.getReader();
      return failed;
    }
    if (this.#stream === undefined) {
      if (this.#isSpent(response)) return Reflect.apply(native, response, []);
      if (name in CONVERT && this.#natives.isFetchsOwn(name))
        return readWhole(this.#upstream, this.#observer).then(CONVERT[name as Whole]);
    }
    this.#rebuilt = built(this.#stream ?? this.#makeStream(response), response);
    this.#natives.liken(this.#rebuilt, likenessOf(response));
    return call(name, this.#rebuilt);
  }

  /** Read past this, or read whole: from here on the response speaks for itself. */
  #isSpent(response: Response): boolean {
    return this.#upstream.locked || this.#natives.get('bodyUsed', response) === true;
  }

  #makeStream(response: Response): ReadableStream<Uint8Array> {
    this.#stream = watchedStream(this.#upstream, this.#observer, response);
    return this.#stream;
  }
}

const call = (name: Use, response: Response): unknown => Reflect.apply(Reflect.get(response, name), response, []);

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
      if (!(value instanceof Uint8Array)) throw new TypeError('Received non-Uint8Array chunk');
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

/** Of the same class where that takes what Response takes: a copy of undici has its own. */
function built(body: ReadableStream<Uint8Array>, response: Response): Response {
  const Kind = response.constructor as typeof Response;
  return quietly(() => new Kind(body, response)) ?? new Response(body, response);
}

/** Fails in every use as a response does whose body has been read. */
function unusable(): Response {
  const response = new Response('x');
  response.body?.getReader();
  return response;
}

/** What the constructor cannot set. Headers of fetch refuse changes: those that do are shared, for nobody can tell. */
function likenessOf({ url, redirected, type, headers }: Response): Likeness {
  try {
    Reflect.apply(fetchMethods().delete, headers, ['x-tailfin-absent']);
    return { url, redirected, type };
  } catch {
    return { url, redirected, type, headers };
  }
}
