/**
 * The rules of deploy/examples say only what the catalog can answer, every alert has its tests and its section of the runbook, and
 * promtool agrees with all of it.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { CATALOG, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { EXAMPLES, readRules, readYaml } from '../support/deploy.ts';
import { promtool, promtoolTest } from '../support/promtool.ts';

const rules = readRules();
const alerts = rules.filter(({ alert }) => alert !== undefined);
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
const specs: readonly MetricSpec[] = Object.values(CATALOG);
/** What the scrape adds (prometheus.yaml), and the one metric that Prometheus makes itself. */
const TARGET_LABELS = ['job', 'instance', 'namespace', 'pod', 'node'];
const SCRAPE_METRICS = ['up'];

/** Functions, operators and keywords of PromQL that the rules use: whatever else is named must be a metric. */
const WORDS = new Set(['sum', 'rate', 'increase', 'absent', 'by', 'and']);
const SELECTOR = /([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?/g;
const MATCHER = /^(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"$/;

/** What in an expression the catalog does not know. */
function unknowns(expr: string): string[] {
  const found: string[] = [];
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((s) => s.trim()),
  );
  const plain = expr.replace(/by \([^)]*\)|\[\w+\]|(?<![\w:])[\d.]+/g, ' ');
  const used: MetricSpec[] = [];
  for (const [, name = '', matchers = ''] of plain.matchAll(SELECTOR)) {
    if (WORDS.has(name) || recorded.has(name)) continue;
    const spec = specs.find(
      (each) => each.name === name || (each.kind === 'histogram' && name === `${each.name}_bucket`),
    );
    if (spec === undefined && !SCRAPE_METRICS.includes(name)) found.push(`no metric ${name}`);
    if (spec !== undefined) used.push(spec);
    for (const matcher of matchers
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')) {
      const [, label = '', operator, value = ''] = MATCHER.exec(matcher) ?? [];
      if (TARGET_LABELS.includes(label)) continue;
      const domain = spec?.labels.find(([each]) => each === label)?.[1];
      if (domain === undefined) found.push(`${name} has no label ${label} (${matcher})`);
      else if (operator === '=' && typeof domain !== 'string' && !domain.includes(value))
        found.push(`${name}: ${label} is never ${value}`);
    }
  }
  for (const label of grouped)
    if (!TARGET_LABELS.includes(label) && !used.every((spec) => spec.labels.some(([name]) => name === label)))
      found.push(`grouped by ${label}, which not all metrics have`);
  return found;
}

describe('the rules and the catalog', () => {
  for (const { record, alert, expr } of rules)
    test(`${record ?? alert} asks for what there is`, () => assert.deepEqual(unknowns(expr), []));

  test('something else is found', () => {
    assert.deepEqual(unknowns('sum by (server, tool) (rate(tailfin_stream_close_total{outcome="odd"}[5m])) > 0.01'), [
      'no metric tailfin_stream_close_total',
      'tailfin_stream_close_total has no label outcome (outcome="odd")',
    ]);
    assert.deepEqual(
      unknowns('sum by (server, tool) (rate(tailfin_stream_closes_total{outcome="odd", zone="a"}[5m]))'),
      [
        'tailfin_stream_closes_total: outcome is never odd',
        'tailfin_stream_closes_total has no label zone (zone="a")',
        'grouped by tool, which not all metrics have',
      ],
    );
  });

  test('a counter stands inside of rate or increase only', () => {
    for (const { expr } of rules)
      for (const [all, before] of expr.matchAll(/(\w+\()?tailfin_\w+_total/g))
        assert.match(before ?? '', /rate|increase/, all);
  });
});

describe('alerts', () => {
  const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
  const tests = readdirSync(join(ROOT, 'test/alerts')).map((name) => join(ROOT, 'test/alerts', name));
  interface AlertTests {
    readonly tests: { readonly alert_rule_test?: { alertname: string; exp_alerts?: unknown[] }[] }[];
  }
  const tested = tests.flatMap((file) =>
    readYaml<AlertTests>(file).tests.flatMap((each) => each.alert_rule_test ?? []),
  );

  for (const { alert = '', labels, annotations = {}, ...rule } of alerts)
    test(`${alert}: severity, texts, a section of the runbook, a test that it fires and one that it does not`, () => {
      assert.match(alert, /^Tailfin[A-Z]\w+$/);
      assert.match(rule.for ?? '', /^\d+m$/, 'one scrape is no reason to call somebody');
      assert.ok(['critical', 'warning', 'info'].includes(labels?.severity ?? ''));
      assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook_url']);
      assert.doesNotMatch(annotations.summary ?? '', /\{\{/, 'the summary groups: it is the same for all');
      assert.match(annotations.runbook_url ?? '', new RegExp(`/docs/runbook\\.md#${alert.toLowerCase()}$`));
      const section = runbook.split(/^## /m).find((each) => each.startsWith(`${alert}\n`)) ?? '';
      for (const part of ['Meaning', 'Impact', 'Diagnosis', 'Action'])
        assert.ok(section.includes(`**${part}.**`), part);
      const own = tested.filter(({ alertname }) => alertname === alert);
      assert.ok(
        own.some(({ exp_alerts = [] }) => exp_alerts.length > 0),
        'fires',
      );
      assert.ok(
        own.some(({ exp_alerts = [] }) => exp_alerts.length === 0),
        'silent',
      );
    });

  test('every metric that the runbook names is in the catalog', () => {
    for (const [name] of runbook.matchAll(/\btailfin_\w+/g))
      assert.ok(
        specs.some((spec) => spec.name === name),
        name,
      );
  });

  promtoolTest('promtool test rules', async () => {
    const { status, text } = promtool(['test', 'rules', ...tests]);
    assert.equal(status, 0, text);
  });

  promtoolTest('the tests notice a rule that is worse', async (t) => {
    const path = join(EXAMPLES, 'rules.yaml');
    const source = readFileSync(path, 'utf8');
    const folder = tempFolder(t);
    const worse: readonly (readonly [string, string])[] = [
      ['      and\n', '      or\n'],
      ['increase10m > 5', 'increase10m > 0'],
      ['ratio_rate10m > 0.01', 'ratio_rate10m > 0'],
      ['stream="response", outcome="ambiguous"}[10m]))\n            /', 'outcome="ambiguous"}[10m]))\n            /'],
      ['rate(tailfin_stream_closes_total', '(tailfin_stream_closes_total'],
      ['        for: 5m\n', ''],
    ];
    writeFileSync(
      join(folder, 'tests.yaml'),
      readFileSync(tests[0] as string, 'utf8').replace('../../deploy/examples/', ''),
    );
    for (const [from, to] of worse) {
      const changed = source.replace(from, to);
      assert.notEqual(changed, source, `${from} is not there any more`);
      writeFileSync(join(folder, 'rules.yaml'), changed);
      assert.notEqual(promtool(['test', 'rules', join(folder, 'tests.yaml')]).status, 0, `${from} -> ${to}`);
    }
  });
});

promtoolTest('promtool check rules', async () => {
  const { status, text } = promtool(['check', 'rules', join(EXAMPLES, 'rules.yaml')]);
  assert.equal(status, 0, text);
  assert.match(text, new RegExp(`${rules.length} rules found`));
});

promtoolTest('promtool check config', async (t) => {
  interface Config {
    readonly scrape_configs: Record<string, unknown>[];
    rule_files: string[];
  }
  const config = readYaml<Config>(join(EXAMPLES, 'prometheus.yaml'));
  const whole = promtool(['check', 'config', join(EXAMPLES, 'prometheus.yaml')]);
  if (whole.status === 0) return;
  // Debian builds Prometheus without the discovery of Kubernetes: there it alone may be refused, and all the rest is checked.
  assert.match(whole.text, /field kubernetes_sd_configs not found/);
  assert.equal(whole.text.match(/not found|error/gi)?.length, 2, whole.text);
  for (const job of config.scrape_configs) {
    assert.deepEqual(job.kubernetes_sd_configs, [{ role: 'pod' }]);
    delete job.kubernetes_sd_configs;
  }
  config.rule_files = config.rule_files.map((file) => join(EXAMPLES, file));
  const file = join(tempFolder(t), 'prometheus.yml');
  writeFileSync(file, stringify(config));
  const { status, text } = promtool(['check', 'config', file]);
  assert.equal(status, 0, text);
});
