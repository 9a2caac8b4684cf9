/**
 * The verdict of one closed exchange: design section 4 as a table, first match wins. Pure: no state, no time but what is on
 * the record. Row 6 alone has no verdict yet: the stream is suspended until a resume decides (stages/resume.ts).
 */
import { type Exchange, kindOf } from '../model/exchange.ts';
import type {
  Cause,
  FailureStage,
  JudgedKind,
  Outcome,
  Regime,
  RequestState,
  Side,
  StreamKind,
  Verdict,
} from '../model/verdict.ts';
import { sameVerdict } from './same-verdict.ts';
import type { StreamFacts } from './stream-facts.ts';

export interface Decision {
  readonly outcome: Outcome;
  readonly cause: Cause;
  readonly row: number;
}

interface Row {
  readonly row: number;
  /** The condition in words, for people. */
  readonly says: string;
  readonly when: (x: StreamFacts) => boolean;
  readonly verdict: (x: StreamFacts) => Decision | 'suspended';
}

const always = (decision: Decision) => (): Decision => decision;
const clean = (cause: Cause, row: number) => always({ outcome: 'clean', cause, row });
const abandoned = (cause: Cause, row: number) => always({ outcome: 'abandoned', cause, row });
const isStream = (x: StreamFacts): boolean => x.kind !== 'response';
const provesItself = (x: StreamFacts): boolean => x.media === 'json' || x.selfDelimiting;

export const VERDICT_TABLE: readonly Row[] = [
  {
    row: 1,
    says: 'the terminal message (a result or an error with the id of the request) was seen',
    when: (x) => x.terminal,
    verdict: clean('terminal_seen', 1),
  },
  {
    row: 2,
    says: 'no response head arrived',
    when: (x) => !x.head,
    verdict: (x) => ({
      outcome: 'abandoned',
      cause: x.gaveUp ?? (x.notSent ? 'connect_failed' : 'no_response'),
      row: 2,
    }),
  },
  {
    row: 3,
    says: 'the payload proves by itself that it is whole (a JSON document, or a declared length or digest)',
    when: (x) => provesItself(x) && x.whole === 'whole',
    verdict: clean('integrity_ok', 3),
  },
  {
    row: 4,
    says: 'a listen or GET stream that its client ended, or that the server cancelled',
    when: (x) => isStream(x) && (x.gaveUp !== null || x.byClient || x.serverCancelled),
    verdict: clean('listen_ended', 4),
  },
  {
    row: 5,
    says: 'the client gave up before the answer was there',
    when: (x) => x.gaveUp !== null,
    verdict: (x) => ({ outcome: 'abandoned', cause: x.gaveUp as Cause, row: 5 }),
  },
  {
    row: 6,
    says: 'SSE event ids were seen, so the stream waited up to 60 s for a resume GET to bring the answer',
    when: (x) => !isStream(x) && x.eventId,
    verdict: () => 'suspended',
  },
  {
    row: 7,
    says: 'the connection broke before the answer was there',
    when: (x) => x.how === 'error',
    verdict: abandoned('transport_error', 7),
  },
  {
    row: 8,
    says: 'the payload proves by itself that it is not whole',
    when: (x) => provesItself(x) && (x.whole === 'cut' || x.whole === 'malformed'),
    verdict: (x) => ({
      outcome: 'abandoned',
      cause: x.whole === 'malformed' ? 'malformed_payload' : 'cut_payload',
      row: 8,
    }),
  },
  {
    row: 9,
    says: 'the GET stream that was to carry the answer ended before it came',
    when: (x) => x.carrierLost,
    verdict: abandoned('carrier_lost', 9),
  },
  {
    row: 10,
    says: 'a complete HTTP answer that is no MCP response (status 300 or more, or neither JSON nor an event stream)',
    when: (x) => (x.status ?? 0) >= 300 || x.media === 'absent' || x.media === 'other',
    verdict: clean('http_response', 10),
  },
  {
    row: 11,
    says: 'a GET stream may end at any time',
    when: (x) => x.kind === 'standalone',
    verdict: clean('listen_ended', 11),
  },
  {
    row: 11,
    says: 'a subscription ended without its result and without being cancelled',
    when: (x) => x.kind === 'listen',
    verdict: abandoned('listen_dropped', 11),
  },
  {
    row: 12,
    says: 'the contract of the server makes the terminal message mandatory, and it never came',
    when: (x) => x.mandated,
    verdict: abandoned('sentinel_missing', 12),
  },
  {
    row: 13,
    says: 'an orderly end, and nothing above decides: no answer, no self-delimiting payload, no contract that demands the answer',
    when: () => true,
    verdict: (x) =>
      x.cut === 'mid' && x.cutMid === 'abandoned'
        ? { outcome: 'abandoned', cause: 'cut_payload', row: 13 }
        : { outcome: 'ambiguous', cause: 'no_evidence', row: 13 },
  },
];

