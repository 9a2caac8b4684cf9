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
  /** One line each. */
  readonly disagreements: readonly string[];
}

export function checkVerdicts(verdicts: readonly VerdictRecord[], log: readonly GatewayEntry[]): VerdictCheck {
  const byExchange = new Map(verdicts.map((verdict) => [verdict.exchange, verdict]));
  const logged = new Set(log.map(({ exchange }) => exchange));
  const disagreements = log.flatMap((entry) => {
    const verdict = byExchange.get(entry.exchange);
    if (verdict !== undefined && agrees(FAULTS[entry.fault], verdict)) return [];
    const said = verdict === undefined ? 'no verdict' : `${verdict.outcome}, ${verdict.cause}, cut ${verdict.cut}`;
    const { outcome, causes } = FAULTS[entry.fault];
    return [
      `${entry.exchange} ${entry.tool ?? entry.method}: gateway ${entry.fault} (${outcome}, ${causes[0]}); Tailfin ${said}`,
    ];
  });
  for (const { exchange, method, target } of verdicts) {
    if (!logged.has(exchange)) disagreements.push(`${exchange} ${target ?? method}: not in the gateway's log`);
  }
  return { compared: log.length, disagreements };
}

const agrees = ({ outcome, causes, cut }: Expectation, verdict: VerdictRecord): boolean =>
  verdict.outcome === outcome && causes.includes(verdict.cause) && (cut === undefined || verdict.cut === cut);
