/** Facts to numbers: which metric each fact moves. Nothing is decided here. */
import { DETECTORS } from '../detectors/index.ts';
import { UNDELIVERED } from '../detectors/rules.ts';
import type { Contract } from '../model/exchange.ts';
import type { Fact, FindingFact, TrendFact, VerdictFact } from '../model/facts.ts';
import { type OperationFact, RESULTS } from '../model/operation.ts';
import { CUTS } from '../model/verdict.ts';
import { CALL } from '../protocol/methods.ts';
import type { Version } from '../protocol/revisions.ts';
import { statusMeaning } from '../protocol/status.ts';
import { keepMap, type Parts } from '../state.ts';
import { createLabelBudget } from './budget.ts';
import type { Cells } from './cells.ts';
import { OTHER, sizeClass } from './domains.ts';
import { createServerMeters, type ServerMeters } from './meters.ts';

/** Every way in which a response stream can be ambiguous. */
const AMBIGUITIES = [
  ['C', 'no_evidence'],
  ['C', 'not_resumed'],
  ['B', 'no_evidence'],
] as const;

export interface Measure {
  (fact: Fact): void;
  /** The same for the fact that comes once per exchange. */
  verdict(fact: VerdictFact): void;
  /** The label of a server, within its budget. */
  serverLabel(name: string): string;
}

