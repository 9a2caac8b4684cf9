/**
 * Brings the classes of an SDK that makes fetches under observation. Where only its transport was seen, the transport's `send` is
 * watched until the client shows among its callers: that proves that the host has loaded it. It alters nothing that a call does.
 */
import * as timers from 'node:timers';
import { quietly } from '../quietly.ts';
import { findSdkCaller, loadSdkClasses, type SdkCaller, type SdkClass, type SdkClasses } from './find-sdk.ts';
import type { Follow } from './follow.ts';

// As they are when the tap is loaded: a test of the host may set its own clock later.
const { setTimeout, clearTimeout } = timers;

export interface SdkWatch {
  /** A caller of fetch, found by findSdkCaller. */
  seen(sdk: SdkCaller): void;
  /** While a module is being looked up: answers wait for it, so that the next call is followed. */
  readonly hold: Promise<void> | undefined;
}

/** How long an answer may wait until the calls of its SDK are followed: importing a loaded module took 7 ms. */
const MAX_HOLD_MS = 50;
/** Looks at the callers of one transport class. */
const MAX_LOOKS = 64;
const MAX_MODULES = 64;
const MARK = Symbol.for('tailfin.tap.watched');

type Send = (this: object, ...args: unknown[]) => unknown;

export function createSdkWatch(follow: Follow): SdkWatch {
  let hold: Promise<void> | undefined;
  /** Modules that were looked up or are being so. */
  const known = new Set<string>();

  function take({ client, transports }: SdkClasses): void {
    if (client !== undefined) follow.patch(client);
    else for (const transport of transports) quietly(() => watchSends(transport));
  }

  function seen(sdk: SdkCaller): void {
    // A CommonJS module may be loaded later; an ES module that was seen is.
    if (sdk.isUrl && (known.has(sdk.file) || known.size >= MAX_MODULES)) return;
    if (sdk.isUrl) known.add(sdk.file);
    const found = loadSdkClasses(sdk);
    if (!(found instanceof Promise)) {
      take(found);
      return;
    }
    const mine = briefly(found.then(take)).finally(() => {
      if (hold === mine) hold = undefined;
    });
    hold = mine;
  }

  function watchSends(Transport: SdkClass): void {
    const prototype = Transport.prototype as Record<PropertyKey, unknown>;
    if (Object.hasOwn(prototype, MARK) || typeof prototype.send !== 'function') return;
    Object.defineProperty(prototype, MARK, { value: true });
    const original = prototype.send as Send;
    let looks = 0;
    function look(): void {
      if (looks >= MAX_LOOKS) return;
      const sdk = findSdkCaller();
      const isFound = sdk?.exports === 'client';
      looks = isFound ? MAX_LOOKS : looks + 1;
      if (looks === MAX_LOOKS && prototype.send === watched) put(original);
      if (isFound) seen(sdk);
    }
    const watched: Send = function send(this: object, ...args) {
      quietly(look);
      return Reflect.apply(original, this, args);
    };
    const put = (value: Send) =>
      Object.defineProperty(prototype, 'send', { value, writable: true, configurable: true, enumerable: false });
    Object.defineProperty(watched, 'length', { value: original.length, configurable: true });
    put(watched);
  }

  return {
    seen,
    get hold() {
      return hold;
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
