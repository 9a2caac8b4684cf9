/**
 * Cells as a part of the state: every counter and histogram with its exemplars, and the one gauge that only facts set. A family whose
 * labels or buckets are others now starts again at 0, whole: a series must never take over a number of another meaning.
 */
import { type Part, SLICE } from '../state.ts';
import type { MetricSpec } from './catalog.ts';
import type { Cell, Family } from './cells.ts';

/** What a gauge shows is found out again, except what a line that is past has told. */
const KEPT_GAUGES: readonly string[] = ['stream_regime'];

interface SavedFamily {
  readonly key: string;
  /** Names of the labels and bounds of the buckets. */
  readonly form: readonly (string | number)[];
  readonly cells: readonly (readonly [
    values: readonly string[],
    value: number,
    debut: number,
    buckets: Cell['buckets'],
    exemplars: Cell['exemplars'],
  ])[];
}

const formOf = ({ labels, buckets = [] }: MetricSpec): (string | number)[] => [
  ...labels.map(([name]) => name),
  ...buckets,
];
/** Counters of the checkpoints themselves move when one is written: they belong to the process. By the key of the metric. */
export const isOfProcess = (key: string): boolean => key.startsWith('checkpoint_');
const isKept = ({ key, spec }: Family): boolean =>
  spec.kind === 'gauge' ? KEPT_GAUGES.includes(key) : !isOfProcess(key);

export function createCellsPart(
  families: ReadonlyMap<string, Family>,
  cellOf: (family: Family, values: readonly string[]) => Cell,
): Part {
  return {
    *save(): Generator<SavedFamily> {
      for (const family of families.values()) {
        if (!isKept(family)) continue;
        const { key, spec, cells } = family;
        for (let i = 0; i < cells.length; i += SLICE) {
          const slice = cells.slice(i, i + SLICE);
          yield {
            key,
            form: formOf(spec),
            cells: slice.map(({ values, value, debut, buckets, exemplars }) => [
              values,
              value,
              debut,
              buckets,
              exemplars,
            ]),
          };
        }
      }
    },
    load(saved) {
      const order = new Map<Family, Cell[]>();
      for (const { key, form, cells } of saved as SavedFamily[]) {
        const family = families.get(key);
        if (family === undefined || !isKept(family) || formOf(family.spec).join() !== form.join()) continue;
        const loaded = order.get(family) ?? [];
        order.set(family, loaded);
        for (const [values, value, debut, buckets, exemplars] of cells) {
          const cell = cellOf(family, values);
          loaded.push(cell);
          cell.value = value;
          cell.debut = debut;
          cell.buckets?.splice(0, cell.buckets.length, ...(buckets ?? []));
          cell.exemplars?.splice(0, cell.exemplars.length, ...(exemplars ?? []));
        }
      }
      // In the order in which they were made, as if there had been no end between.
      for (const [family, loaded] of order) {
        const known = new Set(loaded);
        const others = family.cells.filter((cell) => !known.has(cell));
        family.cells.splice(0, family.cells.length, ...loaded, ...others);
      }
    },
  };
}