export function createMeasure(cells: Cells, parts: Parts): Measure {
  const budget = createLabelBudget(cells, parts);
  const meters = new Map<string, ServerMeters>();
  const seen = new Map<string, Set<Version>>();
  /** Servers whose regime is shown. */
  const regimes = keepMap<string, true>(parts, 'shown_regimes');

  /** Said again and again where a server is spoken to in two revisions. */
  const onSeen = (name: string, version: Version | null): void => {
    const versions = name === OTHER ? undefined : seen.get(name);
    if (versions === undefined || (version !== null && !versions.has(version))) greet(budget.server(name), version);
  };

  /** Series that alerts ask for exist at 0 before anything happens, so that `increase()` sees the first event. */
  const greet = (server: string, version: Version | null): void => {
    let versions = seen.get(server);
    if (versions === undefined) {
      versions = new Set();
      seen.set(server, versions);
      for (const { rule } of DETECTORS) cells.touch('findings', [server, rule]);
    }
    if (version === null || versions.has(version)) return;
    versions.add(version);
    for (const cut of CUTS)
      for (const [regime, cause] of AMBIGUITIES)
        cells.touch('stream_closes', [server, version, 'response', 'ambiguous', regime, cause, cut]);
    for (const result of RESULTS) cells.touch('operations', [server, version, CALL, result]);
    for (const hint of ['none', 'declared'] as const) cells.touch('uncertain_writes', [server, version, hint]);
  };

  const metersOf = (name: string): ServerMeters => {
    const known = meters.get(name);
    if (known !== undefined) return known;
    const label = budget.server(name);
    const fresh = createServerMeters(label, cells, budget);
    // The servers past the budget share a label, not a place here.
    if (label === name) meters.set(name, fresh);
    return fresh;
  };

  const onVerdict = ({ exchange, kind, verdict }: VerdictFact): void => {
    const { version, fields } = exchange;
    const meter = metersOf(exchange.server);
    const server = meter.label;
    const meaning = statusMeaning(exchange);
    if (meaning !== null) cells.add('status_meaning', 1, [server, version, statusLabel(fields.status), meaning]);
    if (verdict === null || kind === 'none' || kind === 'resume') return;
    const { trace = null } = fields;
    const ts = exchange.closeTs;
    if (verdict.head) meter.close(version, kind, verdict, fields.bytes ?? null, trace, ts);
    meter.endpoint(exchange.endpoint, verdict.outcome);
    if (verdict.outcome === 'abandoned' && verdict.stage !== null)
      cells.add('exchange_failures', 1, [server, version, verdict.stage, verdict.by, verdict.request], trace, ts);
  };

  const onOperation = (fact: OperationFact): void => {
    const { version, nextAction, trace, ts } = fact;
    const meter = metersOf(fact.server);
    const server = meter.label;
    meter.operation(fact);
    for (const { from, to, after, endpoint, outcome, safety } of fact.edges) {
      // The attempt that failed shows more than the one that followed.
      const shown = from.trace === null ? to : from;
      cells.add('retries', 1, [server, version, after, endpoint, outcome, safety], shown.trace, to.openTs);
    }
    if (nextAction !== null) cells.add('next_actions', 1, [server, version, nextAction]);
    if (nextAction === 'confirm_outcome') cells.add('uncertain_writes', 1, [server, version, fact.hint], trace, ts);
  };

  const onTrend = (fact: TrendFact): void => {
    const server = budget.server(fact.server);
    if (fact.length === null) {
      cells.add('trend_unknown', 1, [server, fact.of]);
      return;
    }
    const result = fact.failed ? 'failed' : 'ok';
    const x = Math.log2(Math.max(1, fact.length));
    cells.add('trend_samples', 1, [server, fact.of, result]);
    cells.add('trend_log2', x, [server, fact.of, result]);
    cells.add('trend_log2_squared', x * x, [server, fact.of, result]);
  };

  const onContract = (name: string, contract: Contract | undefined): void => {
    const server = budget.server(name);
    const regime = regimeOf(contract);
    if (regime !== null) regimes.set(server, true);
    // A contract that was withdrawn leaves its series at 0.
    if (!regimes.has(server)) return;
    for (const each of ['A', 'B', 'C'] as const) cells.set('stream_regime', each === regime ? 1 : 0, [server, each]);
  };

  const onFinding = ({ rule, server: name, trace, ts }: FindingFact): void => {
    const server = budget.server(name);
    cells.add('findings', 1, [server, rule], trace, ts);
    if (rule === 'collateral_failure') cells.add('collateral_failures', 1, [server, 'sibling'], trace, ts);
    else if (rule === 'closed_client_call') cells.add('collateral_failures', 1, [server, 'closed_client'], trace, ts);
    else if (isUndelivered(rule)) cells.add('undelivered', 1, [server, rule], trace, ts);
  };

  const measure = (fact: Fact): void => {
    switch (fact.is) {
      case 'verdict':
        onVerdict(fact);
        break;
      case 'operation':
        onOperation(fact);
        break;
      case 'parse': {
        const server = budget.server(fact.server);
        const values = [server, fact.of, fact.result, sizeClass(fact.size)] as const;
        cells.add('parse_attempts', 1, values, fact.trace, fact.ts);
        cells.add('parse_bytes', fact.bytes, [server, fact.of, fact.result]);
        break;
      }
      case 'trend':
        onTrend(fact);
        break;
      case 'what_if':
        cells.add('whatif_sentinel', 1, [budget.server(fact.server), fact.result, sizeClass(fact.bytes)]);
        break;
      case 'expired':
        // An eviction is counted by its store; it says nothing about the exchange.
        if (fact.reason !== 'evicted')
          cells.add('exchanges_expired', 1, [budget.server(fact.exchange.server), fact.reason]);
        break;
      case 'contract':
        onContract(fact.server, fact.contract);
        break;
      case 'seen':
        onSeen(fact.server, fact.version);
        break;
      case 'finding':
        onFinding(fact);
        break;
    }
  };
  return Object.assign(measure, { verdict: onVerdict, serverLabel: budget.peek });
}

const isUndelivered = (rule: FindingFact['rule']): rule is (typeof UNDELIVERED)[number] =>
  (UNDELIVERED as readonly string[]).includes(rule);

/** Only what HTTP defines: a writer's mistake must not make series. */
const statusLabel = (status: number | null | undefined): string =>
  typeof status === 'number' && status >= 100 && status <= 599 ? String(status) : 'other';

function regimeOf(contract: Contract | undefined): 'A' | 'B' | 'C' | null {
  if (contract === undefined) return null;
  if (contract.sentinel === 'mandated') return 'A';
  return contract.selfDelimiting === true ? 'B' : 'C';
}
