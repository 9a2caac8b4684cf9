/**
 * Lets an observer see the bytes of a response without altering what the caller gets. The response stays the very object; only its
 * ways to the body lead past the observer: read whole (text, json, arrayBuffer), it is read as fetch itself would; anything else
 * gets a pull-based stream, so that back-pressure and cancellation pass through. Never tee() or clone(), which buffer. The reader
 * is taken when reading begins: taken earlier, a response that nobody reads would never be released.
 */
import * as streams from 'node:stream';
import { createHidden } from '../hidden.ts';
import { quietly } from '../quietly.ts';
import { type BodyObserver, watchedStream, whenDropped } from './watched-stream.ts';

const { isDisturbed } = streams as unknown as { isDisturbed(stream: ReadableStream): boolean };

type Whole = 'text' | 'json' | 'arrayBuffer';
type Rebuilt = 'blob' | 'formData' | 'bytes';

const utf8 = new TextDecoder();
const CONVERT: Readonly<Record<Whole, (bytes: Uint8Array) => unknown>> = {
  text: (bytes) => utf8.decode(bytes),
  json: (bytes) => JSON.parse(utf8.decode(bytes)),
  arrayBuffer: (bytes) => new Uint8Array(bytes).buffer,
};
/** As they are when the tap is loaded: one that the host put in their place, or a subclass, is called instead of being stood in for. */
const { text, json, arrayBuffer } = Response.prototype;
const ORIGINAL: Readonly<Record<Whole, unknown>> = { text, json, arrayBuffer };
type Use = Whole | Rebuilt | 'clone';
const REBUILT: readonly Rebuilt[] = ['blob', 'formData', 'bytes'];

/** Bodies by their response. */
const bodies = createHidden<WatchedBody>();
const bodyOf = (response: unknown): WatchedBody | undefined =>
  typeof response === 'object' && response !== null ? bodies.get(response) : undefined;

export function observeBody(response: Response, observer: BodyObserver): Response {
  // One response for two calls (a shared promise, a mock): its body is watched for the first of them.
  if (bodyOf(response) !== undefined) return response;
  const upstream = response.body as ReadableStream<Uint8Array> | null;
  if (upstream === null) {
    quietly(() => observer.end());
    return response;
  }
  if (response.bodyUsed || upstream.locked) return response;
  const native = Object.getPrototypeOf(response) as object;
  bodies.set(response, new WatchedBody(native, upstream, observer));
  whenDropped.register(response, observer, observer);
  return Object.setPrototypeOf(response, prototypeOver(native));
}

const prototypes = new WeakMap<object, object>();

/** The prototype of a response, with other ways to the body: quicker than properties of each response. */
function prototypeOver(native: object): object {
  const known = prototypes.get(native);
  if (known !== undefined) return known;
  const over = Object.create(native) as object;
  for (const name of [...Object.keys(CONVERT), ...REBUILT, 'clone'] as Use[]) {
    if (!(name in native)) continue;
    // A function that is called on another response does what it does there.
    const use = function (this: Response): unknown {
      const body = bodyOf(this);
      return body === undefined ? Reflect.apply(Reflect.get(native, name), this, []) : body.use(name, this);
    };
    own(use, 'name', name);
    Object.defineProperty(over, name, { value: use, configurable: true, enumerable: true, writable: true });
  }
  for (const name of ['body', 'bodyUsed'] as const)
    Object.defineProperty(over, name, {
      configurable: true,
      enumerable: true,
      get(this: Response) {
        const body = bodyOf(this);
        return body === undefined ? Reflect.get(native, name, this) : body[name](this);
      },
    });
  prototypes.set(native, over);
  return over;
}

class WatchedBody {
  readonly #native: object;
  readonly #upstream: ReadableStream<Uint8Array>;
  readonly #observer: BodyObserver;
  #stream: ReadableStream<Uint8Array> | undefined;
  /** For what reads the body in a way of its own. */
  #rebuilt: Response | undefined;

  constructor(native: object, upstream: ReadableStream<Uint8Array>, observer: BodyObserver) {
    this.#native = native;
    this.#upstream = upstream;
    this.#observer = observer;
  }

  body(response: Response): ReadableStream<Uint8Array> | null {
    if (this.#rebuilt !== undefined) return this.#rebuilt.body;
    return this.#stream ?? (this.#isSpent(response) ? this.#upstream : this.#makeStream(response));
  }

  bodyUsed(response: Response): boolean {
    if (this.#rebuilt !== undefined) return this.#rebuilt.bodyUsed;
    return this.#stream === undefined ? Reflect.get(this.#native, 'bodyUsed', response) : isDisturbed(this.#stream);
  }

  use(name: Use, response: Response): unknown {
    if (this.#rebuilt !== undefined) return this.#call(name, this.#rebuilt);
    if (this.#stream !== undefined && (this.#stream.locked || isDisturbed(this.#stream)))
      return this.#call(name, unusable());
    if (this.#stream === undefined) {
      if (this.#isSpent(response)) return Reflect.apply(Reflect.get(this.#native, name), response, []);
      if (name in CONVERT && Reflect.get(this.#native, name) === ORIGINAL[name as Whole])
        return readWhole(this.#upstream, this.#observer).then(CONVERT[name as Whole]);
    }
    this.#rebuilt = likeness(built(this.#stream ?? this.#makeStream(response), response), response);
    return this.#call(name, this.#rebuilt);
  }

  #call(name: Use, response: Response): unknown {
    return Reflect.apply(Reflect.get(response, name), response, []);
  }

  /** Read past this, or read whole: from here on the response speaks for itself. */
  #isSpent(response: Response): boolean {
    return this.#upstream.locked || Reflect.get(this.#native, 'bodyUsed', response) === true;
  }

  #makeStream(response: Response): ReadableStream<Uint8Array> {
    this.#stream = watchedStream(this.#upstream, this.#observer, response);
    return this.#stream;
  }
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

const own = (object: object, name: string, value: unknown): object =>
  Object.defineProperty(object, name, { value, configurable: true, enumerable: false, writable: true });

/** What the constructor cannot set. A clone is another response: it gets the same. */
function likeness(
  copy: Response,
  { url, redirected, type }: { readonly url: string; readonly redirected: boolean; readonly type: string },
): Response {
  own(copy, 'url', url);
  own(copy, 'redirected', redirected);
  own(copy, 'type', type);
  const clone = copy.clone;
  own(copy, 'clone', () => likeness(Reflect.apply(clone, copy, []), { url, redirected, type }));
  return copy;
}
