/**
 * Attempts to operations: starts or continues an operation for every JSON-RPC request, joins parse and settle lines to their
 * attempt, and counts the operation once when nothing can change it any more. What the result means is decided in outcome.ts.
 */
import type { WireEvent } from '../model/event.ts';
import { clientKey, type Exchange, isOperation, resolveServer } from '../model/exchange.ts';
import type { Fact, TrendFact } from '../model/facts.ts';
import { LIMITS } from '../model/limits.ts';
import type { Attempt, Operation, OperationFact, ParseOf } from '../model/operation.ts';
import type { Policy } from '../model/policy.ts';
import type { Emit } from '../stage.ts';
import { BoundedMap, type StoreHealth, TimerQueue } from '../store.ts';
import { closeAttempt, createAttempt, judgeAttempt } from './attempt.ts';
import { createJoining } from './joining.ts';
import * as outcome from './outcome.ts';
import { parseFact } from './payload.ts';
import type { Classified } from './resume.ts';
import type { Tracked } from './track.ts';

export interface Correlate {
  tracked(input: Tracked, emit: Emit<Fact>): void;
  classified(input: Classified, emit: Emit<Fact>): void;
  tick(now: number, emit: Emit<Fact>): void;
}

interface Place {
  readonly attempt: Attempt;
  readonly operation: Operation;
}

