/**
 * A real API server (Kubernetes 1.36 or later; test/k8s/apiserver/build.sh): it takes everything that we make, and the admission
 * policy makes of a labelled pod what `inject` makes of it, leaves others alone, and never keeps a pod out.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { stringify } from 'yaml';
import { CONTAINER_ANNOTATION, INJECT_LABEL } from '../../src/k8s/constants.ts';
import { injectTemplate } from '../../src/k8s/template.ts';
import type { PodSpec, PodTemplate } from '../../src/k8s/types.ts';
import { workloadsOf } from '../../src/k8s/workload.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { ALL_APIS, filledChart, good, type Manifest, manifests, programs } from './rig.ts';

const IMAGE = 'registry.example/tailfin:0.1.0';
const CASES = join(ROOT, 'test/inject/cases');
const binaries = process.env.TAILFIN_KUBE_BIN;

const toText = (all: readonly object[]): string => all.map((each) => stringify(each, { lineWidth: 0 })).join('---\n');

/** Kinds of other projects, as far as an API server has to know them; their fields are checked in chart.check.ts. */
function foreignKind(group: string, version: string, kind: string): object {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind, plural, singular: kind.toLowerCase() } },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

const FOREIGN = [
  foreignKind('monitoring.coreos.com', 'v1', 'PodMonitor'),
  foreignKind('monitoring.coreos.com', 'v1', 'PrometheusRule'),
  foreignKind('grafana.integreatly.org', 'v1beta1', 'GrafanaDashboard'),
];

const chart = (folder: string, ...set: string[]): Manifest[] =>
  manifests(
    good(programs.helm4, [
      ...['template', 'rel', folder, '--namespace', 'default', '--set', 'image.repository=registry.example/tailfin'],
      ...[
        '--kube-version',
        '1.36.0',
        ...ALL_APIS.flatMap((api) => ['-a', api]),
        ...set.flatMap((each) => ['--set', each]),
      ],
    ]),
  );

interface Case {
  readonly name: string;
  readonly template: PodTemplate;
}
/** The first workload of each case whose options a label can say. */
const cases: Case[] = readdirSync(CASES).flatMap((name) => {
  if (existsSync(join(CASES, name, 'args.txt')) || name.startsWith('broken') || name === 'asked-not-to') return [];
  const text = readFileSync(join(CASES, name, 'in.yaml'), 'utf8');
  const [workload] = manifests(text).flatMap((each) => workloadsOf(each));
  return workload === undefined ? [] : [{ name, template: workload.template }];
});

interface Created {
  readonly spec: PodSpec;
  readonly labels: Record<string, string>;
  readonly warning: string;
}
function create({ kubectl }: Cluster, { metadata, spec }: PodTemplate, label?: string): Created {
  const labels = { ...metadata?.labels, ...(label !== undefined && { [INJECT_LABEL]: label }) };
  const named = metadata?.annotations?.[CONTAINER_ANNOTATION];
  const annotations = named === undefined ? {} : { [CONTAINER_ANNOTATION]: named };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', labels, annotations }, spec };
  const { status, stdout, stderr } = kubectl(
    ['create', '--dry-run=server', '-o', 'json', '-f', '-'],
    JSON.stringify(pod),
  );
  assert.equal(status, 0, stderr);
  const made = JSON.parse(stdout) as { spec: PodSpec; metadata: { labels?: Record<string, string> } };
  return { spec: made.spec, labels: made.metadata.labels ?? {}, warning: stderr };
}

const skip = binaries === undefined ? 'skipped: needs TAILFIN_KUBE_BIN (test/k8s/apiserver/build.sh)' : false;

