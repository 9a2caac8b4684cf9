/** Finds server entries of the file whose `match` could never decide anything: slips of the pen that would stay unnoticed. */
import { SERVER_KEYS, serverPath } from './config-keys.ts';
import { isGlob } from './name-glob.ts';

export interface Found {
  readonly value: unknown;
  readonly line: number;
}

export interface FoundServer {
  readonly name: string;
  /** By the path of the key below the server. */
  readonly values: ReadonlyMap<string, Found>;
}

/** The same pattern twice (the first entry wins), or the plain NAME of another entry (an exact NAME wins). */
export function deadMatches(servers: readonly FoundServer[]): { line: number; text: string }[] {
  const faults: { line: number; text: string }[] = [];
  const names = new Set(servers.map(({ name }) => name));
  const firstOf = new Map<unknown, { name: string; line: number }>();
  for (const { name, values } of servers) {
    const match = values.get(SERVER_KEYS.match.path);
    if (typeof match?.value !== 'string') continue;
    const { value, line } = match;
    const path = serverPath(name, SERVER_KEYS.match.path);
    const first = firstOf.get(value);
    if (first) {
      faults.push({ line, text: `${path}: the same pattern as in ${serverPath(first.name)} on line ${first.line}` });
    } else if (value !== name && names.has(value) && !isGlob(value)) {
      faults.push({ line, text: `${path}: these events already belong to ${serverPath(value)}, by its name` });
    } else firstOf.set(value, { name, line });
  }
  return faults;
}
