/**
 * The only place that looks into results, and only into those of lists, discovery and initialize: what a list held, which hints
 * its tools carry, what a server declares about itself. Names of tools stay in memory; all else leaves as numbers, closed words
 * and keyed digests.
 */
import { canonicalJson } from '../digest.ts';
import type { LineFields } from './line-fields.ts';
import type { ListFacts, ListPages } from './list-pages.ts';

export type ToolAnnotations = NonNullable<LineFields['annotations']>;
/** null: the server declares none for this tool. */
export type ToolHints = ReadonlyMap<string, ToolAnnotations | null>;

/** What may be said of a result that was looked into. */
export interface ResultFacts {
  readonly list?: ListFacts | undefined;
  readonly tools?: ToolHints | undefined;
  readonly discovery?: LineFields | undefined;
}

export interface ResultSource {
  readonly method: string;
  readonly digest: (text: string) => string;
  readonly pages: ListPages;
  readonly cursor: string | undefined;
}

/** Where a list result keeps its items. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
]);
const DISCOVER = 'server/discover';
const INITIALIZE = 'initialize';
const COMPLETION_EXTENSION = 'dev.tailfin/stream-completion';
const REVISION = /^\d{4}-\d\d-\d\d$/;

export const mayLookInto = (method: string): boolean =>
  LISTS.has(method) || method === DISCOVER || method === INITIALIZE;

type Members = Readonly<Record<string, unknown>>;
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

export function readResult(result: unknown, bytes: number, source: ResultSource): ResultFacts {
  const { method, digest, pages, cursor } = source;
  const members = membersOf(result);
  const listed = LISTS.get(method);
  if (listed === undefined) return { discovery: discoveryFields(members, method, digest) };
  const items = members[listed];
  if (!Array.isArray(items)) return {};
  const next = members.nextCursor;
  const nextCursor = typeof next === 'string' && next !== '' ? next : undefined;
  return {
    list: pages.add({ cursor, nextCursor, items, bytes }),
    ...(method === 'tools/list' ? { tools: toolHints(items) } : {}),
  };
}

function toolHints(tools: readonly unknown[]): ToolHints {
  const hints = new Map<string, ToolAnnotations | null>();
  for (const tool of tools) {
    const { name, annotations } = membersOf(tool);
    if (typeof name !== 'string') continue;
    const { readOnlyHint, idempotentHint, destructiveHint } = membersOf(annotations);
    const declared = {
      ...(typeof readOnlyHint === 'boolean' ? { read_only: readOnlyHint } : {}),
      ...(typeof idempotentHint === 'boolean' ? { idempotent: idempotentHint } : {}),
      ...(typeof destructiveHint === 'boolean' ? { destructive: destructiveHint } : {}),
    };
    hints.set(name, Object.keys(declared).length === 0 ? null : declared);
  }
  return hints;
}

/**
 * The digest tells whether two answers declare the same server: what it can do, who it is, what it speaks. `sessions` of an
 * initialize and the revision of a discover are told by the headers, not here.
 */
function discoveryFields(members: Members, method: string, digest: (text: string) => string): LineFields {
  const { protocolVersion, supportedVersions, serverInfo, capabilities } = members;
  const extension = membersOf(membersOf(membersOf(capabilities).extensions)[COMPLETION_EXTENSION]);
  return {
    ...(typeof protocolVersion === 'string' && REVISION.test(protocolVersion)
      ? { protocol_version: protocolVersion }
      : {}),
    sentinel: extension.terminal === 'required' ? 'mandated' : 'optional',
    ...(method === DISCOVER ? { sessions: 'stateless' as const } : {}),
    digest: digest(canonicalJson({ protocolVersion, supportedVersions, serverInfo, capabilities })),
  };
}
