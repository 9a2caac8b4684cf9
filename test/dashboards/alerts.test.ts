/**
 * promtool on every alert: it fires with the right labels and value, not before its `for`, resolves, stays silent on what only looks like
 * it, and without any series. The rules are those in dashboards/generated; the expected texts are filled in here.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { ROOT, tempFolder } from '../support/cli.ts';
import { type Rule, readYaml } from '../support/deploy.ts';
import { promtool, promtoolTest } from '../support/promtool.ts';
import { ALERT_CASES } from './alert-cases.ts';
import type { AlertCase, Series } from './alert-cases-self.ts';

const RULE_FILES = ['tailfin-recording.yaml', 'tailfin-alerts.yaml'].map((name) =>
  join(ROOT, 'dashboards/generated/rules', name),
);
interface Group {
  readonly name: string;
  readonly rules: readonly Rule[];
}
const groups = RULE_FILES.flatMap((file) => readYaml<{ groups: readonly Group[] }>(file).groups);
const alerts = groups.flatMap(({ rules }) => rules.filter(({ alert }) => alert !== undefined));

/** The rule of a case: some names have one for each pair of windows. */
const ruleOf = ({ alert, labels }: AlertCase): Rule => {
  const found = alerts.filter(
    (rule) =>
      rule.alert === alert && Object.entries(rule.labels ?? {}).every(([name, value]) => labels[name] === value),
  );
  assert.equal(found.length, 1, `${found.length} rules ${alert} with ${JSON.stringify(labels)}`);
  return found[0] as Rule;
};
const filled = (text: string, { labels, value }: AlertCase): string =>
  text
    .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '')
    .replace(/\{\{ \$value \| \w+ \}\}/, value);

const input = (series: Series) => Object.entries(series).map(([name, values]) => ({ series: name, values }));
const silent = (alertname: string, minutes: readonly number[]) =>
  minutes.map((at) => ({ alertname, eval_time: `${at}m` }));

function testsOf(each: AlertCase): unknown[] {
  const { alert, series, labels, notBefore, fires, resolved, quiet } = each;
  const { annotations = {} } = ruleOf(each);
  const exp_annotations = Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [name, filled(text, each)]),
  );
  return [
    {
      name: `${alert} fires and resolves`,
      interval: '1m',
      input_series: input(series),
      alert_rule_test: [
        ...silent(alert, [notBefore]),
        { alertname: alert, eval_time: `${fires}m`, exp_alerts: [{ exp_labels: labels, exp_annotations }] },
        ...silent(alert, [resolved]),
      ],
    },
    {
      name: `${alert} is silent: ${quiet.why}`,
      interval: '1m',
      input_series: input(quiet.series),
      alert_rule_test: silent(alert, quiet.at),
    },
    // Without any series: nothing to say, but for the one that says so.
    ...(alert === 'TailfinAbsent'
      ? []
      : [{ name: `${alert}: no series`, interval: '1m', input_series: [], alert_rule_test: silent(alert, [5, 200]) }]),
  ];
}

/** The rules of this name and the recordings that they ask for, as they stand in the files: the others only cost time. */
function rulesFor(alert: string): Group[] {
  const isWanted = (rule: Rule, exprs: string): boolean =>
    rule.alert === alert || (rule.record !== undefined && exprs.includes(rule.record));
  const wanted = new Set(alerts.filter((rule) => rule.alert === alert));
  for (let before = -1; before !== wanted.size; ) {
    before = wanted.size;
    const exprs = [...wanted].map(({ expr }) => expr).join('\n');
    for (const { rules } of groups) for (const rule of rules) if (isWanted(rule, exprs)) wanted.add(rule);
  }
  return groups
    .map(({ name, rules }) => ({ name, rules: rules.filter((rule) => wanted.has(rule)) }))
    .filter(({ rules }) => rules.length > 0);
}

