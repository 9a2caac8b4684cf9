/** JSON-RPC methods of MCP as a closed label set. */

export const METHODS = [
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  '_other',
] as const;
export type Method = (typeof METHODS)[number];

const KNOWN = new Set<string>(METHODS);

export const LISTEN = 'subscriptions/listen';
export const CALL = 'tools/call';

export const methodLabel = (method: string | null | undefined): Method =>
  method !== undefined && method !== null && KNOWN.has(method) ? (method as Method) : '_other';

/** Requests without arguments that could differ: an absent digest still joins them (design section 5). */
const ARGUMENTLESS = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'tasks/list',
  'roots/list',
  'ping',
  'server/discover',
  'initialize',
]);
export const joinsWithoutDigest = (method: string): boolean => ARGUMENTLESS.has(method);
