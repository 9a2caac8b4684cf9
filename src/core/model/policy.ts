/** What only the operator can state (configuration), resolved to plain functions at the edge: the core knows no globs. */

import { DEFAULT_THRESHOLDS, type Thresholds } from './thresholds.ts';

export interface ServerPolicy {
  /** The `server` label. */
  readonly name: string;
  /** Does one host:port mean one instance, or may it hide many? */
  readonly endpoints?: 'instance' | 'virtual' | undefined;
  readonly sentinel?: 'mandated' | 'optional' | undefined;
  readonly selfDelimiting?: boolean | undefined;
  readonly sticky?: boolean | undefined;
  /** Confirmed read-only by the operator (an annotation is only a hint). */
  isReadOnlyTool(tool: string): boolean;
}

export interface Policy {
  /** Row 13 of the verdict table with `cut: mid`. */
  readonly cutMid: 'ambiguous' | 'abandoned';
  /** The configured server that an event's `server` value belongs to, if any. */
  server(name: string): ServerPolicy | undefined;
  readonly thresholds: Thresholds;
  /** All configured servers. */
  readonly servers: readonly ServerPolicy[];
}

/**
 * The same policy with the functions of its servers where nobody who lists the fields of a record meets them: records point at a
 * server, and are written down whole.
 */
export function withHiddenFunctions(policy: Policy): Policy {
  const hidden = new Map<ServerPolicy, ServerPolicy>();
  const hide = (server: ServerPolicy): ServerPolicy => {
    const known = hidden.get(server);
    if (known !== undefined) return known;
    const { isReadOnlyTool, ...words } = server;
    const own = Object.defineProperty(words, 'isReadOnlyTool', { value: isReadOnlyTool }) as ServerPolicy;
    hidden.set(server, own);
    return own;
  };
  return {
    ...policy,
    servers: policy.servers.map(hide),
    server(name) {
      const found = policy.server(name);
      return found === undefined ? undefined : hide(found);
    },
  };
}

export const DEFAULT_POLICY: Policy = {
  cutMid: 'ambiguous',
  server: () => undefined,
  thresholds: DEFAULT_THRESHOLDS,
  servers: [],
};
