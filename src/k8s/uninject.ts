/** Takes out of a pod what `inject` has put in, and nothing else. A pod that was not injected comes back as it is. */
import { DEFAULT_GRACE_SECONDS, EXTRA_GRACE_SECONDS, GRACE_RECORD, NAMES, TAP_OPTION, VOLUMES } from './constants.ts';
import { HOST_MOUNTS, isOwnVariable } from './parts.ts';
import { refuseShape } from './shape.ts';
import type { Container, PodSpec, VolumeMount } from './types.ts';

/** The install step is the mark: nobody writes one by hand under this name. */
export const isInjected = ({ initContainers }: PodSpec): boolean =>
  Array.isArray(initContainers) && initContainers.some((each) => each !== null && isInstallStep(each));

const isInstallStep = ({ name, args }: Container): boolean => name === NAMES.install && args?.[0] === 'install-tap';
const isSidecar = ({ name, args }: Container): boolean => name === NAMES.sidecar && args?.[0] === 'run';
const isOwn = (container: Container): boolean => isInstallStep(container) || isSidecar(container);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Sets a list, or drops the field when nothing is left: an empty list and none are the same to Kubernetes. */
function setList<T extends object, K extends keyof T>(target: T, key: K, list: readonly unknown[]): void {
  if (list.length > 0) target[key] = list as T[K];
  else delete target[key];
}

/** Undefined when the option was all there was. */
function withoutOption(value: string): string | undefined {
  if (value === TAP_OPTION) return undefined;
  return value.endsWith(` ${TAP_OPTION}`) ? value.slice(0, -TAP_OPTION.length - 1) : value;
}

function withoutTap(container: Container): Container {
  const mounts = container.volumeMounts ?? [];
  const isOwnMount = (mount: VolumeMount) =>
    HOST_MOUNTS.some(({ name, mountPath }) => mount.name === name && mount.mountPath === mountPath);
  if (!mounts.some(isOwnMount)) return container;
  const env = container.env ?? [];
  // Of several with one name the last one counts, and was appended to.
  const options = env.findLastIndex(({ name }) => name === 'NODE_OPTIONS');
  const left = env.flatMap((each, index) => {
    if (index !== options || typeof each.value !== 'string') return isOwnVariable(each) ? [] : [each];
    const value = withoutOption(each.value);
    return value === undefined ? [] : [{ ...each, value }];
  });
  const result: Mutable<Container> = { ...container };
  setList(result, 'env', left);
  setList(
    result,
    'volumeMounts',
    mounts.filter((mount) => !isOwnMount(mount)),
  );
  return result;
}

/** @throws InjectRefusal for what is no pod */
export function uninject(spec: PodSpec): PodSpec {
  refuseShape(spec);
  if (!isInjected(spec)) return spec;
  const variables = spec.initContainers?.find(isInstallStep)?.env ?? [];
  const record = variables.find(({ name }) => name === GRACE_RECORD)?.value ?? '';
  const clean = (list: readonly Container[] | null | undefined) =>
    (list ?? []).filter((each) => !isOwn(each)).map(withoutTap);
  const own = new Set<string>(Object.values(VOLUMES));
  const result: Mutable<PodSpec> = { ...spec, containers: clean(spec.containers) };
  setList(result, 'initContainers', clean(spec.initContainers));
  setList(
    result,
    'volumes',
    (spec.volumes ?? []).filter(({ name }) => !own.has(name)),
  );
  const grace = spec.terminationGracePeriodSeconds;
  const added = Number(/^\+(\d+)$/.exec(record)?.[1] ?? 0);
  if (record === 'unset') delete result.terminationGracePeriodSeconds;
  else if (typeof grace === 'number' && grace >= added) result.terminationGracePeriodSeconds = grace - added;
  return result;
}

/** What `inject` makes of the pod's grace period. 0 means at once, and stays. */
export function graceOf({ terminationGracePeriodSeconds: grace }: PodSpec): number {
  return grace === 0 ? 0 : (grace ?? DEFAULT_GRACE_SECONDS) + EXTRA_GRACE_SECONDS;
}
