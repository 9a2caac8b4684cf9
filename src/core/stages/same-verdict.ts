/** Every distinct verdict of this process exists once, with a number of its own. It judges nothing. */
import type { Verdict } from '../model/verdict.ts';

/** By row of the table: closed words only, so there are a few hundred at the most. */
const VERDICTS: Verdict[][] = [];
let distinct = 0;

/** The one that says this: just decided, or read back from a stored state. */
export function sameVerdict(says: Omit<Verdict, 'id'>): Verdict {
  const { outcome, cause, regime, cut, stage, by, request, head, row } = says;
  VERDICTS[row] ??= [];
  const known = VERDICTS[row] as Verdict[];
  for (const v of known)
    if (v.outcome === outcome && v.cause === cause && v.regime === regime && v.cut === cut && v.stage === stage)
      if (v.by === by && v.request === request && v.head === head) return v;
  const verdict: Verdict = { id: distinct++, outcome, cause, regime, cut, stage, by, request, head, row };
  known.push(verdict);
  return verdict;
}
