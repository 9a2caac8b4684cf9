/** Every front gives what `inject` gives: post-renderers of Helm 3 and 4, KRM, Kustomize, the Helm library; and pods are valid. */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { injectTemplate, uninjectTemplate } from '../../src/k8s/template.ts';
import type { PodTemplate } from '../../src/k8s/types.ts';
import { workloadsOf } from '../../src/k8s/workload.ts';
import { ensureBuilt, MAIN, ROOT, tempFolder } from '../support/cli.ts';
import { assertSound, good, type Manifest, manifests, programs, run } from './rig.ts';

await ensureBuilt();
const IMAGE = 'registry.example/tailfin:0.1.0';
const ENV = { TAILFIN: `${process.execPath} ${MAIN}`, TAILFIN_IMAGE: IMAGE };
const RENDERER = join(ROOT, 'deploy/helm-post-renderer');
const CASES = join(ROOT, 'test/inject/cases');

const templateOf = (manifest: Manifest): PodTemplate => workloadsOf(manifest)[0]?.template as PodTemplate;
const deployment = (all: readonly Manifest[], name?: string): Manifest =>
  all.find(({ kind, metadata }) => kind === 'Deployment' && (name === undefined || metadata.name === name)) as Manifest;

/** Null is unset to Kubernetes, and the schemas do not know that; the network of the node is the choice of a host, not ours. */
const ours = (manifest: Manifest): Manifest =>
  JSON.parse(
    JSON.stringify(manifest, (key, value) => (key === 'hostNetwork' ? undefined : (value ?? undefined))),
  ) as Manifest;

/** A chart of somebody else. */
function foreignChart(folder: string): string {
  const chart = join(folder, 'foreign');
  mkdirSync(join(chart, 'templates'), { recursive: true });
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: foreign\nversion: 0.1.0\n');
  writeFileSync(
    join(chart, 'templates/all.yaml'),
    readFileSync(join(CASES, 'node-options-appended/in.yaml'), 'utf8') +
      '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n',
  );
  return chart;
}

describe('injected manifests', () => {
  test('every case of test/inject is valid, and what we add is restricted wherever the host is not root', () => {
    let checked = 0;
    for (const name of readdirSync(CASES)) {
      if (name.endsWith('-refused') || name === 'run-as-root' || /^(stream|duplicate)/.test(name)) continue;
      const all = manifests(readFileSync(join(CASES, name, 'out.yaml'), 'utf8')).map(ours);
      // The inputs are short of what only a cluster asks for; that is not what is looked at here.
      assertSound(all.filter(({ kind }) => kind === 'Pod' || kind === 'CronJob'));
      for (const { template } of all.flatMap((each) => workloadsOf(each))) {
        assertSound([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: template.spec }]);
        checked += 1;
      }
    }
    assert.ok(checked >= 45, String(checked));
  });
});

describe('Helm post-renderer', () => {
  const expected = (chart: string) =>
    injectTemplate(templateOf(deployment(manifests(good(programs.helm4, ['template', 'r', chart])))), { image: IMAGE });

  test('Helm 3: an executable', (t) => {
    const chart = foreignChart(tempFolder(t));
    const program = join(RENDERER, 'tailfin-post-renderer');
    const all = manifests(good(programs.helm3, ['template', 'r', chart, '--post-renderer', program], '', ENV));
    assert.deepEqual(templateOf(deployment(all)), expected(chart));
    assert.equal(all.length, 2);
  });

  test('Helm 4: a postrenderer/v1 plugin, with arguments', (t) => {
    const folder = tempFolder(t);
    const chart = foreignChart(folder);
    const env = {
      ...ENV,
      HELM_PLUGINS: join(folder, 'plugins'),
      HELM_DATA_HOME: folder,
      HELM_CACHE_HOME: folder,
      HELM_CONFIG_HOME: folder,
    };
    mkdirSync(env.HELM_PLUGINS);
    cpSync(RENDERER, join(env.HELM_PLUGINS, 'tailfin'), { recursive: true });
    chmodSync(join(env.HELM_PLUGINS, 'tailfin/tailfin-post-renderer'), 0o755);
    const args = ['template', 'r', chart, '--post-renderer', 'tailfin'];
    assert.deepEqual(templateOf(deployment(manifests(good(programs.helm4, args, '', env)))), expected(chart));
    const more = [...args, '--post-renderer-args', '--quota', '--post-renderer-args', '32'];
    assert.match(good(programs.helm4, more, '', env), /TAILFIN_TAP_QUOTA/);
    const refused = run(
      programs.helm4,
      [...args, '--post-renderer-args', '--container', '--post-renderer-args', 'no'],
      '',
      env,
    );
    assert.notEqual(refused.status, 0, 'a refusal ends the release');
    assert.equal(refused.stdout, '');
  });
});

