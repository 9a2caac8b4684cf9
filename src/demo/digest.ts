/** Keyed digests: equality within one process and nothing else. The key is random and never leaves the process. */
import { createHmac, randomBytes } from 'node:crypto';

const key = randomBytes(32);

export const digest = (text: string): string =>
  `h:${createHmac('sha256', key).update(text).digest('hex').slice(0, 16)}`;

/** JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
