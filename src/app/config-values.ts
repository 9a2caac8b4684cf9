/**
 * From a raw value (of the file, of a default, of an environment variable or flag) to a typed one, for every type that the
 * table of keys knows. Says what was expected and what was found; where it was found is the caller's to add.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { MAX_ID_BYTES } from '../core/model/fields.ts';
import type { KeySpec, ListenAddress } from './config-keys.ts';
import { nameGlobFault, pathGlobFault } from './name-glob.ts';
import { nearest } from './nearest.ts';

/** Linux's PATH_MAX. */
const MAX_PATH_BYTES = 4096;

/** `item` is the position in a list when one of its values is to blame. */
export type Complain = (text: string, item?: number) => void;

/** Complains and returns undefined for a value that does not fit. */
export function parseValue(spec: KeySpec, raw: unknown, complain: Complain): unknown {
  switch (spec.type) {
    case 'boolean':
      return typeof raw === 'boolean' ? raw : complain(`expected true or false, found ${describe(raw)}`);
    case 'number':
      return parseNumber(spec, raw, complain);
    case 'enum':
      return parseWord(spec.values ?? [], raw, complain);
    case 'share':
      if (typeof raw === 'number' && raw >= 0 && raw <= 1) return raw;
      return complain(`expected a number from 0 to 1, found ${describe(raw)}`);
    case 'listen':
      return parseListen(raw, complain);
    case 'url':
      return raw === spec.default ? raw : parseUrl(raw, complain);
    case 'count':
      return parseCount(spec, raw, complain);
    case 'file':
      return raw === spec.default ? raw : parseFile(raw, complain);
    case 'globs':
    case 'paths':
      return parseGlobs(spec, raw, complain);
    case 'glob':
      return parseGlob(spec, raw, complain);
    case 'string':
      if (raw === '' && spec.default === '') return raw;
      return isText(raw, 'text', complain) ? parseName(raw, complain) : undefined;
  }
}

/** A text from the environment or a flag as the raw value that the file would have held. */
export function rawFromText(spec: KeySpec, text: string | readonly string[]): unknown {
  if (spec.type === 'globs' || spec.type === 'paths') return [text].flat().flatMap(splitList);
  const last = typeof text === 'string' ? text : text.at(-1);
  if (spec.type === 'count' && last !== undefined && /^\d+$/.test(last)) return Number(last);
  if (spec.type === 'share' && last !== undefined && /^\d*\.?\d+$/.test(last)) return Number(last);
  return spec.type === 'boolean' && (last === 'true' || last === 'false') ? last === 'true' : last;
}

/** Host and server names: they are ids of events, so a longer one could never match. */
export function parseName(text: string, complain: Complain): string | undefined {
  if (text === '') complain('must not be empty');
  else if (Buffer.byteLength(text) > MAX_ID_BYTES) complain(`longer than ${MAX_ID_BYTES} bytes`);
  else return text;
  return undefined;
}

/** What a person would call the value, short enough for one line. */
export function describe(raw: unknown): string {
  if (raw === null || raw === undefined) return 'nothing';
  if (typeof raw === 'string') return quote(raw);
  if (Array.isArray(raw)) return 'a list';
  return typeof raw === 'object' ? 'a map' : `the ${typeof raw} ${String(raw)}`;
}

