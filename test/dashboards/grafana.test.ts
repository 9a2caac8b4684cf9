/**
 * The file for Grafana's own alerting, read as Grafana's provisioner reads it: the same fields, the same checks, and the same treatment of
 * `$` (ported from pkg/services/provisioning/alerting and .../values, since there is no Grafana here). It cannot show that a Grafana takes
 * it, or what its engine computes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { grafanaRules } from '../../dashboards/rules/grafana.ts';
import { groupsOf, type PlainRule, rulesOf } from '../../dashboards/rules/render.ts';
import { readSettings } from '../../dashboards/settings.ts';
import { syntaxErrors } from '../../dashboards/verify/promql.ts';
import { ROOT } from '../support/cli.ts';

type Fields = Readonly<Record<string, unknown>>;
const settings = readSettings();
const plain: readonly PlainRule[] = groupsOf(settings).alerting.flatMap(({ rules }) => rules);

/** Field to what it must be; any other field is one that Grafana does not read. */
type Shape = Readonly<Record<string, 'text' | 'number' | 'flag' | 'texts' | 'list' | 'object'>>;
const FILE: Shape = { apiVersion: 'number', groups: 'list', deleteRules: 'list' };
const GROUP: Shape = { orgId: 'number', name: 'text', folder: 'text', interval: 'text', rules: 'list' };
const RULE: Shape = {
  ...{ uid: 'text', title: 'text', condition: 'text', data: 'list', dashboardUid: 'text', panelId: 'number' },
  ...{ noDataState: 'text', execErrState: 'text', for: 'text', keepFiringFor: 'text', isPaused: 'flag' },
  ...{ annotations: 'texts', labels: 'texts', notification_settings: 'object', record: 'object' },
  missing_series_evals_to_resolve: 'number',
};
const QUERY: Shape = {
  ...{ refId: 'text', queryType: 'text', relativeTimeRange: 'object', datasourceUid: 'text', model: 'object' },
};
const IS = {
  text: (value: unknown) => typeof value === 'string' && value.trim() !== '',
  number: Number.isInteger,
  flag: (value: unknown) => typeof value === 'boolean',
  texts: (value: unknown) => IS.object(value) && Object.values(value as object).every(IS.text),
  list: Array.isArray,
  object: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
} as const;

const DURATION = /^(?:\d+(?:ms|[smhdwy]))+$/;
/** What the provisioner does with texts of all fields but the annotations and the models: it puts variables of the environment in. */
const interpolated = (text: string): string =>
  text
    .split('$$')
    .map((part) => part.replace(/\$\{?\w+\}?/g, ''))
    .join('$');

/** Faults of one object against its shape, and of the texts in it that would be changed. */
function faultsOf(place: string, value: Fields, shape: Shape, required: readonly string[]): string[] {
  const found = required.filter((name) => !(name in value)).map((name) => `${place}: no ${name}`);
  for (const [name, each] of Object.entries(value)) {
    const kind = shape[name];
    if (kind === undefined) found.push(`${place}: nothing reads ${name}`);
    else if (!IS[kind](each)) found.push(`${place}: ${name} is no ${kind}`);
    if (name === 'annotations' || name === 'model') continue;
    const texts = typeof each === 'string' ? [each] : name === 'labels' ? Object.values(each as Fields) : [];
    for (const text of texts)
      if (typeof text === 'string' && interpolated(text) !== text) found.push(`${place}: ${name} loses its $: ${text}`);
  }
  return found;
}

function ruleFaults(rule: Fields): string[] {
  const place = String(rule.title);
  const found = faultsOf(place, rule, RULE, ['uid', 'title', 'condition', 'data', 'for']);
  if (!/^[a-zA-Z0-9_-]{1,40}$/.test(String(rule.uid))) found.push(`${place}: uid ${rule.uid}`);
  for (const name of ['for', 'keepFiringFor'])
    if (name in rule && !DURATION.test(String(rule[name]))) found.push(`${place}: ${name} ${rule[name]}`);
  if (!['Alerting', 'NoData', 'OK', 'KeepLast'].includes(String(rule.noDataState)))
    found.push(`${place}: noDataState ${rule.noDataState}`);
  if (!['Alerting', 'Error', 'OK', 'KeepLast'].includes(String(rule.execErrState)))
    found.push(`${place}: execErrState ${rule.execErrState}`);
  const data = (rule.data ?? []) as readonly Fields[];
  const ids = data.map(({ refId }) => refId);
  if (new Set(ids).size !== ids.length || !ids.includes(rule.condition)) found.push(`${place}: condition, refIds`);
  for (const query of data) {
    const at = `${place} ${query.refId}`;
    found.push(...faultsOf(at, query, QUERY, ['refId', 'datasourceUid', 'model', 'relativeTimeRange']));
    const model = (query.model ?? {}) as Fields;
    if (model.refId !== query.refId) found.push(`${at}: refId of the model`);
    if (query.datasourceUid !== '__expr__') {
      found.push(...syntaxErrors(String(model.expr)).map((fault) => `${at}: ${fault}`));
      // Only a query of one moment gives numbers that the expression may ask for.
      if (model.instant !== true || model.range !== false) found.push(`${at}: not instant`);
    } else {
      const asked = [...String(model.expression).matchAll(/\$(\w+)/g)].map(([, id]) => id);
      if (asked.length === 0 || !asked.every((id) => id !== query.refId && ids.includes(id)))
        found.push(`${at}: asks for ${asked}`);
    }
  }
  for (const [, id] of JSON.stringify(rule.annotations).matchAll(/\$values\.(\w+)\.Value/g))
    if (!ids.includes(id)) found.push(`${place}: $values.${id}`);
  if (/\$value\b/.test(JSON.stringify(rule.annotations)))
    found.push(`${place}: $value is a text of all values in Grafana, no number`);
  return found;
}

