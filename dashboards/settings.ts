/**
 * Thresholds, selectors and addresses of all rules and boards, from one file (settings.json). It reads and checks that file; what a
 * number is compared with stands in rules/. `npm run generate:dashboards -- --settings FILE --out FOLDER` takes another one.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What each setting means; the file must hold exactly these. */
export const SETTINGS = {
  job: 'matcher of the scrape job of the sidecars, in every selector',
  runbook_url: 'address of docs/runbook.md; the anchor is added',
  dashboard_url: 'address of Grafana; /d/UID is added',
  keep_firing_for: 'how long an alert stays after its condition has ended, where a flap would page twice',
  grafana_datasource: 'uid of the Prometheus data source in Grafana, for its own alerting (generated/grafana) alone',
  outcome_streams: 'recorded shares of outcomes: no share of fewer response streams than this in 10 minutes',
  ambiguous_budget: 'share of response streams that may end ambiguous (error budget of the burn rates)',
  ambiguous_burn_closes: 'burn alerts: more ambiguous closes than this in the long window',
  masked_ratio: 'TailfinMaskedByRotation: share of the operations of an hour above this',
  masked_operations: 'TailfinMaskedByRotation: more masked operations than this in an hour',
  hidden_ratio: 'TailfinHiddenFailures: share of the operations of an hour above this',
  hidden_operations: 'TailfinHiddenFailures: more hidden failures than this in an hour',
  trend_z: 'TailfinLengthCorrelatedParseFailures: z above this',
  trend_r: 'TailfinLengthCorrelatedParseFailures: r above this',
  trend_failures: 'TailfinLengthCorrelatedParseFailures: failures of known length in an hour at least',
  size_steps: 'TailfinHardSizeStep: more findings than this in an hour',
  uncertain_writes: 'TailfinUncertainWrite: more than this in 30 minutes',
  unsafe_retries: 'TailfinUnsafeRetries: more than this in 30 minutes',
  list_drifts: 'TailfinListDrift: more findings than this in an hour',
  collateral_failures: 'TailfinCollateralBurst: more than this in 10 minutes',
  undelivered_operations: 'TailfinUndeliveredOperations: more than this in 30 minutes',
  source_faults: 'TailfinSourceFault: more than this in an hour',
  source_lag_seconds: 'TailfinSourceLagging: older than this, in seconds',
  missing_events: 'TailfinMissingEvents: more than this in 10 minutes',
  rejected_events: 'TailfinRejectedEvents: more than this in 10 minutes',
  overflow_samples: 'TailfinLabelOverflow: more than this in an hour',
  checkpoint_failures: 'TailfinCheckpointFailing: more than this in 15 minutes',
  evictions: 'TailfinStateEvictions: more than this in 30 minutes',
} as const;

/** Numbers are only ever written into expressions, never calculated with: a chart may put its own words there. */
export type Settings = Readonly<Record<keyof typeof SETTINGS, string>>;
export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];

/** Those of rules: what a chart has values for. */
export const RULE_SETTINGS = SETTING_NAMES.filter((name) => name !== 'grafana_datasource');

const TEXTS: readonly string[] = ['job', 'runbook_url', 'dashboard_url', 'keep_firing_for', 'grafana_datasource'];

/** @throws Error that names the file and the field. */
export function readSettings(file = fileURLToPath(new URL('settings.json', import.meta.url))): Settings {
  const read = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(read))
    if (!(name in SETTINGS)) throw new Error(`${file}: ${name}: no such setting (${SETTING_NAMES.join(', ')})`);
  return Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const value = read[name];
      const isText = TEXTS.includes(name);
      if (isText ? typeof value !== 'string' || value === '' : !(typeof value === 'number' && value >= 0))
        throw new Error(`${file}: ${name}: expected ${isText ? 'a text' : 'a number, 0 or more'}`);
      return [name, String(value)];
    }),
  ) as unknown as Settings;
}

/** As they stand in the file: numbers are numbers. */
export const settingValues = (
  settings: Settings,
  names: readonly (keyof typeof SETTINGS)[] = SETTING_NAMES,
): Readonly<Record<string, string | number>> =>
  Object.fromEntries(names.map((name) => [name, TEXTS.includes(name) ? settings[name] : Number(settings[name])]));
