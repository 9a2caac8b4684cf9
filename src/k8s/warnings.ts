/** What an injection should not be silent about although it goes through: texts and where they hold. It changes and refuses nothing. */
import { LOCAL_PORT, METRICS_PORT } from './constants.ts';
import type { Container, PodSpec } from './types.ts';

export const ENV_FROM_WARNING =
  'a NODE_OPTIONS that came by envFrom no longer counts; to keep it put {name: NODE_OPTIONS, value: $(NODE_OPTIONS)} into env, and Tailfin appends to that';
export const HOST_NETWORK_WARNING = `on the network of the node ports ${METRICS_PORT} and ${LOCAL_PORT}, or the next free ones, are taken there, so two such pods cannot share a node`;

/** Of a pod before and after `inject`. */
export function warningsOf(before: PodSpec, after: PodSpec): string[] {
  const found = (['containers', 'initContainers'] as const).flatMap((list) =>
    (before[list] ?? [])
      .filter((each) => hidesEnvFrom(each, after[list] ?? []))
      .map(({ name }) => `container ${name}: ${ENV_FROM_WARNING}`),
  );
  return before.hostNetwork === true ? [...found, HOST_NETWORK_WARNING] : found;
}

/** What comes by `envFrom` nobody can read here; a variable of the container itself wins over it. */
function hidesEnvFrom({ name, envFrom, env }: Container, after: readonly Container[]): boolean {
  const has = (list: Container['env']) => list?.some((each) => each.name === 'NODE_OPTIONS') === true;
  const next = after.find((each) => each.name === name);
  return Array.isArray(envFrom) && envFrom.length > 0 && !has(env) && has(next?.env);
}
