/**
 * The formulas of design section 7 in PromQL, once for rules and boards: ratios of operations, ambiguous closes, the length trend and
 * the hazard. They take the selectors as they come and never touch a threshold.
 */
import { type LabelName, type Queries, share, sum } from './queries.ts';

/** Operations that failed somewhere and were not counted as an error of the call. */
export const HIDDEN = ['masked_rotated', 'masked', 'masked_unknown', 'unproven'] as const;

type By = readonly (string | LabelName<'parse_attempts'>)[];

export interface Trend {
  readonly r: string;
  readonly z: string;
  /** Failures of known full length. */
  readonly failed: string;
  readonly samples: string;
  /** Share of the failures whose full length never became known: they are not in r and z. */
  readonly unknown: string;
}

/** Sums over the samples of design section 7: all of them, and the failed ones among them. */
export interface TrendSums {
  readonly samples: string;
  readonly failed: string;
  readonly x: string;
  readonly xFailed: string;
  readonly xx: string;
  readonly unknown: string;
}

/** The sums of a trend; `over` is the counter itself or its increase. */
export const trendSums = (by: By, over: (key: TrendKey, failed: boolean) => string): TrendSums => ({
  samples: sum(by, over('trend_samples', false)),
  failed: sum(by, over('trend_samples', true)),
  x: sum(by, over('trend_log2', false)),
  xFailed: sum(by, over('trend_log2', true)),
  xx: sum(by, over('trend_log2_squared', false)),
  unknown: sum(by, over('trend_unknown', false)),
});

/** Pearson's r between log2(length) and failing, and z = r * sqrt(n). No value where nothing failed, or all lengths are one. */
export function trendOf({ samples: n, failed, x, xFailed, xx, unknown }: TrendSums, recordedR?: string): Trend {
  const r = `(${n} * ${xFailed} - ${x} * ${failed})
/
sqrt((${n} * ${xx} - ${x} * ${x}) * (${n} * ${failed} - ${failed} * ${failed}) > 0)`;
  const ofUnknown = `(${unknown} or 0 * ${failed})`;
  return {
    r,
    z: `${recordedR ?? r} * sqrt(${n})`,
    failed,
    samples: n,
    unknown: `${ofUnknown}\n/\n((${failed} or 0 * ${unknown}) + ${ofUnknown} > 0)`,
  };
}
export type TrendKey = 'trend_samples' | 'trend_log2' | 'trend_log2_squared' | 'trend_unknown';

export function measures(q: Queries) {
  const operations = (by: By, window: string, results?: readonly (typeof HIDDEN)[number][] | 'surfaced'): string =>
    sum(by, q.increase('operations', window, results === undefined ? {} : { result: results }));
  const closes = (by: By, window: string, ambiguous = false): string =>
    sum(by, q.rate('stream_closes', window, { stream: 'response', ...(ambiguous ? { outcome: 'ambiguous' } : {}) }));
  const over =
    (window: string) =>
    (key: TrendKey, failed: boolean): string =>
      q.increase(key, window, failed && key !== 'trend_unknown' ? { result: 'failed' } : {});
  return {
    operations: (by: By, window: string) => operations(by, window),
    /** What a dashboard of call outcomes counts. */
    apparent: (by: By, window: string) => share(operations(by, window, 'surfaced'), operations(by, window)),
    hidden: (by: By, window: string) => share(operations(by, window, HIDDEN), operations(by, window)),
    hiddenCount: (by: By, window: string) => operations(by, window, HIDDEN),
    maskedByRotation: (by: By, window: string) =>
      share(operations(by, window, ['masked_rotated']), operations(by, window)),
    maskedCount: (by: By, window: string) => operations(by, window, ['masked_rotated']),
    ambiguousShare: (by: By, window: string) => share(closes(by, window, true), closes(by, window)),
    ambiguousCount: (by: By, window: string) =>
      sum(by, q.increase('stream_closes', window, { stream: 'response', outcome: 'ambiguous' })),
    /** Attempts per operation: 1 where nothing is repeated. */
    amplification: (by: By, window: string) =>
      `1 + ${share(sum(by, q.increase('retries', window)), operations(by, window))}`,
    parseFailure: (by: By, window: string) =>
      share(
        sum(by, q.increase('parse_attempts', window, { result: { not: 'ok' } })),
        sum(by, q.increase('parse_attempts', window)),
      ),
    /** Failures per MiB given to parsers; `of`: of these payloads only. */
    hazard(by: By, window: string, of?: readonly ('result' | 'message')[]): string {
      const only = of === undefined ? {} : { of };
      const mebibytes = `(${sum(by, q.increase('parse_bytes', window, only))} / 1048576)`;
      return share(sum(by, q.increase('parse_attempts', window, { ...only, result: { not: 'ok' } })), mebibytes);
    },
    trendSums: (by: By, window: string): TrendSums => trendSums(by, over(window)),
    trend: (by: By, window: string): Trend => trendOf(trendSums(by, over(window))),
  };
}
export type Measures = ReturnType<typeof measures>;
