/** The vocabulary of verdicts. Every list is a closed label set of the metrics (design sections 4 and 7). */

export const OUTCOMES = ['clean', 'abandoned', 'ambiguous'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const CAUSES = [
  'terminal_seen',
  'connect_failed',
  'no_response',
  'client_cancel',
  'client_timeout',
  'integrity_ok',
  'listen_ended',
  'resumed',
  'not_resumed',
  'sentinel_missing',
  'transport_error',
  'cut_payload',
  'malformed_payload',
  'carrier_lost',
  'http_response',
  'listen_dropped',
  'no_evidence',
] as const;
export type Cause = (typeof CAUSES)[number];

/** A: terminal message seen or mandated. B: self-delimiting payload. C: neither. none: no head, or not a response stream. */
export const REGIMES = ['A', 'B', 'C', 'none'] as const;
export type Regime = (typeof REGIMES)[number];

/** Kinds that get a verdict. `resume` is judged with the exchange it resumes, `none` not at all. */
export const STREAMS = ['response', 'listen', 'standalone'] as const;
export type JudgedKind = (typeof STREAMS)[number];
export type StreamKind = JudgedKind | 'resume' | 'none';

export const CUTS = ['none', 'boundary', 'mid', 'unknown'] as const;
export type Cut = (typeof CUTS)[number];

export const STAGES = ['connect', 'before_headers', 'mid_json', 'mid_event', 'between_events'] as const;
export type FailureStage = (typeof STAGES)[number];

export const SIDES = ['peer', 'client', 'unknown'] as const;
export type Side = (typeof SIDES)[number];

export const REQUEST_STATES = ['not_sent', 'sent', 'unknown'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** Verdicts are shared: every distinct one exists once, with a small number to look its counters up by. */
export interface Verdict {
  readonly id: number;
  readonly outcome: Outcome;
  readonly cause: Cause;
  readonly regime: Regime;
  readonly cut: Cut;
  /** Where it failed; null for a clean stream. */
  readonly stage: FailureStage | null;
  readonly by: Side;
  readonly request: RequestState;
  /** Did a response head arrive? Only then it counts in `tailfin_stream_closes_total`. */
  readonly head: boolean;
  /** Row of the verdict table that decided (design section 4). */
  readonly row: number;
}
