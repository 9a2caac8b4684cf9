/**
 * The three signals as numbers: what Tailfin says (from its records and counters), and beside it what the gateway did (from its
 * log alone). Pure; the report prints these and decides nothing.
 */
import { FAULTS } from './faults.ts';
import type { GatewayEntry } from './gateway.ts';
import { type Sample, sum } from './prom-text.ts';
import type { VerdictRecord } from './verdict-check.ts';

export interface OperationRecord {
  readonly record: 'operation';
  readonly method: string | null;
  readonly target: string | null;
  readonly result: string;
}

/** The same count from two independent sides. */
export interface Count {
  readonly tailfin: number;
  readonly gateway: number;
}

export interface SizeClass {
  readonly name: string;
  readonly answers: number;
  readonly failed: Count;
}

export interface Signals {
  readonly operations: number;
  readonly surfaced: Count;
  readonly hidden: number;
  readonly ambiguous: Count;
  readonly ambiguousMid: Count;
  readonly masked: Count;
  readonly maskedUnsafe: Count;
  readonly parseFailures: Count;
  /** By the bytes that reached the parser: of a cut answer, fewer than it should have had. */
  readonly sizeClasses: readonly SizeClass[];
  /** By the length that the answers should have had, from the gateway's log alone. */
  readonly fullLengths: readonly { readonly name: string; readonly answers: number; readonly broken: number }[];
  /** Correlation of length and failure, and its z score: the statistic of design section 7. */
  readonly trend: { readonly r: number; readonly z: number; readonly samples: number };
}

const KIB = 1024;
const SIZE_CLASSES = [
  ['<1KiB', KIB],
  ['1-4KiB', 4 * KIB],
  ['4-8KiB', 8 * KIB],
  ['8-16KiB', 16 * KIB],
  ['16-32KiB', 32 * KIB],
  ['32-64KiB', 64 * KIB],
  ['64-128KiB', 128 * KIB],
  ['128KiB-1MiB', KIB * KIB],
  ['>=1MiB', Number.POSITIVE_INFINITY],
] as const;

const BANDS = [
  ['below 16 KiB', 0, 16 * KIB],
  ['16 to 128 KiB', 16 * KIB, 128 * KIB],
  ['longer', 128 * KIB, Number.POSITIVE_INFINITY],
] as const;

export function measureSignals(
  records: readonly (VerdictRecord | OperationRecord)[],
  samples: readonly Sample[],
  log: readonly GatewayEntry[],
): Signals {
  const verdicts = records.filter((record) => record.record === 'verdict');
  const operations = records.filter((record) => record.record === 'operation');
  const ambiguous = verdicts.filter(({ outcome }) => outcome === 'ambiguous');
  const injected = (fault: GatewayEntry['fault']) => log.filter((entry) => entry.fault === fault).length;
  const calls = groupCalls(log);
  const rescued = calls.filter((attempts) => attempts.length > 1 && delivered(attempts.at(-1)));
  const parseFailures = log.flatMap((entry) => parseFailureBytes(entry) ?? []);
  const sizeClasses = SIZE_CLASSES.map(([name, upTo], index) => {
    const from = SIZE_CLASSES[index - 1]?.[1] ?? 0;
    const labels = { of: 'message', size_class: name };
    const ok = sum(samples, 'tailfin_parse_attempts_total', { ...labels, result: 'ok' });
    const answers = sum(samples, 'tailfin_parse_attempts_total', labels);
    const gateway = parseFailures.filter((bytes) => bytes >= from && bytes < upTo).length;
    return { name, answers, failed: { tailfin: answers - ok, gateway } };
  });
  return {
    operations: operations.length,
    surfaced: {
      tailfin: operations.filter(({ result }) => result === 'surfaced').length,
      gateway: calls.filter((attempts) => !delivered(attempts.at(-1))).length,
    },
    hidden: operations.filter(({ result }) => result.startsWith('masked') || result === 'unproven').length,
    ambiguous: { tailfin: ambiguous.length, gateway: injected('cut_boundary') + injected('cut_mid_event') },
    ambiguousMid: { tailfin: ambiguous.filter(({ cut }) => cut === 'mid').length, gateway: injected('cut_mid_event') },
    masked: {
      tailfin: operations.filter(({ result }) => result === 'masked_rotated').length,
      gateway: rescued.length,
    },
    maskedUnsafe: {
      tailfin: sum(samples, 'tailfin_retries_total', { safety: 'unsafe', endpoint: 'rotated', outcome: 'delivered' }),
      gateway: rescued.filter(([first]) => first?.tool === 'place_order').length,
    },
    parseFailures: {
      tailfin: sizeClasses.reduce((total, { failed }) => total + failed.tailfin, 0),
      gateway: parseFailures.length,
    },
    sizeClasses: sizeClasses.filter(({ answers, failed }) => answers + failed.gateway > 0),
    fullLengths: BANDS.map(([name, from, upTo]) => {
      const answers = log.filter(({ json, fullBytes }) => json && fullBytes >= from && fullBytes < upTo);
      return { name, answers: answers.length, broken: answers.filter(({ fault }) => fault !== 'pass').length };
    }),
    trend: lengthTrend(samples),
  };
}

const delivered = (entry: GatewayEntry | undefined): boolean => entry !== undefined && FAULTS[entry.fault].delivered;

/** The attempts of each logical call, in order. */
function groupCalls(log: readonly GatewayEntry[]): GatewayEntry[][] {
  const calls = new Map<string, GatewayEntry[]>();
  for (const entry of log) calls.set(entry.call, [...(calls.get(entry.call) ?? []), entry]);
  return [...calls.values()];
}

/** How many bytes of a broken answer reached the parser; undefined where no answer had begun. */
function parseFailureBytes({ fault, json, bytes }: GatewayEntry): number | undefined {
  if (fault === 'cut_mid_event') return 0;
  return fault === 'cut_json' || (fault === 'reset' && json) ? bytes : undefined;
}

/** Pearson's r between log2(length) and failure, and z = r * sqrt(n), from the additive counters alone. */
function lengthTrend(samples: readonly Sample[]): Signals['trend'] {
  const total = (name: string, result?: string) =>
    sum(samples, `tailfin_length_trend_${name}_total`, { of: 'message', ...(result === undefined ? {} : { result }) });
  const n = total('samples');
  const failed = total('samples', 'failed');
  const sumX = total('log2_bytes');
  const covariance = total('log2_bytes', 'failed') - (sumX * failed) / n;
  const spread = (total('log2_bytes_squared') - sumX ** 2 / n) * (failed - failed ** 2 / n);
  const r = spread > 0 ? covariance / Math.sqrt(spread) : 0;
  return { r, z: r * Math.sqrt(n), samples: n };
}
