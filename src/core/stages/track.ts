/**
 * Lines to exchange records. Decides when an exchange opens, closes and expires, attaches what other lines prove about it
 * (cancellation, session deletion, a lost carrier, the contract in force), and routes parse and settle lines. It judges nothing.
 */

import { GenerationSet } from '../generation-set.ts';
import type { Due } from '../model/due.ts';
import type { WireEvent } from '../model/event.ts';
import {
  type Contract,
  createExchange,
  createExchangeKey,
  type Exchange,
  mergeLine,
  recordsOf,
  serverName,
} from '../model/exchange.ts';
import { clientKey } from '../model/exchange-names.ts';
import { hash53 } from '../model/hash53.ts';
import { keepEvent } from '../model/keep.ts';
import { LIMITS } from '../model/limits.ts';
import type { Policy } from '../model/policy.ts';
import { LISTEN } from '../protocol/methods.ts';
import type { IdBytes } from '../scan/id-bytes.ts';
import type { Emit, Stage } from '../stage.ts';
import { keepMap } from '../state.ts';
import { BoundedMap, type StoreHealth, TimerQueue } from '../store.ts';
import { createContext } from './context.ts';
import type { Revive } from './revive.ts';

export type Tracked =
  | { readonly is: 'opened'; readonly exchange: Exchange }
  | { readonly is: 'closed'; readonly exchange: Exchange }
  | { readonly is: 'expired'; readonly exchange: Exchange; readonly reason: 'ttl' | 'writer_gone' | 'evicted' }
  /** A parse or settle line: of a closed exchange, or of none (`key` null). */
  | { readonly is: 'parse' | 'settle'; readonly event: WireEvent; readonly key: string | null }
  | { readonly is: 'notified'; readonly exchange: Exchange; readonly ts: number }
  /** The caller of an exchange that is still open was told something: a retry may follow at once. */
  | { readonly is: 'told'; readonly event: WireEvent; readonly key: string }
  | { readonly is: 'client'; readonly event: WireEvent; readonly key: string }
  | {
      readonly is: 'contract';
      readonly server: string;
      readonly event: WireEvent;
      readonly contract: Contract | undefined;
    }
  /** A line for an exchange that is closed already: counted, nothing else. */
  | { readonly is: 'late'; readonly event: WireEvent };

export interface Track extends Stage<WireEvent, Tracked> {
  /** The writer started afresh: its open exchanges never close. */
  writerGone(writer: string, ts: number, emit: Emit<Tracked>): void;
  /** Open exchanges that have an `open` line, for the gauge. */
  open(): IterableIterator<Exchange>;
}

interface Orphan extends Due {
  readonly key: string;
  readonly events: WireEvent[];
}

/** Payload lines kept for one open exchange; a host parses an answer once or twice. */
const MAX_WAITING = 64;

