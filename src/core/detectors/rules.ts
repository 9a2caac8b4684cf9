/** Closed names of findings: the `rule` label. Detectors are listed in index.ts; a rule without a detector has no series. */
export const RULES = [
  'ambiguous_close',
  'masked_retry',
  'unsafe_retry',
  'uncertain_write',
  'parse_failure_trend',
  'parse_failure_size_step',
  'late_error_after_terminal',
  'id_mismatch',
] as const;
export type RuleName = (typeof RULES)[number];
