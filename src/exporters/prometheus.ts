/**
 * Our cells as a prom-client registry. prom-client renders and serves; it never holds a number of ours, because its own
 * counters cannot be restored, re-hash every label set on each touch, and double on concurrent async collection
 * (docs/decisions/0003-own-cells.md).
 */
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import type { Cell, Cells, Family } from '../core/measures/cells.ts';

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** prom-client's default metrics that are gauges with a counter's name: promtool refuses them. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Label objects never change, and building them costs more than rendering: kept per cell. */
const labelCache = new WeakMap<Cell, Record<string, string>>();

function labelsOf(cell: Cell, names: readonly string[]): Record<string, string> {
  let labels = labelCache.get(cell);
  if (labels === undefined) {
    labels = Object.fromEntries(names.map((name, i) => [name, cell.values[i] as string]));
    labelCache.set(cell, labels);
  }
  return labels;
}

function* histogramSamples(
  name: string,
  cell: Cell,
  labels: Record<string, string>,
  bounds: readonly number[],
): Generator<Sample> {
  let cumulative = 0;
  const buckets = cell.buckets as number[];
  for (const [i, bound] of bounds.entries()) {
    cumulative += buckets[i] as number;
    yield { labels: { ...labels, le: bound }, value: cumulative, metricName: `${name}_bucket` };
  }
  cumulative += buckets[bounds.length] as number;
  yield { labels: { ...labels, le: '+Inf' }, value: cumulative, metricName: `${name}_bucket` };
  yield { labels, value: cell.value, metricName: `${name}_sum` };
  yield { labels, value: cumulative, metricName: `${name}_count` };
}

function samplesOf({ spec, cells }: Family, names: readonly string[]): Sample[] {
  if (spec.buckets === undefined) return cells.map((cell) => ({ labels: labelsOf(cell, names), value: cell.value }));
  return cells.flatMap((cell) => [...histogramSamples(spec.name, cell, labelsOf(cell, names), spec.buckets ?? [])]);
}

/** Anything with name, help, type and `get()` is a metric to prom-client's registry; the call stays free of side effects. */
function adapter(family: Family, values: () => Sample[]): Metric {
  const { name, help, kind } = family.spec;
  return {
    name,
    help,
    type: kind,
    aggregator: 'sum',
    get: async () => ({ name, help, type: kind, aggregator: 'sum', values: values() }),
  } as unknown as Metric;
}

export interface PrometheusExporter {
  readonly contentType: string;
  /** The exposition text of the cells as they are now. */
  render(): Promise<string>;
}

/** `process: true` adds prom-client's default metrics of this process (not in a replay, where they would say nothing). */
export function createPrometheusExporter(cells: Cells, options: { process: boolean }): PrometheusExporter {
  const registry = new Registry();
  const snapshot = new Map<Family, Sample[]>();
  let rendering: Promise<string> | undefined;
  for (const family of cells.families()) registry.registerMetric(adapter(family, () => snapshot.get(family) ?? []));
  if (options.process) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const render = async (): Promise<string> => {
    // All numbers are taken in one go: an exposition must not show an operation in one family and not yet in the next.
    for (const family of cells.families()) {
      const names = family.spec.labels.map(([label]) => label);
      snapshot.set(family, samplesOf(family, names));
    }
    try {
      return await registry.metrics();
    } finally {
      snapshot.clear();
    }
  };
  return {
    contentType: registry.contentType,
    render() {
      // Scrapes that overlap get the same text.
      rendering ??= render().finally(() => {
        rendering = undefined;
      });
      return rendering;
    },
  };
}
