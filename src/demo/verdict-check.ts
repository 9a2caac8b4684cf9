/**
 * Compares Tailfin's verdicts with the gateway's log, exchange by exchange and in both directions. What each fault has to be
 * called is the table of faults.ts.
 */
import { type Expectation, FAULTS } from './faults.ts';
import type { GatewayEntry } from './gateway.ts';

export interface VerdictRecord {
  readonly record: 'verdict';
  readonly exchange: string;
  readonly method: string | null;
  readonly target: string | null;
  readonly outcome: string;
  readonly cause: string;
  readonly cut: string | null;
}

export interface VerdictCheck {
  readonly compared: number;
  /** Exchanges that the host gave up before it had read what the gateway sent: on a slow machine only. */
  readonly preempted: number;
  /** One line each. */
  readonly disagreements: readonly string[];
}

/**
 * An eighth of the hosts' patience. From here on the host may have given up first, which the gateway cannot see when its last
 * byte was on the way already: then that verdict is right too.
 */
const SLOW_MS = 250;

/** What the gateway did with one exchange. */
export type CheckedEntry = GatewayEntry & { readonly exchange: string };

export function checkVerdicts(verdicts: readonly VerdictRecord[], log: readonly CheckedEntry[]): VerdictCheck {
  const byExchange = new Map(verdicts.map((verdict) => [verdict.exchange, verdict]));
  const logged = new Set(log.map(({ exchange }) => exchange));
  let preempted = 0;
  const disagreements = log.flatMap((entry) => {
    const verdict = byExchange.get(entry.exchange);
    if (verdict !== undefined && agrees(FAULTS[entry.fault], verdict)) return [];
    if (verdict !== undefined && entry.elapsedMs > SLOW_MS && agrees(FAULTS.client_left, verdict)) {
      preempted++;
      return [];
    }
    const said = verdict === undefined ? 'no verdict' : `${verdict.outcome}, ${verdict.cause}, cut ${verdict.cut}`;
    const { outcome, causes } = FAULTS[entry.fault];
    return [
      `${entry.exchange} ${entry.tool ?? entry.method}: gateway ${entry.fault} (${outcome}, ${causes[0]}); Tailfin ${said}`,
    ];
  });
  for (const { exchange, method, target } of verdicts) {
    if (!logged.has(exchange)) disagreements.push(`${exchange} ${target ?? method}: not in the gateway's log`);
  }
  return { compared: log.length, preempted, disagreements };
}

const agrees = ({ outcome, causes, cut }: Expectation, verdict: VerdictRecord): boolean =>
  verdict.outcome === outcome && causes.includes(verdict.cause) && (cut === undefined || verdict.cut === cut);
