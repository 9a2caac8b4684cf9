/**
 * What would have changed a verdict: small changes of one exchange, put to the verdict table itself. A table says which are worth
 * asking for each row; the answers are the table's own, so none can be wrong. It judges nothing by itself.
 */
import type { Verdict } from '../model/verdict.ts';
import { type Decision, decide, decideUnresumed } from './classify.ts';
import type { StreamFacts } from './stream-facts.ts';

interface Situation {
  readonly facts: StreamFacts;
  /** A resume GET brought the answer (row 6). */
  readonly resumed: boolean;
}
interface Change {
  /** Ends the sentence "it would be another verdict, had ...". */
  readonly says: string;
  /** null: it was so already, or cannot be. */
  readonly to: (x: StreamFacts, resumed: boolean) => Situation | null;
}

const set =
  (change: Partial<StreamFacts>) =>
  (x: StreamFacts, resumed: boolean): Situation => ({ facts: { ...x, ...change }, resumed });
const provesItself = (x: StreamFacts): boolean => x.media === 'json' || x.selfDelimiting;

export const CHANGES = {
  answer: { says: 'the answer arrived (a result or an error with the id of the request)', to: set({ terminal: true }) },
  no_answer: { says: 'the answer not arrived, or carried another id', to: set({ terminal: false }) },
  never_sent: {
    says: 'nothing of the request been sent',
    to: (x, resumed) => (x.head ? null : set({ notSent: true })(x, resumed)),
  },
  sent: { says: 'the request been sent', to: set({ notSent: false }) },
  gave_up: { says: 'the client given up (abort)', to: set({ gaveUp: 'client_cancel' }) },
  stayed: {
    says: 'the client not given up, and the stream ended by itself in an orderly way',
    to: (x, resumed) => set({ gaveUp: null, byClient: false, ...(x.head && { how: 'eof' }) })(x, resumed),
  },
  client_ended: {
    says: 'the client ended the stream itself',
    to: set({ gaveUp: 'client_cancel', byClient: true, how: 'cancel' }),
  },
  server_cancelled: {
    says: 'the server ended the subscription with notifications/cancelled',
    to: set({ serverCancelled: true }),
  },
  not_cancelled: { says: 'the server not cancelled the subscription', to: set({ serverCancelled: false }) },
  payload_whole: {
    says: 'the payload been whole',
    to: (x, resumed) => (provesItself(x) ? set({ whole: 'whole' })(x, resumed) : null),
  },
  payload_cut: { says: 'the payload been cut', to: set({ whole: 'cut' }) },
  payload_malformed: {
    says: 'the payload been no JSON',
    to: (x, resumed) => (x.media === 'json' ? set({ whole: 'malformed' })(x, resumed) : null),
  },
  json: {
    says: 'the answer been one whole JSON document (content type application/json)',
    to: set({ media: 'json', whole: 'whole' }),
  },
  checked: {
    says: 'the payload declared a length or digest of its own that checked out (self_delimiting, integrity_ok)',
    to: set({ selfDelimiting: true, whole: 'whole' }),
  },
  mandated: {
    says: 'the contract of the server made the terminal message mandatory (sentinel: mandated)',
    to: set({ mandated: true }),
  },
  not_mandated: { says: 'the contract not made the terminal message mandatory', to: set({ mandated: false }) },
  cut_mid_abandoned: {
    says: 'policy.cut_mid been `abandoned` (the bytes stop inside an event)',
    to: (x, resumed) => (x.cut === 'mid' ? set({ cutMid: 'abandoned' })(x, resumed) : null),
  },
  cut_mid_ambiguous: {
    says: 'policy.cut_mid been `ambiguous`, its default',
    to: (x, resumed) => (x.cut === 'mid' ? set({ cutMid: 'ambiguous' })(x, resumed) : null),
  },
  resumed: { says: 'a resume GET within 60 s brought the answer', to: (x) => ({ facts: x, resumed: true }) },
  not_resumed: { says: 'no resume GET brought the answer', to: (x) => ({ facts: x, resumed: false }) },
  resumable: {
    says: 'the stream carried SSE event ids and a resume GET within 60 s brought the answer',
    to: (x) => (x.kind === 'response' ? { facts: { ...x, eventId: true }, resumed: true } : null),
  },
  no_event_ids: { says: 'the stream carried no SSE event ids', to: set({ eventId: false }) },
  orderly: { says: 'the connection ended in an orderly way', to: set({ how: 'eof' }) },
  broken: { says: 'the connection been broken instead of ended in an orderly way', to: set({ how: 'error' }) },
  carrier_kept: { says: 'the carrier stream not ended', to: set({ carrierLost: false }) },
  event_stream: {
    says: 'the server answered 200 with an event stream that ended without the answer',
    to: set({ status: 200, media: 'sse', whole: 'unknown', how: 'eof' }),
  },
} as const satisfies Record<string, Change>;
export type ChangeName = keyof typeof CHANGES;

/** What is worth asking, by the row that decided. */
export const ASKED: Readonly<Record<number, readonly ChangeName[]>> = {
  1: ['no_answer'],
  2: ['answer', 'never_sent', 'sent', 'gave_up', 'stayed'],
  3: ['payload_cut', 'payload_malformed'],
  4: ['stayed', 'not_cancelled'],
  5: ['answer', 'stayed', 'json'],
  6: ['resumed', 'not_resumed', 'answer', 'no_event_ids', 'mandated', 'not_mandated', 'orderly', 'broken'],
  7: ['answer', 'payload_whole', 'resumable', 'orderly'],
  8: ['answer', 'payload_whole'],
  9: ['answer', 'carrier_kept'],
  10: ['event_stream', 'broken'],
  11: ['answer', 'client_ended', 'server_cancelled', 'broken'],
  12: ['answer', 'json', 'checked', 'not_mandated'],
  13: ['answer', 'json', 'checked', 'resumable', 'mandated', 'cut_mid_abandoned', 'cut_mid_ambiguous', 'broken'],
};

export interface Counterfactual {
  readonly change: ChangeName;
  readonly says: string;
  readonly decision: Decision;
}

function judge({ facts, resumed }: Situation): Decision {
  const decision = decide(facts);
  if (decision !== 'suspended') return decision;
  return resumed ? { outcome: 'clean', cause: 'resumed', row: 6 } : decideUnresumed(facts);
}

/** Only changes that give another outcome or cause, each with the verdict that the table gives then. */
export function counterfactuals(
  facts: StreamFacts,
  { outcome, cause, row }: Pick<Verdict, 'outcome' | 'cause' | 'row'>,
): Counterfactual[] {
  const resumed = cause === 'resumed';
  return (ASKED[row] ?? []).flatMap((change) => {
    const { says, to }: Change = CHANGES[change];
    const situation = to(facts, resumed);
    if (situation === null) return [];
    const decision = judge(situation);
    return decision.outcome === outcome && decision.cause === cause ? [] : [{ change, says, decision }];
  });
}
