/**
 * The files of deploy/examples: each is valid for what reads it, and none is left out. And the pages that show a part of one show what
 * stands there. rules.yaml and prometheus.yaml are read by promtool in test/deploy.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { injectTemplate } from '../../src/k8s/template.ts';
import type { PodTemplate } from '../../src/k8s/types.ts';
import { workloadsOf } from '../../src/k8s/workload.ts';
import { ROOT } from '../support/cli.ts';
import { EXAMPLES } from '../support/deploy.ts';
import {
  ALL_APIS,
  assertSound,
  complaints,
  good,
  type Manifest,
  manifests,
  programs,
  restrictedComplaints,
} from './rig.ts';

const FILES = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' })
  .filter((name) => statSync(join(EXAMPLES, name)).isFile())
  .sort();
const BY_PROMTOOL = ['prometheus.yaml', 'rules.yaml'];
const isValues = (name: string): boolean => name.endsWith('.values.yaml');
const read = (name: string): string => readFileSync(join(EXAMPLES, name), 'utf8');
const templateOf = (all: readonly Manifest[]): PodTemplate =>
  all.flatMap((each) => workloadsOf(each))[0]?.template as PodTemplate;

describe('files of deploy/examples', () => {
  test('every manifest is valid, and every pod restricted', () => {
    let count = 0;
    for (const name of FILES) {
      if (BY_PROMTOOL.includes(name) || isValues(name)) continue;
      const all = manifests(read(name));
      assert.ok(all.length > 0, name);
      for (const each of all) assert.deepEqual(complaints(each), [], name);
      for (const { template } of all.flatMap((each) => workloadsOf(each)))
        assert.deepEqual(restrictedComplaints(template.spec), [], name);
      count += 1;
    }
    assert.ok(count >= 8, String(count));
  });

  test('a typo is seen', () => {
    for (const [name, from, to] of [
      ['third-party/injected.yaml', 'readinessProbe', 'readynessProbe'],
      ['gitops/flux.yaml', 'sourceRef', 'sourceref'],
      ['gitops/argo-cd.yaml', 'targetRevision', 'revision'],
      ['gitops/kustomization.yaml', 'components', 'component'],
    ] as const) {
      const text = read(name).replaceAll(from, to);
      assert.notEqual(text, read(name));
      assert.notDeepEqual(manifests(text).flatMap(complaints), [], `${name}: ${to}`);
    }
  });

  test('paths that they name are there', () => {
    for (const name of FILES.filter((each) => each.startsWith('gitops/') || each.startsWith('third-party/'))) {
      for (const { kind, spec, resources, components } of manifests(read(name)) as unknown as Record<string, never>[]) {
        const inFolder = [...((resources ?? []) as string[]), ...((components ?? []) as string[])];
        for (const path of inFolder) assert.ok(existsSync(join(EXAMPLES, dirname(name), path)), `${name}: ${path}`);
        const { path, source, chart } = (spec ?? {}) as {
          path?: string;
          source?: { path: string; helm?: { valueFiles: string[] } };
          chart?: { spec: { chart: string; valuesFiles: string[] } };
        };
        const values = (source?.helm?.valueFiles ?? []).map((each) => join(source?.path ?? '', each));
        const inRoot = [path, source?.path, ...values, chart?.spec.chart, ...(chart?.spec.valuesFiles ?? [])];
        for (const each of inRoot) if (each) assert.ok(existsSync(join(ROOT, each)), `${name}: ${kind} ${each}`);
      }
    }
  });

  test('values of the chart: what each file is there for is rendered', () => {
    const render = (name: string): Manifest[] => {
      const args = ['template', 'tailfin', join(ROOT, 'deploy/chart'), '-n', 'monitoring', '-f', join(EXAMPLES, name)];
      const all = manifests(good(programs.helm4, [...args, ...ALL_APIS.flatMap((api) => ['-a', api])]));
      assertSound(all);
      return all;
    };
    assert.deepEqual(FILES.filter(isValues), ['grafana-operator.values.yaml', 'kube-prometheus-stack.values.yaml']);
    const stack = render('kube-prometheus-stack.values.yaml');
    for (const kind of ['PodMonitor', 'PrometheusRule']) {
      const found = stack.filter((each) => each.kind === kind);
      assert.ok(found.length > 0, kind);
      for (const { metadata } of found) assert.equal(metadata.labels?.release, 'kube-prometheus-stack', kind);
    }
    const operator = render('grafana-operator.values.yaml');
    const boards = operator.filter(({ kind }) => kind === 'GrafanaDashboard');
    assert.equal(boards.length, operator.filter((each) => each.metadata.labels?.grafana_dashboard === '1').length);
    assert.ok(boards.length > 0);
  });

  test('gitops: kubectl kustomize gives the host with Tailfin, with the grace period that the component cannot give', () => {
    const built = manifests(good(programs.kubectl, ['kustomize', join(EXAMPLES, 'gitops')]));
    assertSound(built);
    const { spec } = templateOf(built);
    const expected = injectTemplate(templateOf(manifests(read('third-party/deployment.yaml'))), {
      image: 'registry.example/tailfin:0.1.0',
    }).spec;
    const shape = (all: PodTemplate['spec']) => ({
      init: all.initContainers?.map(({ name, image, args }) => ({ name, image, args })),
      options: all.containers.map(({ env }) => env?.find(({ name }) => name === 'NODE_OPTIONS')?.value),
      mounts: all.containers.map(({ volumeMounts }) => volumeMounts),
      grace: all.terminationGracePeriodSeconds,
    });
    assert.deepEqual(shape(spec), shape(expected));
  });
});

describe('pages', () => {
  const pages = ['docs/kubernetes.md', 'deploy/README.md'];
  test('what they show of a file stands in it', () => {
    let shown = 0;
    for (const page of pages)
      for (const [, file = '', text = ''] of readFileSync(join(ROOT, page), 'utf8').matchAll(
        /<!-- from (\S+) -->\n```\w+\n([\s\S]*?)```/g,
      )) {
        assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(text), `${page}: ${file}`);
        shown += 1;
      }
    assert.ok(shown >= 4, String(shown));
  });
  test('every example is linked', () => {
    const text = pages.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
    for (const name of FILES)
      assert.ok(
        text.includes(`examples/${name})`) || text.includes(`examples/${dirname(name)})`),
        `${name} stands in none of ${pages.join(', ')}`,
      );
  });
});
