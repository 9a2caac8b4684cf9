/**
 * Attempts to operations: starts or continues an operation for every JSON-RPC request, joins parse and settle lines to their
 * attempt, and counts the operation once when nothing can change its result any more. What a result means is decided in
 * outcome.ts, when it is over in ending.ts.
 */
import type { WireEvent } from '../model/event.ts';
import { createExchangeKey, type Exchange, isOperation, serverLabel } from '../model/exchange.ts';
import type { Fact } from '../model/facts.ts';
import { hash53 } from '../model/hash53.ts';
import { LIMITS } from '../model/limits.ts';
import type { Attempt, Operation } from '../model/operation.ts';
import type { Policy } from '../model/policy.ts';
import type { IdBytes } from '../scan/id-bytes.ts';
import type { Emit } from '../stage.ts';
import { keepValues } from '../state.ts';
import { BoundedMap, countEviction, type StoreHealth, TimerQueue } from '../store.ts';
import {
  closeAttempt,
  createAttemptPool,
  emptyAttempt,
  judgeAttempt,
  noteLine,
  noteParse,
  operationOf,
  refresh,
} from './attempt.ts';
import { createCountedFailures } from './counted-failures.ts';
import * as ending from './ending.ts';
import { FirstTry } from './first-try.ts';
import { createJoining } from './joining.ts';
import { isDelivered, isHop, isUntold } from './outcome.ts';
import { holdTrend, parseFact, settleFact } from './payload.ts';
import { createQuiet } from './quiet.ts';
import type { Classified } from './resume.ts';
import type { Revive } from './revive.ts';
import type { Tracked } from './track.ts';

export interface Correlate {
  tracked(input: Tracked, emit: Emit<Fact>): void;
  classified(input: Classified, emit: Emit<Fact>): void;
  tick(now: number, emit: Emit<Fact>): void;
  /** Keys of the exchanges that failed, or belong to an operation with such a one: lines may come for them for 600 s. */
  held(): Iterable<string>;
}

/** Further ahead an attempt must not hold up the quiet ones behind it. */
const MAX_QUIET_SKEW_MS = 1000;

