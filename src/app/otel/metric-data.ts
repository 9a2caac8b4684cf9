/**
 * Numbers as the SDK's metric data: the MetricProducer's half that knows no backend. Totals since the counters began, or differences since
 * the last export; which of the two is decided by who calls. It must not count anything.
 */
import { type HrTime, ValueType } from '@opentelemetry/api';
import { metrics } from '@opentelemetry/sdk-node';
import { isOfProcess } from '../../core/measures/cells-state.ts';
import { OTEL_NAMES } from '../../exporters/otel-names.ts';
import type { NumberFamily, NumberPoint, Numbers } from '../../exporters/otel-numbers.ts';

const { AggregationTemporality, DataPointType } = metrics;

/** A number of Unix ms would be read as something else where it is small. */
export function hrTime(ms: number): HrTime {
  const at = Number.isFinite(ms) ? Math.max(0, ms) : 0;
  const seconds = Math.floor(at / 1000);
  return [seconds, Math.min(999_999_999, Math.round((at - seconds * 1000) * 1e6))];
}

export interface Period {
  readonly isDelta: boolean;
  /** Unix ms: when the counters began at 0, or the end of the period before. */
  readonly sinceMs: number;
  /** When this process began: its own counters did too. */
  readonly processSinceMs: number;
  readonly atMs: number;
}

/** The same objects each time: attributes never change. */
const attributeCache = new WeakMap<readonly string[], Record<string, string>>();

function attributesOf({ key }: NumberFamily, { values }: NumberPoint): Record<string, string> {
  let attributes = attributeCache.get(values);
  if (attributes === undefined) {
    const names = OTEL_NAMES[key].attributes;
    // An empty value is an absent label to Prometheus, and an absent attribute to the conventions.
    attributes = Object.fromEntries(
      names.flatMap((name, i) => (values[i] === '' ? [] : [[name, values[i] as string]])),
    );
    attributeCache.set(values, attributes);
  }
  return attributes;
}

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);

function metricData(family: NumberFamily, { isDelta, sinceMs, processSinceMs, atMs }: Period): metrics.MetricData {
  const { key, spec, points } = family;
  const { name, unit } = OTEL_NAMES[key];
  const times = { startTime: hrTime(!isDelta && isOfProcess(key) ? processSinceMs : sinceMs), endTime: hrTime(atMs) };
  const base = {
    descriptor: { name, unit, description: spec.help, valueType: ValueType.DOUBLE },
    aggregationTemporality: isDelta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
  };
  if (spec.buckets !== undefined) {
    const boundaries = [...spec.buckets];
    return {
      ...base,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: points.map((point) => {
        const counts = [...(point.buckets as readonly number[])];
        const value = { buckets: { boundaries, counts }, sum: point.value, count: sum(counts) };
        return { ...times, attributes: attributesOf(family, point), value };
      }),
    };
  }
  const dataPoints = points.map((point) => ({ ...times, attributes: attributesOf(family, point), value: point.value }));
  if (spec.kind === 'gauge') return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...base, dataPointType: DataPointType.SUM, dataPoints, isMonotonic: true };
}

/** Families without a series are left out. */
export const metricDataOf = (numbers: Numbers, period: Period): metrics.MetricData[] =>
  numbers.filter(({ points }) => points.length > 0).map((family) => metricData(family, period));
