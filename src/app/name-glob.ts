/**
 * Globs over server and tool names. Such names are no paths: `*` and `?` match every character, `/`, `:` and leading dots
 * included. Names come from events, that is from outside, so patterns whose matching could take exponential time are refused.
 */
import { resolve } from 'node:path';
import picomatch from 'picomatch';
import { MAX_ID_BYTES } from '../core/model/fields.ts';

/** With four the worst 128-character name costs 0.1 s, with five 2 s, with six 40 s (measured on the generated regex). */
const MAX_STARS = 4;
/** picomatch treats slashes as folder borders; a stand-in on both sides makes one plain segment of every name. */
const SLASH = '\uE000';

const PATH_OPTIONS = { strictBrackets: true, debug: true, windows: false } as const;
/** `regex` and `noextglob`: no quantifiers beside `*`. `nonegate`: a leading `!` is a plain character. */
const NAME_OPTIONS = { ...PATH_OPTIONS, dot: true, nonegate: true, noextglob: true, regex: false } as const;
const PARTNER: Readonly<Record<string, string>> = { '[': ']', ']': '[', '{': '}', '}': '{', '(': ')', ')': '(' };

/** What is wrong with a glob over names, in words that follow the pattern; undefined when it is fine. */
export function nameGlobFault(pattern: string): string | undefined {
  const active = pattern.replace(/\\./gs, '');
  if (/[()]/.test(active)) return 'groups in parentheses are not supported, write {a,b} for "a or b"';
  if ((active.match(/\*+/g)?.length ?? 0) > MAX_STARS) return `more than ${MAX_STARS} "*" in one pattern`;
  return compileFault(pattern, NAME_OPTIONS);
}

/** The same for a glob over file paths. */
export function pathGlobFault(pattern: string): string | undefined {
  return compileFault(pattern, PATH_OPTIONS);
}

/** Does a glob over file paths name this path? Both may be relative to the working folder. As the file source finds files. */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const matches = picomatch(resolve(pattern), { windows: false });
  return (path) => matches(resolve(path));
}

export function isGlob(pattern: string): boolean {
  return picomatch.scan(pattern).isGlob;
}

/** Compiles the patterns once. A name longer than any id can be matches nothing, which also bounds the work. */
export function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const matches = picomatch(
    patterns.map((pattern) => pattern.replaceAll('/', SLASH)),
    NAME_OPTIONS,
  );
  return (name) => name.length <= MAX_ID_BYTES && matches(name.replaceAll('/', SLASH));
}

function compileFault(pattern: string, options: typeof PATH_OPTIONS): string | undefined {
  if (/(?<!\\)(?:\\\\)*\\$/.test(pattern)) return 'a lone "\\" at the end';
  try {
    picomatch(pattern, options);
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const bracket = /^Missing (opening|closing): "(.)"/.exec(text);
    if (bracket) {
      const [missing, there] = [bracket[2]!, PARTNER[bracket[2]!]];
      return `no ${bracket[1]} "${missing}" for the "${there}" (write "\\${there}" for the character itself)`;
    }
    return text.replace(/^Invalid regular expression: .*: /s, '').toLowerCase();
  }
}
