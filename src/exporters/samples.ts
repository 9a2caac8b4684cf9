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

/** A cell as it was: what it takes at the moment is little, and most snapshots are never rendered. */
interface Frozen {
  /** For its labels, which do not change. */
  readonly cell: Cell;
  readonly value: number;
  readonly buckets: readonly number[] | null;
  readonly exemplars: readonly (Exemplar | undefined)[] | null;
}

function* histogramSamples(
  { spec: { name, buckets: bounds = [] } }: Family,
  { value, buckets, exemplars }: Frozen,
  labels: Record<string, string>,
): Generator<Sample> {
  let cumulative = 0;
  const metricName = `${name}_bucket`;
  for (let i = 0; i <= bounds.length; i++) {
    cumulative += buckets?.[i] ?? 0;
    const sample = { labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: cumulative, metricName };
    const exemplar = exemplarSample(exemplars?.[i]);
    yield exemplar === undefined ? sample : { ...sample, exemplar };
  }
  yield { labels, value, metricName: `${name}_sum` };
  yield { labels, value: cumulative, metricName: `${name}_count` };
}

/** Is this series still shown as 0 (debut.ts)? */
export type IsHeld = (family: Family, cell: Cell) => boolean;
const NEVER: IsHeld = () => false;

function freeze(cell: Cell, isHeld: boolean): Frozen {
  const { value, buckets, exemplars } = cell;
  if (isHeld) return { cell, value: 0, buckets: buckets === null ? null : buckets.map(() => 0), exemplars: null };
  return {
    ...{ cell, value, buckets: buckets === null ? null : buckets.slice() },
    // Those that are kept change in place.
    exemplars: exemplars === null ? null : exemplars.map((each) => each && { ...each }),
  };
}

function samplesOf(family: Family, all: readonly Frozen[]): Sample[] {
  const { spec } = family;
  const names = spec.labels.map(([name]) => name);
  if (spec.buckets !== undefined)
    return all.flatMap((each) => [...histogramSamples(family, each, labelsOf(each.cell, names))]);
  return all.map(({ cell, value, exemplars }) => {
    const sample = { labels: labelsOf(cell, names), value };
    const exemplar = exemplarSample(exemplars?.[0]);
    return exemplar === undefined ? sample : { ...sample, exemplar };
  });
}

/** The samples of one moment, made for each family when it is rendered. */
export interface Snapshot {
  get(family: Family): Sample[] | undefined;
}

/** All families, taken in one go: an exposition must not show an operation in one family and not yet in the next. */
export function takeSnapshot(families: Iterable<Family>, isHeld: IsHeld = NEVER): Snapshot {
  const taken = new Map<Family, readonly Frozen[]>();
  for (const family of families)
    taken.set(
      family,
      family.cells.map((cell) => freeze(cell, isHeld(family, cell))),
    );
  return {
    get(family) {
      const all = taken.get(family);
      return all && samplesOf(family, all);
    },
  };
}
