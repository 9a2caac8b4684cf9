/**
 * The rules of `--fail-on`: words to rows of the table of detectors. A word that could never fire is an error: a gate that waits for
 * it would be green for ever.
 */
import { RULES } from '../core/detectors/rules.ts';
import type { CheckedRule } from '../exporters/finding-list.ts';
import { ConfigError } from './config-merge.ts';
import { nearest } from './nearest.ts';

export const ALL = 'all';

/** In the order of the table, each once. `known`: names that are reserved, with a detector or without. @throws ConfigError */
export function rulesOf<R extends CheckedRule>(
  words: readonly string[],
  table: readonly R[],
  known: readonly string[] = RULES,
): R[] {
  const names = words.flatMap((word) => word.split(',')).map((word) => word.trim());
  const built = table.map(({ rule }) => rule as string);
  const valid = `valid: ${built.join(', ')}, or ${ALL}`;
  const named = names.filter((name) => name !== '');
  if (named.length === 0)
    throw new ConfigError([`--fail-on: name the rules that fail the check, e.g. --fail-on ${built[0]} (${valid})`]);
  const problems = named.flatMap((name) => {
    if (name === ALL || built.includes(name)) return [];
    if (known.includes(name))
      return [`--fail-on: ${name} has no detector in this version, it would never fire (${valid})`];
    const meant = nearest(name, [...built, ALL]);
    const hint = meant === undefined ? '' : `, did you mean ${meant}?`;
    return [`--fail-on: unknown rule ${JSON.stringify(name)}${hint} (${valid})`];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return named.includes(ALL) ? [...table] : table.filter(({ rule }) => named.includes(rule));
}
