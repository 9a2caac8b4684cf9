/**
 * Attempts to operations: starts or continues an operation for every JSON-RPC request, joins parse and settle lines to their
 * attempt, and counts the operation once when nothing can change it any more. What the result means is decided in outcome.ts.
 */
import type { WireEvent } from '../model/event.ts';
import { createExchangeKey, type Exchange, isOperation, serverName } from '../model/exchange.ts';
import type { Fact, ParseFact, TrendFact } from '../model/facts.ts';
import { LIMITS } from '../model/limits.ts';
import type { Attempt, EdgeFact, Operation, OperationFact, PendingTrend } from '../model/operation.ts';
import type { Policy } from '../model/policy.ts';
import type { Emit } from '../stage.ts';
import { BoundedMap, countEviction, hash53, type StoreHealth, TimerQueue } from '../store.ts';
import { closeAttempt, createAttemptPool, emptyAttempt, judgeAttempt, noteRequest, operationOf } from './attempt.ts';
import { FirstTry } from './first-try.ts';
import { createJoining } from './joining.ts';
import * as outcome from './outcome.ts';
import { parseFact } from './payload.ts';
import { Quiet } from './quiet.ts';
import type { Classified } from './resume.ts';
import type { Tracked } from './track.ts';

export interface Correlate {
  tracked(input: Tracked, emit: Emit<Fact>): void;
  classified(input: Classified, emit: Emit<Fact>): void;
  tick(now: number, emit: Emit<Fact>): void;
}

const NO_EDGE_FACTS: readonly EdgeFact[] = [];

