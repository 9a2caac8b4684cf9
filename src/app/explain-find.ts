/**
 * The first reading of `explain`: which operation or exchange is meant, and what is needed to gather its lines in a second one. It
 * keeps a few matches and the worst kinds, never the input.
 */
import type { Exchange } from '../core/model/exchange.ts';
import type { Fact, VerdictFact } from '../core/model/facts.ts';
import type { Attempt, OperationFact } from '../core/model/operation.ts';
import type { StreamKind, Verdict } from '../core/model/verdict.ts';
import { whatOf } from '../exporters/explain.ts';
import type { Candidate } from '../exporters/explanation.ts';
import { badness, copyOperation, createWorstOperations } from '../exporters/worst-operations.ts';

/** What to explain; neither: the worst operation. */
export interface Selector {
  readonly exchange?: string | undefined;
  readonly operation?: string | undefined;
}

export interface TargetExchange {
  readonly id: string;
  readonly client: string | null;
  readonly server: string;
  readonly openTs: number;
  /** Infinity while it is open. */
  readonly closeTs: number;
  /** Until when a resume may have decided about it; the close where nothing was suspended. */
  readonly judgedTs: number;
}
export interface Target {
  readonly host: string;
  readonly exchanges: readonly TargetExchange[];
}

export interface Found {
  /** One, or one per host that has the exchange. */
  readonly targets: readonly Target[];
  /** Matches, or kinds of bad operations, beside the targets. */
  readonly others: readonly Candidate[];
  readonly moreOthers: number;
  /** Hosts that have the exchange. */
  readonly hosts: number;
  readonly operations: number;
  /** The word names something of the other sort: an exchange where an operation was asked for, or the reverse. */
  readonly otherSort: boolean;
}

export interface Finder {
  add(fact: Fact): void;
  found(): Found;
}

const MAX_TARGETS = 3;
const MAX_OTHERS = 5;
const MAX_MATCHES = MAX_TARGETS + MAX_OTHERS;
const MAX_HOSTS = 1000;

const endOf = (ts: number): number => (Number.isNaN(ts) ? Number.POSITIVE_INFINITY : ts);
const ofAttempt = ({ exchange, client, server, openTs, closeTs, judgedTs }: Attempt): TargetExchange => ({
  id: exchange,
  ...{ client, server, openTs },
  closeTs: endOf(closeTs),
  judgedTs: endOf(judgedTs),
});
const ofExchange = ({ id, client, server, openTs, closeTs }: Exchange): TargetExchange => ({
  id,
  ...{ client, server, openTs },
  closeTs: endOf(closeTs),
  judgedTs: endOf(closeTs),
});

const targetOf = ({ operation }: OperationFact): Target => ({
  host: operation.host,
  exchanges: operation.attempts.map(ofAttempt),
});
const candidateOf = (fact: OperationFact, count: number): Candidate => ({
  exchange: (fact.operation.attempts.at(-1) as Attempt).exchange,
  host: fact.operation.host,
  what: whatOf(fact.operation.method, fact.operation.target, fact.operation.server),
  result: fact.result,
  count,
});

const streamOf = ({ id, host, http, fields, server }: Exchange, kind: StreamKind, verdict: Verdict): Candidate => ({
  exchange: id,
  host,
  what: whatOf(fields.method ?? http, null, server),
  result: `${kind} stream ${verdict.outcome}, ${verdict.cause}`,
  count: 1,
});

export function createFinder({ exchange, operation }: Selector): Finder {
  const worst = createWorstOperations();
  /** Copies, worst first, as many as can be named. */
  const matches: OperationFact[] = [];
  let matched = 0;
  const alone = new Map<string, Target>();
  const hosts = new Set<string>();
  /** Subscriptions and GET streams that failed: no attempts of an operation. */
  const streams: Candidate[] = [];
  let failedStreams = 0;
  let operations = 0;
  let otherSort = false;

  const addOperation = (fact: OperationFact): void => {
    operations++;
    if (exchange === undefined && operation === undefined) {
      worst.add(fact);
      return;
    }
    const { attempts, key } = fact.operation;
    if (exchange !== undefined && key === exchange) otherSort = true;
    const isMeant =
      operation === undefined ? attempts.some((attempt) => attempt.exchange === exchange) : key === operation;
    if (!isMeant) return;
    matched++;
    const score = badness(fact);
    if (matches.length === MAX_MATCHES && score <= badness(matches[MAX_MATCHES - 1] as OperationFact)) return;
    matches.push(copyOperation(fact));
    matches.sort((a, b) => badness(b) - badness(a));
    matches.length = Math.min(matches.length, MAX_MATCHES);
  };
  const addExchange = (of: Exchange): void => {
    if (operation !== undefined && of.id === operation) otherSort = true;
    if (of.id !== exchange) return;
    if (hosts.size < MAX_HOSTS) hosts.add(of.host);
    if (alone.size < MAX_TARGETS) alone.set(of.host, { host: of.host, exchanges: [ofExchange(of)] });
  };

  const addStream = ({ exchange: of, kind, verdict }: VerdictFact): void => {
    if (exchange !== undefined || operation !== undefined || kind === 'response') return;
    if (verdict === null || verdict.outcome === 'clean') return;
    failedStreams++;
    if (streams.length < MAX_OTHERS) streams.push(streamOf(of, kind, verdict));
  };

  return {
    add(fact) {
      if (fact.is === 'operation') addOperation(fact);
      else if (fact.is === 'verdict' || fact.is === 'expired') {
        addExchange(fact.exchange);
        if (fact.is === 'verdict') addStream(fact);
      }
    },
    found() {
      if (exchange === undefined && operation === undefined) {
        const [first, ...rest] = worst.list();
        const named = rest.slice(0, MAX_OTHERS).map(({ fact, count }) => candidateOf(fact, count));
        const others = [...named, ...streams];
        const targets = first === undefined ? [] : [targetOf(first.fact)];
        const moreOthers = rest.length + failedStreams - others.length;
        return { targets, others, moreOthers, hosts: 1, operations, otherSort };
      }
      const shown = exchange === undefined ? 1 : MAX_TARGETS;
      const targets: Target[] = [];
      for (const fact of matches.slice(0, shown))
        if (targets.every(({ host }) => host !== fact.operation.host)) targets.push(targetOf(fact));
      const others = matches.slice(shown, shown + MAX_OTHERS).map((fact) => candidateOf(fact, 1));
      for (const target of alone.values())
        if (targets.length < shown && targets.every(({ host }) => host !== target.host)) targets.push(target);
      const moreOthers = Math.max(0, matched - shown - others.length);
      return { targets, others, moreOthers, hosts: hosts.size, operations, otherSort };
    },
  };
}
