/**
 * The counters that every exchange and every operation moves, kept per server in arrays by small numbers: a walk through nested
 * label maps for each of them would cost as much as the verdict. What is not here goes through `cells.add`.
 */
import type { OperationFact } from '../model/operation.ts';
import { ERROR_TYPES, RESULTS } from '../model/operation.ts';
import { type JudgedKind, OUTCOMES, type Outcome, STREAMS, type Verdict } from '../model/verdict.ts';
import { CALL, METHODS, type Method } from '../protocol/methods.ts';
import type { Version } from '../protocol/revisions.ts';
import type { LabelBudget } from './budget.ts';
import { CATALOG, type LabelValues, type MetricKey } from './catalog.ts';
import { addIn, type Cell, type Cells, observeIn } from './cells.ts';

type Kept = (Cell | undefined)[];

interface VersionMeters {
  readonly version: Version;
  /** By verdict and stream. */
  readonly closes: Kept;
  /** By method and result. */
  readonly operations: Kept;
  /** By method and error type. */
  readonly durations: Kept;
}

export interface ServerMeters {
  /** The `server` label. */
  readonly label: string;
  /** `trace` and `ts`: where the sample came from, for an exemplar. */
  close(
    version: Version,
    kind: JudgedKind,
    verdict: Verdict,
    bytes: number | null,
    trace: string | null,
    ts: number,
  ): void;
  endpoint(endpoint: string | null, outcome: Outcome): void;
  operation(fact: OperationFact): void;
}

const METHOD_NUMBERS: ReadonlyMap<string | null, number> = new Map(METHODS.map((method, i) => [method, i]));
const CALL_METHOD = METHODS.indexOf(CALL);
const OTHER_METHOD = METHODS.indexOf('_other');
/** The first word of each list is what nearly every sample has. */
const numberOf = <T>(words: readonly T[], word: T): number => (words[0] === word ? 0 : words.indexOf(word));

export function createServerMeters(label: string, cells: Cells, budget: LabelBudget): ServerMeters {
  /** The two or three that a server is spoken to in. */
  const versions: VersionMeters[] = [];
  const bytesBy: Kept = [];
  const endpoints = new Map<string, Kept>();

  const metersOf = (version: Version): VersionMeters => {
    for (let i = 0; i < versions.length; i++)
      if ((versions[i] as VersionMeters).version === version) return versions[i] as VersionMeters;
    const fresh: VersionMeters = { version, closes: [], operations: [], durations: [] };
    versions.push(fresh);
    return fresh;
  };

  /** Keeps the cell under a number that stands for the label values; past the series cap nothing is kept. */
  const keep = <K extends MetricKey>(kept: Kept, n: number, key: K, values: LabelValues<K>): Cell | null => {
    const cell = cells.cell(key, values);
    if (cell === null) return null;
    // No holes: their look-up would leave the array.
    while (kept.length <= n) kept.push(undefined);
    kept[n] = cell;
    return cell;
  };
  const count = <K extends MetricKey>(
    kept: Kept,
    n: number,
    key: K,
    values: LabelValues<K>,
    trace: string | null = null,
    ts = 0,
  ): void => {
    const cell = keep(kept, n, key, values);
    if (cell !== null) addIn(cell, 1, trace, ts);
    else cells.add(key, 1, values, trace, ts);
  };
  const observe = <K extends 'stream_bytes' | 'operation_duration'>(
    kept: Kept,
    n: number,
    key: K,
    values: LabelValues<K>,
    value: number,
    trace: string | null,
    ts: number,
  ): void => {
    const cell = keep(kept, n, key, values);
    if (cell !== null) observeIn(cell, CATALOG[key].buckets, value, trace, ts);
    else cells.observe(key, value, values, trace, ts);
  };
  const keptAt = (kept: Kept, n: number): Cell | undefined => (n < kept.length ? kept[n] : undefined);

  return {
    label,
    close(version, kind, verdict, bytes, trace, ts) {
      const { outcome } = verdict;
      const { closes } = metersOf(version);
      const number = verdict.id * STREAMS.length + numberOf(STREAMS, kind);
      const cell = keptAt(closes, number);
      if (cell !== undefined) addIn(cell, 1, trace, ts);
      else {
        const { regime, cause, cut } = verdict;
        count(closes, number, 'stream_closes', [label, version, kind, outcome, regime, cause, cut], trace, ts);
      }
      if (bytes === null) return;
      const ended = numberOf(OUTCOMES, outcome);
      const size = keptAt(bytesBy, ended);
      if (size !== undefined) observeIn(size, CATALOG.stream_bytes.buckets, bytes, trace, ts);
      else observe(bytesBy, ended, 'stream_bytes', [label, outcome], bytes, trace, ts);
    },
    endpoint(endpoint, outcome) {
      let kept = endpoints.get(endpoint ?? '');
      if (kept === undefined) {
        const known = budget.endpoint(label, endpoint);
        // Only names within the budget are remembered, so that this stays as small as the label set.
        if (endpoint !== null && known !== endpoint) {
          cells.add('endpoint_closes', 1, [label, known, outcome]);
          return;
        }
        kept = [];
        endpoints.set(endpoint ?? '', kept);
      }
      const number = numberOf(OUTCOMES, outcome);
      const cell = keptAt(kept, number);
      if (cell !== undefined) cell.value++;
      else count(kept, number, 'endpoint_closes', [label, endpoint ?? 'unknown', outcome]);
    },
    operation({ version, method: name, result, errorType, durationMs, trace, ts }) {
      const { operations, durations } = metersOf(version);
      const method = name === CALL ? CALL_METHOD : (METHOD_NUMBERS.get(name) ?? OTHER_METHOD);
      const number = method * RESULTS.length + numberOf(RESULTS, result);
      const cell = keptAt(operations, number);
      if (cell !== undefined) addIn(cell, 1, trace, ts);
      else count(operations, number, 'operations', [label, version, METHODS[method] as Method, result], trace, ts);
      if (durationMs === null) return;
      const timed = method * ERROR_TYPES.length + numberOf(ERROR_TYPES, errorType);
      const duration = keptAt(durations, timed);
      if (duration !== undefined) observeIn(duration, CATALOG.operation_duration.buckets, durationMs / 1000, trace, ts);
      else {
        const values = [METHODS[method] as Method, version, errorType, label] as const;
        observe(durations, timed, 'operation_duration', values, durationMs / 1000, trace, ts);
      }
    },
  };
}
