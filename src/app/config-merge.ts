/**
 * Defaults < file < environment < flags, each value checked wherever it came from, and all problems reported at once. Without a
 * file nothing here reads one, and the YAML library stays out of memory.
 */

import { conflictsIn } from './config-conflicts.ts';
import type { FileContent } from './config-file.ts';
import { type Config, KEYS, type KeySpec, SERVER_KEYS, type ServerConfig, serverPath } from './config-keys.ts';
import { parseValue, rawFromText } from './config-values.ts';

export interface ConfigInput {
  readonly file?: string | undefined;
  /** `process.env`. An empty variable counts as unset; variables of other names are none of ours. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** By field name, as commander's `opts()` gives them; other options are ignored. */
  readonly flags?: Readonly<Record<string, unknown>>;
}

/** The operator's mistake, not ours: its message is meant to be shown as it is, one line for each problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** What a file that says nothing holds. */
export const NO_FILE: FileContent = { values: new Map(), servers: [] };

/**
 * `content` is what stands in `file`, `problems` what was wrong with it.
 * @throws ConfigError with all problems: those of the file by line, then the environment, then the flags.
 */
export function mergeConfig(
  { file, env = {}, flags = {} }: ConfigInput,
  content: FileContent = NO_FILE,
  problems: string[] = [],
): Config {
  const origins: Record<string, string> = {};
  const settings: Record<string, unknown> = {};
  const flagProblems: string[] = [];

  for (const [field, spec] of Object.entries<KeySpec>(KEYS)) {
    const set = (value: unknown, origin: string) => {
      if (value === undefined) return;
      settings[field] = value;
      origins[spec.path] = origin;
    };
    const setText = (given: unknown, origin: string, name: string, into: string[]) => {
      const text = given === true ? 'true' : given;
      if (!isFlagValue(text)) return;
      set(
        parseValue(spec, rawFromText(spec, text), (fault) => into.push(`${name}: ${fault}`)),
        `${origin} ${name}`,
      );
    };
    set(defaultOf(spec), 'default');
    const found = content.values.get(spec.path);
    if (found) set(found.value, `file ${file}:${found.line}`);
    if (spec.env !== undefined) setText(env[spec.env] || undefined, 'environment', spec.env, problems);
    if (spec.flag !== undefined) setText(flags[field], 'flag', spec.flag, flagProblems);
  }

  const servers = content.servers.map(({ name, values }) => {
    const server: Record<string, unknown> = { name };
    for (const [field, spec] of Object.entries<KeySpec>(SERVER_KEYS)) {
      const found = values.get(spec.path);
      server[field] = found ? found.value : defaultOf(spec);
      if (server[field] === undefined) continue;
      origins[serverPath(name, spec.path)] = found ? `file ${file}:${found.line}` : 'default';
    }
    return server as unknown as ServerConfig;
  });

  problems.push(...flagProblems);
  if (problems.length > 0) throw new ConfigError(problems);
  // The table types the fields; `parseValue` made every value by the same table.
  const config = { ...settings, servers, origins } as unknown as Config;
  const conflicts = conflictsIn(config);
  if (conflicts.length > 0) throw new ConfigError(conflicts);
  return config;
}

/** Defaults pass the same check as everything else, so a wrong one fails every test. */
function defaultOf(spec: KeySpec): unknown {
  if (spec.default === undefined) return undefined;
  return parseValue(spec, spec.default, (fault) => {
    throw new Error(`default of ${spec.path}: ${fault}`);
  });
}

function isFlagValue(value: unknown): value is string | readonly string[] {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'))
  );
}
