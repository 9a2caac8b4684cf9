/**
 * Recording rules: what alerts ask for, once per cluster, namespace and server. No pod label: a rollout must not start an alert anew, and
 * five hundred pods cost as much as one. Level:metric:operation names; the formulas are those of the boards.
 */
import { measures, type TrendSums, trendOf } from '../measures.ts';
import { LEVEL } from '../names.ts';
import type { Queries } from '../queries.ts';
import type { Settings } from '../settings.ts';
import { BURN_WINDOWS } from './burn.ts';

export interface Recording {
  readonly record: string;
  readonly expr: string;
}

const level = [...LEVEL];
const SERVER_LEVEL = level.join('_');
const nameOf = (metric: string, operation: string, also = ''): string =>
  `${SERVER_LEVEL}${also}:${metric}:${operation}`;

/** Names that alerts use; a name that is not recorded is found by the tests. */
export const RECORDED = {
  burnRatio: (window: string) => nameOf('tailfin_ambiguous_closes', `ratio_rate${window}`),
  ambiguousCloses: (window: string) => nameOf('tailfin_ambiguous_closes', `increase${window}`),
  apparentRatio: nameOf('tailfin_operations_surfaced', 'ratio_increase1h'),
  hiddenRatio: nameOf('tailfin_operations_hidden', 'ratio_increase1h'),
  hidden: nameOf('tailfin_operations_hidden', 'increase1h'),
  maskedRatio: nameOf('tailfin_operations_masked_rotated', 'ratio_increase1h'),
  masked: nameOf('tailfin_operations_masked_rotated', 'increase1h'),
  outcomeRatio: nameOf('tailfin_stream_closes', 'ratio_rate10m', '_outcome'),
  trendR: nameOf('tailfin_length_trend', 'pearson_r_increase1h', '_of'),
  trendZ: nameOf('tailfin_length_trend', 'z_increase1h', '_of'),
  trendUnknown: nameOf('tailfin_length_trend_unknown', 'ratio_increase1h', '_of'),
  trend: {
    samples: nameOf('tailfin_length_trend_samples', 'increase1h', '_of'),
    failed: nameOf('tailfin_length_trend_failed_samples', 'increase1h', '_of'),
    x: nameOf('tailfin_length_trend_log2_bytes', 'increase1h', '_of'),
    xFailed: nameOf('tailfin_length_trend_failed_log2_bytes', 'increase1h', '_of'),
    xx: nameOf('tailfin_length_trend_log2_bytes_squared', 'increase1h', '_of'),
    unknown: nameOf('tailfin_length_trend_unknown', 'increase1h', '_of'),
  } satisfies TrendSums,
  hazard: nameOf('tailfin_parse_failures_per_mebibyte', 'ratio_increase1h', '_of'),
} as const;

export function recordings(q: Queries, settings: Settings): readonly Recording[] {
  const m = measures(q);
  const sums = m.trendSums([...level, 'of'], '1h');
  const trend = trendOf(RECORDED.trend, RECORDED.trendR);
  const streams = (by: readonly string[]): string =>
    `sum by (${by.join(', ')}) (${q.rate('stream_closes', '10m', { stream: 'response' })})`;
  // One of two says nothing: fewer streams have no shares.
  const enough = `(sum by (${level.join(', ')}) (${q.increase('stream_closes', '10m', { stream: 'response' })}) > ${settings.outcome_streams})`;
  const on = `on (${level.join(', ')})`;
  return [
    {
      record: RECORDED.outcomeRatio,
      expr: `${streams([...level, 'outcome'])}\n/ ${on} group_left ()\n(${streams(level)} > 0 and ${on} ${enough})`,
    },
    { record: RECORDED.apparentRatio, expr: m.apparent(level, '1h') },
    { record: RECORDED.hiddenRatio, expr: m.hidden(level, '1h') },
    { record: RECORDED.hidden, expr: m.hiddenCount(level, '1h') },
    { record: RECORDED.maskedRatio, expr: m.maskedByRotation(level, '1h') },
    { record: RECORDED.masked, expr: m.maskedCount(level, '1h') },
    // The sums first: r and z are written with their names.
    ...(Object.keys(sums) as (keyof TrendSums)[]).map((key) => ({ record: RECORDED.trend[key], expr: sums[key] })),
    { record: RECORDED.trendR, expr: trend.r },
    { record: RECORDED.trendZ, expr: trend.z },
    { record: RECORDED.trendUnknown, expr: trend.unknown },
    { record: RECORDED.hazard, expr: m.hazard([...level, 'of'], '1h') },
    ...BURN_WINDOWS.map((window) => ({ record: RECORDED.burnRatio(window), expr: m.ambiguousShare(level, window) })),
    ...['1h', '6h', '1d', '3d'].map((window) => ({
      record: RECORDED.ambiguousCloses(window),
      expr: m.ambiguousCount(level, window),
    })),
  ];
}
