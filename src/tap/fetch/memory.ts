/**
 * What the tap remembers of servers between exchanges, in memory and bounded: at which URLs MCP is spoken, which hints the tools of a
 * server carry, and lists that are read page by page.
 */
import { createBounded } from '../bounded.ts';
import { createListPages, type ListPages } from '../scan/list-pages.ts';
import type { ToolAnnotations, ToolHints } from '../scan/results.ts';
import { placeOf } from './place.ts';

export interface Memory {
  knows(url: URL): boolean;
  learn(url: URL): void;
  /** `place`: a server, and where on it. */
  pages(place: string, method: string): ListPages;
  learnTools(place: string, hints: ToolHints): void;
  annotations(place: string, tool: string): ToolAnnotations | undefined;
}

const MAX_URLS = 1024;
const MAX_LISTS = 256;
const MAX_TOOLS = 8192;
const DAY_MS = 24 * 60 * 60_000;
const MAX_NAME = 256;

export function createMemory(digest: (text: string) => string, now: () => number): Memory {
  const urls = createBounded<true>({ cap: MAX_URLS, ttlMs: DAY_MS, now });
  const lists = createBounded<ListPages>({ cap: MAX_LISTS, ttlMs: DAY_MS, now });
  const tools = createBounded<ToolAnnotations>({ cap: MAX_TOOLS, ttlMs: DAY_MS, now });
  const keyOf = (url: URL): string => placeOf(url).origin + placeOf(url).path;
  return {
    knows: (url) => urls.size > 0 && urls.get(keyOf(url)) !== undefined,
    learn: (url) => urls.set(keyOf(url), true),
    pages(place, method) {
      const key = `${place}\n${method}`;
      const pages = lists.get(key) ?? createListPages(digest);
      lists.set(key, pages);
      return pages;
    },
    learnTools(place, hints) {
      for (const [name, annotations] of hints) {
        if (name.length > MAX_NAME) continue;
        if (annotations === null) tools.delete(`${place}\n${name}`);
        else tools.set(`${place}\n${name}`, annotations);
      }
    },
    annotations: (place, tool) => tools.get(`${place}\n${tool}`),
  };
}
