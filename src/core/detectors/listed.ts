/** What the rules about lists share: which answers may be compared, and what announces a change. No memory of its own. */
import type { Exchange } from '../model/exchange.ts';
import type { StreamKind } from '../model/verdict.ts';

/**
 * Digests compare only within one key, which is that of one writer. A page of a list is a list of its own: its cursor is in the
 * arguments. null: no list.
 */
export function listKey({ writer, server, fields }: Exchange): string | null {
  const { method, list, args_digest: digest } = fields;
  if (typeof method !== 'string') return null;
  return `${writer}\n${server}\n${method}\n${digest ?? ''}\n${list?.auth ?? ''}`;
}

/**
 * `list_changed` comes on streams that no request waits on. Which notification it was is not in the events: any one there may have
 * announced a change; the notifications of a response are about its request.
 */
export const announces = ({ fields }: Exchange, kind: StreamKind): boolean =>
  kind !== 'response' && (fields.notifications ?? 0) > 0;
