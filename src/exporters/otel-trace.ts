/**
 * One counted operation as spans: a CLIENT span of the MCP conventions, below it one for each attempt, with its times, its verdict and a
 * link to the attempt that it repeats. Only what the events say, cleaned like evidence: a fact that is unknown has no attribute. It decides
 * which operations become spans; it sends nothing.
 */
import type { Attempt, EdgeFact, ErrorType, OperationFact } from '../core/model/operation.ts';
import { CALL, methodLabel } from '../core/protocol/methods.ts';
import { deliveredAttempt, failedAttempts, isHop } from '../core/stages/outcome.ts';
import { attemptClass } from './evidence.ts';
import { cleanName, cleanTarget } from './evidence-fields.ts';
import { attemptSpanId, contextOf, isWithinShare, operationContext, type TraceContext } from './otel-ids.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanEvent {
  readonly name: string;
  /** Unix ms. */
  readonly at: number;
  readonly attributes: SpanAttributes;
}
export interface SpanLink extends TraceContext {
  readonly attributes: SpanAttributes;
}

/** A span as plain values; all are of kind CLIENT. */
export interface PlainSpan extends TraceContext {
  readonly parent: { readonly spanId: string; readonly isRemote: boolean } | null;
  readonly name: string;
  /** Unix ms of event time. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  readonly isError: boolean;
}

type Loose = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Without what is unknown. */
const known = (attributes: Loose): SpanAttributes =>
  Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  ) as SpanAttributes;

const isClean = ({ verdict }: Attempt): boolean => verdict === null || verdict.outcome === 'clean';

/** Those that were not delivered at the first try, or not cleanly, or failed their caller. */
function isNotable(fact: OperationFact): boolean {
  if (fact.result !== 'first_try' || fact.errorType !== '') return true;
  return fact.edges.length > 0 && !fact.operation.attempts.every(isClean);
}

/** `host:port` as the conventions write it: IPv6 without its brackets. */
function serverAddress(endpoint: string | null): Loose {
  const [, ipv6, name, port] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(cleanName(endpoint) ?? '') ?? [];
  return { 'server.address': ipv6 ?? name, 'server.port': port === undefined ? null : Number(port) };
}

/** What came as a span of its host (OTLP in) may have gone over stdio. */
const isHttp = ({ status, endpoint }: Attempt): boolean => status !== null || endpoint !== null;

const versionOf = (version: string): string | null => (version === 'unknown' || version === 'other' ? null : version);

function operationAttributes(fact: OperationFact): SpanAttributes {
  const { operation, errorType } = fact;
  const { attempts, method, target } = operation;
  const label = methodLabel(method);
  const name = cleanTarget(method, target);
  const answer = deliveredAttempt(operation) ?? (attempts.at(-1) as Attempt);
  return known({
    'mcp.method.name': label,
    'mcp.protocol.version': versionOf(fact.version),
    'gen_ai.operation.name': label === CALL ? 'execute_tool' : null,
    'gen_ai.tool.name': label === CALL ? name : null,
    'gen_ai.prompt.name': label === CALL ? null : name,
    'rpc.response.status_code': answer.errorCode === null ? null : String(answer.errorCode),
    'error.type': errorType,
    'network.protocol.name': isHttp(answer) ? 'http' : null,
    ...serverAddress(answer.endpoint),
    'tailfin.server': cleanName(fact.server),
    'tailfin.operation.result': fact.result,
    'tailfin.operation.attempts': attempts.length,
    'tailfin.operation.next_action': fact.nextAction,
    'tailfin.operation.hint': fact.nextAction === 'confirm_outcome' ? fact.hint : null,
  });
}

const endOf = (attempt: Attempt, operationEnd: number): number => {
  if (!Number.isNaN(attempt.closeTs)) return attempt.closeTs;
  return attempt.settled === null ? operationEnd : attempt.settledTs;
};

/** `error.type` of one attempt, in the words of the operation's. */
function attemptError(attempt: Attempt, className: string): ErrorType {
  const { status } = attempt;
  switch (className) {
    case 'timeout':
    case 'ambiguous':
    case 'abandoned':
      return className;
    case 'http_error':
    case 'refused':
      if (status === null || status < 400) return '_OTHER';
      return status >= 500 ? 'http_5xx' : 'http_4xx';
    case 'parse_failure':
    case 'unusable':
      return '_OTHER';
    case 'delivered':
      if (attempt.terminalKind === 'error' || attempt.errorCode !== null) return 'rpc_error';
      return attempt.isError ? 'tool_error' : '';
    default:
      return '';
  }
}

function verdictEvents({ verdict, judgedTs }: Attempt): SpanEvent[] {
  if (verdict === null) return [];
  const { outcome, cause, regime, cut, row } = verdict;
  return [
    {
      name: 'tailfin.verdict',
      at: judgedTs,
      attributes: known({
        'tailfin.outcome': outcome,
        'tailfin.cause': cause,
        'tailfin.regime': regime,
        'tailfin.cut': cut === 'unknown' ? null : cut,
        'tailfin.verdict.row': row,
      }),
    },
  ];
}

