/**
 * Which operation a new attempt belongs to (design section 5): an index of the operations that still wait for another attempt,
 * and the rule that decides. Delivered operations are not in the index, so a busy healthy host pays one failed look-up.
 */
import type { Exchange } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import type { Attempt, Operation } from '../model/operation.ts';
import { joinsWithoutDigest } from '../protocol/methods.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';
import { isDelivered, isHop, isRound } from './outcome.ts';

/** retry: an edge. follow: a hop or a round, the same operation without being a retry. */
export type Join = { readonly operation: Operation; readonly as: 'retry' | 'follow' };

export interface Joining {
  /** Keep or drop the operation in the index, after anything about its last attempt changed. */
  update(operation: Operation): void;
  find(exchange: Exchange): Join | undefined;
  /** The client was closed, reconnected or re-initialised: calls of the same host may continue its operations. */
  clientReplaced(key: string, ts: number): void;
  tick(now: number): void;
}

interface Replacement {
  readonly ts: number;
}
/** Candidates looked at, newest first: a storm of one identical call must not cost quadratic time. */
const MAX_CANDIDATES = 256;

/** Is the last attempt something that another one may follow? */
export function awaitsMore(operation: Operation): boolean {
  if (operation.ended || operation.cancelled) return false;
  const last = operation.attempts.at(-1) as Attempt;
  if (Number.isNaN(last.closeTs)) return last.settled === 'timeout';
  return isRound(last) || !isDelivered(last);
}

const digestKey = (argsDigest: string | null, method: string | null, server: string): string | null => {
  if (argsDigest !== null) return argsDigest;
  return method !== null && joinsWithoutDigest(method) ? `\n${method}\n${server}` : null;
};

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
  const byDigest = new Map<string, Operation[]>();
  /** How many operations of the index have a digest of this ending (LIMITS.operations fits 16 bits). */
  const endings = new Uint16Array(ENDINGS);
  const byRequestKey = new Map<string, Operation[]>();
  let indexed = 0;
  let nextSweep = 0;

  const add = (map: Map<string, Operation[]>, key: string | null, operation: Operation): void => {
    if (key === null) return;
    const list = map.get(key);
    if (list === undefined) map.set(key, [operation]);
    else list.push(operation);
  };
  const remove = (map: Map<string, Operation[]>, key: string | null, operation: Operation): void => {
    if (key === null) return;
    const list = map.get(key);
    const at = list?.lastIndexOf(operation) ?? -1;
    if (list === undefined || at < 0) return;
    list.splice(at, 1);
    if (list.length === 0) map.delete(key);
  };
  const requestIndexKey = (host: string, key: string | null): string | null =>
    key === null ? null : `${host}\n${key}`;

  const sameClient = (operation: Operation, exchange: Exchange): boolean => {
    const before = (operation.attempts.at(-1) as Attempt).client;
    if (before === null || exchange.client === null || before === exchange.client) return true;
    const replacement = replaced.get(`${operation.host}\n${before}`);
    return replacement !== undefined && replacement.ts <= exchange.openTs;
  };

  /** Rules that do not depend on how the two were matched. */
  const joinAs = (operation: Operation, exchange: Exchange): Join['as'] | null => {
    // Its time is over by the clock of this line, even if no tick has said so yet.
    if (operation.attempts.length >= LIMITS.attemptsPerOperation || operation.deadline < exchange.lastTs) return null;
    const last = operation.attempts.at(-1) as Attempt;
    const base = Number.isNaN(last.closeTs) ? last.settledTs : last.closeTs;
    const gap = exchange.openTs - base;
    if (!Number.isNaN(last.closeTs) && isRound(last))
      return exchange.fields.input_responses === true && gap >= 0 ? 'follow' : null;
    if (!(gap >= 0 && gap <= LIMITS.retryWindowMs)) return null;
    return !Number.isNaN(last.closeTs) && isHop(last) ? 'follow' : 'retry';
  };

  const byArguments = (exchange: Exchange): Join | undefined => {
    const { fields } = exchange;
    const key = digestKey(fields.args_digest ?? null, fields.method ?? null, exchange.server);
    const candidates = key === null || endings[endingOf(key)] === 0 ? undefined : byDigest.get(key);
    if (candidates === undefined) return undefined;
    const requestKey = fields.request_key ?? null;
    for (let i = candidates.length - 1; i >= 0 && i >= candidates.length - MAX_CANDIDATES; i--) {
      const operation = candidates[i] as Operation;
      if (operation.host !== exchange.host || operation.server !== exchange.server) continue;
      if (operation.method !== (fields.method ?? null) || operation.target !== (fields.target ?? null)) continue;
      // Two request keys that differ are two requests, whatever their arguments.
      if (operation.requestKey !== null && requestKey !== null && operation.requestKey !== requestKey) continue;
      if (!sameClient(operation, exchange)) continue;
      const as = joinAs(operation, exchange);
      if (as !== null) return { operation, as };
    }
    return undefined;
  };

  const byKey = (exchange: Exchange): Join | undefined => {
    const key = exchange.fields.request_key ?? null;
    if (key === null) return undefined;
    const candidates = byRequestKey.get(requestIndexKey(exchange.host, key) as string);
    const operation = candidates?.findLast((candidate) => joinAs(candidate, exchange) !== null);
    return operation === undefined ? undefined : { operation, as: joinAs(operation, exchange) as Join['as'] };
  };

  return {
    update(operation) {
      const wanted = awaitsMore(operation);
      if (wanted === operation.indexed) return;
      operation.indexed = wanted;
      indexed += wanted ? 1 : -1;
      const change = wanted ? add : remove;
      const digest = digestKey(operation.argsDigest, operation.method, operation.server);
      if (digest !== null) (endings[endingOf(digest)] as number) += wanted ? 1 : -1;
      change(byDigest, digest, operation);
      change(byRequestKey, requestIndexKey(operation.host, operation.requestKey), operation);
    },
    find(exchange) {
      return indexed === 0 ? undefined : (byKey(exchange) ?? byArguments(exchange));
    },
    clientReplaced(key, ts) {
      replaced.set(key, { ts });
    },
    tick(now) {
      if (now < nextSweep) return;
      nextSweep = now + LIMITS.sweepMs;
      replaced.expire(now - LIMITS.memoryMs);
    },
  };
}
