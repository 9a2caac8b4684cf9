/**
 * The worst operations of an input, in bounded memory: those that went the same way are one kind, told by its first example. It
 * decides what counts as worse; how an operation is told is not its business.
 */
import type { Attempt, OperationFact } from '../core/model/operation.ts';
import { plainCopy } from '../core/stages/held-names.ts';

/** Kinds kept apart; a storm of new kinds past this is told by its first ones. */
const MAX_KINDS = 1000;

export interface OperationKind {
  readonly score: number;
  /** A copy of the first one. */
  readonly fact: OperationFact;
  count: number;
}

export interface WorstOperations {
  add(fact: OperationFact): void;
  /** Worst first, then the most frequent. */
  list(): OperationKind[];
}

const kindOf = ({ operation, result, edges, nextAction }: OperationFact): string =>
  [
    operation.server,
    operation.method,
    operation.target,
    result,
    nextAction,
    ...edges.map((e) => e.after + e.endpoint),
  ].join('\n');

/** Higher is worse: what nobody saw and may have run twice comes first. 0: nothing to tell. */
export function badness(fact: OperationFact): number {
  const masked = fact.result.startsWith('masked');
  return (
    (fact.nextAction === 'confirm_outcome' ? 4 : 0) +
    (fact.edges.some((edge) => edge.safety === 'unsafe') ? 3 : 0) +
    (masked || fact.result === 'unproven' ? 2 : 0) +
    (fact.result === 'surfaced' ? 1 : 0)
  );
}

export function createWorstOperations(): WorstOperations {
  const kinds = new Map<string, OperationKind>();
  return {
    add(fact) {
      const score = badness(fact);
      if (score === 0) return;
      const key = kindOf(fact);
      const known = kinds.get(key);
      if (known !== undefined) known.count++;
      else if (kinds.size < MAX_KINDS) kinds.set(key, { score, fact: copyOperation(fact), count: 1 });
    },
    list: () => [...kinds.values()].sort((a, b) => b.score - a.score || b.count - a.count),
  };
}

/** A fact is valid while it is delivered; this one stays. */
export function copyOperation(fact: OperationFact): OperationFact {
  const { is, operation, server, version, method, result, nextAction, hint, ts, durationMs, errorType, trace } = fact;
  const copies = new Map<Attempt, Attempt>(operation.attempts.map((attempt) => [attempt, plainCopy(attempt)]));
  const copyOf = (attempt: Attempt): Attempt => copies.get(attempt) ?? plainCopy(attempt);
  const edges = fact.edges.map((edge) => ({ ...edge, from: copyOf(edge.from), to: copyOf(edge.to) }));
  const copy = { ...plainCopy(operation), attempts: [...copies.values()] };
  return {
    is,
    operation: copy,
    server,
    version,
    method,
    result,
    edges,
    nextAction,
    hint,
    ts,
    durationMs,
    errorType,
    trace,
  };
}
