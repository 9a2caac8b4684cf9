/**
 * The second reading of `explain`: gathers what concerns one target and copies it, since events and facts are valid only while they
 * are delivered. Bounded per exchange; what a line means for the verdict is not decided here.
 */
import type { WireEvent } from '../core/model/event.ts';
import { type Exchange, kindOf, serverLabel } from '../core/model/exchange.ts';
import type { Fact, VerdictFact } from '../core/model/facts.ts';
import type { OperationFact } from '../core/model/operation.ts';
import type { Policy } from '../core/model/policy.ts';
import { isJudged, ruleOf } from '../core/stages/classify.ts';
import { counterfactuals } from '../core/stages/counterfactual.ts';
import { factsOf, keptFacts } from '../core/stages/stream-facts.ts';
import type { ExchangeEnd, Explanation, ToldLine } from '../exporters/explanation.ts';
import type { ListedFinding } from '../exporters/finding-list.ts';
import { toldLine } from '../exporters/line-words.ts';
import { copyOperation } from '../exporters/worst-operations.ts';
import { type ContextLines, createContextLines } from './explain-context.ts';
import type { Target, TargetExchange } from './explain-find.ts';

/** Lines shown per exchange: the first and the last ones, a close is among them. */
const MAX_LINES = 40;
const MAX_FINDINGS = 100;

interface Gathered {
  readonly target: TargetExchange;
  readonly lines: ToldLine[];
  left: number;
  readonly context: ContextLines;
  end: ExchangeEnd | null;
}

export interface Collector {
  onEvent(event: WireEvent): void;
  onFact(fact: Fact): void;
  explanation(): Explanation;
}

function endOf(exchange: Exchange): Omit<ExchangeEnd, 'kind' | 'verdict' | 'rule' | 'counterfactuals' | 'expired'> {
  const { server, endpoint, http, fields, client, openTs, openKnown, closeTs } = exchange;
  const { method = null, target = null } = fields;
  return { server, endpoint, httpMethod: http, method, target, client, openTs, openKnown, closeTs };
}

function judgedEnd({ exchange, kind, verdict }: VerdictFact, policy: Policy): ExchangeEnd {
  const end = { ...endOf(exchange), kind, verdict, rule: null, counterfactuals: [], expired: null };
  if (verdict === null || !isJudged(kind)) return end;
  const facts = keptFacts(factsOf(exchange, kind, policy.cutMid));
  return { ...end, rule: ruleOf(facts), counterfactuals: counterfactuals(facts, verdict) };
}

export function createCollector(target: Target, policy: Policy): Collector {
  const gathered = target.exchanges.map(
    (each, i): Gathered => ({
      target: each,
      lines: [],
      left: 0,
      context: createContextLines(each, target.exchanges[i + 1]?.openTs ?? each.closeTs),
      end: null,
    }),
  );
  const byId = new Map(gathered.map((each) => [each.target.id, each]));
  const findings: (ListedFinding & { readonly rule: string })[] = [];
  let operation: OperationFact | null = null;

  const addLine = (into: Gathered, event: WireEvent): void => {
    into.context.own(event);
    if (into.lines.length >= MAX_LINES) {
      into.lines.splice(MAX_LINES / 2, 1);
      into.left++;
    }
    into.lines.push(toldLine(event, event.type));
  };

  return {
    onEvent(event) {
      const { fields, origin } = event;
      if ((fields.host ?? origin.host) !== target.host) return;
      const own = typeof fields.exchange === 'string' ? byId.get(fields.exchange) : undefined;
      if (own !== undefined) addLine(own, event);
      const server = serverLabel(fields, policy);
      for (const each of gathered) if (each !== own) each.context.other(event, server);
    },
    onFact(fact) {
      switch (fact.is) {
        case 'verdict':
        case 'expired': {
          const { exchange } = fact;
          const own = exchange.host === target.host ? byId.get(exchange.id) : undefined;
          if (own === undefined) return;
          own.end ??=
            fact.is === 'verdict'
              ? judgedEnd(fact, policy)
              : {
                  ...endOf(exchange),
                  kind: kindOf(exchange),
                  verdict: null,
                  rule: null,
                  counterfactuals: [],
                  expired: fact.reason,
                };
          return;
        }
        case 'operation': {
          const { host, attempts } = fact.operation;
          if (operation === null && host === target.host && attempts.some(({ exchange }) => byId.has(exchange)))
            operation = copyOperation(fact);
          return;
        }
        case 'finding': {
          const { rule, server, exchange, ts, at, evidence } = fact;
          const own = exchange === null ? undefined : byId.get(exchange);
          if (own === undefined || own.target.server !== server || findings.length >= MAX_FINDINGS) return;
          findings.push({ rule, server, exchange, ts, file: at?.origin.file ?? null, line: at?.line ?? 0, evidence });
        }
      }
    },
    explanation: () => ({
      host: target.host,
      operation,
      exchanges: gathered.map(({ target: { id }, lines, left, context, end }) => ({
        id,
        lines,
        left,
        context: context.lines(),
        end,
      })),
      findings,
    }),
  };
}
