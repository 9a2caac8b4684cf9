/**
 * Our cells as Prometheus text 0.0.4 and as OpenMetrics 1.0.0 (openmetrics.ts), each from a prom-client registry of its own: one
 * registry cannot serve both. prom-client renders; it never holds a number of ours, because its own counters cannot be restored,
 * re-hash every label set on each touch, and double on concurrent async collection (docs/decisions/0003-own-cells.md).
 */
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import type { Cells, Family } from '../core/measures/cells.ts';
import type { Format } from './negotiate.ts';
import { createOpenMetrics, type OpenMetrics } from './openmetrics.ts';
import { type Sample, takeSnapshot } from './samples.ts';

/** prom-client's default metrics that are gauges with a counter's name: promtool refuses them. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  text: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
};

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
  /** The exposition of the cells as they are now; text unless OpenMetrics is asked for. */
  render(format?: Format): Promise<string>;
}

/** `process: true` adds prom-client's default metrics of this process (not in a replay, where they would say nothing). */
export function createPrometheusExporter(cells: Cells, options: { process: boolean }): PrometheusExporter {
  const own = new Registry();
  if (options.process) {
    collectDefaultMetrics({ register: own });
    for (const name of MISNAMED) own.removeSingleMetric(name);
  }
  const ofProcess = own.getMetricsAsArray() as unknown as Metric[];
  own.clear();
  let snapshot = new Map<Family, Sample[]>();
  for (const family of cells.families()) own.registerMetric(adapter(family, () => snapshot.get(family) ?? []));
  for (const metric of ofProcess) own.registerMetric(metric);
  const renderText = async (): Promise<string> => {
    snapshot = takeSnapshot(cells.families(), false);
    try {
      return await own.metrics();
    } finally {
      snapshot = new Map();
    }
  };
  let openMetrics: OpenMetrics | undefined;
  const renderers: Readonly<Record<Format, () => Promise<string>>> = {
    text: renderText,
    openmetrics() {
      // Built for the first that asks: most of the others never do.
      openMetrics ??= createOpenMetrics(cells, ofProcess);
      return openMetrics.render();
    },
  };
  const rendering = new Map<Format, Promise<string>>();
  return {
    async render(format = 'text') {
      // Scrapes that overlap get the same text.
      let text = rendering.get(format);
      if (text === undefined) {
        text = renderers[format]().finally(() => rendering.delete(format));
        rendering.set(format, text);
      }
      return text;
    },
  };
}
