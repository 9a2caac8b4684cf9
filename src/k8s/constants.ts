/**
 * Every name, path and figure that stands in an injected pod. `inject`, the admission policy, the Kustomize component and the Helm
 * library all read them here; none of them may write one out itself. Where the figures come from: docs/sizing.md.
 */
import type { Resources } from './types.ts';

export const NAMES = { sidecar: 'tailfin', install: 'tailfin-tap' } as const;
export const VOLUMES = { tap: 'tailfin-tap', events: 'tailfin-events', state: 'tailfin-state' } as const;
export const PATHS = {
  tap: '/var/run/tailfin/tap',
  events: '/var/run/tailfin/events',
  state: '/var/run/tailfin/state',
} as const;
export const TAP_OPTION = `--require ${PATHS.tap}/tailfin-tap.cjs`;

/** A label: selectors of policies and of PodMonitor see labels only. */
export const INJECT_LABEL = 'tailfin.dev/inject';
export const INJECTED_LABEL = 'tailfin.dev/injected';
/** Which container a policy taps; without it the first. */
export const CONTAINER_ANNOTATION = 'tailfin.dev/container';
export const SCRAPE_ANNOTATIONS = ['prometheus.io/scrape', 'prometheus.io/port', 'prometheus.io/path'] as const;

export const METRICS_PORT_NAME = 'tailfin-metrics';
export const METRICS_PORT = 19640;
export const LOCAL_PORT = 19641;
/** The user of the image (deploy/Dockerfile). */
export const IMAGE_USER = 10001;

export const DEFAULT_GRACE_SECONDS = 30;
/**
 * The sidecar stops after the host: 5 s for the last lines, and the 20 s that `run` waits at most for one more scrape
 * (`scrape.last_seconds`). What nobody has scraped by then is lost with the pod.
 */
export const EXTRA_GRACE_SECONDS = 25;

/** That of the tap itself, for all event files of the folder. */
export const DEFAULT_QUOTA_MIB = 64;
/** Several writers may each be a step over the quota; past the size limit the kubelet evicts the pod. */
export const EVENTS_PER_QUOTA = 2;
export const TAP_VOLUME_SIZE = '8Mi';
/** Two slots of a checkpoint, which may grow to 40 MB each (and 16 MiB of what waits for OTLP): past it the kubelet evicts the pod. */
export const STATE_VOLUME_SIZE = '256Mi';

export const HEAP_MIB = 160;
/** No limit on CPU: a throttled reader lags behind, and its counters with it. */
export const SIDECAR_RESOURCES: Resources = {
  requests: { cpu: '60m', memory: '128Mi' },
  limits: { memory: '256Mi' },
};
export const INSTALL_RESOURCES: Resources = {
  requests: { cpu: '50m', memory: '64Mi' },
  limits: { memory: '128Mi' },
};

/**
 * Says what became of the grace period, for an `uninject` of any later version: `unset`, `kept` by a front that cannot extend it, or what
 * was added, as `+25`. It stands on the install step, where nobody reads it.
 */
export const GRACE_RECORD = 'TAILFIN_INJECT_GRACE';
