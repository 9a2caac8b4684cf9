/**
 * The ways into a real API server: what stands in the pipes, files and builds of docs/kubernetes.md is applied, read back, taken out
 * again. A cluster merges lists by keys of its own, so what was printed and what is stored are two things.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { injectStream, uninjectStream } from '../../src/app/command-inject.ts';
import { injectOptions } from '../../src/app/inject-options.ts';
import { injectTemplate } from '../../src/k8s/template.ts';
import type { PodTemplate } from '../../src/k8s/types.ts';
import { workloadsOf } from '../../src/k8s/workload.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { meaningOf } from '../support/pods.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { good, manifests, programs } from './rig.ts';

const IMAGE = 'registry.example/tailfin:0.1.0';
const binaries = process.env.TAILFIN_KUBE_BIN;
const skip = binaries === undefined ? 'skipped: needs TAILFIN_KUBE_BIN (test/k8s/apiserver/build.sh)' : false;

const labels = { app: 'web' };
const container = { name: 'app', image: 'registry.example/app:1' };
const workload = (kind: string, template: PodTemplate, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, ...template }, ...more },
});
const rich = {
  spec: {
    initContainers: [
      { name: 'setup', image: 'a:1' },
      { name: 'proxy', image: 'a:1', restartPolicy: 'Always' },
    ],
    containers: [
      {
        ...container,
        command: ['node'],
        args: ['main.js'],
        env: [
          { name: 'NODE_OPTIONS', value: '--max-old-space-size=512' },
          { name: 'A', value: 'b' },
        ],
        ports: [{ containerPort: 19640 }],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        securityContext: { runAsUser: 1000 },
      },
      { ...container, name: 'second' },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
    terminationGracePeriodSeconds: 60,
  },
};
const INPUTS = [
  workload('Deployment', { spec: { containers: [container] } }),
  workload('Deployment', rich),
  workload('StatefulSet', rich, { serviceName: 'web' }),
  workload('DaemonSet', rich),
  {
    ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'web' } },
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...rich.spec, restartPolicy: 'OnFailure' } } } },
    },
  },
];

const inject = (text: string): string =>
  injectStream('-', text, () => injectOptions({ image: IMAGE }), { only: [], labelled: false }).text;
const uninject = (text: string): string => uninjectStream('-', text).text;
const templateOf = (text: string): PodTemplate =>
  manifests(text).flatMap((each) => workloadsOf(each))[0]?.template as PodTemplate;

/** How the object came into the cluster, and how the pipe puts it back. */
const WAYS = {
  'create, then apply': [['create'], ['apply']],
  apply: [['apply'], ['apply']],
  'apply --server-side': [
    ['apply', '--server-side'],
    ['apply', '--server-side'],
  ],
  'create, then apply --server-side --force-conflicts': [['create'], ['apply', '--server-side', '--force-conflicts']],
} as const;

