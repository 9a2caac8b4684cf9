/**
 * The numbers: one cell per metric and label set, found by walking nested maps (a tenth of the cost of a client library's
 * label hashing, measured). Counters only grow. Past the series cap a sample goes to the `_other` server, so totals stay exact.
 */
import { LIMITS } from '../model/limits.ts';
import type { Part } from '../state.ts';
import { CATALOG, type LabelValues, type MetricKey, type MetricSpec } from './catalog.ts';
import { createCellsPart } from './cells-state.ts';
import { OTHER, SERVER } from './domains.ts';
import { type Exemplars, keepExemplar, placesFor } from './exemplars.ts';

export interface Cell {
  readonly values: readonly string[];
  /** Counter and gauge: the value. Histogram: the sum. */
  value: number;
  /** Histogram: observations per bucket (not cumulative, the last one is +Inf). */
  readonly buckets: number[] | null;
  /** null: the catalog says that this series shows none. */
  readonly exemplars: Exemplars | null;
  /**
   * How far it has come in being shown (exporters/debut.ts): NEW, then the wall clock (Unix ms) at which it was first served, as 0;
   * SHOWN for good.
   */
  debut: number;
}

export const NEW = 0;
export const SHOWN = -1;

type Node = Map<string, Node | Cell>;
/** Where the one cell of a family without labels stands. */
const ALONE = '';

export interface Family {
  readonly key: MetricKey;
  readonly spec: MetricSpec;
  readonly cells: Cell[];
  readonly root: Node;
}

export interface Cells {
  /**
   * Adds to a counter. Negative and non-finite amounts are programming errors. `traceparent` and `ts` say where the sample came
   * from; they are kept where the catalog says so.
   */
  add<K extends MetricKey>(
    key: K,
    amount: number,
    values: LabelValues<K>,
    traceparent?: string | null,
    ts?: number,
  ): void;
  /** Sets a gauge. */
  set<K extends MetricKey>(key: K, value: number, values: LabelValues<K>): void;
  /** One observation of a histogram. */
  observe<K extends MetricKey>(
    key: K,
    value: number,
    values: LabelValues<K>,
    traceparent?: string | null,
    ts?: number,
  ): void;
  /**
   * The cell itself, for the counters that every exchange moves: whoever keeps it saves the walk. null: past the series cap, where
   * every sample is counted as overflow; use `add` or `observe`.
   */
  cell<K extends MetricKey>(key: K, values: LabelValues<K>): Cell | null;
  /** Makes the series exist, at 0. */
  touch<K extends MetricKey>(key: K, values: LabelValues<K>): void;
  /** Drops all series of a gauge whose label sets come and go. */
  clear(key: MetricKey): void;
  families(): Iterable<Family>;
  /** All of them as a part of the state. */
  readonly part: Part;
  readonly series: number;
}

/** One sample in a counter cell. */
export function addIn(cell: Cell, amount: number, traceparent: string | null, ts: number): void {
  cell.value += amount;
  if (traceparent !== null && cell.exemplars !== null) keepExemplar(cell.exemplars, 0, traceparent, amount, ts);
}

/** One observation in a histogram cell. */
export function observeIn(
  cell: Cell,
  bounds: readonly number[],
  value: number,
  traceparent: string | null,
  ts: number,
): void {
  const buckets = cell.buckets as number[];
  let i = 0;
  while (i < bounds.length && value > (bounds[i] as number)) i++;
  buckets[i] = (buckets[i] as number) + 1;
  cell.value += value;
  if (traceparent !== null && cell.exemplars !== null) keepExemplar(cell.exemplars, i, traceparent, value, ts);
}

export function createCells(cap: number = LIMITS.series): Cells {
  const families = new Map<MetricKey, Family>();
  for (const key of Object.keys(CATALOG) as MetricKey[])
    families.set(key, { key, spec: CATALOG[key], cells: [], root: new Map() });
  let series = 0;

  const find = (family: Family, values: readonly string[]): Cell | undefined => {
    let node: Node | Cell | undefined = family.root;
    if (values.length === 0) return family.root.get(ALONE) as Cell | undefined;
    for (let i = 0; i < values.length && node !== undefined; i++) node = (node as Node).get(values[i] as string);
    return node as Cell | undefined;
  };

  const create = (family: Family, values: readonly string[]): Cell => {
    const { buckets } = family.spec;
    const cell: Cell = {
      values: [...values],
      value: 0,
      buckets: buckets === undefined ? null : new Array<number>(buckets.length + 1).fill(0),
      exemplars: placesFor(family.spec, values),
      debut: NEW,
    };
    let node = family.root;
    for (let i = 0; i < values.length - 1; i++) {
      const value = values[i] as string;
      let next = node.get(value) as Node | undefined;
      if (next === undefined) {
        next = new Map();
        node.set(value, next);
      }
      node = next;
    }
    node.set(values.at(-1) ?? ALONE, cell);
    family.cells.push(cell);
    series += buckets === undefined ? 1 : buckets.length + 3;
    return cell;
  };

  /** The cell of a label set; past the cap that of the `_other` server, whose label sets are closed. */
  const cellOf = (key: MetricKey, values: readonly string[]): Cell => {
    const family = families.get(key) as Family;
    const known = find(family, values);
    if (known !== undefined) return known;
    const at = family.spec.labels.findIndex(([, domain]) => domain === SERVER);
    if (series < cap || at < 0 || values[at] === OTHER) return create(family, values);
    cellOf('label_overflow', ['series']).value++;
    const folded = [...values];
    for (const [i, [, domain]] of family.spec.labels.entries()) if (typeof domain === 'string') folded[i] = OTHER;
    return find(family, folded) ?? create(family, folded);
  };

  return {
    add(key, amount, values, traceparent = null, ts = 0) {
      addIn(cellOf(key, values), amount, traceparent, ts);
    },
    set(key, value, values) {
      cellOf(key, values).value = value;
    },
    observe(key, value, values, traceparent = null, ts = 0) {
      const { buckets = [] } = CATALOG[key as MetricKey] as MetricSpec;
      observeIn(cellOf(key, values), buckets, value, traceparent, ts);
    },
    cell(key, values) {
      return series < cap ? cellOf(key, values) : null;
    },
    touch(key, values) {
      // A series that says 0 is no sample: past the cap it is left out, and nothing is counted as overflow.
      if (series < cap) cellOf(key, values);
    },
    clear(key) {
      const family = families.get(key) as Family;
      series -= family.cells.length;
      family.cells.length = 0;
      family.root.clear();
    },
    families: () => families.values(),
    part: createCellsPart(families, (family, values) => find(family, values) ?? create(family, values)),
    get series() {
      return series;
    },
  };
}
