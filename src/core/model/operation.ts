/** What the host wanted, and the exchanges it took. Closed label sets of design section 5. */
import type { Version } from '../protocol/revisions.ts';
import type { Due } from './due.ts';
import type { EventFields, Origin } from './event.ts';
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

export type SettleResult = NonNullable<EventFields['result']>;
export type ParseOf = NonNullable<EventFields['of']>;

/** `nothing`: not even whether it failed. */
export type UnseenEnd = 'nothing' | 'error' | 'timeout' | 'cancelled';

/** A failed parse whose full length is not known yet: a later attempt of the operation may tell. */
export interface PendingTrend {
  readonly of: ParseOf;
  readonly received: number;
  readonly ts: number;
}

/**
 * One exchange of an operation, reduced to what is asked later. Most operations are one attempt that delivers: for those this is
 * all that is held, and `operation` stays null until something makes it worth more.
 */
export interface Attempt {
  exchange: string;
  key: string;
  host: string;
  server: string;
  policy: ServerPolicy | undefined;
  version: Version;
  method: string | null;
  target: string | null;
  argsDigest: string | null;
  requestKey: string | null;
  client: string | null;
  openTs: number;
  openKnown: boolean;
  trace: string | null;
  endpoint: string | null;
  operation: Operation | null;
  /** Where its closing line stands, or the one that changed it after that; null: not kept. */
  origin: Origin | null;
  line: number;
  /** Counted already: late lines change nothing but the parse counters. */
  counted: boolean;
  /** The exchange while it is open: a close that comes after the operation was counted must not start another one. */
  owner: { counted: boolean } | null;
  /** It never closed and never will. */
  gone: boolean;
  /** Event time of its close; NaN while open. */
  closeTs: number;
  /** Event time at which the verdict stood (later than the close after a suspension). */
  judgedTs: number;
  verdict: Verdict | null;
  /** Stage of a stream that waits, or waited, for a resume. */
  suspended: FailureStage | null | false;
  /** The exchange while it waits. */
  wait: { readonly key: string; readonly waitsUntil: number } | null;
  status: number | null;
  terminal: boolean;
  /** Event time of the terminal message, where a line told it. */
  terminalTs: number | null;
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
  /** Of one whose end nobody saw on the wire: what its caller is known to have met. null: its end was seen. */
  unseen: UnseenEnd | null;
  settled: SettleResult | null;
  settledTs: number;
  /** The caller was told `timeout` while the stream was open. */
  timedOutOpen: boolean;
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

/** Where the index of joinable operations has it; owned by joining.ts. */
export interface IndexPlace {
  /** Digest, host, server, method and target in one; null: nothing but a request key can join it. */
  readonly key: string | null;
  readonly ending: number;
  readonly client: string;
  readonly requestKey: string | null;
}

export interface Operation extends Due {
  key: string;
  readonly host: string;
  server: string;
  policy: ServerPolicy | undefined;
  version: Version;
  method: string | null;
  target: string | null;
  argsDigest: string | null;
  requestKey: string | null;
  readonly attempts: Attempt[];
  edges: readonly Edge[];
  indexed: IndexPlace | null;
  /** The caller was told `cancelled`: over at once, nothing joins it. */
  cancelled: boolean;
  ended: boolean;
}

/** A counted operation. */
export interface OperationFact {
  readonly is: 'operation';
  /** Valid while the fact is delivered; not free of cost for an operation of one attempt, so ask for it last. */
  readonly operation: Operation;
  readonly server: string;
  readonly version: Version;
  readonly method: string | null;
  readonly result: OperationResult;
  readonly edges: readonly EdgeFact[];
  readonly nextAction: NextAction | null;
  readonly hint: Hint;
  /** Event time at which it was over (not when it was counted). */
  readonly ts: number;
  /** First open to end in ms; null where no open time is known. */
  readonly durationMs: number | null;
  readonly errorType: ErrorType;
  /** W3C traceparent of its last attempt that has one, as it was written. */
  readonly trace: string | null;
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