test('a real API server', { skip }, async (t) => {
  const cluster = await startCluster(t, binaries as string);
  const filled = filledChart(tempFolder(t));
  const version = cluster.kubectl(['version', '-o', 'json']).stdout;
  t.diagnostic(`server ${/"serverVersion":[\s\S]*?"gitVersion": "([^"]+)"/.exec(version)?.[1]}`);
  const apply = (all: readonly object[]) => {
    const { status, stderr, stdout } = cluster.kubectl(['apply', '--server-side', '-f', '-'], toText(all));
    assert.equal(status, 0, stderr);
    return stdout;
  };

  await t.test('server-side apply of everything is accepted', async () => {
    apply(FOREIGN);
    const known = () => cluster.kubectl(['get', 'podmonitors,prometheusrules,grafanadashboards']).status === 0;
    await until(known, { timeoutMs: 60_000, everyMs: 300, what: 'the kinds are served' });
    const set =
      'grafanaDashboard.enabled=true,rulesConfigMap.enabled=true,networkPolicy.enabled=true,admission.enabled=true';
    const all = chart(filled, set);
    const said = apply(all);
    t.diagnostic(`applied ${said.trim().split('\n').length} objects of the chart`);
    apply(manifests(readFileSync(join(ROOT, 'deploy/examples/pod.yaml'), 'utf8')));
  });

  const admitted: Case = { name: 'probe', template: { spec: { containers: [{ name: 'app', image: 'a:1' }] } } };
  await until(() => create(cluster, admitted.template, 'true').spec.initContainers !== undefined, {
    ...{ timeoutMs: 60_000, everyMs: 300, what: 'the policy is in force' },
  });

  await t.test('a labelled pod becomes what inject makes of it', () => compare(t, cluster));
  await t.test('other pods are left alone', () => {
    for (const label of [undefined, 'false'])
      for (const { template } of cases) {
        if (!isAccepted(cluster, template)) continue;
        const { spec, labels } = create(cluster, template, label);
        assert.deepEqual(spec.containers.length, template.spec.containers.length);
        assert.doesNotMatch(JSON.stringify(spec), /install-tap/);
        assert.equal(labels['tailfin.dev/injected'], undefined);
      }
  });
  await t.test('a runtime error of the expression lets the pod in, unchanged, with a warning', () => {
    const ports = Array.from({ length: 10 }, (_, index) => ({ containerPort: 19640 + index }));
    const { spec, warning } = create(cluster, { spec: { containers: [{ name: 'app', image: 'a:1', ports }] } }, 'true');
    assert.equal(spec.initContainers, undefined);
    assert.match(warning, /Tailfin was not put beside this pod: the policy failed on it/);
  });
  await t.test('an own quota and user', async () => {
    apply(
      chart(filled, 'admission.enabled=true,admission.quotaMiB=32,admission.runAsUser=2000').filter(({ kind }) =>
        kind.startsWith('Mutating'),
      ),
    );
    const isNew = () =>
      JSON.stringify(create(cluster, admitted.template, 'true').spec).includes('"64Mi"},"name":"tailfin-events"');
    await until(
      () => /TAILFIN_TAP_QUOTA/.test(JSON.stringify(create(cluster, admitted.template, 'true').spec)) || isNew(),
      {
        ...{ timeoutMs: 60_000, everyMs: 300, what: 'the changed policy is in force' },
      },
    );
    const made = create(cluster, admitted.template, 'true').spec;
    const options = { image: IMAGE, quotaMiB: 32, runAsUser: 2000 };
    assert.deepEqual(made, create(cluster, injectTemplate(defaulted(cluster, admitted.template), options)).spec);
  });
});

/** As the API server completes it: that is what a policy sees. */
const defaulted = (cluster: Cluster, template: PodTemplate): PodTemplate => ({
  ...template,
  spec: create(cluster, template).spec,
});

function compare(t: TestContext, cluster: Cluster): void {
  let same = 0;
  let refused = 0;
  for (const { name, template } of cases) {
    if (name === 'node-options-value-from-refused' || name.endsWith('-refused')) {
      if (!isAccepted(cluster, template)) continue;
      const { spec, warning } = create(cluster, template, 'true');
      assert.doesNotMatch(JSON.stringify(spec.initContainers ?? []), /install-tap/, name);
      assert.match(warning, /Tailfin was not put beside this pod: /, name);
      assert.doesNotMatch(warning, /the policy failed on it/, `${name}: with its reason`);
      refused += 1;
      continue;
    }
    if (!isAccepted(cluster, template)) continue;
    const expected = injectTemplate(defaulted(cluster, template), { image: IMAGE, imagePullPolicy: 'IfNotPresent' });
    const made = create(cluster, template, 'true');
    assert.deepEqual(made.spec, create(cluster, expected).spec, name);
    assert.equal(made.labels['tailfin.dev/injected'], 'true', name);
    same += 1;
  }
  t.diagnostic(`${same} pods equal to inject, ${refused} refused with a reason`);
  assert.ok(same >= 20 && refused >= 5, `${same} ${refused}`);
}

/** Some cases are no pods that a cluster takes (two variables of one name, arguments that are no text). */
function isAccepted({ kubectl }: Cluster, { spec }: PodTemplate): boolean {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' }, spec };
  return kubectl(['create', '--dry-run=server', '-o', 'json', '-f', '-'], JSON.stringify(pod)).status === 0;
}