export function createCorrelate(policy: Policy, health: StoreHealth, home: string): Correlate {
  let out: Emit<Fact> = () => {};
  const joining = createJoining(health);
  const pool = createAttemptPool();
  /** Operations that took, or may take, more than one attempt. */
  const timers = new TimerQueue<Operation>();
  /** Attempts that delivered at once, in order: they wait for late parse and settle lines only. */
  const quiet = new Quiet(createExchangeKey(home), emptyAttempt);
  health.sizes.set('quiet_operations', () => quiet.size());
  /** All other attempts that are not counted yet, by exchange. */
  const attempts = new BoundedMap<Attempt>('operations', LIMITS.operations, health, (attempt) =>
    end(attempt.operation ?? operationOf(attempt), true),
  );

  /** The attempt of an exchange that is seen for the first time, joined to the operation it continues. */
  const start = (exchange: Exchange): Attempt => {
    const attempt = pool.open(exchange);
    const join = joining.find(exchange);
    if (join === undefined) return attempt;
    const { operation } = join;
    const last = operation.attempts.at(-1) as Attempt;
    if (join.as === 'retry') {
      const whileSuspended = last.suspended !== false && last.verdict === null;
      operation.edges = [...operation.edges, { from: last, to: attempt, whileSuspended }];
    } else if (!outcome.isDelivered(last)) {
      for (const edge of operation.edges) if (edge.to === last) edge.to = attempt;
    }
    operation.attempts.push(attempt);
    attempt.operation = operation;
    attempts.set(exchange.key, attempt);
    return attempt;
  };

  /** Something changed: an attempt that is more than a quiet success gets its operation, and its operation a new deadline. */
  const update = (attempt: Attempt): void => {
    if (attempt.operation === null) {
      if (isQuiet(attempt)) return;
      attempts.set(attempt.key, attempt);
      if (Number.isNaN(attempt.closeTs) && attempt.settled === null) return;
      attempt.operation = operationOf(attempt);
    }
    const { operation } = attempt;
    operation.deadline = deadlineOf(operation);
    timers.schedule(operation);
    joining.update(operation);
  };

  const end = (operation: Operation, gone: boolean): void => {
    if (operation.ended) return;
    operation.ended = true;
    timers.cancel(operation);
    joining.update(operation);
    for (const attempt of operation.attempts) {
      attempts.delete(attempt.key);
      attempt.counted = true;
    }
    out(summarise(operation, gone));
    for (let i = 0; i < operation.attempts.length; i++) finishAttempt(operation, i);
  };

  /** What was waiting for the end of the operation. */
  const finishAttempt = (operation: Operation, index: number): void => {
    const attempt = operation.attempts[index] as Attempt;
    if (attempt.trends !== null) for (const trend of attempt.trends) out(settledTrend(operation, index, trend));
    if (attempt.verdict?.row !== 13) return;
    const result = attempt.settled === 'ok' || attempt.parsedOk ? 'would_reject_complete' : 'would_resolve';
    out({ is: 'what_if', server: operation.server, result, bytes: attempt.bytes });
  };

  const endInTime = (operation: Operation): void => end(operation, false);
  /** The oldest quiet attempt is counted, unless it got an operation of its own meanwhile. */
  const endOldest = (): void => {
    const attempt = quiet.shift();
    if (typeof attempt === 'number') out(new FirstTry(quiet.rows, attempt));
    else if (!attempt.counted && attempt.operation === null) {
      attempt.counted = true;
      out(summarise(operationOf(attempt), false));
    }
  };
  const endQuiet = (now: number): void => {
    while (quiet.oldestTs() + LIMITS.joinDeliveredMs < now) endOldest();
  };
  const keepQuiet = (attempt: Attempt, hash: number): void => {
    if (quiet.size() >= LIMITS.quietOperations) {
      countEviction(health, 'quiet_operations');
      endOldest();
    }
    if (quiet.push(attempt, hash)) pool.release(attempt);
  };

  const settle = (attempt: Attempt, event: WireEvent): void => {
    // The first word that the caller got counts; a line delivered twice changes nothing.
    const { result } = event.fields;
    if (attempt.settled !== null || result === null || result === undefined) return;
    attempt.settled = result;
    attempt.settledTs = event.ts;
    update(attempt);
    if (result !== 'cancelled' || attempt.operation === null) return;
    attempt.operation.cancelled = true;
    joining.update(attempt.operation);
    // Over at once; an attempt that is still open gets its verdict first.
    if (!Number.isNaN(attempt.closeTs)) end(attempt.operation, false);
  };

  const parse = (attempt: Attempt | undefined, event: WireEvent): void => {
    const { fields } = event;
    const name = serverName(fields);
    const server = attempt?.server ?? policy.server(name)?.name ?? name;
    const fact = parseFact(server, event, attempt);
    out(fact);
    const failed = fact.result !== 'ok';
    const known = failed ? (fields.expected_bytes ?? attempt?.fullLength ?? null) : fact.bytes;
    if (known !== null || attempt === undefined) out(trendOf(fact, failed, known));
    else {
      attempt.trends ??= [];
      attempt.trends.push({ of: fact.of, received: fact.bytes, ts: fact.ts });
    }
    if (attempt === undefined) return;
    if (failed) attempt.parseFailed = true;
    else {
      attempt.parsedOk = true;
      attempt.okBytes ??= {};
      attempt.okBytes[fact.of] = fact.bytes;
    }
    if (!Number.isNaN(attempt.closeTs)) update(attempt);
  };

  /** The attempt that a payload line belongs to, while its operation may still change (by the line's own time). */
  const attemptOf = (key: string | null, ts: number): Attempt | undefined => {
    if (key === null) return undefined;
    let attempt = attempts.get(key) ?? quiet.find(key, hash53(key));
    if (attempt?.counted) attempt = undefined;
    return attempt !== undefined && ts <= joinableUntil(attempt) ? attempt : undefined;
  };

  return {
    tracked(input, emit) {
      out = emit;
      switch (input.is) {
        case 'opened':
          // Without a method it cannot be joined yet; the close line may tell.
          if (isOperation(input.exchange) && input.exchange.fields.method) {
            const attempt = attempts.get(input.exchange.key) ?? start(input.exchange);
            noteRequest(attempt, input.exchange.fields);
            update(attempt);
          }
          break;
        case 'told':
        case 'settle': {
          const attempt = attemptOf(input.key, input.event.ts);
          if (attempt !== undefined) settle(attempt, input.event);
          if (input.is === 'settle') emit({ is: 'settle', event: input.event });
          break;
        }
        case 'parse':
          parse(attemptOf(input.key, input.event.ts), input.event);
          break;
        case 'client': {
          const { event } = input.event.fields;
          if (event === 'closed' || event === 'reconnected' || event === 'reinitialized')
            joining.clientReplaced(input.key, input.event.ts);
          break;
        }
        case 'expired': {
          const attempt = attempts.get(input.exchange.key);
          if (attempt !== undefined) end(attempt.operation ?? operationOf(attempt), attempt.settled === null);
          break;
        }
      }
    },
    classified(input, emit) {
      out = emit;
      const { exchange } = input;
      if (!isOperation(exchange)) return;
      const resolved = input.is === 'judged' && input.resolved;
      let attempt = exchange.wasOpen || resolved ? attempts.get(exchange.key) : undefined;
      if (!resolved) {
        attempt ??= start(exchange);
        closeAttempt(attempt, exchange);
      }
      if (attempt === undefined) return;
      if (input.is === 'suspended') attempt.suspended = input.stage;
      else judgeAttempt(attempt, input.verdict, input.at);
      if (attempt.operation === null && isQuiet(attempt)) {
        if (exchange.wasOpen) attempts.delete(attempt.key);
        keepQuiet(attempt, exchange.hash);
      } else if (attempt.operation?.cancelled) end(attempt.operation, false);
      else update(attempt);
    },
    tick(now, emit) {
      out = emit;
      joining.tick(now);
      timers.expire(now, endInTime);
      endQuiet(now);
    },
  };
}

