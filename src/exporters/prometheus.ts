/**
 * Our cells as Prometheus text 0.0.4 and as OpenMetrics 1.0.0 (openmetrics.ts), each from a prom-client registry of its own: one
 * registry cannot serve both. prom-client renders; it never holds a number of ours, because its own counters cannot be restored,
 * re-hash every label set on each touch, and double on concurrent async collection (docs/decisions/0003-own-cells.md).
 */
import { type Metric, Registry } from 'prom-client';
import type { Cells, Family } from '../core/measures/cells.ts';
import type { Format } from './negotiate.ts';
import { createOpenMetrics, type OpenMetrics } from './openmetrics.ts';
import { processMetrics } from './process-metrics.ts';
import { type IsHeld, type Sample, type Snapshot, takeSnapshot } from './samples.ts';

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

/** All numbers of one moment, in whatever format somebody asks for. */
export interface Shot {
  render(format: Format): Promise<string>;
}

export interface PrometheusExporter {
  /** The cells as they are now; series that are held are shown as 0. */
  take(isHeld?: IsHeld): Shot;
  /** The exposition of the cells as they are now; text unless OpenMetrics is asked for. */
  render(format?: Format): Promise<string>;
}

const withoutExemplars = (samples: readonly Sample[]): Sample[] =>
  samples.map((sample) => (sample.exemplar === undefined ? sample : { ...sample, exemplar: undefined }));

export interface PrometheusOptions {
  /** Adds metrics of this process (process-metrics.ts; not in a replay, where they would say nothing). */
  readonly process: boolean;
  /** Called and awaited between two families: a rendering of 10,000 series takes longer than others should wait. */
  readonly turn?: () => Promise<void> | undefined;
}

export function createPrometheusExporter(cells: Cells, options: PrometheusOptions): PrometheusExporter {
  const { turn: pause = () => undefined } = options;
  const own = new Registry();
  const ofProcess = options.process ? processMetrics() : [];
  let snapshot: Snapshot = new Map();
  for (const family of cells.families())
    own.registerMetric(adapter(family, () => withoutExemplars(snapshot.get(family) ?? [])));
  for (const metric of ofProcess) own.registerMetric(metric);
  const names = own.getMetricsAsArray().map(({ name }) => name);
  let openMetrics: OpenMetrics | undefined;
  const renderers: Readonly<Record<Format, (shot: Snapshot) => Promise<string>>> = {
    async text(shot) {
      snapshot = shot;
      try {
        const texts: string[] = [];
        for (const name of names) {
          texts.push(await own.getSingleMetricAsString(name));
          await pause();
        }
        return `${texts.join('\n\n')}\n`;
      } finally {
        snapshot = new Map();
      }
    },
    openmetrics(shot) {
      // Built for the first that asks: most of the others never do.
      openMetrics ??= createOpenMetrics(cells, ofProcess, pause);
      return openMetrics.render(shot);
    },
  };
  /** The registries hold one snapshot at a time. */
  let turn: Promise<unknown> = Promise.resolve();
  const take = (isHeld?: IsHeld): Shot => {
    const shot = takeSnapshot(cells.families(), isHeld);
    const texts = new Map<Format, Promise<string>>();
    return {
      async render(format) {
        let text = texts.get(format);
        if (text === undefined) {
          text = turn.then(() => renderers[format](shot));
          turn = text.catch(() => {});
          texts.set(format, text);
        }
        return text;
      },
    };
  };
  const rendering = new Map<Format, Promise<string>>();
  return {
    take,
    async render(format = 'text') {
      // Scrapes that overlap get the same text.
      let text = rendering.get(format);
      if (text === undefined) {
        text = take()
          .render(format)
          .finally(() => rendering.delete(format));
        rendering.set(format, text);
      }
      return text;
    },
  };
}
