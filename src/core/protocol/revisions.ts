/** MCP revisions as a closed label set, and which recovery model a revision follows. */

export const VERSIONS = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
  'other',
  'unknown',
] as const;
export type Version = (typeof VERSIONS)[number];

/** The newest first: a handful of words is compared sooner than looked up. */
const DATED: readonly Version[] = VERSIONS.filter((v) => v !== 'other' && v !== 'unknown').reverse();
const DATE = /^\d{4}-\d\d-\d\d$/;

/** The `protocol_version` label: the header decides, `_meta` stands in for it, absence is `unknown`. */
export function versionLabel(header: string | null | undefined, meta: string | null | undefined): Version {
  const version = header ?? meta;
  if (version === undefined || version === null) return 'unknown';
  for (let i = 0; i < DATED.length; i++) if (DATED[i] === version) return DATED[i] as Version;
  return 'other';
}

/** Is this the stateless protocol (2026-07-28 and later)? An unknown revision follows the older rules (design section 6). */
export function isStatelessRevision(header: string | null | undefined, meta: string | null | undefined): boolean {
  const version = header ?? meta;
  return version !== undefined && version !== null && DATE.test(version) && version >= '2026-07-28';
}

/** 202 to a request was the rule of the HTTP+SSE transport, before Streamable HTTP (2025-03-26). */
export function predatesStreamableHttp(header: string | null | undefined, meta: string | null | undefined): boolean {
  const version = header ?? meta;
  return version !== undefined && version !== null && DATE.test(version) && version < '2025-03-26';
}
