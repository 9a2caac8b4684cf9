/** What all exchanges of a process share. Made when the first one begins, and not before. */

import * as timers from 'node:timers';
import type { Digester } from '../digest.ts';
import { offExit, onExit } from '../exit-listener.ts';
import { quietly } from '../quietly.ts';
import type { Answer } from '../scan/answer.ts';
import { createFollow, type Follow } from '../settle/follow.ts';
import { createSdkWatch, type SdkWatch } from '../settle/sdk-watch.ts';
import type { Lines } from '../writer/lines.ts';
import { type Carriers, createCarriers } from './carriers.ts';
import { type Clients, createClients } from './clients.ts';
import { createMemory, type Memory } from './memory.ts';
import { createPending, type Pending } from './pending.ts';

// As they are when the tap is loaded: a test of the host may set its own clock later.
const { setImmediate } = timers;
const clock = performance.now.bind(performance);

export interface FetchState {
  readonly lines: Lines;
  readonly digester: Digester;
  readonly now: () => number;
  readonly newId: () => string;
  readonly memory: Memory;
  readonly pending: Pending;
  readonly carriers: Carriers<Answer>;
  readonly clients: Clients;
  readonly follow: Follow;
  readonly sdks: SdkWatch;
  /** After what the host does in this turn of the event loop; at the latest when the process exits. */
  readonly later: (step: () => void) => void;
}

export interface StateOptions {
  readonly lines: Lines;
  readonly digester: Digester;
  readonly now: () => number;
  readonly newId: () => string;
}

export function createFetchState({ lines, digester, now, newId }: StateOptions): FetchState {
  const clients = createClients(() => lines, newId);
  const follow = createFollow({ clients, lines: () => lines, clock });
  return {
    lines,
    digester,
    now,
    newId,
    clients,
    memory: createMemory(digester.digest, now),
    pending: createPending(now),
    carriers: createCarriers<Answer>(now),
    follow,
    sdks: createSdkWatch(follow),
    later: createLater(),
  };
}

function createLater(): FetchState['later'] {
  const waiting = new Set<() => void>();
  const flush = (): void => {
    offExit(flush);
    for (const step of waiting) {
      waiting.delete(step);
      quietly(step);
    }
  };
  return (step) => {
    waiting.add(step);
    if (waiting.size > 1) return;
    setImmediate(flush).unref();
    // Before the writer's own handler, which writes what is left.
    onExit(flush, { first: true });
  };
}
