/**
 * What `inject` refuses: pods whose meaning it would change, or that would not start with it. Each refusal names the field. The admission
 * policy has the same rules as expressions (policy.ts); a rule that is added here belongs there too, and the API server test compares them.
 */
import { METRICS_PORT_NAME, NAMES, VOLUMES } from './constants.ts';
import { MOUNT_ABOVE, MOUNT_BELOW, READ_ONLY_SOURCES } from './mounts.ts';
import { type InjectOptions, InjectRefusal } from './options.ts';
import type { Container, PodSpec, VolumeMount } from './types.ts';

export const OS_LABELS = ['kubernetes.io/os', 'beta.kubernetes.io/os'];
const NOT_FOR_WINDOWS = 'the image is for Linux, not for Windows';

/** @throws InjectRefusal */
export function refusePlatform(spec: PodSpec, { native }: InjectOptions): void {
  if (!Array.isArray(spec.containers) || spec.containers.length === 0)
    throw new InjectRefusal(['containers'], 'the pod has no containers');
  refuseWindows(spec);
  // Ours would be taken out of what the host has for itself, and a cluster refuses a pod whose containers ask for more than that.
  if (spec.resources?.requests || spec.resources?.limits)
    throw new InjectRefusal(
      ['resources'],
      'the pod has requests or limits of its own, which its containers share: give them to the containers',
    );
  if (native === false && (spec.restartPolicy === 'Never' || spec.restartPolicy === 'OnFailure'))
    throw new InjectRefusal(
      ['restartPolicy'],
      'a plain container beside it would keep the Job from ever completing: native sidecars need Kubernetes 1.29 or later',
    );
}

function refuseWindows(spec: PodSpec): void {
  if (spec.os?.name === 'windows') throw new InjectRefusal(['os', 'name'], NOT_FOR_WINDOWS);
  for (const key of OS_LABELS)
    if (spec.nodeSelector?.[key] === 'windows') throw new InjectRefusal(['nodeSelector', key], NOT_FOR_WINDOWS);
  // Of the terms any one is enough for a node; a term that lets only Windows in is a pod made for it.
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchExpressions } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values } of matchExpressions ?? [])
      if (OS_LABELS.includes(key) && operator === 'In' && values?.includes('windows'))
        throw new InjectRefusal(['affinity', 'nodeAffinity'], NOT_FOR_WINDOWS);
  if (spec.securityContext?.windowsOptions) throw new InjectRefusal(['securityContext'], NOT_FOR_WINDOWS);
  for (const list of ['containers', 'initContainers'] as const)
    for (const [index, { securityContext }] of (spec[list] ?? []).entries())
      if (securityContext?.windowsOptions) throw new InjectRefusal([list, index, 'securityContext'], NOT_FOR_WINDOWS);
}

/** Names that are in use already, by something that is not ours: ours were taken out before. */
export function refuseNames(spec: PodSpec): void {
  const taken = new Set<string>(Object.values(NAMES));
  const ownVolumes = new Set<string>(Object.values(VOLUMES));
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const)
    for (const [index, { name, ports }] of (spec[list] ?? []).entries()) {
      if (taken.has(name))
        throw new InjectRefusal(
          [list, index, 'name'],
          `a container named ${name} is there, and inject did not make it`,
        );
      for (const [at, port] of (ports ?? []).entries())
        if (port.name === METRICS_PORT_NAME)
          throw new InjectRefusal([list, index, 'ports', at, 'name'], `the port name ${METRICS_PORT_NAME} is in use`);
    }
  for (const [index, { name }] of (spec.volumes ?? []).entries())
    if (ownVolumes.has(name))
      throw new InjectRefusal(
        ['volumes', index, 'name'],
        `a volume named ${name} is there, and inject did not make it`,
      );
}

/** Mounts of a container that is to be tapped, which ours would hide, or which have no place for ours. */
export function refuseMounts(
  mounts: readonly VolumeMount[],
  volumes: PodSpec['volumes'],
  field: readonly (string | number)[],
): void {
  for (const [index, { name, mountPath, readOnly }] of mounts.entries()) {
    const place = [...field, 'volumeMounts', index, 'mountPath'];
    if (MOUNT_BELOW.test(mountPath)) throw new InjectRefusal(place, `${mountPath} is where Tailfin mounts`);
    const volume = volumes?.find((each) => each.name === name);
    const isReadOnly = readOnly === true || READ_ONLY_SOURCES.some((source) => volume?.[source]);
    if (isReadOnly && MOUNT_ABOVE.test(mountPath))
      throw new InjectRefusal(place, `${mountPath} is read-only, so nothing can be mounted below it, and Tailfin does`);
  }
}

export const allContainers = ({ containers, initContainers }: PodSpec): Container[] => [
  ...containers,
  ...(initContainers ?? []),
];