/** Delivered at once, and nothing can follow it: no operation of its own is needed to wait for its last lines. */
const isQuiet = (attempt: Attempt): boolean =>
  attempt.verdict !== null && !attempt.inputRequired && outcome.isDelivered(attempt);

const joinableUntil = (attempt: Attempt): number => {
  if (attempt.operation !== null) return attempt.operation.deadline;
  return Number.isNaN(attempt.closeTs) ? Number.POSITIVE_INFINITY : attempt.judgedTs + LIMITS.joinDeliveredMs;
};

/** When can nothing change the operation any more? (design section 3: joins; section 5: when an operation ends) */
function deadlineOf(operation: Operation): number {
  const delivered = outcome.deliveredAttempt(operation) !== undefined;
  let deadline = 0;
  for (const attempt of operation.attempts) {
    if (Number.isNaN(attempt.closeTs)) {
      // Open: waits for its end, unless the caller has left it.
      const left = attempt.settled === 'timeout' || attempt.settled === 'cancelled';
      if (!left) return Number.POSITIVE_INFINITY;
      deadline = Math.max(deadline, attempt.settledTs + LIMITS.joinUndeliveredMs);
    } else if (attempt.suspended !== false && attempt.verdict === null) return Number.POSITIVE_INFINITY;
    else if (!delivered) deadline = Math.max(deadline, attempt.closeTs + LIMITS.joinUndeliveredMs);
    else if (outcome.isRound(attempt)) deadline = Math.max(deadline, attempt.judgedTs + LIMITS.joinUndeliveredMs);
    else if (outcome.isDelivered(attempt)) deadline = Math.max(deadline, attempt.judgedTs + LIMITS.joinDeliveredMs);
  }
  return deadline;
}

const trendOf = (fact: ParseFact, failed: boolean, length: number | null): TrendFact => ({
  is: 'trend',
  server: fact.server,
  of: fact.of,
  failed,
  length,
  received: fact.bytes,
  exchange: fact.exchange,
  ts: fact.ts,
});

/** The full length of a failed payload is that of a later attempt's good parse of the same kind (design section 7). */
function settledTrend(operation: Operation, index: number, trend: PendingTrend): TrendFact {
  const later = operation.attempts.slice(index + 1).find((attempt) => attempt.okBytes?.[trend.of] !== undefined);
  return {
    is: 'trend',
    server: operation.server,
    of: trend.of,
    failed: true,
    length: later?.okBytes?.[trend.of] ?? null,
    received: trend.received,
    exchange: (operation.attempts[index] as Attempt).exchange,
    ts: trend.ts,
  };
}

function summarise(operation: Operation, gone: boolean): OperationFact {
  const result = outcome.resultOf(operation, gone);
  const first = operation.attempts[0] as Attempt;
  const last = outcome.deliveredAttempt(operation) ?? (operation.attempts.at(-1) as Attempt);
  const told = last.settled === null ? last.openTs : last.settledTs;
  const ts = Number.isNaN(last.closeTs) ? told : last.closeTs;
  return {
    is: 'operation',
    operation,
    server: operation.server,
    version: operation.version,
    method: operation.method,
    result,
    edges:
      operation.edges.length === 0 ? NO_EDGE_FACTS : operation.edges.map((edge) => outcome.edgeFact(operation, edge)),
    nextAction: outcome.nextActionOf(operation, result),
    hint: outcome.hintOf(operation),
    ts,
    durationMs: first.openKnown && result !== 'unresolved' ? Math.max(0, ts - first.openTs) : null,
    errorType: outcome.errorTypeOf(operation, result),
  };
}
