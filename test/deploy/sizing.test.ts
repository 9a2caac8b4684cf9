/** The resources of an injected pod follow what was measured (docs/sizing.md), and the chart says the same. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KEYS } from '../../src/app/config-keys.ts';
import {
  DEFAULT_QUOTA_MIB,
  EVENTS_PER_QUOTA,
  EXTRA_GRACE_SECONDS,
  HEAP_MIB,
  INSTALL_RESOURCES,
  PATHS,
  SIDECAR_RESOURCES,
  STATE_VOLUME_SIZE,
  TAP_VOLUME_SIZE,
} from '../../src/k8s/constants.ts';
import { inject } from '../../src/k8s/inject.ts';
import { ROOT } from '../support/cli.ts';
import { readYaml } from '../support/deploy.ts';

const doc = readFileSync(join(ROOT, 'docs/sizing.md'), 'utf8');
const measured = new Map(
  [...doc.matchAll(/^\| (\d+) \| (\d+) m \| (\d+) MiB \|$/gm)].map(([, rate, cpu, memory]) => [
    Number(rate),
    { cpu: Number(cpu), memory: Number(memory) },
  ]),
);
const quantity = (text = ''): number => Number(/^(\d+)(?:m|Mi)$/.exec(text)?.[1]);

test('requests cover 500 exchanges/s, the limit covers heap and process', () => {
  const { requests = {}, limits = {} } = SIDECAR_RESOURCES;
  const at500 = measured.get(500);
  assert.ok(at500 !== undefined && measured.size === 5);
  assert.ok(quantity(requests.cpu) >= at500.cpu && quantity(requests.cpu) < 2 * at500.cpu);
  assert.ok(quantity(requests.memory) >= at500.memory && quantity(requests.memory) < 1.25 * at500.memory);
  assert.equal(limits.cpu, undefined);
  assert.ok(quantity(limits.memory) >= HEAP_MIB + 96);
  for (const { memory } of measured.values()) assert.ok(quantity(limits.memory) > 2 * memory);
});

test('two checkpoints at their largest fit into the state volume, and the last scrape into the grace period', () => {
  const [, megabytes] =
    /about (\d+) MB/.exec(readFileSync(join(ROOT, 'docs/decisions/0015-checkpoint.md'), 'utf8')) ?? [];
  assert.ok(quantity(STATE_VOLUME_SIZE) * 1024 * 1024 >= 2 * Number(megabytes) * 1_000_000);
  assert.ok(doc.includes(`of ${megabytes} MB each`));
  const [step, own] = inject({ containers: [{ name: 'app' }] }, { image: 'x' }).initContainers ?? [];
  assert.equal(step?.name, 'tailfin-tap');
  assert.deepEqual(
    own?.env?.find(({ name }) => name === KEYS.stateDir.env),
    { name: 'TAILFIN_STATE_DIR', value: PATHS.state },
    'the sidecar keeps its checkpoint there',
  );
  assert.equal(EXTRA_GRACE_SECONDS, KEYS.scrapeLastSeconds.default + 5);
});

test('the page says the figures of the code, and the chart and the benchmark have them', () => {
  const { requests = {}, limits = {} } = SIDECAR_RESOURCES;
  for (const row of [
    `| CPU request | ${requests.cpu} |`,
    `| memory request | ${requests.memory} |`,
    `| memory limit | ${limits.memory} |`,
    `| events volume | ${EVENTS_PER_QUOTA * DEFAULT_QUOTA_MIB}Mi |`,
    `| state volume | ${STATE_VOLUME_SIZE} |`,
    `| grace period of the pod | +${EXTRA_GRACE_SECONDS} s |`,
    `| tap volume | ${TAP_VOLUME_SIZE} |`,
    `| install step | ${INSTALL_RESOURCES.requests?.cpu}, ${INSTALL_RESOURCES.requests?.memory}; limit ${INSTALL_RESOURCES.limits?.memory} |`,
  ])
    assert.ok(doc.includes(row), row);
  const { admission } = readYaml<{ admission: { resources: object; quotaMiB: number } }>(
    join(ROOT, 'deploy/chart/values.yaml'),
  );
  assert.deepEqual(admission.resources, SIDECAR_RESOURCES);
  assert.equal(admission.quotaMiB, DEFAULT_QUOTA_MIB);
  assert.match(readFileSync(join(ROOT, 'bench/sizing.mjs'), 'utf8'), new RegExp(`HEAP_MIB = ${HEAP_MIB};`));
});
