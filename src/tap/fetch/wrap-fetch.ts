/**
 * Wraps a fetch function: MCP exchanges are recorded, everything else goes straight through. The caller gets the same responses, the
 * same errors and the same timing of reads; whatever goes wrong in here, the call goes on. It judges nothing.
 */
import * as timers from 'node:timers';
import { types } from 'node:util';
import { quietly } from '../quietly.ts';
import { findSdkCaller, type SdkCaller } from '../settle/find-sdk.ts';
import type { Caller } from '../settle/follow.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { copyMessage, isMcpPost, type SentMessage } from './message.ts';
import { type Call, type Copied, type Direct, recognise } from './recognise.ts';
import { describeRequest } from './request-facts.ts';
import type { FetchState } from './state.ts';
import type { Transport, TransportWatch } from './transport.ts';

// As they are when the tap is loaded: a test of the host may set its own clock later.
const { setImmediate } = timers;
const { then } = Promise.prototype;

export type Fetch = typeof globalThis.fetch;

export interface FetchTapOptions {
  /** Called when the first exchange begins. */
  readonly start: () => FetchState;
  readonly transport: TransportWatch;
  /** Follow the calls of SDKs. */
  readonly settle: boolean;
}

export interface FetchTap {
  /** A fetch that is wrapped already comes back as it is. */
  wrap(upstream: Fetch): Fetch;
}

/** On every wrapped fetch, in whatever copy of this code. */
const WRAPPED = Symbol.for('tailfin.tap.wrapped');
/** Looks at the callers of exchanges that belong to no followed call. */
const MAX_LOOKS = 256;

interface Whose {
  readonly caller: Caller | undefined;
  readonly sdk: SdkCaller | undefined;
}
const HANDSHAKES: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

export function createFetchTap({ start, transport, settle }: FetchTapOptions): FetchTap {
  let shared: FetchState | undefined;
  let wrapped = false;
  let looks = 0;
  const knows = (url: URL): boolean => shared?.memory.knows(url) === true;

  /** Whose call it is: that of a followed client, or else of an SDK that is to be followed. */
  function whose(): Whose {
    const caller = shared?.follow.caller;
    if (caller !== undefined || looks >= MAX_LOOKS) return { caller, sdk: undefined };
    looks++;
    return { caller, sdk: findSdkCaller() };
  }

  function begin(call: Call, sent: SentMessage | undefined, { caller, sdk }: Whose, under: Transport): Exchange {
    shared ??= start();
    const state = shared;
    if (sdk !== undefined && settle) quietly(() => state.sdks.seen(sdk));
    const { url, httpMethod, header, signal } = call;
    if (signal?.aborted) under.sent = 'none';
    const facts = describeRequest({ url, httpMethod, header, sent }, shared.digester);
    // One signal for all requests of a transport: a habit of the SDKs, on the revisions without cancellation by abort.
    const mayMark = call.ownSignal && !facts.stateless && signal !== undefined;
    const marks = mayMark && (sdk !== undefined || caller !== undefined || shared.clients.marks(signal));
    const client = shared.clients.of({
      instance: caller?.instance,
      signal: marks ? signal : undefined,
      endpoint: facts.open.endpoint as string,
      handshake: HANDSHAKES.has(facts.method),
    });
    shared.memory.learn(url);
    return openExchange(shared, { url, facts, signal, client, settling: caller?.settling, transport: under });
  }

  /** Makes the call. What it throws is thrown, after it was noted. */
  function make(under: Transport, plain: () => unknown, failed: (reason: unknown) => void): unknown {
    let isMade = false;
    try {
      return transport.run(under, () => {
        isMade = true;
        return plain();
      });
    } catch (reason) {
      // A fault in here, and not of the host.
      if (!isMade) return plain();
      quietly(() => transport.ended(under, false));
      quietly(() => failed(reason));
      throw reason;
    }
  }

  function handOn(exchange: Exchange, response: unknown): unknown {
    const give = (): unknown => {
      quietly(() => exchange.answered(response as Response));
      return response;
    };
    const hold = shared?.sdks.hold;
    return hold === undefined ? give() : hold.then(give);
  }

  function record({ call, sent }: Direct, plain: () => unknown): unknown {
    const under: Transport = {};
    const exchange = quietly(() => begin(call, sent, whose(), under));
    if (exchange === undefined) return transport.past(plain);
    const made = make(under, plain, exchange.failed);
    if (!types.isPromise(made)) {
      // A mock that answers at once: its value stays a value.
      transport.ended(under, true);
      quietly(() => exchange.answered(made as Response));
      return made;
    }
    // By the method of promises itself: one that the host put in its place, or lazily calls, is the caller's to call.
    return Reflect.apply(then, made, [
      (response: unknown) => {
        quietly(() => transport.ended(under, true));
        return handOn(exchange, response);
      },
      (reason: unknown) => {
        quietly(() => transport.ended(under, false));
        quietly(() => exchange.failed(reason));
        throw reason;
      },
    ]);
  }

  /** The message is read while the call is under way; what cannot be told when the head arrives stays unrecorded. */
  function recordCopy({ call, copy }: Copied, plain: () => unknown): unknown {
    const under: Transport = {};
    const by = quietly(whose) ?? { caller: undefined, sdk: undefined };
    let exchange: Exchange | undefined;
    let isOver = false;
    const reading = copyMessage(copy).then((sent) => {
      if (!isOver && sent !== undefined && isMcpPost(sent.message, call.header, knows(call.url)))
        exchange = begin(call, sent, by, under);
    });
    const told = Promise.race([reading.catch(() => {}), new Promise<void>((done) => setImmediate(done))]);
    const end = async (answered: boolean): Promise<void> => {
      if (exchange === undefined) await told;
      isOver = true;
      transport.ended(under, answered);
    };
    const made = make(under, plain, () => {
      isOver = true;
    });
    if (!types.isPromise(made)) {
      isOver = true;
      transport.ended(under, true);
      return made;
    }
    return Reflect.apply(then, made, [
      async (response: unknown) => {
        await end(true);
        return exchange === undefined ? response : handOn(exchange, response);
      },
      async (reason: unknown) => {
        await end(false);
        quietly(() => exchange?.failed(reason));
        throw reason;
      },
    ]);
  }

  return {
    wrap(upstream) {
      if (Object.hasOwn(upstream, WRAPPED)) return upstream;
      if (wrapped) transport.nested();
      wrapped = true;
      const fetch = function fetch(this: unknown, ...args: Parameters<Fetch>): unknown {
        const plain = (): unknown => Reflect.apply(upstream, this, args);
        // Another wrapper of this kind records it already.
        if (transport.inside) return plain();
        const found = quietly(() => recognise(args, knows));
        if (found === undefined) return transport.past(plain);
        return 'copy' in found ? recordCopy(found, plain) : record(found, plain);
      } as Fetch;
      return resembling(fetch, upstream);
    },
  };
}

/** Code that looks at the function sees what it would have seen. */
function resembling(fetch: Fetch, upstream: Fetch): Fetch {
  const text = Function.prototype.toString.call(upstream);
  const own = (name: PropertyKey, value: unknown) => Object.defineProperty(fetch, name, { value, configurable: true });
  own('name', upstream.name);
  own('length', upstream.length);
  own('toString', () => text);
  own(WRAPPED, true);
  // What else somebody hung on it: a mock's calls, `preconnect`.
  for (const key of Reflect.ownKeys(upstream))
    if (!Object.hasOwn(fetch, key))
      Object.defineProperty(fetch, key, Object.getOwnPropertyDescriptor(upstream, key) as PropertyDescriptor);
  return fetch;
}
