/**
 * Nothing is forgotten: every metric of the catalog is on the board that the catalog names or is listed as not shown, every alert has its
 * section of the runbook, every setting is used, and what is generated is what the tables say.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { NOT_SHOWN } from '../../dashboards/boards/index.ts';
import { BOARDS, type BoardKey } from '../../dashboards/names.ts';
import { outputs } from '../../dashboards/outputs.ts';
import { EXTERNAL } from '../../dashboards/queries.ts';
import { grafanaRules } from '../../dashboards/rules/grafana.ts';
import { groupsOf, helmTemplate, type PlainRule, rulesOf } from '../../dashboards/rules/render.ts';
import { RULE_SETTINGS, readSettings, SETTING_NAMES, SETTINGS, settingValues } from '../../dashboards/settings.ts';
import { selectorsOf } from '../../dashboards/verify/promql.ts';
import { panelsOf, readBoards } from '../../dashboards/verify/read-boards.ts';
import { CATALOG, type MetricKey, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { ROOT, tempFolder } from '../support/cli.ts';

const KEYS = Object.keys(CATALOG) as MetricKey[];
const baseName = (metric: string): string => metric.replace(/_(bucket|sum|count)$/, '');
/** Metrics by the board that asks for them. */
const shown = new Map(
  readBoards().map((board) => [
    board.uid,
    new Set(
      panelsOf(board).flatMap(({ targets = [] }) =>
        targets.flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => baseName(metric))),
      ),
    ),
  ]),
);
const settings = readSettings();
const rules: readonly PlainRule[] = Object.values(groupsOf(settings)).flatMap((groups) =>
  groups.flatMap(({ rules: own }) => own),
);
const alerts = rules.filter(({ alert }) => alert !== undefined);

describe('boards', () => {
  for (const key of KEYS)
    test(`${CATALOG[key].name} is shown`, () => {
      const { name, board } = CATALOG[key] as MetricSpec;
      const { uid, title } = BOARDS[board as BoardKey];
      const isShown = shown.get(uid)?.has(name) === true;
      const reason = NOT_SHOWN[key];
      assert.ok(
        isShown || (reason !== undefined && reason !== ''),
        `no panel of "${title}" shows ${name}: add a line to dashboards/boards/${board}.ts, or a reason to NOT_SHOWN in dashboards/boards/index.ts`,
      );
      assert.ok(!(isShown && reason !== undefined), `${name} is shown: take it out of NOT_SHOWN`);
    });

  test('nothing else is asked for', () => {
    const known = new Set<string>([...KEYS.map((key) => CATALOG[key].name), ...Object.values(EXTERNAL), 'ALERTS']);
    for (const [uid, metrics] of shown)
      assert.deepEqual(
        [...metrics].filter((metric) => !known.has(metric)),
        [],
        uid,
      );
  });
});

