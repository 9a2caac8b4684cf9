/**
 * What may stand in an evidence record: the one allow-list, and how each value is cleaned. Writers of events are not trusted, so a
 * text is a closed word, or a name of bounded length in a field that is here for that purpose. A field that is not listed, or whose
 * value does not fit, does not appear. Nothing here decides what happened.
 */
import { methodLabel } from '../core/protocol/methods.ts';
import { isTraceparent, traceIdOf } from '../core/protocol/traceparent.ts';

/** Longest name (server, tool, exchange id, host:port) in characters. */
const MAX_NAME_CHARS = 128;
/** Longest list: an operation may have 100 attempts, and the first and the last ones tell it. */
export const MAX_LISTED = 10;

/** A cleaned value; undefined leaves the field out. */
type Clean = (value: unknown) => unknown;
type Fields = Readonly<Record<string, Clean>>;

const WORD = /^[A-Za-z0-9_.:-]{1,64}$/;
/** Ours are closed; those that a writer chose (error names) are words of that shape, or `other`. */
const word: Clean = (value) => {
  if (typeof value !== 'string' || value === '') return undefined;
  return WORD.test(value) ? value : 'other';
};
const number: Clean = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const flag: Clean = (value) => (typeof value === 'boolean' ? value : undefined);
/** Chosen by writers or servers: cut, and no control characters, which a terminal would obey. */
const name: Clean = (value) => {
  if (typeof value !== 'string' || value === '') return undefined;
  const text = value.replace(/\p{C}/gu, '?');
  return text.length > MAX_NAME_CHARS ? `${text.slice(0, MAX_NAME_CHARS - 3)}...` : text;
};
const method: Clean = (value) => (typeof value === 'string' ? methodLabel(value) : undefined);
const time: Clean = (value) =>
  typeof value === 'number' && Math.abs(value) <= 8.64e15 ? new Date(value).toISOString() : undefined;
const trace: Clean = (value) => (typeof value === 'string' && isTraceparent(value) ? traceIdOf(value) : undefined);
/** The folder is the machine's business; with the source's globs the name is enough to find the file. */
const fileName: Clean = (value) => name(typeof value === 'string' ? value.slice(value.lastIndexOf('/') + 1) : value);

const list =
  (clean: Clean): Clean =>
  (value) => {
    if (!Array.isArray(value)) return undefined;
    const half = MAX_LISTED / 2;
    return (value.length > MAX_LISTED ? [...value.slice(0, half), ...value.slice(-half)] : value).map(clean);
  };
const object =
  (fields: Fields): Clean =>
  (value) =>
    typeof value === 'object' && value !== null
      ? cleaned(value as Readonly<Record<string, unknown>>, fields)
      : undefined;

/** What decided a finding: closed words, numbers and flags, whatever the detector; names only where they are listed here. */
const EVIDENCE_NAMES: Fields = { endpoint: name, earlier: name, method };
const evidence: Clean = (value) => {
  if (typeof value !== 'object' || value === null) return undefined;
  const cleaners = Object.keys(value).map((key) => [key, EVIDENCE_NAMES[key] ?? anyOf(word, number, flag)] as const);
  return cleaned(value as Readonly<Record<string, unknown>>, Object.fromEntries(cleaners));
};
function anyOf(...kinds: readonly Clean[]): Clean {
  return (value) => kinds.map((clean) => clean(value)).find((each) => each !== undefined);
}

const ATTEMPT: Fields = {
  exchange: name,
  endpoint: name,
  class: word,
  outcome: word,
  cause: word,
  stage: word,
  status: number,
  error_code: number,
  is_error: flag,
  complete_result: word,
  settled: word,
  ms: number,
};
const EDGE: Fields = { after: word, endpoint: word, outcome: word, safety: word };

/** In the order in which they are written. */
const FIELDS: Fields = {
  record: word,
  ts: time,
  rule: word,
  server: name,
  protocol_version: word,
  method,
  target: name,
  result: word,
  next_action: word,
  hint: word,
  exchange: name,
  endpoint: name,
  endpoints: list(name),
  stream: word,
  outcome: word,
  cause: word,
  regime: word,
  cut: word,
  stage: word,
  by: word,
  request: word,
  status: number,
  error: word,
  error_code: number,
  is_error: flag,
  error_type: word,
  bytes: number,
  complete_result: word,
  duration_ms: number,
  attempt_count: number,
  attempts: list(object(ATTEMPT)),
  edges: list(object(EDGE)),
  evidence,
  trace_id: trace,
  source: name,
  file: fileName,
  line: number,
};

/** Methods whose target is a name that a server gave; that of others may be a resource URI, which can hold anything. */
const NAMED_TARGETS: ReadonlySet<unknown> = new Set(['tools/call', 'prompts/get']);

function cleaned(record: Readonly<Record<string, unknown>>, fields: Fields): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const key in fields) {
    const value = (fields[key] as Clean)(record[key]);
    if (value !== undefined) out[key] = value;
  }
  return out;
}

/** Is this target a name, and no URI? */
const isNamed = (method: unknown, target: unknown): boolean =>
  NAMED_TARGETS.has(method) && !(typeof target === 'string' && target.includes('://'));

/** A name from outside as it may leave the process; undefined: nothing is left of it. */
export const cleanName = (value: unknown): string | undefined => name(value) as string | undefined;
/** The target of a method, where that is a name. */
export const cleanTarget = (of: unknown, target: unknown): string | undefined =>
  isNamed(of, target) ? cleanName(target) : undefined;

/** The record as it may leave the process. */
export function redact(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return cleaned(isNamed(record.method, record.target) ? record : { ...record, target: null }, FIELDS);
}
