/**
 * A list over all of its pages: how many items, and one keyed digest that does not depend on their order, on the order of their
 * members, or on where the pages are cut. Keeps digests of items only, and only of chains of pages that are still under way.
 */
import { canonicalJson } from '../digest.ts';
import { MAX_CAPTURE_BYTES } from './capture.ts';

export interface ListPage {
  /** Of the request; undefined: the first page. */
  readonly cursor: string | undefined;
  readonly nextCursor: string | undefined;
  readonly items: readonly unknown[];
  /** Of the message that brought it. */
  readonly bytes: number;
}

export interface ListFacts {
  readonly count: number;
  readonly digest: string;
}

/** One per server and method (and authorization), kept by the fetch layer. */
export interface ListPages {
  /** Facts of the whole list when this was its last page and no page is missing; else undefined. */
  add(page: ListPage): ListFacts | undefined;
}

/** Pages read so far, by what the next one is asked for with. */
interface Chain {
  readonly digests: readonly string[];
  readonly bytes: number;
}

const MAX_ITEMS = 10_000;
/** Lists read at the same time: a client may start afresh in the middle, or several clients share the server. */
const MAX_CHAINS = 8;
const START: Chain = { digests: [], bytes: 0 };

/** `_meta` is about the delivery, not about the item. */
function itemText(item: unknown): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return canonicalJson(item);
  const { _meta, ...rest } = item as Record<string, unknown>;
  return canonicalJson(rest);
}

export function createListPages(digest: (text: string) => string): ListPages {
  /** By digest of the cursor: cursors are the server's text. A page may be asked for twice, so a chain stays when it went on. */
  const chains = new Map<string, Chain>();
  return {
    add({ cursor, nextCursor, items, bytes }) {
      const before = cursor === undefined ? START : chains.get(digest(cursor));
      if (before === undefined) return undefined;
      const total = before.bytes + bytes;
      if (total > MAX_CAPTURE_BYTES || before.digests.length + items.length > MAX_ITEMS) return undefined;
      const digests = [...before.digests, ...items.map((item) => digest(itemText(item)))];
      if (nextCursor === undefined) return { count: digests.length, digest: digest(digests.sort().join('\n')) };
      const key = digest(nextCursor);
      chains.delete(key);
      chains.set(key, { digests, bytes: total });
      if (chains.size > MAX_CHAINS) chains.delete(chains.keys().next().value as string);
      return undefined;
    },
  };
}