/** Asked apart from the others: it decides nearly always, and one call in one place is cheaper than the first turn of a loop. */
const FIRST_ROW = VERDICT_TABLE[0] as Row;

export function decide(facts: StreamFacts): Decision | 'suspended' {
  if (FIRST_ROW.when(facts)) return FIRST_ROW.verdict(facts);
  for (let i = 1; i < VERDICT_TABLE.length; i++) {
    const row = VERDICT_TABLE[i] as Row;
    if (row.when(facts)) return row.verdict(facts);
  }
  throw new Error('the last row of the verdict table always matches');
}

/** The condition that decided, in words. */
export const ruleOf = (facts: StreamFacts): string => VERDICT_TABLE.find((row) => row.when(facts))?.says ?? '';

/** Row 6 when no resume brought the terminal message in time. */
export function decideUnresumed(facts: StreamFacts): Decision {
  if (facts.how === 'error') return { outcome: 'abandoned', cause: 'transport_error', row: 6 };
  return facts.mandated
    ? { outcome: 'abandoned', cause: 'sentinel_missing', row: 6 }
    : { outcome: 'ambiguous', cause: 'not_resumed', row: 6 };
}

/** Regime (section 1); a declaration without a check that ran proves nothing. */
function regimeOf(facts: StreamFacts, decision: Decision): Regime {
  if (!facts.head || facts.kind !== 'response') return 'none';
  if (facts.terminal || facts.mandated || decision.cause === 'resumed') return 'A';
  if (facts.media === 'json') return 'B';
  return facts.selfDelimiting && facts.whole !== 'unknown' ? 'B' : 'C';
}

function stageOf(facts: StreamFacts): FailureStage {
  if (!facts.head) return facts.notSent ? 'connect' : 'before_headers';
  if (facts.media === 'json') return 'mid_json';
  return facts.cut === 'mid' && facts.media !== 'other' ? 'mid_event' : 'between_events';
}

function sideOf(exchange: Exchange, facts: StreamFacts, decision: Decision): Side {
  if (decision.cause === 'client_cancel' || decision.cause === 'client_timeout') return 'client';
  return exchange.fields.by ?? (facts.how === 'cancel' ? 'client' : 'unknown');
}

function requestOf(exchange: Exchange, facts: StreamFacts): RequestState {
  if (exchange.fields.sent === 'none' && !facts.head) return 'not_sent';
  // A response head proves that the request went out, whatever was not reported.
  return exchange.fields.sent !== undefined && exchange.fields.sent !== null ? 'sent' : facts.head ? 'sent' : 'unknown';
}

export function verdictOf(exchange: Exchange, facts: StreamFacts, decision: Decision): Verdict {
  const { outcome, cause, row } = decision;
  const { cut, head } = facts;
  const regime = regimeOf(facts, decision);
  const stage = outcome === 'clean' ? null : stageOf(facts);
  const by = sideOf(exchange, facts, decision);
  const request = requestOf(exchange, facts);
  return sameVerdict({ outcome, cause, regime, cut, stage, by, request, head, row });
}

export const isJudged = (kind: StreamKind): kind is JudgedKind => kind !== 'none' && kind !== 'resume';
export { kindOf };
