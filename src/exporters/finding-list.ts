/**
 * The findings of a check: those of the rules that were asked for, copied and bounded, and the number of all others. It decides
 * what is kept, not how it is shown.
 */
import type { RuleName } from '../core/detectors/rules.ts';
import type { FindingFact } from '../core/model/facts.ts';

/**
 * Findings kept per rule; the rest is counted. GitHub refuses a SARIF run of more than 25,000 results, and nobody reads on past the
 * first hundreds.
 */
export const MAX_LISTED = 500;

export interface ListedFinding {
  readonly server: string;
  readonly exchange: string | null;
  readonly ts: number;
  /** As it was given on the command line; null where the line is not known. */
  readonly file: string | null;
  readonly line: number;
  readonly evidence: FindingFact['evidence'];
}

/** A rule as the table of detectors has it, with what people read about it. */
export interface CheckedRule {
  readonly rule: RuleName;
  readonly fires: string;
  readonly means: string;
  readonly needs: string;
  readonly action: string;
}
export interface RuleHits extends CheckedRule {
  count: number;
  readonly listed: ListedFinding[];
}

/** Everything that an exporter of a check is a function of. */
export interface CheckResult {
  readonly rules: readonly RuleHits[];
  /** Findings of rules that were not asked for. */
  readonly others: ReadonlyMap<string, number>;
  readonly events: number;
  /** What makes the result short of the truth. */
  readonly warnings: readonly string[];
}

export const hitsOf = ({ rules }: Pick<CheckResult, 'rules'>): number =>
  rules.reduce((sum, { count }) => sum + count, 0);

/** Findings that were counted but not kept. */
export const unlisted = ({ count, listed }: RuleHits): number => count - listed.length;

export interface FindingList {
  readonly rules: readonly RuleHits[];
  readonly others: ReadonlyMap<string, number>;
  add(fact: FindingFact): void;
}

export function createFindingList(checked: readonly CheckedRule[]): FindingList {
  const rules = checked.map(
    ({ rule, fires, means, needs, action }): RuleHits => ({ rule, fires, means, needs, action, count: 0, listed: [] }),
  );
  const byRule = new Map<string, RuleHits>(rules.map((hits) => [hits.rule, hits]));
  const others = new Map<string, number>();
  return {
    rules,
    others,
    add({ rule, server, exchange, ts, at, evidence }) {
      const hits = byRule.get(rule);
      if (hits === undefined) {
        others.set(rule, (others.get(rule) ?? 0) + 1);
        return;
      }
      hits.count++;
      if (hits.listed.length >= MAX_LISTED) return;
      hits.listed.push({ server, exchange, ts, file: at?.origin.file ?? null, line: at?.line ?? 0, evidence });
    },
  };
}

/** `cause=no_evidence cut=mid`; what is unknown is left out. */
export const evidenceText = (evidence: FindingFact['evidence']): string =>
  Object.entries(evidence)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
    .join(' ');

/** `events.ndjson:12`; a file that was read from standard input is called by that name. */
export const placeText = ({ file, line }: Pick<ListedFinding, 'file' | 'line'>): string =>
  file === null ? 'line unknown' : `${file === '-' ? 'stdin' : file}:${line}`;
