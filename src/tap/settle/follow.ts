/**
 * Follows the calls of an SDK's Client class, to say what each caller received (`settle` lines) and which client an exchange belongs
 * to. Results and errors pass through unchanged; a class that cannot be followed stays as it is.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { types } from 'node:util';
import type { Client, Clients } from '../fetch/clients.ts';
import { methodWord } from '../fetch/words.ts';
import { quietly } from '../quietly.ts';
import { targetOf } from '../target.ts';
import type { LineFields, Lines } from '../writer/lines.ts';
import type { SdkClass } from './find-sdk.ts';
import { type Outcome, outcomeOfError, outcomeOfResult, type SettleWord } from './outcome.ts';

/** A call that a caller waits for. */
export interface Settling {
  readonly method: string;
  readonly target: string | undefined;
  /** The last exchange that carried it. */
  exchange?: string;
  result?: SettleWord;
}

/** What runs inside of a call of the SDK. */
export interface Caller {
  readonly instance: object;
  readonly settling: Settling | undefined;
}

export interface Follow {
  readonly caller: Caller | undefined;
  /** Idempotent for a class. */
  patch(Client: SdkClass): void;
}

export interface FollowOptions {
  readonly clients: Clients;
  readonly lines: () => Lines;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

type Method = (this: object, ...args: unknown[]) => unknown;
const MARK = Symbol.for('tailfin.tap.followed');

export function createFollow({ clients, lines, clock }: FollowOptions): Follow {
  const callers = new AsyncLocalStorage<Caller>();

  const say = (client: Client, { method, target, exchange }: Settling, outcome: Outcome, started: number): void => {
    const fields: LineFields = { client: client.id, server: client.server, method, ...outcome };
    if (target !== undefined) fields.target = target;
    if (exchange === undefined) fields.on_wire = false;
    else fields.exchange = exchange;
    fields.waited_ms = Math.round(clock() - started);
    lines().emit('settle', fields);
  };

  /** A call that settles. `options`: the argument of the call that may hold the caller's signal. */
  function followed(instance: object, settling: Settling, options: unknown, call: () => unknown): unknown {
    const started = clock();
    const settle = (outcome: Outcome): void => {
      settling.result = outcome.result;
      // A client without any exchange speaks over something else (stdio): nothing is known of its calls.
      const client = clients.ofInstance(instance);
      if (client !== undefined) say(client, settling, outcome, started);
    };
    const signal = (options as { signal?: AbortSignal } | undefined)?.signal;
    const fail = (error: unknown): void => {
      const disconnected = (instance as { transport?: unknown }).transport === undefined;
      settle(outcomeOfError(error, { signal, disconnected }));
    };
    let result: unknown;
    try {
      result = callers.run({ instance, settling }, call);
    } catch (error) {
      quietly(() => fail(error));
      throw error;
    }
    if (!types.isPromise(result)) return result;
    // The derived promise is the caller's: so a rejection that nobody handles is still reported.
    return result.then(
      (value) => {
        quietly(() => settle(outcomeOfResult(settling.method, value)));
        return value;
      },
      (error) => {
        quietly(() => fail(error));
        throw error;
      },
    );
  }

  /** callTool() makes its request with request(): one call, and more requests where the SDK tries again by itself. */
  const belongsTo = (instance: object, { method, target }: Settling): boolean => {
    const outer = callers.getStore();
    const settling = outer?.settling;
    if (outer?.instance !== instance || settling === undefined || settling.result !== undefined) return false;
    return settling.method === method && settling.target === target;
  };

  const wrapRequest = (original: Method): Method =>
    function request(this: object, ...args) {
      const settling = quietly(() => settlingOf(args[0]));
      if (settling === undefined || belongsTo(this, settling)) return Reflect.apply(original, this, args);
      // (request, schema, options), or without a schema: the options are the last one.
      const options = args.length > 2 ? args[2] : args[1];
      return followed(this, settling, options, () => Reflect.apply(original, this, args));
    };
  const wrapCallTool = (original: Method): Method =>
    function callTool(this: object, ...args) {
      const settling: Settling = { method: 'tools/call', target: targetOf('tools/call', args[0]) };
      const options = args.length > 2 ? args[2] : args[1];
      return followed(this, settling, options, () => Reflect.apply(original, this, args));
    };
  const wrapConnect = (original: Method): Method =>
    function connect(this: object, ...args) {
      quietly(() => clients.connecting(this));
      return callers.run({ instance: this, settling: undefined }, () => Reflect.apply(original, this, args));
    };
  const wrapClose = (original: Method): Method =>
    function close(this: object, ...args) {
      quietly(() => {
        const client = clients.ofInstance(this);
        if (client !== undefined) clients.closed(client);
      });
      return Reflect.apply(original, this, args);
    };

  const WRAPPERS: Readonly<Record<string, (original: Method) => Method>> = {
    request: wrapRequest,
    _requestWithSchema: wrapRequest,
    callTool: wrapCallTool,
    connect: wrapConnect,
    close: wrapClose,
  };

  return {
    get caller() {
      return callers.getStore();
    },
    patch(Client) {
      const prototype = Client.prototype as Record<PropertyKey, unknown>;
      if (Object.hasOwn(prototype, MARK)) return;
      Object.defineProperty(prototype, MARK, { value: true });
      for (const [name, wrap] of Object.entries(WRAPPERS)) {
        const original = prototype[name];
        if (typeof original !== 'function') continue;
        const value = wrap(original as Method);
        Object.defineProperty(value, 'length', { value: original.length, configurable: true });
        Object.defineProperty(prototype, name, { value, writable: true, configurable: true, enumerable: false });
      }
    },
  };
}

function settlingOf(request: unknown): Settling | undefined {
  const { method, params } = (request ?? {}) as { method?: unknown; params?: unknown };
  return typeof method === 'string' ? { method: methodWord(method), target: targetOf(method, params) } : undefined;
}
