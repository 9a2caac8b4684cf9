/** The containers and volumes that injection adds, from the options and from what the pod already has. It changes nothing itself. */
import {
  DEFAULT_QUOTA_MIB,
  EVENTS_PER_QUOTA,
  EXTRA_GRACE_SECONDS,
  GRACE_RECORD,
  HEAP_MIB,
  IMAGE_USER,
  INSTALL_RESOURCES,
  METRICS_PORT_NAME,
  NAMES,
  PATHS,
  SIDECAR_RESOURCES,
  STATE_VOLUME_SIZE,
  TAP_VOLUME_SIZE,
  VOLUMES,
} from './constants.ts';
import type { InjectOptions } from './options.ts';
import type { Container, EnvVar, SecurityContext, Volume, VolumeMount } from './types.ts';

export interface Ports {
  readonly metrics: number;
  readonly local: number;
}

/** Pod Security "restricted", and a root that cannot be written. */
const HARDENING = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

const podName = { fieldRef: { fieldPath: 'metadata.name' } } as const;

/** Who the host runs as, and nothing else of its rights: the step only copies a file. */
export function installSecurity(
  host: SecurityContext | null | undefined,
  pod: SecurityContext | null | undefined,
): SecurityContext {
  const { runAsUser, runAsGroup, seLinuxOptions } = host ?? {};
  const isSet = (value: unknown) => value !== undefined && value !== null;
  return {
    ...(isSet(runAsUser) && { runAsUser }),
    ...(isSet(runAsGroup) && { runAsGroup }),
    runAsNonRoot: (runAsUser ?? pod?.runAsUser) !== 0,
    ...HARDENING,
    ...(isSet(seLinuxOptions) && { seLinuxOptions }),
  };
}

/** The grace period of the host was given, and is extended; or was not; or a front that cannot extend it left it as it is. */
export type Grace = 'given' | 'unset' | 'kept';

export function installStep(options: InjectOptions, security: SecurityContext, grace: Grace): Container {
  return {
    name: NAMES.install,
    image: options.image,
    ...(options.imagePullPolicy && { imagePullPolicy: options.imagePullPolicy }),
    args: ['install-tap', PATHS.tap, '--events', PATHS.events],
    env: [{ name: GRACE_RECORD, value: grace === 'given' ? `+${EXTRA_GRACE_SECONDS}` : grace }],
    securityContext: security,
    resources: INSTALL_RESOURCES,
    volumeMounts: [
      { name: VOLUMES.tap, mountPath: PATHS.tap },
      { name: VOLUMES.events, mountPath: PATHS.events },
    ],
  };
}

export function sidecar(options: InjectOptions, ports: Ports): Container {
  const { native = true, runAsUser = IMAGE_USER, resources = SIDECAR_RESOURCES } = options;
  return {
    name: NAMES.sidecar,
    image: options.image,
    ...(options.imagePullPolicy && { imagePullPolicy: options.imagePullPolicy }),
    ...(native && { restartPolicy: 'Always' }),
    args: ['run', '--metrics-listen', `0.0.0.0:${ports.metrics}`, '--local-listen', `127.0.0.1:${ports.local}`],
    env: [
      { name: 'TAILFIN_HOST', valueFrom: podName },
      // A restart of the container goes on where it was.
      { name: 'TAILFIN_STATE_DIR', value: PATHS.state },
      { name: 'NODE_OPTIONS', value: `--max-old-space-size=${HEAP_MIB}` },
    ],
    ports: [{ name: METRICS_PORT_NAME, containerPort: ports.metrics, protocol: 'TCP' }],
    // Liveness alone: a startupProbe on a native sidecar holds the host back, a readinessProbe takes the pod out of service.
    livenessProbe: {
      httpGet: { path: '/healthz', port: METRICS_PORT_NAME },
      initialDelaySeconds: 60,
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    securityContext: {
      ...(runAsUser !== null && { runAsUser, runAsGroup: runAsUser }),
      runAsNonRoot: true,
      ...HARDENING,
    },
    resources,
    volumeMounts: [
      { name: VOLUMES.events, mountPath: PATHS.events, readOnly: true },
      { name: VOLUMES.state, mountPath: PATHS.state },
    ],
  };
}

export function volumes({ quotaMiB = DEFAULT_QUOTA_MIB }: InjectOptions): Volume[] {
  return [
    { name: VOLUMES.tap, emptyDir: { sizeLimit: TAP_VOLUME_SIZE } },
    { name: VOLUMES.events, emptyDir: { sizeLimit: `${EVENTS_PER_QUOTA * quotaMiB}Mi` } },
    { name: VOLUMES.state, emptyDir: { sizeLimit: STATE_VOLUME_SIZE } },
  ];
}

/** Mounts of a tapped container. The tap is read-only there: the host cannot change what it loads at its next start. */
export const HOST_MOUNTS: readonly VolumeMount[] = [
  { name: VOLUMES.tap, mountPath: PATHS.tap, readOnly: true },
  { name: VOLUMES.events, mountPath: PATHS.events },
];

/** Variables that a tapped container gets beside NODE_OPTIONS. */
export function hostVariables({ quotaMiB = DEFAULT_QUOTA_MIB }: InjectOptions): EnvVar[] {
  const host: EnvVar = { name: 'TAILFIN_TAP_HOST', valueFrom: podName };
  if (quotaMiB === DEFAULT_QUOTA_MIB) return [host];
  return [host, { name: 'TAILFIN_TAP_QUOTA', value: String(quotaMiB * 1024 * 1024) }];
}

/** A host may name itself in another way; then the variable is its own and stays. */
export const isOwnVariable = ({ name, valueFrom }: EnvVar): boolean =>
  name === 'TAILFIN_TAP_QUOTA' ||
  (name === 'TAILFIN_TAP_HOST' &&
    (valueFrom as { fieldRef?: { fieldPath?: string } } | undefined)?.fieldRef?.fieldPath === 'metadata.name');
