/**
 * Who exports: what OpenTelemetry's resource says of this sidecar, from its environment, from what Kubernetes' downward API puts into the
 * environment, and from the machine. The operator's OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME win. No command line, no user name.
 */
import { hostname } from 'node:os';
import { VERSION } from '../version.ts';

type Env = Readonly<Record<string, string | undefined>>;
export type ResourceAttributes = Readonly<Record<string, string | number>>;

/** Variables that a pod's manifest fills by the downward API, by the names that are in use; the first that is set counts. */
const DOWNWARD: Readonly<Record<string, readonly string[]>> = {
  'k8s.namespace.name': ['K8S_NAMESPACE_NAME', 'POD_NAMESPACE', 'K8S_NAMESPACE'],
  'k8s.pod.name': ['K8S_POD_NAME', 'POD_NAME'],
  'k8s.pod.uid': ['K8S_POD_UID', 'POD_UID'],
  'k8s.node.name': ['K8S_NODE_NAME', 'NODE_NAME'],
  'k8s.container.name': ['K8S_CONTAINER_NAME', 'CONTAINER_NAME'],
};

function kubernetes(env: Env): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [attribute, names] of Object.entries(DOWNWARD)) {
    const name = names.find((each) => (env[each] ?? '') !== '');
    if (name !== undefined) found[attribute] = env[name] as string;
  }
  return found;
}

/** Without what OpenTelemetry's own detectors find. `address`: HOST:PORT of the scrape listener. */
export function ownResource(env: Env, address: string): ResourceAttributes {
  const pod = kubernetes(env);
  const { 'k8s.namespace.name': namespace, 'k8s.pod.name': name, 'k8s.container.name': container = 'tailfin' } = pod;
  const inPod = namespace !== undefined && name !== undefined ? `${namespace}.${name}.${container}` : undefined;
  return {
    'service.name': 'tailfin',
    'service.version': VERSION,
    // The same over a restart, which goes on with the same counters.
    'service.instance.id': inPod ?? `${hostname()}:${address.slice(address.lastIndexOf(':') + 1)}`,
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    ...pod,
  };
}
