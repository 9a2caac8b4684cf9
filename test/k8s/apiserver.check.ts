/**
 * A real API server (Kubernetes 1.36 or later; test/k8s/apiserver/build.sh): it takes everything that we make, and the admission
 * policy makes of a labelled pod what `inject` makes of it, leaves others alone, and never keeps a pod out.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { CONTAINER_ANNOTATION, INJECT_LABEL } from '../../src/k8s/constants.ts';
import { InjectRefusal } from '../../src/k8s/options.ts';
import { injectTemplate } from '../../src/k8s/template.ts';
import type { Container, EnvVar, PodSpec, PodTemplate } from '../../src/k8s/types.ts';
import { warningsOf } from '../../src/k8s/warnings.ts';
import { workloadsOf } from '../../src/k8s/workload.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { anyPod } from '../support/pods.ts';
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
/** The first workload of each case whose options a label and an annotation can say. */
const cases: Case[] = readdirSync(CASES).flatMap((name) => {
  const file = join(CASES, name, 'args.txt');
  const args = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const [option, container = '', ...more] = args;
  if (name === 'asked-not-to' || more.length > 0 || (option !== undefined && option !== '--container')) return [];
  const text = readFileSync(join(CASES, name, 'in.yaml'), 'utf8');
  const [workload] = readable(text).flatMap((each) => workloadsOf(each));
  if (workload === undefined) return [];
  const { metadata, spec } = workload.template;
  if (option === undefined) return [{ name, template: { metadata: metadata ?? null, spec } }];
  const annotations = { ...metadata?.annotations, [CONTAINER_ANNOTATION]: container };
  return [{ name, template: { metadata: { ...metadata, annotations }, spec } }];
});

/** None where the case is that nobody can read it. */
function readable(text: string): unknown[] {
  try {
    return manifests(text);
  } catch {
    return [];
  }
}

/** What the cases lack: they are short of whatever only a cluster asks for, or defaults. */
const app = { name: 'app', image: 'registry.example/app:1' };
const HOSTILE: Readonly<Record<string, PodSpec>> = {
  'command and arguments': {
    containers: [{ ...app, command: ['sh', '-c'], args: ['exec node "$(X)"', ''], workingDir: '/a b', tty: true }],
  },
  'arguments alone': { containers: [{ ...app, args: ['--port', '19640'] }] },
  'requests of the pod that are too small for ours': { resources: { requests: { memory: '32Mi' } }, containers: [app] },
  'limits of the pod': { resources: { limits: { memory: '32Mi', cpu: '10m' } }, containers: [app] },
  'network of the node': { hostNetwork: true, containers: [{ ...app, ports: [{ containerPort: 19640 }] }] },
  'users of its own': { hostUsers: false, containers: [app] },
  'not root, without a user': { securityContext: { runAsNonRoot: true }, containers: [app] },
  'one process space': { shareProcessNamespace: true, containers: [app] },
  'a variable without a value': { containers: [{ ...app, env: [{ name: 'NODE_OPTIONS' }] }] },
  'references and quotes': {
    containers: [{ ...app, env: [{ name: 'NODE_OPTIONS', value: '$(X) --title="a \\"q\\" \'"' }] }],
  },
  'variables from elsewhere': { containers: [{ ...app, envFrom: [{ configMapRef: { name: 'c' } }] }] },
  'a native sidecar': { initContainers: [{ ...app, name: 'proxy', restartPolicy: 'Always' }], containers: [app] },
  'a gate and spread': {
    schedulingGates: [{ name: 'example.com/a' }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
    ],
    containers: [app],
  },
  'a long name': { containers: [{ ...app, name: 'a'.repeat(63) }] },
  'another protocol on the port': { containers: [{ ...app, ports: [{ containerPort: 19640, protocol: 'UDP' }] }] },
  'a mount above': {
    containers: [{ ...app, volumeMounts: [{ name: 'v', mountPath: '/var/run' }] }],
    volumes: [{ name: 'v', emptyDir: {} }],
  },
};
const hostile: Case[] = Object.entries(HOSTILE).map(([name, spec]) => ({ name, template: { spec } }));
const RANDOM_PODS = 40;
const FROM_POD = { fieldRef: { fieldPath: 'metadata.name' } };
const random: Case[] = fc
  .sample(anyPod, { numRuns: RANDOM_PODS, seed: 8 })
  .map((spec, index) => ({ name: `random pod ${index}`, template: { spec: withImages(spec) } }));

