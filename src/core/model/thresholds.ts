/** Every threshold of a finding, as one table: the defaults are design section 6. Configuration may change them. */

interface Threshold {
  readonly value: number;
  readonly unit: 'ms' | 'count' | 'ratio';
  /** Of the number that an operator may set; else that of its unit. */
  readonly max?: number;
  /** Rules that use it, and what it bounds. */
  readonly doc: string;
}

/** What is looked back on is at most what memories hold (a day); times that are counted one by one are kept for each key. */
export const UNIT_MAX = { ms: 86_400_000, count: 100, ratio: 1_000_000 } as const satisfies Record<
  Threshold['unit'],
  number
>;

export const THRESHOLDS = {
  parse_trend_z: { value: 4, unit: 'ratio', doc: 'parse_failure_trend: z of the trend must exceed it.' },
  parse_trend_r: { value: 0.1, unit: 'ratio', doc: 'parse_failure_trend: r of the trend must exceed it.' },
  parse_trend_failures: {
    value: 10,
    unit: 'count',
    max: 1_000_000,
    doc: 'parse_failure_trend: failures of known length at least.',
  },
  size_step_failed: {
    value: 10,
    unit: 'count',
    max: 1_000_000,
    doc: 'parse_failure_size_step: failures at or above the size at least.',
  },
  size_step_ok: {
    value: 20,
    unit: 'count',
    max: 1_000_000,
    doc: 'parse_failure_size_step: successes below the size at least.',
  },
  collateral_ms: {
    value: 1000,
    unit: 'ms',
    doc: 'collateral_failure: a sibling fails at most this long after the break.',
  },
  silent_hang_ms: {
    value: 120_000,
    unit: 'ms',
    // The call is counted then, by what is known.
    max: 600_000,
    doc: 'silent_hang: nobody was told for longer than this after the last attempt had ended.',
  },
  misattributed_ms: { value: 1000, unit: 'ms', doc: 'misattributed_timeout: the caller was told at least this late.' },
  stall_ms: { value: 30_000, unit: 'ms', doc: 'stall_then_instant_identical_retry: no byte for at least this long.' },
  stall_retry_ms: { value: 10_000, unit: 'ms', doc: 'stall_then_instant_identical_retry: repeated within this time.' },
  stall_answer_ms: { value: 10_000, unit: 'ms', doc: 'stall_then_instant_identical_retry: answered within this time.' },
  duplicate_ms: {
    value: 120_000,
    unit: 'ms',
    doc: 'duplicate_execution_among_successes: the second call opens at most this long after the cause.',
  },
  list_drift_ms: { value: 300_000, unit: 'ms', doc: 'list_drift: two answers at most this far apart are compared.' },
  loop_count: { value: 10, unit: 'count', doc: 'open_close_loop, reconnect_loop: times in the window at least.' },
  loop_window_ms: { value: 60_000, unit: 'ms', doc: 'open_close_loop, reconnect_loop: the window.' },
  loop_life_ms: { value: 2000, unit: 'ms', doc: 'open_close_loop: a life below this is short.' },
  amplification_ratio: {
    value: 5,
    unit: 'ratio',
    doc: 'request_amplification: requests per settled operation at least.',
  },
  amplification_operations: {
    value: 20,
    unit: 'count',
    max: 1_000_000,
    doc: 'request_amplification: settled operations at least.',
  },
  amplification_window_ms: { value: 600_000, unit: 'ms', doc: 'request_amplification: the window.' },
  burst_count: { value: 5, unit: 'count', doc: 'endpoint_termination_burst: exchanges in the window at least.' },
  burst_window_ms: { value: 1000, unit: 'ms', doc: 'endpoint_termination_burst: the window.' },
  keep_alive_idle_ms: { value: 1000, unit: 'ms', doc: 'keep_alive_race: the connection was idle at least this long.' },
  periodic_count: { value: 4, unit: 'count', doc: 'periodic_cut: ends in a row at least.' },
  periodic_spread: { value: 0.05, unit: 'ratio', doc: 'periodic_cut: (longest - shortest) / mean life is below it.' },
} as const satisfies Record<string, Threshold>;

export type ThresholdName = keyof typeof THRESHOLDS;
export type Thresholds = Readonly<Record<ThresholdName, number>>;

export const DEFAULT_THRESHOLDS = Object.fromEntries(
  Object.entries(THRESHOLDS).map(([name, { value }]) => [name, value]),
) as Thresholds;
