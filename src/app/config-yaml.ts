/**
 * The configuration file as a YAML 1.2 tree (core schema) with line numbers, and YAML's own faults in words that say what to
 * do. Knows no key. Size, nesting and aliases are bounded: a mounted file is input like any other.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { type Document, isAlias, Lexer, LineCounter, type Node, Parser, parseDocument, visit } from 'yaml';

const MAX_BYTES = 1024 * 1024;
/** A valid file needs six. The parser recurses, and V8 aborts the process when the stack ends inside a regex. */
const MAX_DEPTH = 40;
const MAX_ALIASES = 100;

export interface YamlTree {
  readonly root: Node | null;
  /** Line of a node, counted from 1. */
  lineOf(node: Node): number;
  /** The node that an alias stands for; other nodes unchanged. */
  resolve(node: Node | null): Node | null;
}

/** `line` is undefined for faults of the file itself. */
export type ReportLine = (line: number | undefined, text: string) => void;

/** Undefined after at least one report. */
export function readYaml(file: string, report: ReportLine): YamlTree | undefined {
  const text = readText(file, report);
  return text === undefined ? undefined : parseYaml(text, report);
}

function readText(file: string, report: ReportLine): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readBounded(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    report(undefined, { ENOENT: 'no such file', EACCES: 'permission denied', EISDIR: 'is a folder' }[code] ?? code);
    return undefined;
  }
  if (bytes.length > MAX_BYTES) {
    report(undefined, 'larger than 1 MiB');
    return undefined;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    report(undefined, 'is not UTF-8 text');
    return undefined;
  }
}

/** Reads until the limit whatever the file claims to be: `--config <(...)` is a pipe without a size. */
function readBounded(file: string): Buffer {
  const buffer = Buffer.allocUnsafe(MAX_BYTES + 1);
  const fd = openSync(file, 'r');
  try {
    let length = 0;
    while (length < buffer.length) {
      const read = readSync(fd, buffer, length, buffer.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

function parseYaml(text: string, report: ReportLine): YamlTree | undefined {
  const tooDeep = findTooDeep(text);
  if (tooDeep !== undefined) {
    report(text.slice(0, tooDeep).split('\n').length, `nested more than ${MAX_DEPTH} levels deep`);
    return undefined;
  }
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  // Duplicate keys are found by the reader of the tree, which can name them.
  const options = { lineCounter: lines, prettyErrors: false, schema: 'core', uniqueKeys: false, merge: false } as const;
  const doc: Document.Parsed = parseDocument(text, options);
  const faults = [...doc.errors, ...doc.warnings].map(({ code, message, pos }) => ({
    at: message.includes('closing') ? quoteStart(doc, pos[0]) : pos[0],
    text: syntaxFault(code, message, text.slice(pos[0], pos[0] + 1)),
  }));
  faults.push(...aliasFaults(doc));
  // One slip can break several rules of YAML: the first of them says enough about its line.
  const firstOfLine = new Map(faults.reverse().map((fault) => [lineAt(fault.at), fault.text]));
  for (const [line, text] of firstOfLine) report(line, text);
  if (faults.length > 0) return undefined;
  return {
    root: doc.contents,
    lineOf: (node) => lineAt(node.range?.[0] ?? 0),
    resolve: (node) => (isAlias(node) ? (node.resolve(doc) ?? null) : node),
  };
}

/** Offset of the first token below the depth limit. This parser keeps its own stack, so it is safe on any input. */
function findTooDeep(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return parser.offset;
  }
  return undefined;
}

function aliasFaults(doc: Document.Parsed): { at: number; text: string }[] {
  const faults: { at: number; text: string }[] = [];
  let aliases = 0;
  visit(doc, {
    Alias(_, alias) {
      aliases++;
      const at = alias.range?.[0] ?? 0;
      if (aliases > MAX_ALIASES) faults.push({ at, text: `more than ${MAX_ALIASES} aliases` });
      else if (alias.resolve(doc) === undefined) faults.push({ at, text: needsQuotes('*') });
      return aliases > MAX_ALIASES ? visit.BREAK : undefined;
    },
  });
  return faults;
}

/** YAML reports a missing quote where the file ends; a person looks for the one that opened the text. */
function quoteStart(doc: Document.Parsed, end: number): number {
  let start = end;
  visit(doc, {
    Scalar(_, { range, type }) {
      if (range?.[1] === end && type?.startsWith('QUOTE')) start = range[0];
    },
  });
  return start;
}

const needsQuotes = (start: string) => `text that starts with ${start} must be in quotes`;

/** The faults that file names, globs and addresses run into get their remedy; the others keep YAML's words. */
function syntaxFault(code: string, message: string, start: string): string {
  switch (code) {
    case 'BAD_ALIAS':
    case 'TAG_RESOLVE_FAILED':
    case 'BAD_SCALAR_START':
      return needsQuotes(start);
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'a second ": " in one line: text that holds one must be in quotes';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here, only one is allowed';
    default:
      if (message.endsWith('at node end')) return `text after a closing bracket: ${needsQuotes('[ or {')}`;
      if (message.includes('closing')) return 'the text in quotes that starts here is never closed';
      return `invalid YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  }
}
