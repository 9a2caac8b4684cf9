/**
 * Which operation a new attempt belongs to (design section 5): an index of the operations that still wait for another attempt,
 * and the rule that decides. Delivered operations are not in the index, so a busy healthy host pays one failed look-up.
 */
import type { WireEvent } from '../model/event.ts';
import type { Exchange } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import type { Attempt, IndexPlace, Operation } from '../model/operation.ts';
import { joinsWithoutDigest } from '../protocol/methods.ts';
import { keep, keepMap, keepValues } from '../state.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';
import { holdNamesIn, releaseNames } from './attempt.ts';
import { indexKey } from './held-names.ts';
import { isDelivered, isHop, isRound, isUntold } from './outcome.ts';

/** retry: an edge. follow: a hop or a round, the same operation without being a retry. */
export type Join = { readonly operation: Operation; readonly as: 'retry' | 'follow' };

export interface Joining {
  /** Keep, move or drop the operation in the index, after anything about it changed. */
  update(operation: Operation): void;
  find(exchange: Exchange): Join | undefined;
  /** A client was closed, reconnected or re-initialised: calls of the same host may continue its operations. */
  client(key: string, event: WireEvent): void;
  tick(now: number): void;
}

interface Replacement {
  /** The latest one. */
  readonly ts: number;
  readonly all: readonly number[];
}
type ByClient = Map<string, Set<Operation>>;
/** Most calls fail alone: only where several wait for the same call are they told apart by client. */
type Slot = Operation | ByClient;

const UNKNOWN_CLIENT = '';
/** So few that wait may have their names besides: to cut them out of the key is a quarter of what such a call costs. */
export const FEW_WAITING = 4096;
/** What a client that closes breaks off ends within this time. */
const CLOSING_MS = 1000;
const KEPT_REPLACEMENTS = 16;

const requestIndexKey = (host: string, key: string): string => `${host}\n${key}`;
const last = (operation: Operation): Attempt => operation.attempts.at(-1) as Attempt;

/** Is the last attempt something that another one may follow? */
function awaitsMore(operation: Operation): boolean {
  if (operation.ended || operation.cancelled) return false;
  const attempt = last(operation);
  if (Number.isNaN(attempt.closeTs)) return attempt.settled === 'timeout';
  return isRound(attempt) || isHop(attempt) || !(isDelivered(attempt) || isUntold(attempt));
}

/** null: nothing but a request key can join it. */
const digestOf = (argsDigest: string | null, method: string | null): string | null =>
  argsDigest ?? (method !== null && joinsWithoutDigest(method) ? '' : null);

function placeOf(operation: Operation): IndexPlace {
  const { host, server, method, target, argsDigest, requestKey } = operation;
  const digest = digestOf(argsDigest, method);
  return {
    key: digest === null ? null : indexKey(digest, host, server, method, target),
    ending: digest === null ? 0 : endingOf(digest),
    client: last(operation).client ?? UNKNOWN_CLIENT,
    requestKey: requestKey === null ? null : requestIndexKey(host, requestKey),
  };
}

/** How an exchange may continue an operation that was matched to it, by the times of both; null: not at all. */
function joinAs(operation: Operation, exchange: Exchange): Join['as'] | null {
  // Its time is over by the clock of this line, even if no tick has said so yet.
  if (operation.attempts.length >= LIMITS.attemptsPerOperation || operation.deadline < exchange.lastTs) return null;
  const attempt = last(operation);
  const within = (since: number): boolean =>
    exchange.openTs >= since && exchange.openTs - since <= LIMITS.retryWindowMs;
  if (isRound(attempt))
    return exchange.fields.input_responses === true && exchange.openTs >= attempt.closeTs ? 'follow' : null;
  if (isHop(attempt)) return within(attempt.closeTs) ? 'follow' : null;
  // From the close, or from the timeout that the caller was told of: it may move on while the stream is open.
  if (within(attempt.closeTs)) return 'retry';
  return attempt.settled === 'timeout' && within(attempt.settledTs) ? 'retry' : null;
}

/** Digests are told apart by their last characters: most look-ups end here, before a text is hashed and a large map is asked. */
const ENDINGS = 131_072;
function endingOf(digest: string): number {
  let hash = digest.length;
  for (let i = Math.max(0, digest.length - 5); i < digest.length; i++)
    hash = Math.imul(hash ^ digest.charCodeAt(i), 0x9e3779b1) ^ (hash >>> 15);
  return (hash ^ (hash >>> 16)) & (ENDINGS - 1);
}