/** JSON quoting keeps control characters and line ends of a hostile value out of the message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}...` : text);
}

function isText(raw: unknown, what: string, complain: Complain, item?: number): raw is string {
  if (typeof raw === 'string' && raw !== '') return true;
  const hint = typeof raw === 'number' || typeof raw === 'boolean' ? ' (put it in quotes)' : '';
  complain(raw === '' ? 'must not be empty' : `expected ${what}, found ${describe(raw)}${hint}`, item);
  return false;
}

function parseWord(words: readonly string[], raw: unknown, complain: Complain): string | undefined {
  if (typeof raw === 'string' && words.includes(raw)) return raw;
  const meant = typeof raw === 'string' ? nearest(raw, words) : undefined;
  const all = words.map((word) => `"${word}"`);
  const expected = `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
  complain(`expected ${expected}, found ${describe(raw)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`);
  return undefined;
}

function parseCount({ range = [0, Number.MAX_SAFE_INTEGER] }: KeySpec, raw: unknown, complain: Complain): unknown {
  const [least, greatest] = range;
  if (Number.isSafeInteger(raw) && (raw as number) >= least && (raw as number) <= greatest) return raw;
  return complain(`expected a whole number from ${least} to ${greatest}, found ${describe(raw)}`);
}

function parseFile(raw: unknown, complain: Complain): string | undefined {
  if (!isText(raw, 'a path', complain)) return undefined;
  if (!raw.includes('\0') && Buffer.byteLength(raw) <= MAX_PATH_BYTES) return raw;
  complain(`${quote(raw)} is not a path`);
  return undefined;
}

/** Of a backend. What a URL carries beside its place is shown in logs and process lists: no user, no query. */
function parseUrl(raw: unknown, complain: Complain): string | undefined {
  if (!isText(raw, 'a URL', complain)) return undefined;
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(raw))
    // What stands before an @ may be a password.
    complain(`expected a URL such as http://collector:4318${raw.includes('@') ? '' : `, found ${quote(raw)}`}`);
  else if (url.username !== '' || url.password !== '')
    complain('a URL must hold no user or password: use OTEL_EXPORTER_OTLP_HEADERS');
  else if (url.search !== '' || url.hash !== '') complain('a URL must hold no query or fragment');
  else return raw;
  return undefined;
}

function parseNumber({ max, whole }: KeySpec, raw: unknown, complain: Complain): number | undefined {
  const kind = whole === true ? 'a whole number' : 'a number';
  const fits = typeof raw === 'number' && Number.isFinite(raw) && raw > 0 && (whole !== true || Number.isInteger(raw));
  if (fits && raw <= (max ?? raw)) return raw;
  complain(`expected ${kind} above 0${max === undefined ? '' : ` and at most ${max}`}, found ${describe(raw)}`);
  return undefined;
}

function parseGlob(spec: KeySpec, raw: unknown, complain: Complain, item?: number): string | undefined {
  if (!isText(raw, 'a glob', complain, item)) return undefined;
  const fault = spec.type === 'paths' ? pathGlobFault(raw) : nameGlobFault(raw);
  if (fault === undefined) return raw;
  complain(`${quote(raw)} is not a valid glob: ${fault}`, item);
  return undefined;
}

function parseGlobs(spec: KeySpec, raw: unknown, complain: Complain): readonly string[] | undefined {
  if (!Array.isArray(raw) && !isText(raw, 'a glob or a list of globs', complain)) return undefined;
  const items: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  const mayBeEmpty = Array.isArray(spec.default) && spec.default.length === 0;
  if (items.length === 0 && !mayBeEmpty) complain('expected at least one glob, found an empty list');
  const globs = items.map((each, i) => parseGlob(spec, each, complain, Array.isArray(raw) ? i : undefined));
  return globs.includes(undefined) ? undefined : (globs as string[]);
}

function parseListen(raw: unknown, complain: Complain): ListenAddress | undefined {
  const parts = typeof raw === 'string' ? /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(raw) : null;
  const [, ipv6, name] = parts ?? [];
  const isName =
    name !== undefined && /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(name) && (/[^\d.]/.test(name) || isIPv4(name));
  if (parts === null || !(isName || (ipv6 !== undefined && isIPv6(ipv6)))) {
    complain(`expected HOST:PORT such as 0.0.0.0:19640 or [::]:19640, found ${describe(raw)}`);
    return undefined;
  }
  const port = Number(parts[3]);
  if (port <= 65_535) return { host: ipv6 ?? name!, port };
  complain(`port ${parts[3]!.slice(0, 20)} is not between 0 and 65535`);
  return undefined;
}

/** Commas separate; a comma inside `{a,b}` belongs to its pattern. */
function splitList(text: string): string[] {
  const items = [''];
  let depth = 0;
  for (const char of text) {
    if (char === '{') depth++;
    if (char === '}') depth--;
    if (char === ',' && depth <= 0) items.push('');
    else items[items.length - 1] += char;
  }
  return items.map((item) => item.trim());
}
