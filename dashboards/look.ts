/** What things look like on every board: a word of a closed list has one colour everywhere. No queries here. */
import type { EDGE_ENDPOINTS, EDGE_OUTCOMES, RESULTS, SAFETIES } from '../src/core/model/operation.ts';
import type { OUTCOMES, REGIMES } from '../src/core/model/verdict.ts';

/** What a board says for `error_type=""`. */
export const FINE = 'fine';

type Word =
  | (typeof OUTCOMES)[number]
  | (typeof RESULTS)[number]
  | (typeof SAFETIES)[number]
  | (typeof EDGE_ENDPOINTS)[number]
  | (typeof EDGE_OUTCOMES)[number]
  | (typeof REGIMES)[number]
  | typeof FINE
  | 'ok'
  | 'malformed'
  | 'would_resolve'
  | 'would_reject_complete'
  | 'apparent'
  | 'hidden';

/** Green: proven good. Red: a caller saw it fail. Orange: failed, and known to have. Purple: nobody can know, or nobody was told. */
export const COLOURS: Readonly<Partial<Record<Word, string>>> = {
  clean: 'green',
  abandoned: 'orange',
  ambiguous: 'purple',
  first_try: 'green',
  masked_rotated: 'purple',
  masked: 'light-purple',
  masked_unknown: 'super-light-purple',
  surfaced: 'red',
  unproven: 'dark-purple',
  cancelled: 'blue',
  unresolved: 'yellow',
  safe: 'green',
  declared: 'yellow',
  unsafe: 'red',
  same: 'blue',
  rotated: 'purple',
  unknown: 'yellow',
  delivered: 'green',
  failed: 'orange',
  fine: 'green',
  ok: 'green',
  malformed: 'orange',
  A: 'green',
  B: 'blue',
  C: 'red',
  would_resolve: 'green',
  would_reject_complete: 'orange',
  apparent: 'red',
  hidden: 'purple',
};

/** Colour from a value on; the first one is the colour below all of them. */
export type Steps = readonly [base: string, ...from: readonly (readonly [value: number, colour: string])[]];
export const GOOD_BELOW = (warn: number, bad: number): Steps => ['green', [warn, 'orange'], [bad, 'red']];
/** One is one too many. */
export const NONE_ALLOWED: Steps = ['green', [0.5, 'red']];
export const PLAIN: Steps = ['blue'];

/** Where a table has no number: not "none", which reads as a good answer, and in no colour of a threshold. */
export const NO_NUMBER = {
  type: 'special',
  options: { match: 'null', result: { index: 0, text: '\u2013', color: 'text' } },
} as const;