function fileFaults(file: Fields): string[] {
  const groups = (file.groups ?? []) as readonly Fields[];
  const rules = groups.flatMap((group) => (group.rules ?? []) as readonly Fields[]);
  const twice = (name: string): string[] => {
    const all = rules.map((rule) => rule[name]);
    return all.filter((each, i) => all.indexOf(each) !== i).map((each) => `${name} ${each} twice`);
  };
  return [
    ...faultsOf('file', file, FILE, ['apiVersion', 'groups']),
    ...groups.flatMap((group) => [
      ...faultsOf(String(group.name), group, GROUP, ['name', 'folder', 'interval', 'rules']),
      // Grafana evaluates every 10 seconds at the most often.
      ...(/^\d+m$|^\d0s$/.test(String(group.interval)) ? [] : [`${group.name}: interval ${group.interval}`]),
    ]),
    ...rules.flatMap(ruleFaults),
    ...twice('uid'),
    ...twice('title'),
  ];
}

const written = parse(readFileSync(join(ROOT, 'dashboards/generated/grafana/alerting.yaml'), 'utf8')) as Fields;
type Provisioned = { groups: { rules: Fields[] }[] };
const rulesIn = (file: Fields): Fields[] => (file as unknown as Provisioned).groups.flatMap(({ rules }) => rules);

describe("Grafana's own alerting", () => {
  test('is a file that its provisioner takes as it stands', () => assert.deepEqual(fileFaults(written), []));

  test('has every alert of Prometheus, with the same expression, time and texts', () => {
    const own = rulesIn(written);
    assert.equal(own.length, plain.length);
    for (const [i, rule] of own.entries()) {
      const expected = plain[i] as PlainRule;
      const [a, b] = rule.data as readonly [{ model: Fields }, { model: Fields }];
      assert.ok(String(rule.title).startsWith(expected.alert as string));
      assert.equal(a.model.expr, expected.expr);
      assert.equal(b.model.expression, 'is_number($A) || is_inf($A)');
      assert.deepEqual([rule.for, rule.keepFiringFor], [expected.for, expected.keep_firing_for]);
      assert.deepEqual(rule.labels, expected.labels);
      const description = expected.annotations?.description?.replaceAll('$value', '$values.A.Value');
      assert.deepEqual(rule.annotations, { ...expected.annotations, description });
    }
  });

  test('asks the data source of the settings', () => {
    const other = grafanaRules(rulesOf(settings), { ...settings, grafana_datasource: 'mimir-eu' });
    const asked = other.groups.flatMap(({ rules }) =>
      rules.flatMap(({ data }) => data.map((each) => each.datasourceUid)),
    );
    assert.deepEqual([...new Set(asked)], ['mimir-eu', '__expr__']);
  });

  test('the check finds what Grafana would refuse, drop or change', () => {
    const spoil: readonly (readonly [what: RegExp, change: (rule: Record<string, unknown>) => void])[] = [
      [/nothing reads keep_firing_for/, (rule) => Object.assign(rule, { keep_firing_for: '5m' })],
      [/loses its \$/, (rule) => Object.assign(rule, { labels: { pod: '{{ $labels.pod }}' } })],
      [/loses its \$/, (rule) => Object.assign(rule, { title: 'costs $5' })],
      [/for soon/, (rule) => Object.assign(rule, { for: 'soon' })],
      [/noDataState Ok/, (rule) => Object.assign(rule, { noDataState: 'Ok' })],
      [/condition/, (rule) => Object.assign(rule, { condition: 'C' })],
      [/uid/, (rule) => Object.assign(rule, { uid: 'a'.repeat(41) })],
      [/no number/, (rule) => Object.assign(rule, { annotations: { description: '{{ $value | humanize }}' } })],
      [
        /not instant/,
        (rule) => Object.assign((rule.data as { model: object }[])[0]?.model as object, { instant: false }),
      ],
      [/no text/, (rule) => Object.assign(rule, { labels: { severity: 1 }, title: '' })],
    ];
    for (const [what, change] of spoil) {
      const copy = structuredClone(written);
      change(rulesIn(copy)[0] as Record<string, unknown>);
      assert.ok(
        fileFaults(copy).some((fault) => what.test(fault)),
        `${what}: ${fileFaults(copy)}`,
      );
    }
    const copy = structuredClone(written) as unknown as Provisioned;
    copy.groups[0]?.rules.push(rulesIn(written)[0] as Fields);
    assert.ok(fileFaults(copy as unknown as Fields).some((fault) => /uid \w+ twice/.test(fault)));
  });
});
