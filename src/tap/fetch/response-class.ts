/**
 * Stands before the methods of a class of responses, once per class, from the first recorded response on. A response that is not
 * watched gets what it always got. It decides which class owns the methods; how a watched body is read is observe-body.ts's.
 */
import { createHidden } from '../hidden.ts';

export const USES = ['text', 'json', 'arrayBuffer', 'blob', 'formData', 'bytes', 'clone'] as const;
export type Use = (typeof USES)[number];
type BodyFact = 'body' | 'bodyUsed';
/** What a copy of a response must say as that one does. */
export interface Likeness {
  readonly url: string;
  readonly redirected: boolean;
  readonly type: string;
  readonly headers?: Headers;
}
/** What the head of a response says. */
type HeadFact = 'status' | 'statusText' | 'ok' | keyof Likeness;
type Getter = BodyFact | HeadFact;

export interface WatchedResponse {
  use(name: Use, response: Response): unknown;
  body(response: Response): unknown;
  bodyUsed(response: Response): unknown;
}

/** The ways that were there before. They are those of the class: what a subclass or the host put on top of them is not run again. */
export interface Natives {
  call(name: Use, response: Response): unknown;
  /** Is this the method of fetch itself? One that the host put in its place is called instead of being stood in for. */
  isFetchsOwn(name: Use): boolean;
  get(name: Getter, response: Response): unknown;
  /** A response of the class itself. */
  make(body: ReadableStream<Uint8Array> | string, init?: ResponseInit): Response;
  /** Of a copy, and of the clones of that copy. */
  liken(copy: Response, likeness: Likeness): void;
}

export interface ResponseClass {
  readonly natives: Natives;
  /** Ours stand where the native methods stood; not in a class that is frozen. */
  readonly stands: boolean;
  isWatched(response: Response): boolean;
}

const GETTERS: readonly Getter[] = ['body', 'bodyUsed', 'url', 'redirected', 'type', 'headers'];
const SHOWN: readonly HeadFact[] = ['status', 'statusText', 'ok'];

/**
 * By its text, for the host may have replaced it before anybody looked. A text that nobody knows counts as the host's: then the body goes
 * the longer way, past a stream.
 */
