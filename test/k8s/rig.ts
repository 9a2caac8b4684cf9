/** What the checks of Kubernetes manifests share: programs, rendering, strict validation, Pod Security "restricted". */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { parseAllDocuments } from 'yaml';
import type { Container, PodSpec } from '../../src/k8s/types.ts';
import { workloadsOf } from '../../src/k8s/workload.ts';
import { ROOT } from '../support/cli.ts';
import { OTHER_KINDS } from './crd-schemas.ts';
import { coreSchema, type Tools, tools } from './tools.mjs';

export const programs: Tools = await tools();
/** API groups of a cluster that has everything. */
export const ALL_APIS = [
  'monitoring.coreos.com/v1',
  'grafana.integreatly.org/v1beta1',
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy',
];

export interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
export function run(program: string, args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Answer {
  const { status, stdout, stderr } = spawnSync(program, args, {
    ...{ input, encoding: 'utf8', cwd: ROOT, timeout: 120_000, maxBuffer: 64 << 20 },
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}
/** Standard output of a program that must succeed. */
export function good(program: string, args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = run(program, args, input, env);
  assert.equal(status, 0, `${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly [field: string]: unknown;
}
export const manifests = (text: string): Manifest[] =>
  parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    assert.deepEqual(document.errors, []);
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });

const core = await coreSchema();
const ajv = new Ajv({ strict: false, allErrors: true, allowUnionTypes: true });
ajv.addSchema({ ...core, $id: 'core' });
const checks = new Map<string, ValidateFunction>();
const kinds = core.definitions.Kinds.properties;

/** Everything that is wrong with a manifest; a kind without schema is wrong too. */
export function complaints(manifest: Manifest): string[] {
  const { kind } = manifest;
  let check = checks.get(kind);
  if (check === undefined) {
    const schema =
      OTHER_KINDS[kind] ?? (kind in kinds ? { $ref: `core#/definitions/Kinds/properties/${kind}` } : undefined);
    if (schema === undefined) return [`no schema for ${kind}`];
    check = ajv.compile(schema);
    checks.set(kind, check);
  }
  if (check(manifest)) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message, params }) => `${kind}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** Pod Security "restricted", container by container. */
export function restrictedComplaints(spec: PodSpec, only?: readonly string[]): string[] {
  const found: string[] = [];
  const pod = (spec.securityContext ?? {}) as Record<string, unknown>;
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) if (spec[key]) found.push(key);
  const allowed = [
    'name',
    'emptyDir',
    'configMap',
    'secret',
    'projected',
    'downwardAPI',
    'persistentVolumeClaim',
    'csi',
  ];
  for (const volume of spec.volumes ?? [])
    for (const key of Object.keys(volume)) if (!allowed.includes(key)) found.push(`volume ${volume.name}: ${key}`);
  for (const container of [...(spec.initContainers ?? []), ...spec.containers] as Container[]) {
    if (only !== undefined && !only.includes(container.name)) continue;
    const own = (container.securityContext ?? {}) as Record<string, unknown>;
    const say = (what: string) => found.push(`${container.name}: ${what}`);
    const effective = (key: string) => own[key] ?? pod[key];
    if (effective('runAsNonRoot') !== true) say('runAsNonRoot');
    if (effective('runAsUser') === 0) say('runAsUser 0');
    if ((effective('seccompProfile') as { type?: string } | undefined)?.type !== 'RuntimeDefault')
      say('seccompProfile');
    if (own.allowPrivilegeEscalation !== false) say('allowPrivilegeEscalation');
    if (own.privileged === true) say('privileged');
    const { drop = [], add = [] } = (own.capabilities ?? {}) as { drop?: string[]; add?: string[] };
    if (!drop.includes('ALL') || add.some((each) => each !== 'NET_BIND_SERVICE')) say('capabilities');
    if ((container.ports ?? []).some(({ hostPort }) => hostPort)) say('hostPort');
  }
  return found;
}

/** Every manifest is valid, and every container that we bring is restricted. */
export function assertSound(all: readonly Manifest[]): void {
  for (const manifest of all) {
    assert.deepEqual(complaints(manifest), []);
    for (const { template } of workloadsOf(manifest))
      assert.deepEqual(restrictedComplaints(template.spec, ['tailfin', 'tailfin-tap', 'schema']), []);
  }
}

/** The chart with one more board: texts in it look like templates, and are not. */
export function filledChart(folder: string): string {
  const chart = join(folder, 'chart');
  cpSync(join(ROOT, 'deploy/chart'), chart, { recursive: true });
  const board = { title: 'T', panels: [{ legendFormat: '{{server}} $server `x`' }] };
  writeFileSync(join(chart, 'files/dashboards/zz-Test_Board.json'), JSON.stringify(board, null, 2));
  return chart;
}