/** `overdue`: a suspension is over by the clock of a line, before a tick says so: its verdict is to come at once. `ids`: of the line in work. */
export function createCorrelate(
  policy: Policy,
  health: StoreHealth,
  home: string,
  revive: Revive,
  overdue: (key: string) => void,
  ids: IdBytes,
): Correlate {
  let out: Emit<Fact> = () => {};
  const joining = createJoining(health);
  const pool = createAttemptPool();
  /** Operations that took, or may take, more than one attempt. */
  const timers = new TimerQueue<Operation>('operations', health);
  /** Attempts that delivered at once, in order: they wait for late parse and settle lines only. */
  const quiet = createQuiet(createExchangeKey(home), emptyAttempt, health, revive);
  const latest = keepValues(health.parts, 'quiet_latest', { quietTs: Number.NEGATIVE_INFINITY });
  /** All other attempts, by exchange, as long as a line may come for them. */
  const evict = (attempt: Attempt) => end(attempt.operation ?? operationOf(attempt), 'evicted');
  const attempts = new BoundedMap<Attempt>('operations', LIMITS.operations, health, evict, { revive: revive.attempt });
  const counted = createCountedFailures(health);

  /** An exchange is seen for the first time, or it closes and may be joined only now. */
  const join = (attempt: Attempt, exchange: Exchange): void => {
    let found = joining.find(exchange);
    // What it found may be over by its clock, or still wait for a resume that is overdue.
    while (found !== undefined && isOver(found.operation.attempts[0], exchange.lastTs)) found = joining.find(exchange);
    if (found === undefined) return;
    const { operation } = found;
    const last = operation.attempts.at(-1) as Attempt;
    if (found.as === 'retry') {
      // By the time of the retry: whether the suspension was resolved since says nothing about what was known then.
      const until = last.wait?.waitsUntil ?? last.judgedTs;
      const whileSuspended = last.suspended !== false && exchange.openTs <= until;
      operation.edges = [...operation.edges, { from: last, to: attempt, whileSuspended }];
    } else if (!isDelivered(last) || isHop(last)) {
      for (const edge of operation.edges) if (edge.to === last) edge.to = attempt;
    }
    operation.attempts.push(attempt);
    attempt.operation = operation;
    attempts.set(exchange.key, attempt);
  };

  /** Something changed: an attempt that is more than a quiet success gets its operation, and its operation a new deadline. */
  const update = (attempt: Attempt): void => {
    attempts.set(attempt.key, attempt);
    if (attempt.operation === null) {
      if (Number.isNaN(attempt.closeTs) && attempt.settled === null) return;
      attempt.operation = operationOf(attempt);
    }
    const { operation } = attempt;
    ending.adopt(operation, attempt);
    operation.deadline = ending.deadlineOf(operation);
    timers.schedule(operation);
    joining.update(operation);
  };

  const end = (operation: Operation, how: 'over' | 'expired' | 'evicted'): void => {
    if (operation.ended) return;
    operation.ended = true;
    joining.update(operation);
    timers.cancel(operation);
    for (const attempt of operation.attempts) {
      attempt.counted = true;
      attempts.delete(attempt.key);
      if (attempt.owner !== null) attempt.owner.counted = true;
    }
    out(ending.summarise(operation, how));
    for (const attempt of operation.attempts) {
      ending.finishAttempt(operation, attempt, out);
      if (operation.attempts.length > 1 && !isDelivered(attempt)) counted.remember(attempt, operation);
    }
  };
  const onDeadline = (operation: Operation): void => end(operation, 'over');
  /** The oldest quiet attempt is counted, unless it got an operation of its own meanwhile. */
  const endOldest = (): void => {
    const attempt = quiet.shift();
    if (typeof attempt === 'number') out(new FirstTry(quiet.rows, attempt));
    else if (!attempt.counted && attempt.operation === null) {
      attempt.counted = true;
      out(ending.summarise(operationOf(attempt), 'over'));
    }
  };
  const endQuiet = (now: number): void => {
    while (quiet.oldestTs() + LIMITS.joinDeliveredMs < now) endOldest();
  };
  const keepQuiet = (attempt: Attempt, exchange: Exchange): void => {
    const ahead = attempt.judgedTs > latest.quietTs + MAX_QUIET_SKEW_MS;
    latest.quietTs = Math.max(latest.quietTs, attempt.judgedTs);
    if (ahead && quiet.size() > 0) {
      update(attempt);
      return;
    }
    if (exchange.wasOpen) attempts.delete(attempt.key);
    if (quiet.size() >= LIMITS.quietOperations) {
      countEviction(health, 'quiet_operations');
      endOldest();
    }
    if (quiet.push(attempt, exchange.hash, ids)) pool.release(attempt);
  };

  const settle = (attempt: Attempt, event: WireEvent): void => {
    const { result } = event.fields;
    // The first word that the caller got counts; a line delivered twice changes nothing.
    if (attempt.settled !== null || result === null || result === undefined) return;
    noteLine(attempt, event);
    attempt.settled = result;
    attempt.settledTs = event.ts;
    attempt.timedOutOpen = result === 'timeout' && !(event.ts >= attempt.closeTs);
    if (attempt.operation === null && ending.isQuiet(attempt)) return;
    update(attempt);
    if (result !== 'cancelled' || attempt.operation === null) return;
    attempt.operation.cancelled = true;
    joining.update(attempt.operation);
    // Over at once; an attempt that is still open gets its verdict first.
    if (!Number.isNaN(attempt.closeTs)) end(attempt.operation, 'over');
  };

  const parse = (event: WireEvent, key: string | null): void => {
    const attempt = attemptOf(key, event.ts);
    const past = attempt !== undefined || key === null ? undefined : counted.find(key, event.ts);
    const { fields } = event;
    const server = attempt?.server ?? past?.server ?? serverLabel(fields, policy);
    const fact = parseFact(server, event, attempt ?? past);
    out(fact);
    const failed = fact.result !== 'ok';
    const declared = fields.expected_bytes ?? (attempt ?? past)?.fullLength ?? past?.learned?.[fact.of] ?? null;
    const length = failed ? declared : (fields.bytes ?? null);
    if (length !== null) out(ending.trendOf(fact, failed, length));
    // Of unknown full length: a later attempt of its operation may tell.
    else if (failed && !holdTrend(attempt, fact)) out(ending.trendOf(fact, true, null));
    if (attempt === undefined) return;
    noteParse(attempt, event, failed);
    if (Number.isNaN(attempt.closeTs) || (attempt.operation === null && ending.isQuiet(attempt))) return;
    update(attempt);
  };

  /** Is its operation over by the clock of this line, even if no tick has said so yet? */
  const isOver = (attempt: Attempt | undefined, ts: number): boolean => {
    const operation = attempt?.operation ?? null;
    if (operation === null || operation.ended) return false;
    for (const { wait } of operation.attempts) if (wait !== null && wait.waitsUntil < ts) overdue(wait.key);
    if (operation.ended || ts <= operation.deadline) return operation.ended;
    onDeadline(operation);
    return true;
  };

  /** The attempt that a payload line belongs to, while it takes one (by the line's own time). */
  const attemptOf = (key: string | null, ts: number): Attempt | undefined => {
    if (key === null) return undefined;
    const attempt = attempts.get(key) ?? quiet.find(key, hash53(key));
    isOver(attempt, ts);
    // One that was settled out of the quiet ones may still stand among them, and how long is a matter of ticks.
    return attempt?.counted === false && ts <= ending.joinableUntil(attempt) ? attempt : undefined;
  };
  /** It closed after its operation was counted: a timed-out call that the host left behind. */
  const rememberLate = (exchange: Exchange): void => {
    const attempt = pool.open(exchange);
    closeAttempt(attempt, exchange);
    counted.remember(attempt, null);
    pool.release(attempt);
  };

  const onOpened = (exchange: Exchange): void => {
    // Without a method it cannot be joined yet; a later line may tell.
    if (exchange.counted || !isOperation(exchange) || !exchange.fields.method) return;
    let attempt = attempts.get(exchange.key);
    if (isOver(attempt, exchange.lastTs)) return;
    if (attempt === undefined) {
      attempt = pool.open(exchange);
      attempt.owner = exchange;
      join(attempt, exchange);
    } else refresh(attempt, exchange);
    update(attempt);
  };

  /** One attempt will never close. The operation goes on if another one of it does. */
  const onExpired = (exchange: Exchange, evicted: boolean): void => {
    const attempt = attempts.get(exchange.key);
    if (attempt === undefined) return;
    attempt.gone = true;
    attempt.owner = null;
    const operation = attempt.operation ?? operationOf(attempt);
    if (attempt === operation.attempts.at(-1)) end(operation, evicted ? 'evicted' : 'expired');
    else update(attempt);
  };

  return {
    tracked(input, emit) {
      out = emit;
      switch (input.is) {
        case 'opened':
          onOpened(input.exchange);
          break;
        case 'told':
        case 'settle': {
          const attempt = attemptOf(input.key, input.event.ts);
          if (attempt !== undefined) settle(attempt, input.event);
          if (input.is === 'settle') emit(settleFact(input.event, attempt ?? null, policy));
          break;
        }
        case 'parse':
          parse(input.event, input.key);
          break;
        case 'client':
          joining.client(input.key, input.event);
          break;
        case 'expired':
          onExpired(input.exchange, input.reason === 'evicted');
          break;
      }
    },
    classified(input, emit) {
      out = emit;
      const { exchange } = input;
      if (!isOperation(exchange)) return;
      if (exchange.counted) {
        rememberLate(exchange);
        return;
      }
      const resolved = input.is === 'judged' && input.resolved;
      let attempt = exchange.wasOpen || resolved ? attempts.get(exchange.key) : undefined;
      if (resolved && attempt === undefined) return;
      if (!resolved && isOver(attempt, exchange.lastTs)) return;
      if (!resolved) {
        if (attempt === undefined) attempt = pool.open(exchange);
        else refresh(attempt, exchange);
        closeAttempt(attempt, exchange);
        if (attempt.operation === null && !isUntold(attempt)) join(attempt, exchange);
      }
      const known = attempt as Attempt;
      if (input.is === 'suspended') {
        known.suspended = input.stage;
        known.wait = exchange;
      } else judgeAttempt(known, input.verdict, input.at, input.leg);
      if (known.operation === null && ending.isQuiet(known)) {
        keepQuiet(known, exchange);
        return;
      }
      update(known);
      if (known.operation?.cancelled) end(known.operation, 'over');
    },
    tick(now, emit) {
      out = emit;
      joining.tick(now);
      counted.tick(now);
      timers.expire(now, onDeadline);
      endQuiet(now);
    },
    held: () => [...attempts.keys(), ...counted.keys()],
  };
}
