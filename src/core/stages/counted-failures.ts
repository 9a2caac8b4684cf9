/**
 * What a parse line may still ask of a failed attempt whose operation was counted: a retry that delivers is counted half a minute
 * later, lines about the attempt before it may come for 600 s (design section 3).
 */
import { LIMITS } from '../model/limits.ts';
import type { Attempt, Operation } from '../model/operation.ts';
import { keepValues } from '../state.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';
import { learnedLengths } from './ending.ts';

export interface CountedFailure {
  /** Its close. */
  readonly ts: number;
  readonly server: string;
  readonly fullLength: number | null;
  readonly cutOrEmpty: boolean;
  readonly trace: string | null;
  /** Full lengths that a later attempt told, by payload. */
  readonly learned: Attempt['okBytes'];
}

export interface CountedFailures {
  remember(attempt: Attempt, operation: Operation | null): void;
  /** By the time of the line that asks. */
  find(key: string, ts: number): CountedFailure | undefined;
  keys(): IterableIterator<string>;
  tick(now: number): void;
}

export function createCountedFailures(health: StoreHealth): CountedFailures {
  const failures = new BoundedMap<CountedFailure>('counted_failures', LIMITS.operations, health);
  const own = keepValues(health.parts, 'counted_failures.sweep', { nextSweep: 0 });
  return {
    remember(attempt, operation) {
      const { closeTs: ts, server, fullLength, cutOrEmpty, trace } = attempt;
      if (Number.isNaN(ts)) return;
      const learned = operation === null ? null : learnedLengths(operation, attempt);
      failures.set(attempt.key, { ts, server, fullLength, cutOrEmpty, trace, learned });
    },
    find(key, ts) {
      const failure = failures.get(key);
      return failure !== undefined && ts <= failure.ts + LIMITS.joinUndeliveredMs ? failure : undefined;
    },
    keys: () => failures.keys(),
    tick(now) {
      if (now < own.nextSweep) return;
      own.nextSweep = now + LIMITS.sweepMs;
      failures.expire(now - LIMITS.joinUndeliveredMs);
    },
  };
}
