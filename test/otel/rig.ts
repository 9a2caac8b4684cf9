/** OTLP out in this process: cells, the exposition and the exports of `tailfin run`, on a clock that the test drives, to a real receiver. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { mergeConfig } from '../../src/app/config-merge.ts';
import { createExposition, type Exposition } from '../../src/app/exposition.ts';
import type { Clock } from '../../src/app/otel/cycle.ts';
import { createOtel, type Otel, type OtelOptions } from '../../src/app/otel/otel.ts';
import { type OtelSettings, otelSettings } from '../../src/app/otel/settings.ts';
import { CATALOG, type MetricKey, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { type Cells, createCells } from '../../src/core/measures/cells.ts';
import { OTEL_NAMES } from '../../src/exporters/otel-names.ts';
import { createPrometheusExporter } from '../../src/exporters/prometheus.ts';
import { T0 } from '../support/build-event.ts';
import { type Exposition as Read, readExposition } from '../support/cli.ts';
import type { Point, Receiver } from '../support/otlp-receiver.ts';
import { prometheusLabel, prometheusName } from '../support/prometheus-otlp-names.ts';
import { until } from '../support/until.ts';

export interface DrivenClock extends Clock {
  /** Lets so much time pass; what is due is called, in its order. */
  pass(ms: number): void;
}

export function drivenClock(start = T0): DrivenClock {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        now = next.at;
        timers.delete(next);
        next.run();
      }
      now = end;
    },
  };
}

const KEYS = Object.keys(CATALOG) as MetricKey[];
type Move = (key: MetricKey, amount: number, values: readonly string[]) => void;

/** Moves every metric of the catalog, two series each where its labels allow. */
export function moveAll(cells: Cells, amount: number): void {
  for (const key of KEYS) {
    const { kind, labels } = CATALOG[key] as MetricSpec;
    for (const at of [0, -1]) {
      const values = labels.map(([label, domain]) =>
        typeof domain === 'string' ? `${label}${at}` : (domain.at(at) as string),
      );
      const add = { counter: cells.add, gauge: cells.set, histogram: cells.observe }[kind] as unknown as Move;
      add(key, amount, values);
    }
  }
}

export interface Rig {
  readonly cells: Cells;
  readonly clock: DrivenClock;
  readonly otel: Otel;
  readonly settings: OtelSettings;
  readonly exposition: Exposition;
  readonly said: string[];
  scrape(): Promise<Read>;
  /** One turn of every cycle; resolves when the receiver has had so many requests. */
  turn(requests?: number): Promise<void>;
}

export interface RigOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly cells?: Cells;
  readonly otel?: Partial<OtelOptions>;
  readonly clock?: DrivenClock;
}

export const MINUTE = 60_000;
export const SINCE = T0 - 1000;

/** Metrics alone unless the flags say otherwise. */
export function startRig(t: TestContext, receiver: Pick<Receiver, 'url' | 'received'>, options: RigOptions = {}): Rig {
  const { env = {}, clock = drivenClock(), cells = createCells() } = options;
  const config = mergeConfig({
    flags: { otelEndpoint: receiver.url, otelTraces: 'none', otelLogs: 'none', ...options.flags },
  });
  const settings = otelSettings(config, env);
  assert.ok(settings !== undefined);
  let otel: Otel | undefined;
  const exposition = createExposition({
    ...{ cells, exporter: createPrometheusExporter(cells, { process: false }), statuses: () => [] },
    ...{ checkpoint: undefined, start: 'none', holdMs: 0, now: clock.now, elapsed: clock.now, withNumbers: true },
    refresh: () => otel?.refresh(),
  });
  const said: string[] = [];
  otel = createOtel({
    ...{ settings, cells, exposition, since: SINCE, isRestored: false, saved: [], commitSoon: undefined, env, clock },
    ...{ address: '127.0.0.1:19640', say: (level, message) => said.push(`${level} ${message}`) },
    ...options.otel,
  });
  const own = otel;
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (!isClosed) await own.close();
    isClosed = true;
  };
  t.after(close);
  return {
    ...{ cells, clock, otel: { ...own, close }, settings, exposition, said },
    async scrape() {
      const answer = await exposition.scrape('text');
      assert.ok('text' in answer);
      return readExposition(answer.text);
    },
    async turn(requests = 1) {
      const before = receiver.received.length;
      clock.pass(MINUTE);
      await until(() => receiver.received.length >= before + requests, { timeoutMs: 30_000, what: 'an export' });
      // The answer is read, and counted, in turns of its own.
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Series by the names that Prometheus would give them, as `/metrics` writes them: name, sorted labels. */
export function seriesOf(points: readonly Point[]): Map<string, number> {
  const series = new Map<string, number>();
  const byName = new Map(KEYS.map((key) => [OTEL_NAMES[key].name, CATALOG[key] as MetricSpec]));
  const put = (name: string, labels: Readonly<Record<string, string>>, value: number): void => {
    const key = JSON.stringify([
      name,
      Object.entries(labels)
        .filter(([, each]) => each !== '')
        .sort(),
    ]);
    assert.ok(!series.has(key), `twice: ${key}`);
    series.set(key, value);
  };
  for (const { metric, unit, kind, attributes, value, bounds, counts } of points) {
    assert.ok(byName.has(metric), `${metric} is in the catalog`);
    const name = prometheusName(metric, unit, kind === 'sum' ? 'counter' : kind);
    const labels = Object.fromEntries(
      Object.entries(attributes).map(([key, each]) => [prometheusLabel(key), String(each)]),
    );
    if (kind !== 'histogram') {
      put(name, labels, value);
      continue;
    }
    let cumulative = 0;
    for (const [i, count] of counts.entries()) {
      cumulative += count;
      put(`${name}_bucket`, { ...labels, le: i < bounds.length ? String(bounds[i]) : '+Inf' }, cumulative);
    }
    put(`${name}_sum`, labels, value);
    put(`${name}_count`, labels, cumulative);
  }
  return series;
}

export const scrapedSeries = ({ samples }: Read): Map<string, number> =>
  new Map(
    samples.map(({ name, labels, value }) => [
      JSON.stringify([
        name,
        Object.entries(labels)
          .filter(([, each]) => each !== '')
          .sort(),
      ]),
      value,
    ]),
  );