export function createCorrelate(policy: Policy, health: StoreHealth): Correlate {
  let out: Emit<Fact> = () => {};
  const joining = createJoining(health);
  const timers = new TimerQueue<Operation>();
  /** Attempts of operations that are not counted yet, by exchange. */
  const places = new BoundedMap<Place>('operations', LIMITS.operations, health, ({ operation }) =>
    end(operation, true),
  );

  const start = (exchange: Exchange): Place => {
    const attempt = createAttempt(exchange);
    const join = joining.find(exchange);
    let operation = join?.operation;
    if (operation === undefined) {
      const { fields } = exchange;
      operation = {
        key: fields.request_key ?? fields.args_digest ?? exchange.id,
        host: exchange.host,
        server: exchange.server,
        policy: exchange.policy,
        version: exchange.version,
        method: fields.method ?? null,
        target: fields.target ?? null,
        argsDigest: fields.args_digest ?? null,
        requestKey: fields.request_key ?? null,
        attempts: [attempt],
        edges: [],
        cancelled: false,
        ended: false,
        deadline: Number.POSITIVE_INFINITY,
        place: null,
      };
    } else {
      const last = operation.attempts.at(-1) as Attempt;
      if (join?.as === 'retry') {
        const whileSuspended = last.suspended !== false && last.verdict === null;
        operation.edges.push({ from: last, to: attempt, whileSuspended });
      } else for (const edge of operation.edges) if (edge.to === last && !outcome.isDelivered(last)) edge.to = attempt;
      operation.attempts.push(attempt);
    }
    const place = { attempt, operation };
    places.set(exchange.key, place);
    return place;
  };

  /** When can nothing change the operation any more? (design section 3: joins; section 5: when an operation ends) */
  const reschedule = (operation: Operation): void => {
    let deadline = 0;
    const delivered = outcome.deliveredAttempt(operation);
    for (const attempt of operation.attempts) {
      const { closeTs } = attempt;
      if (closeTs === null) {
        // Open: waits for its end, unless the caller has left it.
        const left = attempt.settled === 'timeout' || attempt.settled === 'cancelled';
        deadline = Math.max(deadline, left ? attempt.settledTs + LIMITS.joinUndeliveredMs : Number.POSITIVE_INFINITY);
      } else if (attempt.suspended !== false && attempt.verdict === null) deadline = Number.POSITIVE_INFINITY;
      else if (delivered === undefined) deadline = Math.max(deadline, closeTs + LIMITS.joinUndeliveredMs);
      else if (outcome.isRound(attempt)) deadline = Math.max(deadline, attempt.judgedTs + LIMITS.joinUndeliveredMs);
      else if (outcome.isDelivered(attempt)) deadline = Math.max(deadline, attempt.judgedTs + LIMITS.joinDeliveredMs);
    }
    operation.deadline = deadline;
    timers.schedule(operation);
    joining.update(operation);
  };

  const end = (operation: Operation, gone: boolean): void => {
    if (operation.ended) return;
    operation.ended = true;
    timers.cancel(operation);
    joining.update(operation);
    for (const attempt of operation.attempts) places.delete(attempt.key);
    out(summarise(operation, gone));
    for (const [index, attempt] of operation.attempts.entries()) {
      for (const trend of attempt.trends ?? []) out(settledTrend(operation, index, trend));
      if (attempt.verdict?.cause === 'no_evidence' || attempt.verdict?.row === 13) {
        const complete = attempt.settled === 'ok' || attempt.parsedOk;
        const result = complete ? 'would_reject_complete' : 'would_resolve';
        out({ is: 'what_if', server: operation.server, result, bytes: attempt.bytes });
      }
    }
  };

  const close = (exchange: Exchange): Place | undefined => {
    if (!isOperation(exchange)) return undefined;
    const place = places.get(exchange.key) ?? start(exchange);
    closeAttempt(place.attempt, exchange);
    return place;
  };

  const settle = (place: Place, event: WireEvent): void => {
    const { attempt, operation } = place;
    // The first word that the caller got counts; a line delivered twice changes nothing.
    if (attempt.settled !== null || event.result === null || event.result === undefined) return;
    attempt.settled = event.result;
    attempt.settledTs = event.ts;
    if (event.result === 'cancelled') {
      operation.cancelled = true;
      // Over at once; an attempt that is still open gets its verdict first.
      if (attempt.closeTs !== null) {
        end(operation, false);
        return;
      }
    }
    reschedule(operation);
  };

  const parse = (place: Place | undefined, event: WireEvent): void => {
    const server = place?.operation.server ?? resolveServer(policy, event).server;
    const attempt = place?.attempt;
    const fact = parseFact(server, event, attempt);
    out(fact);
    const { of, bytes, result, ts, exchange } = fact;
    const failed = result !== 'ok';
    const trend = (length: number | null): TrendFact => ({
      is: 'trend',
      server,
      of,
      failed,
      length,
      received: bytes,
      exchange,
      ts,
    });
    if (!failed) out(trend(bytes));
    else if (event.expected_bytes !== undefined && event.expected_bytes !== null) out(trend(event.expected_bytes));
    else if (attempt?.fullLength !== undefined && attempt.fullLength !== null) out(trend(attempt.fullLength));
    else if (attempt === undefined) out(trend(null));
    else {
      attempt.trends ??= [];
      attempt.trends.push({ of, received: bytes, ts });
    }
    if (place === undefined || attempt === undefined) return;
    if (failed) attempt.parseFailed = true;
    else {
      attempt.parsedOk = true;
      attempt.okBytes ??= {};
      attempt.okBytes[of as ParseOf] = bytes;
    }
    if (attempt.closeTs !== null) reschedule(place.operation);
  };

  /** The attempt that a payload line belongs to, while its operation may still change (by the line's own time). */
  const placeOf = (key: string | null, ts: number): Place | undefined => {
    const place = key === null ? undefined : places.get(key);
    return place !== undefined && ts <= place.operation.deadline ? place : undefined;
  };

  return {
    tracked(input, emit) {
      out = emit;
      switch (input.is) {
        case 'opened':
          // Without a method it cannot be joined yet; the close line may tell.
          if (isOperation(input.exchange) && input.exchange.fields.method) {
            const place = places.get(input.exchange.key) ?? start(input.exchange);
            reschedule(place.operation);
          }
          break;
        case 'told':
        case 'settle': {
          const place = placeOf(input.key, input.event.ts);
          if (place !== undefined) settle(place, input.event);
          if (input.is === 'settle') emit({ is: 'settle', event: input.event });
          break;
        }
        case 'parse':
          parse(placeOf(input.key, input.event.ts), input.event);
          break;
        case 'client':
          if (
            input.event.event === 'closed' ||
            input.event.event === 'reconnected' ||
            input.event.event === 'reinitialized'
          )
            joining.clientReplaced(
              clientKey(input.event.host ?? input.event.origin.host, input.event.client as string, ''),
              input.event.ts,
            );
          break;
        case 'expired': {
          const place = places.get(input.exchange.key);
          if (place !== undefined) end(place.operation, place.attempt.settled === null);
          break;
        }
      }
    },
    classified(input, emit) {
      out = emit;
      const { exchange } = input;
      const place = input.is === 'judged' && input.resolved ? places.get(exchange.key) : close(exchange);
      if (place === undefined) return;
      if (input.is === 'suspended') place.attempt.suspended = input.stage;
      else judgeAttempt(place.attempt, input.verdict, input.at);
      if (place.operation.cancelled) end(place.operation, false);
      else reschedule(place.operation);
    },
    tick(now, emit) {
      out = emit;
      joining.tick(now);
      timers.expire(now, (operation) => end(operation, false));
    },
  };
}

/** The full length of a failed payload is that of a later attempt's good parse of the same kind (design section 7). */
function settledTrend(
  operation: Operation,
  index: number,
  trend: { of: ParseOf; received: number; ts: number },
): TrendFact {
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
  const ts = last.closeTs ?? (last.settled === null ? last.openTs : last.settledTs);
  return {
    is: 'operation',
    operation,
    result,
    edges: operation.edges.map((edge) => outcome.edgeFact(operation, edge)),
    nextAction: outcome.nextActionOf(operation, result),
    hint: outcome.hintOf(operation),
    ts,
    durationMs: first.openKnown && result !== 'unresolved' ? Math.max(0, ts - first.openTs) : null,
    errorType: outcome.errorTypeOf(operation, result),
  };
}
