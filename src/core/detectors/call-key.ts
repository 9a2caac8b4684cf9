/** When are two calls the same one? Server, method, target and arguments, as design section 5 joins attempts. */
import type { Exchange } from '../model/exchange.ts';
import { joinsWithoutDigest } from '../protocol/methods.ts';

/** Within one host; null where the arguments are not known. */
export function callKey({ host, server, fields }: Pick<Exchange, 'host' | 'server' | 'fields'>): string | null {
  const { method, target, args_digest: digest } = fields;
  if (typeof method !== 'string') return null;
  if (typeof digest !== 'string' && !joinsWithoutDigest(method)) return null;
  return `${digest ?? ''}\n${host}\n${server}\n${method}\n${target ?? ''}`;
}
