/** The contract of a detector: facts in, findings out. No detector knows another one; each keeps bounded memory of its own. */
import type { Origin, Place, WireEvent } from '../model/event.ts';
import { type Exchange, type ExchangeKey, isStateless } from '../model/exchange.ts';
import type { Fact, FindingFact, VerdictFact } from '../model/facts.ts';
import type { StoreName } from '../model/limits.ts';
import type { Attempt, OperationFact } from '../model/operation.ts';
import type { Policy } from '../model/policy.ts';
import type { Thresholds } from '../model/thresholds.ts';
import type { Emit } from '../stage.ts';
import type { BoundedMap, StoreHealth } from '../store.ts';
import type { RuleName } from './rules.ts';

type FactOf<K extends Fact['is']> = Extract<Fact, { is: K }>;
export type Detect = (fact: Fact, emit: Emit<FindingFact>) => void;

export interface DetectorContext {
  readonly health: StoreHealth;
  readonly policy: Policy;
  readonly limits: Thresholds;
  readonly exchangeKey: ExchangeKey;
  /** A bounded memory; entries that were not set for a day are forgotten. */
  memory<V extends { readonly ts: number }>(store: StoreName, cap: number): BoundedMap<V>;
}

/** What people read about a rule: docs/findings.md derives from it. */
export interface RuleText {
  readonly rule: RuleName;
  /** One sentence: when it fires, with the default thresholds. */
  readonly fires: string;
  readonly means: string;
  /** What must be in the events for it to be seen. */
  readonly needs: string;
  readonly source: string;
  readonly action: string;
}

/**
 * A call that went as it should: a POST that says what its revision wants to hear and nothing else, answered by a result at the
 * first try. Nearly all are, and most rules have nothing to say about them.
 */
export function isPlain(fact: VerdictFact): boolean {
  if (fact.verdict?.cause !== 'terminal_seen' || fact.kind !== 'response') return false;
  const { fields, errorSeen, eventId } = fact.exchange;
  if (errorSeen || eventId || fields.how !== 'eof' || (fields.list ?? null) !== null) return false;
  if (typeof fields.status === 'number' && (fields.status < 200 || fields.status >= 300)) return false;
  if (fields.method === 'initialize' || fields.method === 'server/discover') return false;
  return saysNothingOdd(fact.exchange);
}

/** The same of an operation. */
export const isPlainOperation = (fact: OperationFact): boolean => fact.result === 'first_try';

/** The headers and `_meta` of the request, and a session id of the response, against the revision. */
function saysNothingOdd(exchange: Exchange): boolean {
  const { protocol_version: header, meta_protocol_version: meta, meta_capabilities: stated } = exchange.fields;
  if (meta === null || stated === null || stated === false) return false;
  if (typeof meta === 'string' && typeof header === 'string' && meta !== header) return false;
  const { session, session_issued: issued, last_event_id: resumes, cancel_of: cancels } = exchange.fields;
  const isOfSessions = session === true || issued === true || resumes === true || typeof cancels === 'string';
  return !isOfSessions || !isStateless(exchange);
}

export interface DetectorSpec extends RuleText {
  /** The kinds of fact that it looks at. */
  readonly on: readonly Fact['is'][];
  /** It is not shown plain calls (`isPlain`). */
  readonly ignoresPlain?: true;
  /** It has nothing to say about a plain call, and nothing to learn from it, while this memory of its own is empty. */
  readonly ignoresPlainWithout?: StoreName;
  create(context: DetectorContext): Detect;
}

/** Keeps the kind of fact out of the table's type: detectors of all kinds stand in one list. */
export const detector = <K extends Fact['is']>(
  spec: RuleText & {
    readonly on: readonly K[];
    readonly ignoresPlain?: true;
    readonly ignoresPlainWithout?: StoreName;
    create(context: DetectorContext): (fact: FactOf<K>, emit: Emit<FindingFact>) => void;
  },
): DetectorSpec => spec as unknown as DetectorSpec;

/** Where the line stands that shows it. */
export const placeOf = ({ origin, line }: { origin: Origin | null; line: number }): Place | null =>
  origin === null ? null : { origin, line };

/** A finding that a line of its own shows: what a caller was told, or what a client did. */
export const aboutLine = (
  rule: RuleName,
  server: string,
  { fields, ts, origin, line }: WireEvent,
  evidence: FindingFact['evidence'],
): FindingFact => ({
  ...{ is: 'finding', rule, server, ts, evidence },
  exchange: fields.exchange ?? null,
  trace: fields.trace ?? null,
  at: placeOf({ origin, line }),
});

/** A finding about one exchange, shown by its closing line. */
export const aboutExchange = (rule: RuleName, exchange: Exchange, evidence: FindingFact['evidence']): FindingFact => ({
  is: 'finding',
  rule,
  server: exchange.server,
  exchange: exchange.id,
  ts: exchange.closeTs,
  trace: exchange.fields.trace ?? null,
  at: placeOf(exchange),
  evidence,
});

/** A finding about one attempt of an operation. */
export const aboutAttempt = (
  rule: RuleName,
  attempt: Attempt,
  ts: number,
  evidence: FindingFact['evidence'],
): FindingFact => ({
  is: 'finding',
  rule,
  server: attempt.server,
  exchange: attempt.exchange,
  ts,
  trace: attempt.trace,
  at: placeOf(attempt),
  evidence,
});
