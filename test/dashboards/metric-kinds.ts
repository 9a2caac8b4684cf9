/** Which metrics are counters, and which gauges must never be summed: what reviewers of boards and of rules both ask. */
import { selectorsOf } from '../../dashboards/verify/promql.ts';
import { CATALOG, type MetricSpec } from '../../src/core/measures/catalog.ts';

const specs: readonly MetricSpec[] = Object.values(CATALOG);
export const COUNTERS = new Set(
  specs.flatMap(({ name, kind }) => (kind === 'counter' ? [name] : kind === 'histogram' ? [`${name}_bucket`] : [])),
);

/** Gauges of which the sum over pods is nothing: ages, lags, parts, states. (A sum of what max() found is one per server.) */
const ADDED_NEVER = new Set(
  specs.flatMap(({ name, kind, unit }) =>
    kind === 'gauge' && (unit === 'seconds' || /_(?:ratio|up|regime)$/.test(name)) ? [name] : [],
  ),
);
export const added = (expr: string): readonly string[] =>
  selectorsOf(expr)
    .filter(({ metric, inside }) => ADDED_NEVER.has(metric) && inside[0] === 'sum')
    .map(({ metric }) => metric);
