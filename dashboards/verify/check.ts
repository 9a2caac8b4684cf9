/** What must hold for a query of a board: no error, no empty result, not only NaN, labels that the legend names, functions that fit the type. */
import type { Prometheus, Series } from '../../test/support/prometheus.ts';
import { selectorsOf } from './promql.ts';

export type Types = ReadonlyMap<string, string>;

/** Types as Prometheus learnt them from the scrape; OpenMetrics names a counter without its suffix. */
export async function metricTypes(prometheus: Prometheus): Promise<Types> {
  const metadata = await prometheus.get<Readonly<Record<string, readonly { readonly type: string }[]>>>('metadata');
  const types = new Map<string, string>();
  for (const [name, [first]] of Object.entries(metadata)) {
    const type = first?.type ?? 'unknown';
    types.set(name, type);
    if (type === 'counter') types.set(`${name.replace(/_total$/, '')}_total`, type);
    if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) types.set(`${name}_${part}`, 'counter');
  }
  return types;
}

const OVER_COUNTERS = ['rate', 'irate', 'increase'];

/** Faults that show in the expression alone. */
export function faultsOf(expr: string, types: Types): readonly string[] {
  return selectorsOf(expr).flatMap(({ metric, matchers, inside }) => {
    const found: string[] = [];
    const type = types.get(metric);
    const wraps = inside.find((name) => OVER_COUNTERS.includes(name));
    if (wraps !== undefined && type !== undefined && type !== 'counter')
      found.push(`${wraps}() of ${metric}, a ${type}`);
    if (wraps === undefined && type === 'counter' && !inside.includes('count'))
      found.push(`${metric}, a counter, as it stands`);
    for (const { label, value } of matchers)
      if (label === 'le' && !/\d\.\d|Inf/.test(value)) found.push(`le="${value}": Prometheus 3 stores it as a decimal`);
    return found;
  });
}

export const legendLabels = (legend: string): readonly string[] =>
  [...legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label]) => label as string);

/** Faults of a result. A label that is empty is no label to Prometheus: one series that has it is enough. */
export function faultsIn(result: readonly Series[], labels: readonly string[]): readonly string[] {
  if (result.length === 0) return ['empty result'];
  const found: string[] = [];
  if (result.every(({ values }) => values.every(([, value]) => Number.isNaN(value)))) found.push('NaN only');
  if (result.some(({ values }) => values.some(([, value]) => Math.abs(value) === Number.POSITIVE_INFINITY)))
    found.push('infinite');
  for (const label of labels)
    if (!result.some(({ metric }) => label in metric)) found.push(`no series has the label ${label} of the legend`);
  return found;
}

/** A panel that never shows anything else cannot be told from one that asks for the wrong thing. `== 0` asks for it. */
export const zeroFaults = (expr: string, result: readonly Series[]): readonly string[] =>
  result.length > 0 && !/== 0\s*$/.test(expr) && result.every(({ values }) => values.every(([, value]) => value === 0))
    ? ['0 only']
    : [];
