/**
 * deploy/examples/pod.yaml: no field that Kubernetes does not know (its own types, checked by the TypeScript compiler), Pod Security
 * "restricted", and a sidecar that can neither hold its host back nor take it out of service.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Container, Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import ts from 'typescript';
import { KEYS, type KeySpec } from '../../src/app/config-keys.ts';
import { ROOT } from '../support/cli.ts';
import { EXAMPLES, readYaml } from '../support/deploy.ts';

const pod = readYaml<Pod>(join(EXAMPLES, 'pod.yaml'));
const spec = pod.spec as PodSpec;
const sidecar = spec.initContainers?.[0] as Container;
const host = spec.containers[0] as Container;

/** What the compiler says of the value as a Pod: a literal may have no field that the type has not. */
function complaints(value: unknown): string[] {
  const path = join(ROOT, 'test/deploy/pod-literal.ts');
  const text = `import type { Pod } from 'kubernetes-types/core/v1.d.ts';\nexport const pod: Pod = ${JSON.stringify(value)};\n`;
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [], allowImportingTsExtensions: true },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  };
  const compilerHost = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = compilerHost;
  compilerHost.fileExists = (name) => name === path || fileExists(name);
  compilerHost.getSourceFile = (name, target, ...rest) =>
    name === path ? ts.createSourceFile(name, text, target) : getSourceFile(name, target, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([path], options, compilerHost))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the pod', () => {
  test('Kubernetes knows every field', () => assert.deepEqual(complaints(pod), []));

  test('a wrong name and a wrong type are seen', () => {
    const changed = structuredClone(pod);
    Object.assign(changed.spec?.initContainers?.[0] as object, { securityContex: {} });
    assert.match(complaints(changed).join(), /securityContex/);
    const typed = structuredClone(pod);
    Object.assign(typed.spec as object, { terminationGracePeriodSeconds: 'soon' });
    assert.match(complaints(typed).join(), /number/);
  });

  test('one native sidecar, first in the list, and the host', () => {
    assert.equal(pod.apiVersion, 'v1');
    assert.equal(pod.kind, 'Pod');
    assert.deepEqual([spec.initContainers?.length, spec.containers.length], [1, 1]);
    assert.equal(sidecar.name, 'tailfin');
    assert.equal(sidecar.restartPolicy, 'Always');
    assert.deepEqual(sidecar.args, ['run']);
    for (const { image = '' } of [sidecar, host]) assert.match(image, /:\d+\.\d+\.\d+$/, 'a fixed tag');
  });

  test('liveness alone, on the cheap path, by the name of the port', () => {
    assert.equal(sidecar.startupProbe, undefined);
    assert.equal(sidecar.readinessProbe, undefined);
    assert.deepEqual(sidecar.ports, [{ name: 'tailfin-metrics', containerPort: 19640 }]);
    const [port] = sidecar.ports ?? [];
    assert.ok((port?.name ?? '').length <= 15, 'the longest name that a port may have');
    assert.deepEqual(sidecar.livenessProbe?.httpGet, { path: '/healthz', port: port?.name });
    assert.ok(KEYS.metricsListen.default.endsWith(`:${port?.containerPort}`));
  });

  test('Pod Security "restricted", and a root that cannot be written', () => {
    assert.equal(spec.securityContext?.runAsNonRoot, true);
    assert.deepEqual(spec.securityContext?.seccompProfile, { type: 'RuntimeDefault' });
    for (const key of ['hostNetwork', 'hostPID', 'hostIPC'] as const) assert.equal(spec[key], undefined);
    for (const { name, securityContext } of [sidecar, host]) {
      const { runAsUser = 0, ...rest } = securityContext ?? {};
      assert.ok(runAsUser > 0, name);
      const expected = {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      };
      assert.deepEqual(rest, expected, name);
    }
  });

  test('volumes: every mount has one, emptyDir with a size, events read-only for Tailfin and shared with the host', () => {
    const volumes = new Map((spec.volumes ?? []).map(({ name, ...rest }) => [name, rest]));
    assert.deepEqual([...volumes.keys()], ['tailfin-events', 'tailfin-state']);
    for (const volume of volumes.values()) {
      assert.deepEqual(Object.keys(volume), ['emptyDir']);
      assert.match(String(volume.emptyDir?.sizeLimit), /^\d+Mi$/);
      assert.equal(volume.emptyDir?.medium, undefined, 'memory would count against the limit of the container');
    }
    for (const { volumeMounts = [] } of [sidecar, host])
      for (const { name } of volumeMounts) assert.ok(volumes.has(name), name);
    const events = (container: Container) => container.volumeMounts?.find(({ name }) => name === 'tailfin-events');
    assert.equal(events(sidecar)?.readOnly, true);
    assert.equal(events(host)?.readOnly, undefined);
    assert.equal(events(sidecar)?.mountPath, events(host)?.mountPath);
    assert.deepEqual(KEYS.events.default, [`${events(sidecar)?.mountPath}/*.ndjson`], 'where `run` looks by default');
  });

  test('its environment is that of the configuration; the host is the pod, by the downward API', () => {
    const known = Object.values(KEYS as Record<string, KeySpec>).map(({ env }) => env);
    for (const { name } of sidecar.env ?? []) assert.ok(known.includes(name), name);
    const host = sidecar.env?.find(({ name }) => name === 'TAILFIN_HOST');
    assert.deepEqual(host?.valueFrom, { fieldRef: { fieldPath: 'metadata.name' } });
  });

  test('resources: requests, a limit on memory, none on CPU', () => {
    for (const { name, resources } of [sidecar, host]) {
      assert.deepEqual(Object.keys(resources?.requests ?? {}), ['cpu', 'memory'], name);
      assert.deepEqual(Object.keys(resources?.limits ?? {}), ['memory'], name);
    }
    assert.ok((spec.terminationGracePeriodSeconds ?? 0) > 30);
  });
});
