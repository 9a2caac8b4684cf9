/** Where the pod templates of a Kubernetes object are. A kind that is not here passes through. */
import type { PodTemplate } from './types.ts';

export type Path = readonly (string | number)[];
export interface KubernetesObject {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: unknown; readonly namespace?: unknown } | null;
  readonly [field: string]: unknown;
}
export interface Workload {
  /** Of the pod template; empty for a Pod, which is one itself. */
  readonly path: Path;
  /** `Deployment/web` */
  readonly name: string;
  readonly template: PodTemplate;
}

const TEMPLATE: Readonly<Record<string, Path>> = {
  'apps/Deployment': ['spec', 'template'],
  'apps/StatefulSet': ['spec', 'template'],
  'apps/DaemonSet': ['spec', 'template'],
  'apps/ReplicaSet': ['spec', 'template'],
  '/ReplicationController': ['spec', 'template'],
  'batch/Job': ['spec', 'template'],
  'batch/CronJob': ['spec', 'jobTemplate', 'spec', 'template'],
  '/Pod': [],
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
const groupOf = (apiVersion: unknown): string => /^(.*)\//.exec(String(apiVersion ?? ''))?.[1] ?? '';

/** Of the object itself, or of the items of a list of any kind. */
export function workloadsOf(object: unknown, path: Path = []): Workload[] {
  if (!isObject(object)) return [];
  const { apiVersion, kind, items, metadata } = object as KubernetesObject;
  if (Array.isArray(items) && /List$/.test(String(kind)))
    return items.flatMap((item, index) => workloadsOf(item, [...path, 'items', index]));
  const way = TEMPLATE[`${groupOf(apiVersion)}/${String(kind)}`];
  if (way === undefined) return [];
  const template = at(object, way);
  if (!isObject(template) || !isObject(template.spec)) return [];
  const name = `${String(kind)}/${String(metadata?.name ?? '')}`;
  return [{ path: [...path, ...way], name, template: template as unknown as PodTemplate }];
}