/** promtool on the tests of one alert; its exit code and what it says. */
function run(folder: string, each: AlertCase): ReturnType<typeof promtool> {
  const file = join(folder, 'test.yaml');
  const rules = join(folder, 'rules.yaml');
  const own = rulesFor(each.alert);
  writeFileSync(rules, stringify({ groups: own }));
  // Without an order an alert may be evaluated before what it asks for, a minute late.
  const group_eval_order = own.map(({ name }) => name);
  writeFileSync(
    file,
    stringify({ rule_files: [rules], evaluation_interval: '1m', group_eval_order, tests: testsOf(each) }),
  );
  return promtool(['test', 'rules', file]);
}

const windows = ({ labels: { long } }: AlertCase): string => (long === undefined ? '' : ` over ${long}`);
for (const each of ALERT_CASES)
  promtoolTest(`${each.alert}${windows(each)}`, async (t) => {
    const { status, text } = run(tempFolder(t), each);
    assert.equal(status, 0, text);
  });

promtoolTest(
  'a rollout neither ends an alert nor starts it anew: old series go stale, new ones begin at 0',
  async (t) => {
    const closes = (pod: string, outcome: string): string =>
      `tailfin_stream_closes_total{job="tailfin", namespace="shop", server="inventory", pod="${pod}", stream="response", outcome="${outcome}"}`;
    const burn = ALERT_CASES.find(({ labels }) => labels.long === '1h') as AlertCase;
    const each: AlertCase = { ...burn, value: '9.091%' };
    const series = {
      ...{ [closes('a', 'clean')]: '0+50x30 stale', [closes('a', 'ambiguous')]: '0+5x30 stale' },
      ...{ [closes('b', 'clean')]: '_x30 0+50x60', [closes('b', 'ambiguous')]: '_x30 0+5x60' },
    };
    const { annotations = {} } = ruleOf(each);
    const exp_annotations = Object.fromEntries(
      Object.entries(annotations).map(([name, text]) => [name, filled(text, each)]),
    );
    const firing = (at: number) => ({
      ...{ alertname: each.alert, eval_time: `${at}m` },
      exp_alerts: [{ exp_labels: each.labels, exp_annotations }],
    });
    const file = join(tempFolder(t), 'rollout.yaml');
    const rules = file.replace('rollout', 'rules');
    // The one pair of windows: for the other the same would be true later.
    const own = rulesFor(each.alert).map(({ name, rules: all }) => ({
      name,
      rules: all.filter(({ alert, labels }) => alert === undefined || labels?.long === '1h'),
    }));
    writeFileSync(rules, stringify({ groups: own }));
    writeFileSync(
      file,
      stringify({
        ...{ rule_files: [rules], evaluation_interval: '1m', group_eval_order: own.map(({ name }) => name) },
        tests: [
          {
            ...{ interval: '1m', input_series: input(series) },
            alert_rule_test: [20, 30, 31, 32, 33, 35, 45, 80].map(firing),
          },
        ],
      }),
    );
    const { status, text } = promtool(['test', 'rules', file]);
    assert.equal(status, 0, text);
  },
);

promtoolTest('a wrong expectation is found', async (t) => {
  const right = ALERT_CASES.find(({ alert }) => alert === 'TailfinMissingEvents') as AlertCase;
  const folder = tempFolder(t);
  assert.equal(run(folder, right).status, 0);
  for (const wrong of [
    { ...right, value: '4' },
    { ...right, notBefore: right.fires },
    { ...right, resolved: right.fires },
    { ...right, quiet: { ...right.quiet, series: right.series, at: [right.fires] } },
  ])
    assert.equal(run(folder, wrong).status, 1);
});

promtoolTest('promtool check rules --lint=all', async () => {
  const { status, text } = promtool(['check', 'rules', '--lint=all', ...RULE_FILES]);
  assert.equal(status, 0, text);
});

test('every alert has its cases', () => {
  const tested = new Set(ALERT_CASES.map(ruleOf));
  assert.deepEqual(
    alerts.filter((rule) => !tested.has(rule)).map(({ alert, labels }) => `${alert} ${JSON.stringify(labels)}`),
    [],
  );
});