/** `ids`: those of the line in work. `held`: exchanges for which a payload line may still come, however many others closed since. */
export function createTrack(
  policy: Policy,
  health: StoreHealth,
  home: string,
  revive: Revive,
  held: () => Iterable<string>,
  ids: IdBytes,
): Track {
  const exchangeKey = createExchangeKey(home);
  let out: Emit<Tracked> = () => {};
  const closed = new GenerationSet('closed_ids', LIMITS.closedIds, health, held);
  // Before its timers: what is written first is written with its fields packed.
  const open = new BoundedMap<Exchange>(
    ...(['open_exchanges', LIMITS.openExchanges, health] as const),
    (exchange) => lose(exchange, 'evicted'),
    { records: recordsOf, revive: revive.exchange },
  );
  const timers = new TimerQueue<Exchange>('open_exchanges', health);
  /** Open exchanges by writer: all of them expire when it starts afresh. */
  const byWriter = keepMap<string, Set<Exchange>>(health.parts, 'open_by_writer');
  const orphans = new BoundedMap<Orphan>(
    ...(['orphan_lines', LIMITS.orphanLines, health] as const),
    (orphan) => {
      orphanTimers.cancel(orphan);
      release(orphan);
    },
    { records: ({ events }) => events },
  );
  const orphanTimers = new TimerQueue<Orphan>('orphan_lines', health);
  const context = createContext(exchangeKey, health);

  const leave = (exchange: Exchange): void => {
    // One that is known by its close line alone stands nowhere but among the closed ones, where it was entered with it.
    if (exchange.wasOpen) {
      const siblings = byWriter.get(exchange.writer);
      siblings?.delete(exchange);
      if (siblings?.size === 0) byWriter.delete(exchange.writer);
      timers.cancel(exchange);
      closed.add(exchange.hash);
    }
    if (exchange.http === 'GET') context.carrierClosed(exchange.key, exchange.lastTs);
  };
  /** Its payload lines still count, and may tell what its caller got. */
  const flush = (exchange: Exchange): void => {
    if (exchange.waiting === null) return;
    for (const line of exchange.waiting) out({ is: line.type as 'parse' | 'settle', event: line, key: exchange.key });
    exchange.waiting = null;
  };
  const lose = (exchange: Exchange, reason: 'ttl' | 'writer_gone' | 'evicted'): void => {
    leave(exchange);
    flush(exchange);
    out({ is: 'expired', exchange, reason });
  };
  const expire = (exchange: Exchange, reason: 'ttl' | 'writer_gone'): void => {
    if (!open.delete(exchange.key)) return;
    lose(exchange, reason);
  };
  const expireByAge = (exchange: Exchange): void => expire(exchange, 'ttl');
  const giveUpWaiting = (orphan: Orphan): void => {
    if (orphans.delete(orphan.key)) release(orphan);
  };
  const release = (orphan: Orphan): void => {
    for (const event of orphan.events) out({ is: event.type as 'parse' | 'settle', event, key: null });
  };

  const enter = (key: string, hash: number, host: string, event: WireEvent): Exchange => {
    const exchange = createExchange(key, hash, host, event, policy);
    const orphan = orphans.size === 0 ? undefined : orphans.get(key);
    if (orphan !== undefined) {
      orphans.delete(key);
      if (event.ts > orphan.deadline) release(orphan);
      else for (const line of orphan.events) attach(exchange, line);
      orphanTimers.cancel(orphan);
    }
    return exchange;
  };

  const attach = (exchange: Exchange, event: WireEvent): void => {
    if (event.type === 'settle' && event.fields.result === 'timeout') exchange.timeoutTs ??= event.ts;
    exchange.lastTs = Math.max(exchange.lastTs, event.ts);
    exchange.waiting ??= [];
    if (!exchange.counted && exchange.waiting.length < MAX_WAITING) exchange.waiting.push(keepEvent(event));
    else out({ is: event.type as 'parse' | 'settle', event, key: null });
  };

  const keepOpen = (exchange: Exchange): void => {
    const long = exchange.http === 'GET' || exchange.fields.method === LISTEN;
    exchange.deadline = exchange.lastTs + (long ? LIMITS.expireListenMs : LIMITS.expireResponseMs);
    timers.schedule(exchange);
  };

  const stateOf = (key: string): 'open' | 'closed' | 'unknown' =>
    open.has(key) ? 'open' : closed.has(hash53(key)) ? 'closed' : 'unknown';
  const close = (exchange: Exchange, event: WireEvent): void => {
    exchange.closeTs = event.ts;
    context.attachAtClose(exchange, stateOf);
    leave(exchange);
    out({ is: 'closed', exchange });
    flush(exchange);
  };

  /** The open exchange, unless its time is over by the clock of this line and no tick has said so yet. */
  const openAt = (key: string, ts: number): Exchange | undefined => {
    const exchange = open.get(key);
    if (exchange === undefined || ts <= exchange.deadline) return exchange;
    expire(exchange, 'ttl');
    return undefined;
  };

  const pushExchangeLine = (event: WireEvent, host: string): void => {
    const key = exchangeKey(host, event.fields.exchange as string);
    let exchange = openAt(key, event.ts);
    const first = exchange === undefined;
    if (exchange === undefined) {
      const hash = ids.hash(key);
      if (event.type === 'close' ? !closed.enter(hash) : closed.has(hash)) {
        out({ is: 'late', event });
        return;
      }
      exchange = enter(key, hash, host, event);
    } else mergeLine(exchange, event, policy);
    if (first || event.type === 'open' || typeof event.fields.cancel_of === 'string') context.noteRequest(exchange);
    if (event.type === 'close') {
      if (!first) open.delete(key);
      close(exchange, event);
      return;
    }
    if (first) {
      exchange.wasOpen = true;
      open.add(key, exchange);
      const siblings = byWriter.get(exchange.writer);
      if (siblings === undefined) byWriter.set(exchange.writer, new Set([exchange]));
      else siblings.add(exchange);
    }
    keepOpen(exchange);
    if (first || event.type !== 'message') out({ is: 'opened', exchange });
    if (event.fields.rpc === 'notification') out({ is: 'notified', exchange, ts: event.ts });
  };

  const pushPayloadLine = (event: WireEvent, host: string): void => {
    const is = event.type as 'parse' | 'settle';
    const id = event.fields.exchange;
    if (id === undefined || id === null) {
      out({ is, event, key: null });
      return;
    }
    const key = exchangeKey(host, id);
    const exchange = openAt(key, event.ts);
    if (exchange !== undefined) {
      attach(exchange, event);
      keepOpen(exchange);
      if (is === 'settle') out({ is: 'told', event, key });
    } else if (closed.has(hash53(key))) {
      out({ is, event, key });
    } else {
      let orphan = orphans.get(key);
      if (orphan !== undefined && event.ts > orphan.deadline) {
        orphanTimers.cancel(orphan);
        giveUpWaiting(orphan);
        orphan = undefined;
      }
      if (orphan === undefined) {
        orphan = { key, events: [], deadline: 0, place: null };
        orphans.set(key, orphan);
      }
      // What a caller was told may come a long wait before the lone close line of its exchange.
      const wait = is === 'settle' ? LIMITS.expireResponseMs : LIMITS.orphanMs;
      orphan.deadline = Math.max(orphan.deadline, event.ts + wait);
      orphanTimers.schedule(orphan);
      if (orphan.events.length < MAX_WAITING) orphan.events.push(keepEvent(event));
      else out({ is, event, key: null });
    }
  };

  return {
    push(event, emit) {
      out = emit;
      const { fields } = event;
      const host = fields.host ?? event.origin.host;
      switch (event.type) {
        case 'open':
        case 'headers':
        case 'message':
        case 'close':
          pushExchangeLine(event, host);
          break;
        case 'parse':
        case 'settle':
          pushPayloadLine(event, host);
          break;
        case 'client': {
          const key = clientKey(host, fields.client as string, '');
          if (fields.event === 'session_deleted') context.sessionDeleted(key, event.ts);
          emit({ is: 'client', event, key });
          break;
        }
        case 'discovery': {
          const name = serverName(fields);
          const configured = policy.server(name);
          const server = configured?.name ?? name;
          emit({ is: 'contract', server, event, contract: context.discovered(server, configured, event) });
          break;
        }
      }
    },
    tick(now, emit) {
      out = emit;
      context.tick(now);
      timers.expire(now, expireByAge);
      orphanTimers.expire(now, giveUpWaiting);
    },
    writerGone(writer, ts, emit) {
      out = emit;
      // One that was over by then had its time, even if no tick has said so yet.
      for (const exchange of [...(byWriter.get(writer) ?? [])])
        expire(exchange, exchange.deadline < ts ? 'ttl' : 'writer_gone');
    },
    open: () => open.values(),
  };
}
