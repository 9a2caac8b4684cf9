/**
 * `inject(podSpec, options)`: the pod with Tailfin beside it. Pure, and the one definition of what an injected pod is: every front
 * (command, Helm, KRM, Kustomize, admission policy) calls it or is generated from the same constants. What it cannot do without
 * changing the host's meaning it refuses; it never replaces anything of the host. An injected pod is taken back first, so that
 * injecting twice is injecting once, and a newer Tailfin can inject over an older one.
 */
import { LOCAL_PORT, METRICS_PORT, TAP_OPTION } from './constants.ts';
import { type InjectOptions, InjectRefusal } from './options.ts';
import { HOST_MOUNTS, hostVariables, installSecurity, installStep, type Ports, sidecar, volumes } from './parts.ts';
import { allContainers, refuseMounts, refuseNames, refusePlatform } from './refusals.ts';
import type { Container, EnvVar, PodSpec } from './types.ts';
import { graceOf, uninject } from './uninject.ts';

type Field = readonly (string | number)[];

/** @throws InjectRefusal */
export function inject(given: PodSpec, options: InjectOptions): PodSpec {
  const spec = uninject(given);
  refusePlatform(spec, options);
  refuseNames(spec);
  const targets = new Set(targetsOf(spec, options));
  const tapped = (each: Container, field: Field): Container =>
    targets.has(each.name) ? withTap(each, spec, options, field) : each;
  const first = allContainers(spec).find(({ name }) => targets.has(name));
  const security = installSecurity(first?.securityContext, spec.securityContext);
  const grace = (spec.terminationGracePeriodSeconds ?? undefined) === undefined ? 'unset' : 'given';
  const own = sidecar(options, freePorts(spec));
  const isNative = options.native !== false;
  const hosts = spec.containers.map((each, index) => tapped(each, ['containers', index]));
  return {
    ...spec,
    // First in the list: a native sidecar is there before whatever the host starts with, and stops after all of it.
    initContainers: [
      installStep(options, security, grace),
      ...(isNative ? [own] : []),
      ...(spec.initContainers ?? []).map((each, index) => tapped(each, ['initContainers', index])),
    ],
    containers: isNative ? hosts : [...hosts, own],
    volumes: [...(spec.volumes ?? []), ...volumes(options)],
    terminationGracePeriodSeconds: graceOf(spec),
  };
}

function targetsOf(spec: PodSpec, { containers }: InjectOptions): string[] {
  const names = allContainers(spec).map(({ name }) => name);
  if (containers === undefined || containers.length === 0) return [spec.containers[0]!.name];
  for (const name of containers)
    if (!names.includes(name))
      throw new InjectRefusal(['containers'], `there is no container named ${name} (there are: ${names.join(', ')})`);
  return [...containers];
}

/** The usual ports, or the next free ones: containers of a pod share one network. */
function freePorts(spec: PodSpec): Ports {
  const taken = new Set(
    allContainers(spec).flatMap(({ ports }) =>
      (ports ?? []).flatMap(({ containerPort, hostPort }) => [containerPort, hostPort]),
    ),
  );
  const next = (from: number): number => {
    let port = from;
    while (taken.has(port)) port += 1;
    taken.add(port);
    return port;
  };
  // The metrics port takes its own before the local one may move onto it.
  const metrics = next(METRICS_PORT);
  return { metrics, local: next(LOCAL_PORT) };
}

function withTap(container: Container, { volumes }: PodSpec, options: InjectOptions, field: Field): Container {
  const mounts = container.volumeMounts ?? [];
  refuseMounts(mounts, volumes, field);
  return {
    ...container,
    env: withVariables(container.env ?? [], options, [...field, 'env']),
    volumeMounts: [...mounts, ...HOST_MOUNTS],
  };
}

/** The folder and the quota are the pod's: a host that sets them itself would write where nobody reads, or fill the volume. */
const OWN_SETTINGS = ['TAILFIN_TAP_DIR', 'TAILFIN_TAP_QUOTA'];

function withVariables(env: readonly EnvVar[], options: InjectOptions, field: Field): EnvVar[] {
  for (const [index, { name }] of env.entries())
    if (OWN_SETTINGS.includes(name))
      throw new InjectRefusal(
        [...field, index, 'name'],
        `${name} is set by inject: take it out (--quota sets the quota)`,
      );
  // Of several with one name the last one counts.
  const index = env.findLastIndex(({ name }) => name === 'NODE_OPTIONS');
  const before = env[index];
  if (before?.valueFrom !== undefined && before.valueFrom !== null)
    throw new InjectRefusal(
      [...field, index, 'valueFrom'],
      'NODE_OPTIONS comes from elsewhere, so nothing can be appended: write its value here, or rename this variable and put {name: NODE_OPTIONS, value: $(NEW_NAME)} after it',
    );
  // Without a value it is empty, and stays there, empty: it may hide one of the image.
  const value = before === undefined ? TAP_OPTION : `${before.value ?? ''} ${TAP_OPTION}`;
  const withOption =
    before === undefined
      ? [...env, { name: 'NODE_OPTIONS', value }]
      : env.map((each, at) => (at === index ? { ...each, value } : each));
  const added = hostVariables(options).filter(({ name }) => !env.some((each) => each.name === name));
  return [...withOption, ...added];
}