export function createJoining(health: StoreHealth): Joining {
  const replaced = new BoundedMap<Replacement>('replaced_clients', LIMITS.clients, health);
  const byCall = keepMap<string, Slot>(health.parts, 'joining_by_call');
  /** How many operations of the index have a digest of this ending (LIMITS.operations fits 16 bits). */
  const endings = new Uint16Array(ENDINGS);
  /** Whether there is any, a bit each: small enough to stay in the nearest cache. */
  const used = new Uint32Array(ENDINGS / 32);
  const enter = (ending: number): void => {
    (endings[ending] as number)++;
    (used[ending >> 5] as number) |= 1 << ending;
  };
  const withdraw = (ending: number): void => {
    (endings[ending] as number)--;
    if (endings[ending] === 0) (used[ending >> 5] as number) &= ~(1 << ending);
  };
  const isUsed = (ending: number): boolean => ((used[ending >> 5] as number) & (1 << ending)) !== 0;
  const byRequestKey = keepMap<string, Set<Operation>>(health.parts, 'joining_by_request_key');
  const own = keepValues(health.parts, 'joining', { indexed: 0, nextSweep: 0 });

  keep(health.parts, 'joining_endings', {
    save: () => [],
    load: () => {},
    loaded() {
      const count = ({ indexed }: Operation): void => enter((indexed as IndexPlace).ending);
      for (const slot of byCall.values())
        if (slot instanceof Map) for (const operations of slot.values()) operations.forEach(count);
        else count(slot);
    },
  });

  const holdNames = (operation: Operation, { key }: IndexPlace): void => {
    if (key !== null && own.indexed > FEW_WAITING) holdNamesIn(key, operation);
  };

  const add = (operation: Operation, place: IndexPlace): void => {
    operation.indexed = place;
    own.indexed++;
    if (place.requestKey !== null) setIn(byRequestKey, place.requestKey, () => new Set()).add(operation);
    if (place.key === null) return;
    holdNames(operation, place);
    enter(place.ending);
    const slot = byCall.get(place.key);
    if (slot === undefined) byCall.set(place.key, operation);
    else if (slot instanceof Map) setIn(slot, place.client, () => new Set()).add(operation);
    else {
      const byClient: ByClient = new Map([[(slot.indexed as IndexPlace).client, new Set([slot])]]);
      setIn(byClient, place.client, () => new Set()).add(operation);
      byCall.set(place.key, byClient);
    }
  };
  const remove = (operation: Operation, place: IndexPlace): void => {
    operation.indexed = null;
    own.indexed--;
    if (place.requestKey !== null) dropFrom(byRequestKey, place.requestKey, operation);
    if (place.key === null) return;
    if (!operation.ended) releaseNames(operation);
    withdraw(place.ending);
    const slot = byCall.get(place.key);
    if (slot instanceof Map) dropFrom(slot, place.client, operation);
    if (slot === operation || (slot instanceof Map && slot.size === 0)) byCall.delete(place.key);
  };

  /** Was the client of this attempt replaced after the attempt and before the exchange? One that went on is alive. */
  const wasReplaced = (attempt: Attempt, exchange: Exchange): boolean => {
    const replacement = replaced.get(`${attempt.host}\n${attempt.client}`);
    // A lone close line tells no open time: what ended well after the replacement was not ended by it.
    const since = attempt.openTs - (attempt.openKnown ? 0 : CLOSING_MS);
    return replacement?.all.some((ts) => since <= ts && ts <= exchange.openTs) === true;
  };

  /** On the same client, or on the same host when that client was replaced or is unknown. */
  const mayContinue = (operation: Operation, exchange: Exchange): boolean => {
    const attempt = last(operation);
    if (attempt.client === null || exchange.client === null || attempt.client === exchange.client) return true;
    return replaced.size > 0 && wasReplaced(attempt, exchange);
  };

  const firstOf = (candidates: Iterable<Operation> | undefined, exchange: Exchange): Join | undefined => {
    if (candidates === undefined) return undefined;
    const requestKey = exchange.fields.request_key ?? null;
    for (const operation of candidates) {
      // Two request keys that differ are two requests, whatever their arguments.
      if (operation.requestKey !== null && requestKey !== null && operation.requestKey !== requestKey) continue;
      const as = joinAs(operation, exchange);
      if (as !== null) return { operation, as };
    }
    return undefined;
  };

  const byArguments = (exchange: Exchange): Join | undefined => {
    const { fields, client } = exchange;
    const method = fields.method ?? null;
    const digest = digestOf(fields.args_digest ?? null, method);
    if (digest === null || !isUsed(endingOf(digest))) return undefined;
    const slot = byCall.get(indexKey(digest, exchange.host, exchange.server, method, fields.target ?? null));
    if (slot === undefined) return undefined;
    if (!(slot instanceof Map)) return mayContinue(slot, exchange) ? firstOf([slot], exchange) : undefined;
    const byClient = slot;
    if (client !== null) {
      const own = firstOf(byClient.get(client), exchange) ?? firstOf(byClient.get(UNKNOWN_CLIENT), exchange);
      if (own !== undefined || replaced.size === 0) return own;
    }
    for (const candidates of byClient.values()) {
      const join = firstOf(candidates, exchange);
      if (join !== undefined && mayContinue(join.operation, exchange)) return join;
    }
    return undefined;
  };

  return {
    update(operation) {
      const before = operation.indexed;
      const place = awaitsMore(operation) ? placeOf(operation) : null;
      if (before !== null && place !== null && samePlace(before, place)) {
        holdNames(operation, before);
        return;
      }
      if (before !== null) remove(operation, before);
      if (place !== null) add(operation, place);
    },
    find(exchange) {
      if (own.indexed === 0) return undefined;
      const key = exchange.fields.request_key ?? null;
      const keyed = key === null ? undefined : byRequestKey.get(requestIndexKey(exchange.host, key));
      const join = firstOf(keyed, exchange) ?? byArguments(exchange);
      if (join !== undefined) releaseNames(join.operation);
      return join;
    },
    client(key, { ts, fields: { event } }) {
      if (event !== 'closed' && event !== 'reconnected' && event !== 'reinitialized') return;
      const all = [...(replaced.get(key)?.all ?? []), ts].slice(-KEPT_REPLACEMENTS);
      replaced.set(key, { ts, all });
    },
    tick(now) {
      if (now < own.nextSweep) return;
      own.nextSweep = now + LIMITS.sweepMs;
      replaced.expire(now - LIMITS.memoryMs);
    },
  };
}

const samePlace = (a: IndexPlace, b: IndexPlace): boolean =>
  a.key === b.key && a.client === b.client && a.requestKey === b.requestKey;

function setIn<V>(map: Map<string, V>, key: string, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = create();
  map.set(key, fresh);
  return fresh;
}

function dropFrom(map: Map<string, Set<Operation>>, key: string, operation: Operation): void {
  const operations = map.get(key);
  operations?.delete(operation);
  if (operations?.size === 0) map.delete(key);
}