interface Around {
  readonly fact: OperationFact;
  readonly context: TraceContext;
  readonly failed: readonly Attempt[];
  readonly endMs: number;
}

/** The attempt that it repeats, and the host's own span where that is in another trace. */
function linksOf(attempt: Attempt, edge: EdgeFact | undefined, { traceId }: TraceContext): SpanLink[] {
  const links: SpanLink[] = [];
  if (edge !== undefined) {
    const { after, endpoint, outcome, safety } = edge;
    const attributes = {
      'tailfin.link': 'retry_of',
      'tailfin.retry.after': after,
      'tailfin.retry.endpoint': endpoint,
      'tailfin.retry.outcome': outcome,
      'tailfin.retry.safety': safety,
    };
    links.push({ traceId, spanId: attemptSpanId(edge.from), attributes });
  }
  const own = contextOf(attempt.trace);
  if (own !== null && own.traceId !== traceId) links.push({ ...own, attributes: { 'tailfin.link': 'caller' } });
  return links;
}

function attemptSpan(attempt: Attempt, resends: number, { fact, context, failed, endMs }: Around): PlainSpan {
  const className = attemptClass(attempt, failed);
  const errorType = attemptError(attempt, className);
  const { verdict, suspended } = attempt;
  const stage = verdict?.stage ?? (suspended === false ? null : suspended);
  const startMs = attempt.openTs;
  const http = isHttp(attempt);
  return {
    traceId: context.traceId,
    spanId: attemptSpanId(attempt),
    parent: { spanId: context.spanId, isRemote: false },
    name: http ? 'POST' : 'attempt',
    startMs,
    endMs: Math.max(startMs, endOf(attempt, endMs)),
    attributes: known({
      'http.request.method': http ? 'POST' : null,
      'http.request.resend_count': resends === 0 ? null : resends,
      'http.response.status_code': attempt.status,
      'network.protocol.name': http ? 'http' : null,
      ...serverAddress(attempt.endpoint),
      'error.type': errorType,
      'mcp.protocol.version': versionOf(attempt.version),
      'rpc.response.status_code': attempt.errorCode === null ? null : String(attempt.errorCode),
      'tailfin.exchange': cleanName(attempt.exchange),
      'tailfin.endpoint': cleanName(attempt.endpoint),
      'tailfin.class': className,
      'tailfin.outcome': verdict?.outcome,
      'tailfin.cause': verdict?.cause,
      'tailfin.cut': verdict === null || verdict.cut === 'unknown' ? null : verdict.cut,
      'tailfin.stage': stage,
      'tailfin.settled': attempt.settled,
    }),
    events: verdictEvents(attempt),
    links: linksOf(
      attempt,
      fact.edges.find(({ to }) => to === attempt),
      context,
    ),
    isError: errorType !== '',
  };
}

/** How often the request had been sent before: retries and hops count, a round that brings what was asked for is a request of its own. */
function resendCounts({ operation: { attempts }, edges }: OperationFact): ReadonlyMap<Attempt, number> {
  const counts = new Map<Attempt, number>();
  for (const [i, attempt] of attempts.entries()) {
    const before = attempts[i - 1];
    const hop = before !== undefined && isHop(before) ? before : undefined;
    const from = edges.find(({ to }) => to === attempt)?.from ?? hop;
    counts.set(attempt, from === undefined ? 0 : (counts.get(from) ?? 0) + 1);
  }
  return counts;
}

/** The spans of an operation, its own first; null where it is not among those that are kept. `share`: of the others, 0 to 1. */
export function spansOf(fact: OperationFact, share: number): PlainSpan[] | null {
  const isKept = isNotable(fact);
  if (!isKept && share === 0) return null;
  const traced = contextOf(fact.trace);
  if (!isKept && traced !== null && !isWithinShare(traced.traceId, share)) return null;
  const { attempts, method, target } = fact.operation;
  const first = attempts[0] as Attempt;
  const context = operationContext(fact.trace, first);
  if (!isKept && !isWithinShare(context.traceId, share)) return null;
  const failed = failedAttempts(fact.operation);
  const startMs = Math.min(...attempts.map(({ openTs }) => openTs));
  const endMs = Math.max(startMs, fact.ts);
  const name = cleanTarget(method, target);
  const resends = resendCounts(fact);
  return [
    {
      ...context,
      parent: traced && { spanId: traced.spanId, isRemote: true },
      name: `${methodLabel(method)}${name === undefined ? '' : ` ${name}`}`,
      startMs,
      endMs,
      attributes: operationAttributes(fact),
      events: [],
      links: [],
      isError: fact.errorType !== '',
    },
    ...attempts.map((attempt) => attemptSpan(attempt, resends.get(attempt) ?? 0, { fact, context, failed, endMs })),
  ];
}
