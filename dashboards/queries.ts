/**
 * PromQL from keys of the catalog: no metric name, label or closed label value is typed by hand, so what the catalog does not know is
 * a compile error. It writes selectors and functions; what they add up to is said in measures.ts.
 */
import { CATALOG, type MetricKey, type MetricSpec } from '../src/core/measures/catalog.ts';

type LabelsOf<K extends MetricKey> = (typeof CATALOG)[K]['labels'][number];
export type LabelName<K extends MetricKey> = LabelsOf<K>[0];
type DomainOf<K extends MetricKey, L> = Extract<LabelsOf<K>, readonly [L, unknown]>[1];
type ValueOf<D> = D extends readonly (infer W)[] ? W & string : string;
type Matcher<V> = V | readonly V[] | { readonly not: V | readonly V[] };
export type Where<K extends MetricKey> = { readonly [L in LabelName<K>]?: Matcher<ValueOf<DomainOf<K, L>>> };

/** What Prometheus, the scrape and prom-client bring: not ours, used for our own health. */
export const EXTERNAL = {
  up: 'up',
  memory: 'process_resident_memory_bytes',
  cpu: 'process_cpu_seconds_total',
  started: 'process_start_time_seconds',
  loop_delay: 'nodejs_eventloop_lag_p99_seconds',
} as const;

/** Which series of all: matchers that every selector carries. */
export interface Scope {
  readonly target: readonly string[];
  /** For metrics that have a `server` label. */
  readonly server: readonly string[];
}

const isNot = (value: unknown): value is { readonly not: string | readonly string[] } =>
  typeof value === 'object' && value !== null && 'not' in value;
const escaped = (value: string): string => value.replace(/[\\.+*?()|[\]{}^$]/g, '\\\\$&');

function matcher(
  label: string,
  value: string | readonly string[] | { readonly not: string | readonly string[] },
): string {
  const negative = isNot(value);
  const named = negative ? value.not : value;
  const wanted = typeof named !== 'string' && named.length === 1 ? (named[0] as string) : named;
  if (typeof wanted === 'string') return `${label}${negative ? '!=' : '='}"${wanted}"`;
  return `${label}${negative ? '!~' : '=~'}"${wanted.map(escaped).join('|')}"`;
}

export interface Queries {
  /** The series themselves: gauges, and what `rate` and `increase` are written around. */
  series<K extends MetricKey>(key: K, where?: Where<K>): string;
  rate<K extends MetricKey>(key: K, window: string, where?: Where<K>): string;
  increase<K extends MetricKey>(key: K, window: string, where?: Where<K>): string;
  /** rate() of a histogram's buckets. */
  buckets<K extends MetricKey>(key: K, window: string, where?: Where<K>): string;
  external(key: keyof typeof EXTERNAL): string;
}

export function queries(scope: Scope): Queries {
  const selector = (key: MetricKey, where: object, suffix = ''): string => {
    const spec: MetricSpec = CATALOG[key];
    const own = spec.labels.some(([name]) => name === 'server') && !('server' in where) ? scope.server : [];
    const wanted = Object.entries(where).map(([label, value]) => matcher(label, value));
    return `${spec.name}${suffix}{${[...scope.target, ...own, ...wanted].join(', ')}}`;
  };
  return {
    series: (key, where = {}) => selector(key, where),
    rate: (key, window, where = {}) => `rate(${selector(key, where)}[${window}])`,
    increase: (key, window, where = {}) => `increase(${selector(key, where)}[${window}])`,
    buckets: (key, window, where = {}) => `rate(${selector(key, where, '_bucket')}[${window}])`,
    external: (key) => `${EXTERNAL[key]}{${scope.target.join(', ')}}`,
  };
}

export const sum = (by: readonly string[], expr: string): string =>
  by.length === 0 ? `sum(${expr})` : `sum by (${by.join(', ')}) (${expr})`;
export const max = (by: readonly string[], expr: string): string => `max by (${by.join(', ')}) (${expr})`;
export const min = (by: readonly string[], expr: string): string => `min by (${by.join(', ')}) (${expr})`;
/** A share: no value where there is nothing to have a share of; 0 where the part has no series yet. */
export const share = (part: string, whole: string): string => `(${part} or 0 * ${whole})\n/\n(${whole} > 0)`;
/** Below this many a share says nothing: one of two is 50 %. */
export const ENOUGH = 10;
export const shareOfEnough = (part: string, whole: string): string =>
  `(${part} or 0 * ${whole})\n/\n(${whole} >= ${ENOUGH})`;
export const perMinute = (rate: string): string => `60 * ${rate}`;
