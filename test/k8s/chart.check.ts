/** The Helm chart in a real helm: lint, every way to set it, values that must be refused, and manifests that a cluster would take. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { groupsOf, type PlainGroup } from '../../dashboards/rules/render.ts';
import { RULE_SETTINGS, readSettings, type Settings } from '../../dashboards/settings.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { promtool, promtoolTest } from '../support/promtool.ts';
import {
  ALL_APIS,
  assertSound,
  complaints,
  filledChart,
  good,
  type Manifest,
  manifests,
  programs,
  restrictedComplaints,
  run,
} from './rig.ts';

const CHART = join(ROOT, 'deploy/chart');
const IMAGE = ['--set', 'image.repository=registry.example/tailfin'];

const render = (chart: string, ...args: string[]): Manifest[] =>
  manifests(good(programs.helm4, ['template', 'rel', chart, '--namespace', 'monitoring', ...args]));
const kindsOf = (all: readonly Manifest[]): string[] => all.map(({ kind }) => kind).sort();

const VERSIONS = ['1.25.0', '1.29.0', '1.33.0', '1.36.0', '1.37.2'];
const API_SETS: readonly (readonly string[])[] = [[], ALL_APIS.slice(0, 1), ALL_APIS];
const VALUES: readonly (readonly string[])[] = [
  [],
  ['--set', 'dashboards.enabled=false,prometheusRule.enabled=false,podMonitor.enabled=false'],
  ['--set', 'grafanaDashboard.enabled=true,rulesConfigMap.enabled=true,networkPolicy.enabled=true', ...IMAGE],
  ['--set', 'admission.enabled=true,admission.quotaMiB=32,admission.runAsUser=2000,nameOverride=other', ...IMAGE],
  [
    ...['--set', 'admission.enabled=true,admission.namespaceSelector.matchLabels.a=b', ...IMAGE],
    ...['--set', 'podMonitor.labels.release=kps,prometheusRule.labels.release=kps,podMonitor.interval=15s'],
  ],
];

describe('the chart', () => {
  test('helm 4 and helm 3: lint --strict', () => {
    for (const helm of [programs.helm4, programs.helm3])
      for (const values of VALUES) good(helm, ['lint', '--strict', CHART, ...values]);
  });

  test(`${VALUES.length} values x ${VERSIONS.length} Kubernetes x ${API_SETS.length} API sets: every manifest is valid and restricted`, (t) => {
    const chart = filledChart(tempFolder(t));
    for (const values of VALUES)
      for (const version of VERSIONS)
        for (const apis of API_SETS) {
          const all = render(chart, '--kube-version', version, ...apis.flatMap((api) => ['-a', api]), ...values);
          assertSound(all);
          const has = (kind: string) => all.some((each) => each.kind === kind);
          if (apis.length === 0)
            for (const kind of ['PodMonitor', 'PrometheusRule', 'GrafanaDashboard', 'MutatingAdmissionPolicy'])
              assert.ok(!has(kind), `${kind} without its API`);
          for (const { metadata } of all) {
            assert.match(metadata.name, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
            assert.equal(metadata.labels?.['app.kubernetes.io/instance'], 'rel');
            assert.equal(metadata.labels?.['app.kubernetes.io/managed-by'], 'Helm');
          }
        }
  });

  test('everything at once is everything there is', (t) => {
    const chart = filledChart(tempFolder(t));
    const args = ALL_APIS.flatMap((api) => ['-a', api]);
    const set =
      'grafanaDashboard.enabled=true,rulesConfigMap.enabled=true,networkPolicy.enabled=true,admission.enabled=true';
    const kinds = new Set(kindsOf(render(chart, ...args, '--set', set, ...IMAGE)));
    assert.deepEqual(
      [...kinds],
      [
        ...[
          'ConfigMap',
          'GrafanaDashboard',
          'MutatingAdmissionPolicy',
          'MutatingAdmissionPolicyBinding',
          'NetworkPolicy',
        ],
        ...['Pod', 'PodMonitor', 'PrometheusRule', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
      ],
    );
  });

  test('boards: one ConfigMap each, byte for byte, under 1 MiB', (t) => {
    const chart = filledChart(tempFolder(t));
    const files = readdirSync(join(chart, 'files/dashboards')).filter((name) => name.endsWith('.json'));
    const maps = render(chart).filter(({ kind }) => kind === 'ConfigMap');
    assert.equal(maps.length, files.length);
    for (const map of maps) {
      const [[name, text] = ['', '']] = Object.entries(map.data as Record<string, string>);
      assert.equal(text, readFileSync(join(chart, 'files/dashboards', name), 'utf8').trim());
      assert.equal(map.metadata.labels?.grafana_dashboard, '1');
      assert.ok(JSON.stringify(map).length < 1024 * 1024);
    }
    writeFileSync(join(chart, 'files/dashboards/huge.json'), `"${'x'.repeat(1_100_000)}"`);
    assert.match(run(programs.helm4, ['template', chart]).stderr, /huge\.json is too large/);
  });

  test('rules: those of dashboards/rules, with the values of the chart in their places', () => {
    const settings = readSettings();
    const groups = (...args: string[]): PlainGroup[] => {
      const all = render(CHART, '-a', 'monitoring.coreos.com/v1', '--set', 'rulesConfigMap.enabled=true', ...args);
      const [rule] = all.filter(({ kind }) => kind === 'PrometheusRule');
      const text = all.flatMap(({ data }) => (data as Record<string, string> | undefined)?.['tailfin.yaml'] ?? []);
      const { groups: own } = (rule as Manifest).spec as { groups: PlainGroup[] };
      assert.deepEqual(
        (parse(text[0] as string) as { groups: PlainGroup[] }).groups,
        own,
        'the ConfigMap says the same',
      );
      return own;
    };
    const expected = (changed: Partial<Settings>) =>
      JSON.parse(JSON.stringify(Object.values(groupsOf({ ...settings, ...changed })).flat()));
    assert.deepEqual(groups(), expected({}));
    const texts = {
      ...{ job: 'job=~"tailfin|hosts/.+", team="agents"', keep_firing_for: '25m' },
      ...{ runbook_url: 'https://wiki.corp/tailfin', dashboard_url: 'https://grafana.corp/g' },
    };
    const numbers = Object.fromEntries(
      RULE_SETTINGS.filter((name) => !(name in texts)).map((name, i) => [name, String((i + 1) / 8)]),
    );
    const set = Object.entries({ ...texts, ...numbers }).flatMap(([name, value]) => [
      name in texts ? '--set-string' : '--set',
      `rules.${name}=${value.replaceAll(',', '\\,')}`,
    ]);
    assert.deepEqual(groups(...set), expected({ ...texts, ...numbers }));
  });

  const BAD: readonly (readonly [string, RegExp])[] = [
    ['podMonitor.enabled=maybe', /podMonitor/],
    ['podMonitr.enabled=true', /podMonitr/],
    ['podMonitor.label.release=x', /label/],
    ['podMonitor.interval=soon', /interval/],
    ['admission.enabled=true', /repository/],
    ['image.digest=sha256:zz', /digest/],
    ['image.repository=a"b', /repository/],
    ['admission.quotaMiB=0', /quotaMiB/],
    ['admission.resources.limits.ephemeral=1', /ephemeral/],
    ['image.pullPolicy=Sometimes', /pullPolicy/],
    ['rules.trend_z=high', /trend_z/],
    ['rules.masked_ratio=-1', /masked_ratio/],
    ['rules.mask_ratio=1', /mask_ratio/],
    ['rules.job=tailfin', /job/],
    ['rules.keep_firing_for=long', /keep_firing_for/],
    ['rules.runbook_url=wiki', /runbook_url/],
  ];
  test('values that are wrong are refused, with their name', () => {
    for (const [set, name] of BAD) {
      const { status, stderr } = run(programs.helm4, ['template', CHART, '--set', set]);
      assert.notEqual(status, 0, set);
      assert.match(stderr, name, set);
    }
  });

  test('NOTES say what is missing', () => {
    const notes = (...args: string[]) =>
      good(programs.helm4, [
        'install',
        'rel',
        CHART,
        '--dry-run=client',
        '--set',
        'admission.enabled=true',
        ...IMAGE,
        ...args,
      ]);
    assert.match(notes(), /MISSING: the kinds of the Prometheus Operator[\s\S]*MISSING: MutatingAdmissionPolicy/);
  });

  test('it packages, and the package renders the same', (t) => {
    const folder = tempFolder(t);
    good(programs.helm4, ['package', CHART, '--destination', folder]);
    const [file = ''] = readdirSync(folder);
    assert.deepEqual(render(join(folder, file)), render(CHART));
  });
});

describe('the validation notices', () => {
  const args = [
    ...ALL_APIS.flatMap((api) => ['-a', api]),
    '--set',
    'networkPolicy.enabled=true,admission.enabled=true',
    ...IMAGE,
  ];
  const TYPOS: readonly (readonly [kind: string, from: string, to: string])[] = [
    ['Pod', 'securityContext', 'securityContex'],
    ['Pod', 'restartPolicy', 'restartpolicy'],
    ['PodMonitor', 'podMetricsEndpoints', 'podMetricEndpoints'],
    ['PodMonitor', 'port', 'prot'],
    ['NetworkPolicy', 'podSelector', 'podselector'],
    ['MutatingAdmissionPolicy', 'failurePolicy', 'failPolicy'],
    ['MutatingAdmissionPolicy', 'jsonPatch', 'jsonpatch'],
    ['ValidatingAdmissionPolicy', 'messageExpression', 'messageExpresion'],
    ['PrometheusRule', 'groups', 'group'],
  ];
  test('a typo in any kind', (t) => {
    const all = render(filledChart(tempFolder(t)), ...args);
    for (const [kind, from, to] of TYPOS) {
      const manifest = all.find((each) => each.kind === kind) as Manifest;
      const text = JSON.stringify(manifest);
      assert.ok(text.includes(`"${from}":`), `${kind} has ${from}`);
      assert.notDeepEqual(complaints(JSON.parse(text.replace(`"${from}":`, `"${to}":`))), [], `${kind}: ${to}`);
    }
    assert.notDeepEqual(
      complaints({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { containers: 'none' } }),
      [],
    );
    assert.deepEqual(complaints({ apiVersion: 'v1', kind: 'Pad', metadata: { name: 'x' } }), ['no schema for Pad']);
  });
  test('a pod that is not restricted', () => {
    const found = restrictedComplaints({
      hostNetwork: true,
      containers: [{ name: 'a', securityContext: { privileged: true } }],
    });
    for (const word of [
      'hostNetwork',
      'runAsNonRoot',
      'seccompProfile',
      'allowPrivilegeEscalation',
      'privileged',
      'capabilities',
    ])
      assert.ok(
        found.some((each) => each.includes(word)),
        word,
      );
  });
});

promtoolTest('promtool: the rules inside the rendered PrometheusRule', async (t) => {
  const folder = tempFolder(t);
  const rules = render(filledChart(folder), '-a', 'monitoring.coreos.com/v1').filter(
    ({ kind }) => kind === 'PrometheusRule',
  );
  assert.ok(rules.length > 0);
  for (const { metadata, spec } of rules) {
    const file = join(folder, `${metadata.name}.yaml`);
    writeFileSync(file, stringify(spec, { lineWidth: 0 }));
    const { status, text } = promtool(['check', 'rules', file]);
    assert.equal(status, 0, text);
    const broken = join(folder, 'broken.yaml');
    writeFileSync(broken, readFileSync(file, 'utf8').replace('sum by (', 'sum by by ('));
    if (readFileSync(broken, 'utf8') !== readFileSync(file, 'utf8'))
      assert.notEqual(promtool(['check', 'rules', broken]).status, 0, 'a broken expression is seen');
  }
});
