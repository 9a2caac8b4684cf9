/** What the explain command knows of one operation or exchange: plain data, gathered by the app, told by explain.ts. */
import type { ExpiredFact } from '../core/model/facts.ts';
import type { OperationFact } from '../core/model/operation.ts';
import type { StreamKind, Verdict } from '../core/model/verdict.ts';
import type { Counterfactual } from '../core/stages/counterfactual.ts';
import type { ListedFinding } from './finding-list.ts';

/** One line of the input, and what it said. */
export interface ToldLine {
  readonly file: string | null;
  readonly line: number;
  readonly ts: number;
  /** Its type; of another exchange or of a client also which one. */
  readonly what: string;
  readonly says: string;
}

/** How an exchange ended, as far as the pipeline got. */
export interface ExchangeEnd {
  readonly kind: StreamKind;
  readonly verdict: Verdict | null;
  /** The condition of the deciding row in words. */
  readonly rule: string | null;
  readonly counterfactuals: readonly Counterfactual[];
  /** Why no verdict will come. */
  readonly expired: ExpiredFact['reason'] | null;
  readonly server: string;
  readonly endpoint: string | null;
  readonly httpMethod: string;
  readonly method: string | null;
  readonly target: string | null;
  readonly client: string | null;
  readonly openTs: number;
  readonly openKnown: boolean;
  readonly closeTs: number;
}

export interface ExchangeStory {
  readonly id: string;
  readonly lines: readonly ToldLine[];
  /** Lines of it that are not among them: there were too many. */
  readonly left: number;
  /** Lines about something else that bear on it. */
  readonly context: readonly ToldLine[];
  readonly end: ExchangeEnd | null;
}

export interface Explanation {
  readonly host: string;
  /** null: the exchange is no attempt of an operation. */
  readonly operation: OperationFact | null;
  /** The attempts in their order, or the one exchange. */
  readonly exchanges: readonly ExchangeStory[];
  readonly findings: readonly (ListedFinding & { readonly rule: string })[];
}

/** Something else that could be explained. */
export interface Candidate {
  readonly exchange: string;
  readonly host: string;
  readonly what: string;
  readonly result: string;
  readonly count: number;
}
