/**
 * Wraps a fetch function: MCP exchanges are recorded, everything else goes straight through. The caller gets the same responses, the
 * same errors and the same timing of reads; whatever goes wrong in here, the call goes on. It judges nothing.
 */
import * as timers from 'node:timers';
import { quietly } from '../quietly.ts';
import { findSdkCaller, loadClientClass, type SdkCaller } from '../settle/find-sdk.ts';
import type { Caller } from '../settle/follow.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { copyMessage, isMcpPost, type SentMessage } from './message.ts';
import { type Call, type Recognised, recognise } from './recognise.ts';
import { describeRequest } from './request-facts.ts';
import type { FetchState } from './state.ts';
import type { Transport, TransportWatch } from './transport.ts';

// As they are when the tap is loaded: a test of the host may set its own clock later.
const { setTimeout, clearTimeout, setImmediate } = timers;

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
/** How long the first answer may wait until the calls of its SDK are followed: importing a loaded module took 7 ms. */
const MAX_HOLD_MS = 50;
interface Whose {
  readonly caller: Caller | undefined;
  readonly sdk: SdkCaller | undefined;
}
const HANDSHAKES: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

export function createFetchTap({ start, transport, settle }: FetchTapOptions): FetchTap {
  let shared: FetchState | undefined;
  let wrapped = false;
  let looks = 0;
  let hold: Promise<void> | undefined;
  const knows = (url: URL): boolean => shared?.memory.knows(url) === true;

  /** Whose call it is: that of a followed client, or else of an SDK that is to be followed. */
  function whose(): Whose {
    const caller = shared?.follow.caller;
    if (caller !== undefined || looks >= MAX_LOOKS) return { caller, sdk: undefined };
    looks++;
    return { caller, sdk: findSdkCaller() };
  }

  function followCallsOf(sdk: SdkCaller, { follow }: FetchState): void {
    const found = loadClientClass(sdk);
    if (found instanceof Promise) {
      hold ??= briefly(
        found.then((Client) => {
          if (Client !== undefined) follow.patch(Client);
        }),
      ).finally(() => {
        hold = undefined;
      });
    } else if (found !== undefined) follow.patch(found);
  }

  function begin(call: Call, sent: SentMessage | undefined, { caller, sdk }: Whose, under: Transport): Exchange {
    shared ??= start();
    const state = shared;
    if (sdk !== undefined && settle) quietly(() => followCallsOf(sdk, state));
    const { url, httpMethod, header, signal } = call;
    const facts = describeRequest({ url, httpMethod, header, sent }, shared.digester);
    // One signal for all requests of a transport: a habit of the SDKs, on the revisions without cancellation by abort.
    const mayMark = call.ownSignal && !facts.stateless && signal !== undefined;
    const marks = mayMark && (sdk !== undefined || shared.clients.marks(signal));
    const client = shared.clients.of({
      instance: caller?.instance,
      signal: marks ? signal : undefined,
      endpoint: facts.open.endpoint as string,
      handshake: HANDSHAKES.has(facts.method),
    });
    shared.memory.learn(url);
    return openExchange(shared, { url, facts, signal, client, settling: caller?.settling, transport: under });
  }

  async function answerOf(exchange: Exchange, under: Transport, running: Promise<Response>): Promise<Response> {
    let response: Response;
    try {
      response = await running;
    } catch (reason) {
      transport.ended(under, false);
      quietly(() => exchange.failed(reason));
      throw reason;
    }
    transport.ended(under, true);
    if (hold !== undefined) await hold;
    return quietly(() => exchange.answered(response)) ?? response;
  }

  /** The message is read while the call is under way; what cannot be told when the head arrives stays unrecorded. */
  async function copied(call: Call, copy: Request, plain: () => Promise<Response>): Promise<Response> {
    const under: Transport = {};
    const by = whose();
    let exchange: Exchange | undefined;
    const reading = copyMessage(copy).then((sent) => {
      if (sent !== undefined && isMcpPost(sent.message, call.header, knows(call.url)))
        exchange = begin(call, sent, by, under);
    });
    const told = Promise.race([reading.catch(() => {}), new Promise<void>((done) => setImmediate(done))]);
    const running = transport.run(under, plain);
    const answered = await running.then(
      () => true,
      () => false,
    );
    if (exchange === undefined) await told;
    if (exchange !== undefined) return answerOf(exchange, under, running);
    transport.ended(under, answered);
    return running;
  }

  function record({ call, ...how }: Recognised, plain: () => Promise<Response>): Promise<Response> | undefined {
    if ('copy' in how) return copied(call, how.copy, plain);
    const under: Transport = {};
    const exchange = begin(call, how.sent, whose(), under);
    return answerOf(exchange, under, transport.run(under, plain));
  }

  return {
    wrap(upstream) {
      if (Object.hasOwn(upstream, WRAPPED)) return upstream;
      if (wrapped) transport.nested();
      wrapped = true;
      const fetch = function fetch(this: unknown, ...args: Parameters<Fetch>): Promise<Response> {
        const plain = (): Promise<Response> => Reflect.apply(upstream, this, args);
        // Another wrapper of this kind records it already.
        if (transport.inside) return plain();
        const found = quietly(() => recognise(args, knows));
        if (found === undefined) return transport.past(plain);
        let running: Promise<Response> | undefined;
        const once = (): Promise<Response> => {
          try {
            running = plain();
          } catch (reason) {
            // No fetch does this; called a second time it would be worse.
            running = Promise.reject(reason);
          }
          return running;
        };
        // After a fault in here the call goes on, or is made now.
        return quietly(() => record(found, once)) ?? running ?? plain();
      } as Fetch;
      return resembling(fetch, upstream);
    },
  };
}

/** Done when the step is done, whatever comes of it, or after a moment. */
function briefly(step: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_HOLD_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    step.then(done, done);
  });
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
