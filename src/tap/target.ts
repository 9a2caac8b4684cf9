/**
 * What a call is aimed at, as far as a line may say it: the name of a tool or prompt. In other methods `name` can be anything, and a
 * resource URI may hold a key: neither leaves.
 */
const NAMED: ReadonlySet<unknown> = new Set(['tools/call', 'prompts/get']);
const MAX_CHARS = 256;

export function targetOf(method: unknown, params: unknown): string | undefined {
  if (!NAMED.has(method)) return undefined;
  const name = (params as { name?: unknown } | null | undefined)?.name;
  return typeof name === 'string' && name.length <= MAX_CHARS ? name : undefined;
}
