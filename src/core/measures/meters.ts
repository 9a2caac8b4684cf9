/**
 * The counters that every exchange and every operation moves, kept per server: a walk through nested label maps for each of them
 * would cost as much as the verdict. What is not here goes through `cells.add`.
 */
import type { OperationFact } from '../model/operation.ts';
import { ERROR_TYPES, RESULTS } from '../model/operation.ts';
import { type JudgedKind, type Outcome, STREAMS, type Verdict } from '../model/verdict.ts';
import { METHODS, methodLabel } from '../protocol/methods.ts';
import { VERSIONS, type Version } from '../protocol/revisions.ts';
import type { LabelBudget } from './budget.ts';
import { CATALOG, type LabelValues, type MetricKey } from './catalog.ts';
import { type Cell, type Cells, observeIn } from './cells.ts';

type Cached = Map<number, Cell>;

export interface ServerMeters {
  /** The `server` label. */
  readonly label: string;
  close(version: Version, kind: JudgedKind, verdict: Verdict, bytes: number | null): void;
  endpoint(endpoint: string | null, outcome: Outcome): void;
  operation(fact: OperationFact): void;
}

export function createServerMeters(label: string, cells: Cells, budget: LabelBudget): ServerMeters {
  const closes: Cached = new Map();
  const bytesBy = new Map<Outcome, Cell>();
  const endpoints = new Map<string, Map<Outcome, Cell>>();
  const operations: Cached = new Map();
  const durations: Cached = new Map();

  /** The kept cell under a number that stands for the label values; past the series cap nothing is kept. */
  const cached = <K extends MetricKey, I>(
    kept: Map<I, Cell>,
    id: I,
    key: K,
    values: () => LabelValues<K>,
  ): Cell | null => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const cell = cells.cell(key, values());
    if (cell !== null) kept.set(id, cell);
    return cell;
  };

  return {
    label,
    close(version, kind, verdict, bytes) {
      const { id, outcome, regime, cause, cut } = verdict;
      const number = (id * STREAMS.length + STREAMS.indexOf(kind)) * VERSIONS.length + VERSIONS.indexOf(version);
      const values = (): LabelValues<'stream_closes'> => [label, version, kind, outcome, regime, cause, cut];
      const cell = cached(closes, number, 'stream_closes', values);
      if (cell !== null) cell.value++;
      else cells.add('stream_closes', 1, values());
      if (bytes === null) return;
      const size = cached(bytesBy, outcome, 'stream_bytes', () => [label, outcome]);
      if (size !== null) observeIn(size, CATALOG.stream_bytes.buckets, bytes);
      else cells.observe('stream_bytes', bytes, [label, outcome]);
    },
    endpoint(endpoint, outcome) {
      const name = endpoint ?? '';
      let kept = endpoints.get(name);
      if (kept === undefined) {
        const known = budget.endpoint(label, endpoint);
        // Only names within the budget are remembered, so that this stays as small as the label set.
        if (endpoint !== null && known !== endpoint) {
          cells.add('endpoint_closes', 1, [label, known, outcome]);
          return;
        }
        kept = new Map();
        endpoints.set(name, kept);
      }
      const values = (): LabelValues<'endpoint_closes'> => [label, endpoint ?? 'unknown', outcome];
      const cell = cached(kept, outcome, 'endpoint_closes', values);
      if (cell !== null) cell.value++;
      else cells.add('endpoint_closes', 1, values());
    },
    operation({ operation, result, errorType, durationMs }) {
      const { version } = operation;
      const method = methodLabel(operation.method);
      const base = METHODS.indexOf(method) * VERSIONS.length + VERSIONS.indexOf(version);
      const values = (): LabelValues<'operations'> => [label, version, method, result];
      const cell = cached(operations, base * RESULTS.length + RESULTS.indexOf(result), 'operations', values);
      if (cell !== null) cell.value++;
      else cells.add('operations', 1, values());
      if (durationMs === null) return;
      const timed = (): LabelValues<'operation_duration'> => [method, version, errorType, label];
      const number = base * ERROR_TYPES.length + ERROR_TYPES.indexOf(errorType);
      const duration = cached(durations, number, 'operation_duration', timed);
      if (duration !== null) observeIn(duration, CATALOG.operation_duration.buckets, durationMs / 1000);
      else cells.observe('operation_duration', durationMs / 1000, timed());
    },
  };
}