describe('rules', () => {
  test('recording rules carry no pod label; alerts of traffic neither', () => {
    for (const { record, expr } of rules.filter(({ record }) => record !== undefined))
      assert.doesNotMatch(expr, /by \([^)]*\b(?:pod|instance)\b/, record);
    for (const { alert, expr } of groupsOf(settings).alerting[0]?.rules ?? [])
      assert.doesNotMatch(expr, /\bpod\b/, alert);
  });

  test('every recorded name that an expression uses is recorded, and has level, metric and operation', () => {
    const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
    for (const name of recorded)
      assert.match(name, /^cluster_namespace_server(_\w+)?:tailfin_\w+:(ratio_|increase|z_|pearson_)\w+$/);
    for (const { alert, record, expr } of rules)
      for (const { metric } of selectorsOf(expr))
        if (metric.includes(':')) assert.ok(recorded.has(metric), `${alert ?? record}: nothing records ${metric}`);
  });

  test('every setting is used, and only settings are compared with', () => {
    const marked = Object.fromEntries(SETTING_NAMES.map((name) => [name, `<${name}>`])) as unknown as typeof settings;
    const text = JSON.stringify([groupsOf(marked), grafanaRules(rulesOf(marked), marked)]);
    for (const name of SETTING_NAMES) assert.ok(text.includes(`<${name}>`), `${name} is not used`);
  });

  test('the runbook has one section for each alert, in their order, with what a section must say', () => {
    const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
    const headings = [...runbook.matchAll(/^## (Tailfin\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(headings, [...new Set(alerts.map(({ alert }) => alert))]);
    for (const section of runbook.split(/^## (?=Tailfin)/m).slice(1)) {
      const [name] = section.split('\n');
      for (const part of ['Meaning', 'Confirm', 'Likely causes', 'Do', 'Do not', 'Close it for good'])
        assert.ok(section.includes(`**${part}.**`), `${name}: no "${part}"`);
    }
    const known = new Set(KEYS.map((key) => CATALOG[key].name as string));
    for (const [name] of runbook.matchAll(/\btailfin_\w+(?=[{[)`])/g))
      assert.ok(known.has(baseName(name)) || known.has(name), `the runbook names ${name}`);
  });
});

describe('alerts read well', () => {
  for (const { alert = '', expr, labels = {}, annotations = {}, ...rule } of alerts)
    test(`${alert} ${labels.long ?? ''}`, () => {
      const { summary = '', description = '', runbook_url = '', dashboard_url = '' } = annotations;
      assert.match(alert, /^Tailfin[A-Z]\w+$/);
      assert.match(rule.for ?? '', /^\d+[mh]$/, 'one scrape is no reason to call somebody');
      assert.ok(['critical', 'warning', 'info'].includes(labels.severity ?? ''));
      assert.doesNotMatch(JSON.stringify(labels), /\$value/, 'a label that changes is an alert that flaps');
      assert.doesNotMatch(summary, /\{\{/, 'the summary groups: it is the same for all');
      assert.match(description, /\{\{ \$value \| humanize\w* \}\}/);
      assert.match(description, /First /, 'what to do first');
      assert.equal(runbook_url, `${settings.runbook_url}#${alert.toLowerCase()}`);
      assert.ok(
        Object.values(BOARDS).some(({ uid }) => dashboard_url.startsWith(`${settings.dashboard_url}/d/${uid}`)),
      );
      assert.doesNotMatch(expr, /topk|bottomk/);
      for (const [, label = ''] of `${description}${dashboard_url}`.matchAll(/\$labels\.(\w+)/g)) {
        const survives = expr.includes('cluster_namespace_server') && ['namespace', 'server', 'of'].includes(label);
        const isKept = new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr) || /^up\{/.test(expr);
        assert.ok(survives || isKept, `${label} does not survive ${expr}`);
      }
    });
});

describe('what is generated', () => {
  const tsx = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
  const generate = (...args: readonly string[]) =>
    spawnSync(process.execPath, [tsx, join(ROOT, 'dashboards/generate.ts'), ...args], { encoding: 'utf8', cwd: ROOT });

  test('is what the tables say, the same each time', () => {
    for (const [path, text] of Object.entries(outputs(settings)))
      assert.equal(readFileSync(join(ROOT, 'dashboards/generated', path), 'utf8'), text, path);
    assert.deepEqual(outputs(settings), outputs(readSettings()));
  });

  test('other settings go to another place, and drift is found', (t) => {
    const folder = tempFolder(t);
    const file = join(folder, 'settings.json');
    cpSync(join(ROOT, 'dashboards/settings.json'), file);
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"trend_z": 4', '"trend_z": 5').replace('job=\\"tailfin\\"', 'job=\\"mcp\\"'),
    );
    const out = join(folder, 'out');
    const written = generate('--settings', file, '--out', out);
    assert.equal(written.status, 0, written.stderr);
    const text = readFileSync(join(out, 'rules/tailfin-alerts.yaml'), 'utf8');
    assert.match(text, /z_increase1h > 5/);
    assert.match(text, /absent\(up\{job="mcp"\}\)/);
    const drifted = generate('--check', '--out', out);
    assert.equal(drifted.status, 1);
    assert.match(drifted.stderr, /tailfin-alerts\.yaml is out of date/);
  });

  test('a setting that is wrong is named with its file', (t) => {
    const file = join(tempFolder(t), 'settings.json');
    for (const [change, says] of [
      [{ trend_y: 1 }, /settings\.json: trend_y: no such setting/],
      [{ trend_z: '4' }, /settings\.json: trend_z: expected a number/],
      [{ job: '' }, /settings\.json: job: expected a text/],
    ] as const) {
      writeFileSync(file, JSON.stringify({ ...settingValues(settings), ...change }));
      assert.throws(() => readSettings(file), says);
    }
  });

  test('the template of the chart with its default values is the rules', () => {
    const text = helmTemplate()
      .replace(/\{\{-.*-\}\}\n?/g, '')
      .replace(/\{\{ "([^"]*)" \}\}/g, '$1')
      .replace(/\{\{ \.Values\.rules\.(\w+) \}\}/g, (_, name: string) => String(settingValues(settings)[name]));
    const { recording, alerting } = groupsOf(settings);
    assert.deepEqual(parse(text), JSON.parse(JSON.stringify([...recording, ...alerting])));
    assert.deepEqual(parse(readFileSync(join(ROOT, 'dashboards/generated/helm/values.yaml'), 'utf8')), {
      rules: settingValues(settings, RULE_SETTINGS),
    });
  });

  test('the chart has each of them as a value, with its meaning', () => {
    const text = readFileSync(join(ROOT, 'deploy/chart/values.yaml'), 'utf8');
    const { rules: own } = parse(text) as { rules: Readonly<Record<string, unknown>> };
    assert.deepEqual(own, settingValues(settings, RULE_SETTINGS));
    for (const name of RULE_SETTINGS)
      assert.ok(text.includes(`  # rules.${name} -- ${SETTINGS[name]}\n  ${name}: `), name);
    const template = readFileSync(join(ROOT, 'deploy/chart/templates/_rule-groups.tpl'), 'utf8');
    assert.equal(template, helmTemplate());
    assert.match(
      readFileSync(join(ROOT, 'deploy/chart/templates/rules.yaml'), 'utf8'),
      /include "tailfin\.ruleGroups"/,
    );
  });
});