function withImages({ initContainers, containers, ...rest }: PodSpec): PodSpec {
  const filled = (each: Container): Container => {
    const valid = (variable: EnvVar) => ({ ...variable, ...(variable.valueFrom ? { valueFrom: FROM_POD } : {}) });
    const unique = new Map((each.env ?? []).map((variable) => [variable.name, valid(variable)]));
    // A group for volumes is the pod's alone.
    const { fsGroup: _, ...securityContext } = each.securityContext ?? {};
    const volumeMounts = each.volumeMounts?.slice(0, 1) ?? [];
    return { ...each, image: 'a:1', env: [...unique.values()], volumeMounts, securityContext };
  };
  return {
    ...rest,
    ...(initContainers && { initContainers: initContainers.map(filled) }),
    containers: containers.map(filled),
  };
}

interface Created {
  readonly spec: PodSpec;
  readonly labels: Record<string, string>;
  readonly warning: string;
}
function create({ kubectl }: Cluster, { metadata, spec }: PodTemplate, label?: string): Created {
  const labels = { ...metadata?.labels, ...(label !== undefined && { [INJECT_LABEL]: label }) };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', labels, annotations: metadata?.annotations },
    spec,
  };
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

  await t.test('a labelled pod becomes what inject makes of it: the cases of test/inject', () =>
    compare(t, cluster, cases, { same: 30, refused: 10 }),
  );
  await t.test('hostile pods', () => compare(t, cluster, hostile, { same: 14, refused: 2 }));
  await t.test('random pods', () => compare(t, cluster, random, { same: 10, refused: 1 }));
  await t.test('the mirror of a static pod stays as it is', () => {
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    const { spec, warning } = create(
      cluster,
      { metadata: { annotations }, spec: { nodeName: 'n', containers: [app] } },
      'true',
    );
    assert.equal(spec.initContainers, undefined);
    assert.match(warning, /mirror of a static pod/);
  });
  await t.test('other pods are left alone', () => {
    for (const label of [undefined, 'false'])
      for (const { template } of hostile) {
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

/** `inject` says what each pod becomes: the policy does the same, or says why not; and it takes no pod away from the cluster. */
function compare(
  t: TestContext,
  cluster: Cluster,
  all: readonly Case[],
  least: { same: number; refused: number },
): void {
  const count = { same: 0, refused: 0 };
  for (const { name, template } of all) {
    if (!isAccepted(cluster, template)) continue;
    const made = create(cluster, template, 'true');
    let expected: PodTemplate;
    try {
      expected = injectTemplate(defaulted(cluster, template), { image: IMAGE, imagePullPolicy: 'IfNotPresent' });
    } catch (error) {
      assert.ok(error instanceof InjectRefusal, String(error));
      assert.doesNotMatch(JSON.stringify(made.spec.initContainers ?? []), /install-tap/, name);
      assert.match(made.warning, /Tailfin was not put beside this pod: /, name);
      assert.doesNotMatch(made.warning, /the policy failed on it/, `${name}: with its reason`);
      count.refused += 1;
      continue;
    }
    // An init container as the one to tap: of the policy nobody can ask that.
    if (made.warning.includes('names no container')) continue;
    assert.deepEqual(made.spec, create(cluster, expected).spec, name);
    assert.equal(made.labels['tailfin.dev/injected'], 'true', name);
    const warnings = warningsOf(template.spec, expected.spec).length;
    assert.equal(made.warning.match(/Tailfin: /g)?.length ?? 0, warnings, `${name}: ${made.warning}`);
    count.same += 1;
  }
  t.diagnostic(`${count.same} pods equal to inject, ${count.refused} refused with a reason`);
  assert.ok(count.same >= least.same && count.refused >= least.refused, JSON.stringify(count));
}

/** Some cases are no pods that a cluster takes (two variables of one name, arguments that are no text). */
function isAccepted({ kubectl }: Cluster, { spec }: PodTemplate): boolean {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' }, spec };
  return kubectl(['create', '--dry-run=server', '-o', 'json', '-f', '-'], JSON.stringify(pod)).status === 0;
}
