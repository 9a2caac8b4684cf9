/**
 * The cells of one moment for a push, and what has been added since the last push that the backend took. Cells only grow, so a difference
 * is the whole truth of delta temporality; a push whose fate is unknown stays in the next difference. It sends nothing.
 */
import type { MetricKey, MetricSpec } from '../core/measures/catalog.ts';
import type { Cell, Family } from '../core/measures/cells.ts';
import { isOfProcess } from '../core/measures/cells-state.ts';
import { type Part, SLICE } from '../core/state.ts';
import type { IsHeld } from './samples.ts';

export interface NumberPoint {
  /** Label values, in the order of the catalog. */
  readonly values: readonly string[];
  /** Counter and gauge: the value. Histogram: the sum. */
  readonly value: number;
  readonly buckets: readonly number[] | null;
}

export interface NumberFamily {
  readonly key: MetricKey;
  readonly spec: MetricSpec;
  readonly points: readonly NumberPoint[];
}

/** All families of one moment; the points are copies. */
export type Numbers = readonly NumberFamily[];

const NEVER: IsHeld = () => false;

export function takeNumbers(families: Iterable<Family>, isHeld: IsHeld = NEVER): Numbers {
  return [...families].map((family) => {
    const point = (cell: Cell): NumberPoint => {
      const { values, buckets } = cell;
      if (isHeld(family, cell)) return { values, value: 0, buckets: buckets === null ? null : buckets.map(() => 0) };
      return { values, value: cell.value, buckets: buckets === null ? null : [...buckets] };
    };
    return { key: family.key, spec: family.spec, points: family.cells.map(point) };
  });
}

const SEPARATOR = '\n';
const seriesKey = (key: string, values: readonly string[]): string => [key, ...values].join(SEPARATOR);

interface Acknowledged {
  readonly value: number;
  readonly buckets: readonly number[] | null;
}

export interface Deltas {
  /** What these numbers hold beyond the acknowledged ones; gauges as they are. */
  since(numbers: Numbers): Numbers;
  /** The backend has them. `at`: when they were taken, Unix ms. */
  acknowledge(numbers: Numbers, at: number): void;
  /** Begin of the time that the next difference covers, Unix ms. */
  readonly sinceMs: number;
  /** The acknowledged numbers as a part of the state. */
  readonly part: Part;
}

const EMPTY: Acknowledged = { value: 0, buckets: null };

/** A number that is lower than the acknowledged one has started again: then all of it is new. */
function difference(point: NumberPoint, { value, buckets }: Acknowledged): NumberPoint {
  const before = (i: number): number => buckets?.[i] ?? 0;
  const hasStartedAgain = point.buckets?.some((count, i) => count < before(i)) ?? point.value < value;
  if (hasStartedAgain) return point;
  return {
    values: point.values,
    value: point.value - value,
    buckets: point.buckets?.map((count, i) => count - before(i)) ?? null,
  };
}

/** `from`: what counts as told already, where no acknowledged numbers are loaded. */
export function createDeltas(sinceMs: number, from: Numbers = []): Deltas {
  let acknowledged = new Map<string, Acknowledged>();
  let since = sinceMs;
  const take = (numbers: Numbers): Map<string, Acknowledged> => {
    const all = new Map<string, Acknowledged>();
    for (const { key, spec, points } of numbers)
      if (spec.kind !== 'gauge')
        for (const { values, value, buckets } of points) all.set(seriesKey(key, values), { value, buckets });
    return all;
  };
  acknowledged = take(from);
  return {
    since: (numbers) =>
      numbers.map((family) =>
        family.spec.kind === 'gauge'
          ? family
          : {
              ...family,
              points: family.points.map((point) =>
                difference(point, acknowledged.get(seriesKey(family.key, point.values)) ?? EMPTY),
              ),
            },
      ),
    acknowledge(numbers, at) {
      // Replaced as a whole: a record that is being written goes on with the one that it began with.
      acknowledged = take(numbers);
      since = at;
    },
    get sinceMs() {
      return since;
    },
    part: {
      *save() {
        // Both of one moment: an answer may come while the record is written.
        const told = acknowledged;
        yield since;
        let slice: [string, Acknowledged][] = [];
        for (const entry of told) {
          // Counters of the process begin at 0 with the next one.
          if (isOfProcess(entry[0])) continue;
          slice.push(entry);
          if (slice.length < SLICE) continue;
          yield slice;
          slice = [];
        }
        yield slice;
      },
      load([savedSince, ...slices]) {
        if (typeof savedSince !== 'number') return;
        since = savedSince;
        acknowledged = new Map((slices as [string, Acknowledged][][]).flat());
      },
    },
  };
}
