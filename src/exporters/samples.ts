/** Our cells as the samples that prom-client renders. They are copies of one moment; prom-client never holds a number of ours. */
import type { Cell, Family } from '../core/measures/cells.ts';
import type { Exemplar } from '../core/measures/exemplars.ts';
import { spanIdOf, traceIdOf } from '../core/protocol/traceparent.ts';

/** As prom-client takes it. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
  readonly exemplar?: ExemplarSample | undefined;
}

interface ExemplarSample {
  /** 63 characters with their names; OpenMetrics allows 128, and prom-client breaks the whole exposition past that. */
  readonly labelSet: { readonly trace_id: string; readonly span_id: string };
  readonly value: number;
  /** Unix seconds. */
  readonly timestamp: number;
}

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

const exemplarSample = (exemplar: Exemplar | undefined): ExemplarSample | undefined =>
  exemplar && {
    labelSet: { trace_id: traceIdOf(exemplar.traceparent), span_id: spanIdOf(exemplar.traceparent) },
    value: exemplar.value,
    timestamp: exemplar.ts / 1000,
  };

function* histogramSamples(
  { spec: { name, buckets: bounds = [] } }: Family,
  cell: Cell,
  labels: Record<string, string>,
  withExemplars: boolean,
): Generator<Sample> {
  let cumulative = 0;
  const buckets = cell.buckets as number[];
  const metricName = `${name}_bucket`;
  for (let i = 0; i <= bounds.length; i++) {
    cumulative += buckets[i] as number;
    const sample = { labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: cumulative, metricName };
    const exemplar = withExemplars ? exemplarSample(cell.exemplars?.[i]) : undefined;
    yield exemplar === undefined ? sample : { ...sample, exemplar };
  }
  yield { labels, value: cell.value, metricName: `${name}_sum` };
  yield { labels, value: cumulative, metricName: `${name}_count` };
}

/** Is this series still shown as 0 (debut.ts)? */
export type IsHeld = (family: Family, cell: Cell) => boolean;
const NEVER: IsHeld = () => false;
const atZero = (cell: Cell): Cell => ({
  ...cell,
  value: 0,
  buckets: cell.buckets === null ? null : cell.buckets.map(() => 0),
  exemplars: null,
});

/** All samples of a family as they are now. */
export function samplesOf(family: Family, withExemplars: boolean, isHeld: IsHeld = NEVER): Sample[] {
  const { spec, cells } = family;
  const names = spec.labels.map(([name]) => name);
  const shown = (cell: Cell): Cell => (isHeld(family, cell) ? atZero(cell) : cell);
  if (spec.buckets !== undefined)
    return cells.flatMap((cell) => [...histogramSamples(family, shown(cell), labelsOf(cell, names), withExemplars)]);
  return cells.map((each) => {
    const cell = shown(each);
    const sample = { labels: labelsOf(each, names), value: cell.value };
    const exemplar = withExemplars ? exemplarSample(cell.exemplars?.[0]) : undefined;
    return exemplar === undefined ? sample : { ...sample, exemplar };
  });
}

export type Snapshot = ReadonlyMap<Family, Sample[]>;

/** The samples of all families, taken in one go: an exposition must not show an operation in one family and not yet in the next. */
export function takeSnapshot(families: Iterable<Family>, withExemplars: boolean, isHeld: IsHeld = NEVER): Snapshot {
  return new Map([...families].map((family) => [family, samplesOf(family, withExemplars, isHeld)]));
}
