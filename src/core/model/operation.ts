/** What the host wanted, and the exchanges it took. Closed label sets of design section 5. */
import type { Version } from '../protocol/revisions.ts';
import type { Due } from '../store.ts';
import type { WireEvent } from './event.ts';
import type { ServerPolicy } from './policy.ts';
import type { FailureStage, Verdict } from './verdict.ts';

export const RESULTS = [
  'first_try',
  'masked_rotated',
  'masked',
  'masked_unknown',
  'surfaced',
  'unproven',
  'cancelled',
  'unresolved',
] as const;
export type OperationResult = (typeof RESULTS)[number];

/** Why an attempt did not deliver; first match (design section 5). */
export const FAILURE_CLASSES = [
  'timeout',
  'ambiguous',
  'abandoned',
  'http_error',
  'refused',
  'parse_failure',
  'unusable',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

export const EDGE_ENDPOINTS = ['same', 'rotated', 'unknown'] as const;
export type EdgeEndpoint = (typeof EDGE_ENDPOINTS)[number];
export const EDGE_OUTCOMES = ['delivered', 'failed'] as const;
export const SAFETIES = ['safe', 'declared', 'unsafe'] as const;
export type Safety = (typeof SAFETIES)[number];

/** Worst first: the action of an operation is the worst of its failed attempts. */
export const NEXT_ACTIONS = ['confirm_outcome', 'retrieve_result', 'reissue_bounded', 'send_normally'] as const;
export type NextAction = (typeof NEXT_ACTIONS)[number];
export const HINTS = ['none', 'declared'] as const;
export type Hint = (typeof HINTS)[number];

export type SettleResult = NonNullable<WireEvent['result']>;
export type ParseOf = NonNullable<WireEvent['of']>;

/** A failed parse whose full length is not known yet: a later attempt of the operation may tell. */
export interface PendingTrend {
  readonly of: ParseOf;
  readonly received: number;
  readonly ts: number;
}

/** One exchange of an operation, reduced to what is asked later. */
export interface Attempt {
  readonly exchange: string;
  readonly key: string;
  readonly client: string | null;
  readonly openTs: number;
  readonly openKnown: boolean;
  endpoint: string | null;
  /** Event time of its close; null while open. */
  closeTs: number | null;
  /** Event time at which the verdict stood (later than the close after a suspension). */
  judgedTs: number;
  verdict: Verdict | null;
  suspended: FailureStage | null | false;
  status: number | null;
  terminal: boolean;
  terminalKind: 'result' | 'error' | null;
  idMatch: 'match' | 'mismatch' | 'null_id' | null;
  errorCode: number | null;
  isError: boolean;
  inputRequired: boolean;
  inputResponses: boolean;
  notSent: boolean;
  idempotent: boolean;
  declaredSafe: boolean;
  bytes: number;
  /** Full length of the body where Content-Length tells (never under a content encoding). */
  fullLength: number | null;
  cutOrEmpty: boolean;
  parseFailed: boolean;
  parsedOk: boolean;
  /** Lengths of successful parses by payload, for failures of earlier attempts. */
  okBytes: Partial<Record<ParseOf, number>> | null;
  trends: PendingTrend[] | null;
  settled: SettleResult | null;
  settledTs: number;
  trace: string | null;
}

/** A retry: what it followed and the later attempt (moved on while that one is a hop: a redirect is not its outcome). */
export interface Edge {
  readonly from: Attempt;
  to: Attempt;
  /** The earlier stream was suspended when the request was posted again: nobody knew how it would end. */
  readonly whileSuspended: boolean;
}

export interface EdgeFact {
  readonly from: Attempt;
  readonly to: Attempt;
  readonly after: FailureClass;
  readonly endpoint: EdgeEndpoint;
  readonly outcome: (typeof EDGE_OUTCOMES)[number];
  readonly safety: Safety;
}

export interface Operation extends Due {
  readonly key: string;
  readonly host: string;
  readonly server: string;
  readonly policy: ServerPolicy | undefined;
  readonly version: Version;
  readonly method: string | null;
  readonly target: string | null;
  readonly argsDigest: string | null;
  readonly requestKey: string | null;
  readonly attempts: Attempt[];
  readonly edges: Edge[];
  /** The caller was told `cancelled`: over at once, nothing joins it. */
  cancelled: boolean;
  ended: boolean;
}

/** A counted operation. */
export interface OperationFact {
  readonly is: 'operation';
  readonly operation: Operation;
  readonly result: OperationResult;
  readonly edges: readonly EdgeFact[];
  readonly nextAction: NextAction | null;
  readonly hint: Hint;
  /** Event time at which it was over (not when it was counted). */
  readonly ts: number;
  /** First open to end in ms; null where no open time is known. */
  readonly durationMs: number | null;
  readonly errorType: ErrorType;
}

/** `error_type` of the OTel duration histogram; empty when fine, `_OTHER` is the convention's own fallback. */
export const ERROR_TYPES = [
  '',
  'timeout',
  'cancelled',
  'ambiguous',
  'abandoned',
  'http_4xx',
  'http_5xx',
  'rpc_error',
  'tool_error',
  '_OTHER',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];