const OWN = /^(?:text|json|arrayBuffer)\(\) \{\s*return consumeBody\(this,/;
const textOf = (method: (...args: never) => unknown): string => Function.prototype.toString.call(method);

const watched = createHidden<WatchedResponse>();
const likenesses = createHidden<Likeness>();
const watchedOf = (response: unknown): WatchedResponse | undefined =>
  typeof response === 'object' && response !== null ? watched.get(response) : undefined;
const likenessOf = (response: unknown): Likeness | undefined =>
  typeof response === 'object' && response !== null ? likenesses.get(response) : undefined;

export const watch = (response: Response, body: WatchedResponse): void => watched.set(response, body);

/** By the prototype that owns the methods. */
const classes = new WeakMap<object, Stand>();

/** undefined: what the host calls a response has no body of its class. */
export function responseClassOf(response: Response): ResponseClass | undefined {
  const owner = ownerOf(response);
  if (owner === undefined) return undefined;
  let stand = classes.get(owner);
  if (stand === undefined) {
    stand = new Stand(owner);
    classes.set(owner, stand);
  }
  stand.take();
  return stand;
}

/** The class beneath all subclasses: theirs call on, or have a body of their own making. */
function ownerOf(response: object): object | undefined {
  let owner: object | undefined;
  for (let at = Object.getPrototypeOf(response) as object | null; at !== null; at = Object.getPrototypeOf(at))
    if (Object.getOwnPropertyDescriptor(at, 'body')?.get !== undefined) owner = at;
  return owner;
}

interface Place {
  readonly name: string;
  /** `value` of a method, `get` of a fact. */
  readonly kind: 'value' | 'get';
  readonly native: (...args: never) => unknown;
  readonly ours: (...args: never) => unknown;
}

class Stand implements ResponseClass, Natives {
  readonly natives: Natives = this;
  stands = false;
  readonly #owner: object;
  readonly #places: readonly Place[];
  readonly #native = new Map<string, (...args: never) => unknown>();
  readonly #own: ReadonlySet<string>;

  constructor(owner: object) {
    this.#owner = owner;
    const places = [
      ...USES.map((name) => this.#place(name, 'value', (native) => useOf(name, native))),
      ...GETTERS.map((name) => this.#place(name, 'get', (native) => getterOf(name, native))),
    ];
    this.#places = places.filter((place) => place !== undefined);
    for (const name of SHOWN) {
      const getter = Object.getOwnPropertyDescriptor(owner, name)?.get;
      if (getter !== undefined) this.#native.set(name, getter);
    }
    this.#own = new Set(this.#places.filter(({ native }) => OWN.test(textOf(native))).map(({ name }) => name));
  }

  isWatched(response: Response): boolean {
    return watchedOf(response) !== undefined;
  }

  call(name: Use, response: Response): unknown {
    return callOf(name, this.#native.get(name) as Place['native'], response, []);
  }

  isFetchsOwn(name: Use): boolean {
    return this.#own.has(name);
  }

  get(name: Getter, response: Response): unknown {
    const getter = this.#native.get(name);
    return getter === undefined ? Reflect.get(response, name) : Reflect.apply(getter, response, [] as never);
  }

  make(body: ReadableStream<Uint8Array> | string, init: ResponseInit = {}): Response {
    const Kind = (this.#owner as { constructor: typeof Response }).constructor;
    return new Kind(body, init);
  }

  liken(copy: Response, likeness: Likeness): void {
    likenesses.set(copy, likeness);
  }

  /** Puts ours where the native one stands: at first, and after a test of the host has put that one back. */
  take(): void {
    this.stands = this.#places.every(({ name, kind, native, ours }) => {
      const descriptor = Object.getOwnPropertyDescriptor(this.#owner, name);
      if (descriptor?.[kind] !== native) return true;
      return Reflect.defineProperty(this.#owner, name, { ...descriptor, [kind]: ours });
    });
  }

  #place(
    name: string,
    kind: 'value' | 'get',
    standing: (native: (...args: never) => unknown) => (...args: never) => unknown,
  ): Place | undefined {
    const native = Object.getOwnPropertyDescriptor(this.#owner, name)?.[kind] as Place['native'] | undefined;
    if (typeof native !== 'function') return undefined;
    this.#native.set(name, native);
    return { name, kind, native, ours: resembling(standing(native), native) };
  }
}

/** The clone of a copy is like that copy. */
function callOf(name: Use, native: Place['native'], self: unknown, args: unknown[]): unknown {
  const result = Reflect.apply(native, self, args as never);
  const likeness = name === 'clone' ? likenessOf(self) : undefined;
  if (likeness !== undefined) likenesses.set(result as Response, likeness);
  return result;
}

/** As methods, which are no constructors either. */
function useOf(name: Use, native: (...args: never) => unknown): (...args: never) => unknown {
  return {
    [name](this: unknown, ...args: unknown[]): unknown {
      const body = watchedOf(this);
      return body === undefined ? callOf(name, native, this, args) : body.use(name, this as Response);
    },
  }[name] as (...args: never) => unknown;
}

function getterOf(name: Getter, native: (...args: never) => unknown): () => unknown {
  if (name === 'body' || name === 'bodyUsed')
    return {
      [name](this: unknown): unknown {
        const body = watchedOf(this);
        return body === undefined ? Reflect.apply(native, this, []) : body[name](this as Response);
      },
    }[name] as () => unknown;
  return {
    [name](this: unknown): unknown {
      return likenessOf(this)?.[name as keyof Likeness] ?? Reflect.apply(native, this, []);
    },
  }[name] as () => unknown;
}

/** Code that looks at the function sees what it would have seen. */
function resembling<F extends (...args: never) => unknown>(ours: F, native: (...args: never) => unknown): F {
  const text = textOf(native);
  Object.defineProperty(ours, 'name', { value: native.name, configurable: true });
  Object.defineProperty(ours, 'length', { value: native.length, configurable: true });
  return Object.defineProperty(ours, 'toString', { value: () => text, configurable: true });
}