test('KRM function: the script gives what the command gives', () => {
  const input = readFileSync(join(CASES, 'resource-list/in.yaml'), 'utf8');
  const out = good(join(ROOT, 'deploy/krm/tailfin-krm'), [], input, { TAILFIN: ENV.TAILFIN });
  assert.equal(out, readFileSync(join(CASES, 'resource-list/out.yaml'), 'utf8'));
});

test('Kustomize component: what inject gives, but for the grace period', (t) => {
  const folder = tempFolder(t);
  cpSync(join(ROOT, 'deploy/kustomize'), join(folder, 'tailfin'), { recursive: true });
  const overlay = join(folder, 'overlay');
  mkdirSync(overlay);
  const names = [
    'plain-deployment',
    'node-options-appended',
    'existing-init-containers',
    'two-containers-first',
    'read-only-root',
    'stateful-set',
    'grace-given',
  ];
  const marked = (text: string, name: string) =>
    text.replace('  name: web', `  name: ${name}\n  annotations:\n    tailfin.dev/inject: "true"`);
  const inputs = names.map((name) => marked(readFileSync(join(CASES, name, 'in.yaml'), 'utf8'), name));
  const left = readFileSync(join(CASES, 'plain-deployment/in.yaml'), 'utf8').replace('name: web', 'name: left');
  writeFileSync(join(overlay, 'all.yaml'), [...inputs, left].join('---\n'));
  writeFileSync(
    join(overlay, 'kustomization.yaml'),
    'resources: [all.yaml]\ncomponents: [../tailfin]\nimages:\n  - {name: tailfin, newName: registry.example/tailfin, newTag: 0.1.0}\n',
  );
  const out = manifests(good(programs.kubectl, ['kustomize', overlay]));
  assert.equal(out.length, names.length + 1, 'the parts are not part of the output');
  for (const [index, name] of names.entries()) {
    const found = structuredClone(templateOf(out.find(({ metadata }) => metadata.name === name) as Manifest));
    const given = templateOf(manifests(inputs[index] as string)[0] as Manifest);
    const { terminationGracePeriodSeconds: _, ...spec } = injectTemplate(given, { image: IMAGE }).spec;
    const { terminationGracePeriodSeconds: grace, ...built } = found.spec;
    assert.deepEqual(withoutRecord(built), withoutRecord(spec), name);
    assert.equal(grace, given.spec.terminationGracePeriodSeconds, `${name}: left as it is`);
    assert.equal(
      uninjectTemplate(found).spec.terminationGracePeriodSeconds,
      grace,
      `${name}: and not taken from again`,
    );
    assert.deepEqual(
      injectTemplate(found, { image: IMAGE }).spec.terminationGracePeriodSeconds,
      injectTemplate(given, { image: IMAGE }).spec.terminationGracePeriodSeconds,
      `${name}: inject over it extends it`,
    );
    assert.equal(found.metadata?.labels?.['tailfin.dev/injected'], 'true');
  }
  assert.deepEqual(
    out.find(({ metadata }) => metadata.name === 'left'),
    manifests(left)[0],
  );
});

/** Kustomize leaves a blank before the first option, has another record of the grace period, and puts volumes first. */
function withoutRecord({ volumes = [], ...rest }: { volumes?: readonly { name: string }[] | null }): object {
  const spec = { ...rest, volumes: [...(volumes ?? [])].sort((a, b) => a.name.localeCompare(b.name)) };
  return JSON.parse(JSON.stringify(spec).replaceAll('" --require', '"--require'), (key, value) =>
    key === 'env' && value[0]?.name === 'TAILFIN_INJECT_GRACE' ? undefined : value,
  ) as object;
}

test('Helm library: the example chart is inject', (t) => {
  const folder = tempFolder(t);
  cpSync(join(ROOT, 'deploy/library'), join(folder, 'library'), { recursive: true });
  const chart = join(folder, 'library/example');
  good(programs.helm4, ['dependency', 'update', chart]);
  good(programs.helm4, ['lint', '--strict', chart]);
  for (const set of ['nodeOptions=--max-old-space-size=9', 'nodeOptions=null']) {
    const all = manifests(good(programs.helm4, ['template', 'r', chart, '--set', set]));
    assertSound(all);
    const found = templateOf(deployment(all));
    const options = set.endsWith('null') ? undefined : '--max-old-space-size=9';
    const host = { name: 'app', image: 'registry.example/app:1', securityContext: { runAsUser: 1000 } };
    const env = options === undefined ? {} : { env: [{ name: 'NODE_OPTIONS', value: options }] };
    const given = {
      metadata: { labels: { app: 'r' } },
      spec: { terminationGracePeriodSeconds: 30, containers: [{ ...host, ...env }] },
    };
    assert.deepEqual(found, injectTemplate(given, { image: IMAGE }));
  }
});