test('manifests in a real API server', { skip }, async (t) => {
  const cluster = await startCluster(t, binaries as string);
  const put = (args: readonly string[], text: string): string => {
    const { status, stdout, stderr } = cluster.kubectl([...args, '-f', '-'], text);
    assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const read = (kind: string, more: readonly string[] = []): string =>
    done(cluster, ['get', kind, 'web', '-o', 'yaml', ...more]);

  for (const [way, [first, again]] of Object.entries(WAYS))
    await t.test(`kubectl get | tailfin inject | ${way}, and uninject the same way`, () => {
      for (const input of INPUTS) {
        const { kind } = input;
        put(first, stringify(input));
        const before = templateOf(read(kind));
        put(again, inject(read(kind)));
        const expected = JSON.parse(JSON.stringify(injectTemplate(before, { image: IMAGE }))) as PodTemplate;
        const made = templateOf(read(kind));
        assert.deepEqual(undefaulted(made), undefaulted(expected), `${kind}: stored is what inject printed`);
        put(again, inject(read(kind)));
        assert.deepEqual(templateOf(read(kind)), made, `${kind}: a second time changes nothing, so no pod restarts`);
        put(again, uninject(read(kind)));
        assert.deepEqual(meaningOf(templateOf(read(kind))), meaningOf(before), `${kind}: as it was`);
        done(cluster, ['delete', kind, 'web', '--cascade=background', '--wait=false']);
      }
    });

  await t.test('after a create, server-side apply asks for --force-conflicts, and changes nothing before', () => {
    put(['create'], stringify(INPUTS[1]));
    const before = read('Deployment');
    const { status, stderr } = cluster.kubectl(['apply', '--server-side', '-f', '-'], inject(before));
    assert.notEqual(status, 0);
    assert.match(stderr, /conflict/);
    assert.equal(read('Deployment'), before);
    done(cluster, ['delete', 'Deployment', 'web', '--cascade=background', '--wait=false']);
  });

  await t.test('Kustomize component, Helm library, post-renderer: server-side apply takes all of it', () => {
    const folder = tempFolder(t);
    const builds = [
      kustomizeOutput(folder),
      libraryOutput(folder),
      inject(INPUTS.map((each) => stringify(each)).join('---\n')),
    ];
    for (const text of builds) {
      const said = put(['apply', '--server-side', '--dry-run=server'], text);
      assert.match(said, /serverside-applied/);
      assert.match(text, /install-tap/);
    }
  });

  await t.test('every file of deploy/examples that holds objects of Kubernetes itself', () => {
    const files = readdirSync(join(ROOT, 'deploy/examples'), { recursive: true, encoding: 'utf8' });
    let count = 0;
    for (const name of files.filter((each) => each.endsWith('.yaml'))) {
      const text = readFileSync(join(ROOT, 'deploy/examples', name), 'utf8');
      if (!manifests(text).some((each) => workloadsOf(each).length > 0)) continue;
      put(['apply', '--server-side', '--dry-run=server'], text);
      count += 1;
    }
    t.diagnostic(`${count} files of deploy/examples`);
    assert.ok(count > 0);
  });
});

function done({ kubectl }: Cluster, args: readonly string[]): string {
  const { status, stdout, stderr } = kubectl(args);
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Without what the API server fills in for the containers that we add. */
const FILLED = ['terminationMessagePath', 'terminationMessagePolicy', 'imagePullPolicy'];
function undefaulted(template: PodTemplate): unknown {
  return JSON.parse(JSON.stringify(meaningOf(template)), (key, value) => {
    if (FILLED.includes(key)) return undefined;
    if (key === 'fieldRef') return { fieldPath: value.fieldPath };
    if (key === 'livenessProbe') return { port: value.httpGet.port, after: value.initialDelaySeconds };
    return value;
  });
}

function kustomizeOutput(folder: string): string {
  cpSync(join(ROOT, 'deploy/kustomize'), join(folder, 'tailfin'), { recursive: true });
  const overlay = join(folder, 'overlay');
  mkdirSync(overlay);
  const marked = INPUTS.slice(1, 4).map((each) => ({
    ...each,
    metadata: { ...each.metadata, annotations: { 'tailfin.dev/inject': 'true' } },
  }));
  writeFileSync(join(overlay, 'all.yaml'), marked.map((each) => stringify(each)).join('---\n'));
  writeFileSync(
    join(overlay, 'kustomization.yaml'),
    'resources: [all.yaml]\ncomponents: [../tailfin]\nimages:\n  - {name: tailfin, newName: registry.example/tailfin, newTag: 0.1.0}\n',
  );
  return good(programs.kubectl, ['kustomize', overlay]);
}

function libraryOutput(folder: string): string {
  cpSync(join(ROOT, 'deploy/library'), join(folder, 'library'), { recursive: true });
  const chart = join(folder, 'library/example');
  good(programs.helm4, ['dependency', 'update', chart]);
  return good(programs.helm4, ['template', 'r', chart]);
}
