/** Random pods for injection, and what two pods must have in common to mean the same. */
import fc from 'fast-check';
import type { PodSpec } from '../../src/k8s/types.ts';

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const envVar = fc.oneof(
  fc.record({
    name: fc.constantFrom('A', 'B', 'NODE_OPTIONS'),
    value: fc.constantFrom('', null, '--x', '--max-old-space-size=9 '),
  }),
  fc.record({ name: fc.constantFrom('NODE_OPTIONS', 'C'), valueFrom: fc.constant({ fieldRef: { fieldPath: 'x' } }) }),
  fc.record({ name: fc.constantFrom('TAILFIN_TAP_HOST', 'TAILFIN_TAP'), value: fc.constant('own') }),
);
const mount = fc.record({
  name: fc.constantFrom('data', 'tmp'),
  mountPath: fc.constantFrom('/data', '/tmp', '/var/run'),
});
const security = fc.record(
  {
    runAsUser: fc.constantFrom(0, 1000, 10001),
    runAsGroup: fc.constant(5),
    runAsNonRoot: fc.boolean(),
    fsGroup: fc.constant(7),
  },
  { requiredKeys: [] },
);
const port = fc.uniqueArray(fc.constantFrom(80, 19640, 19641, 19642), { maxLength: 2 });

const container = (name: string) =>
  fc
    .record(
      {
        image: fc.constantFrom('a:1', 'b:2'),
        env: maybe(fc.array(envVar, { maxLength: 3 })),
        volumeMounts: maybe(fc.array(mount, { maxLength: 2 })),
        securityContext: maybe(security),
        args: maybe(fc.constantFrom(['run'], ['serve'], [])),
      },
      { requiredKeys: [] },
    )
    .map((rest) => ({ name, ...JSON.parse(JSON.stringify(rest)) }));

export const anyPod: fc.Arbitrary<PodSpec> = fc
  .record({
    containers: fc.tuple(container('app'), container('worker')),
    initContainers: maybe(fc.tuple(container('setup'))),
    ports: port,
    volumes: fc.constant([
      { name: 'data', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ]),
    securityContext: maybe(security),
    terminationGracePeriodSeconds: maybe(fc.constantFrom(0, 1, 5, 30, 600)),
    restartPolicy: maybe(fc.constantFrom('Always', 'Never')),
    hostNetwork: maybe(fc.boolean()),
  })
  .map(({ ports, containers: [app, worker], ...rest }) => {
    const list = ports.map((containerPort) => ({ containerPort }));
    return JSON.parse(JSON.stringify({ containers: [{ ...app, ports: list }, worker], ...rest })) as PodSpec;
  });

/** Without empty lists, maps and values of variables, which mean the same as none. */
export function meaningOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meaningOf);
  if (typeof value !== 'object' || value === null) return value;
  const isEmpty = (each: unknown) =>
    each === null || each === undefined || (Array.isArray(each) && each.length === 0) || isEmptyMap(each);
  const kept = ['emptyDir'];
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, meaningOf(inner)] as const)
      .filter(([name, inner]) => kept.includes(name) || !(isEmpty(inner) || (name === 'value' && inner === ''))),
  );
}
const isEmptyMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
