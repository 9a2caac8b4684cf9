/**
 * The configuration file against the table of keys: values with their lines, and every problem as `FILE:LINE: field: ...`.
 * Reads on after a problem, so that one look at the messages is enough to repair a file.
 */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { KEYS, type KeySpec, SERVER_KEYS, serverPath } from './config-keys.ts';
import { deadMatches, type Found, type FoundServer } from './config-matches.ts';
import { describe, parseName, parseValue, quote } from './config-values.ts';
import { readYaml, type YamlTree } from './config-yaml.ts';
import { nearest } from './nearest.ts';

export interface FileContent {
  /** By the path of the key. */
  readonly values: ReadonlyMap<string, Found>;
  readonly servers: readonly FoundServer[];
}

type Report = (line: number | undefined, text: string) => void;
interface Entry {
  readonly key: string;
  readonly line: number;
  readonly node: Node | null;
}

const SPECS: readonly KeySpec[] = Object.values(KEYS);
const SERVER_SPECS: readonly KeySpec[] = Object.values(SERVER_KEYS);
const SERVER_NAMES = SERVER_SPECS.map(({ path }) => path);
const ALL_PATHS = [...SPECS.map(({ path }) => path), ...SERVER_NAMES.map((path) => `servers.NAME.${path}`)];

export function readConfigFile(file: string, problems: string[]): FileContent {
  const found: { line: number; text: string }[] = [];
  const report: Report = (line, text) =>
    found.push({ line: line ?? 0, text: `${file}${line ? `:${line}` : ''}: ${text}` });
  const tree = readYaml(file, report);
  const content = tree === undefined ? { values: new Map(), servers: [] } : new Reader(tree, report).read();
  problems.push(...found.sort((a, b) => a.line - b.line).map(({ text }) => text));
  return content;
}

class Reader {
  readonly #tree: YamlTree;
  readonly #report: Report;
  readonly #values = new Map<string, Found>();
  #servers: FoundServer[] = [];

  constructor(tree: YamlTree, report: Report) {
    this.#tree = tree;
    this.#report = report;
  }

  read(): FileContent {
    const { root } = this.#tree;
    this.#section('', root, root === null ? 1 : this.#tree.lineOf(root));
    for (const { line, text } of deadMatches(this.#servers)) this.#report(line, text);
    return { values: this.#values, servers: this.#servers };
  }

  /** The top of the file, or a group of keys such as `policy`. */
  #section(prefix: string, node: Node | null, line: number): void {
    const specs = SPECS.filter(({ path }) => path.startsWith(prefix));
    const names = [...new Set(specs.map(({ path }) => path.slice(prefix.length).split('.')[0]!))];
    if (prefix === '') names.push('servers');
    for (const entry of this.#entries(prefix.slice(0, -1), node, line)) {
      const path = `${prefix}${entry.key}`;
      const spec = specs.find((each) => each.path === path);
      if (!names.includes(entry.key)) this.#unknown(prefix, entry, names);
      else if (spec) this.#take(spec, path, entry, this.#values);
      else if (path === 'servers') this.#servers = this.#readServers(entry);
      else this.#section(`${path}.`, entry.node, entry.line);
    }
  }

  #readServers({ node, line }: Entry): FoundServer[] {
    return this.#entries('servers', node, line).map(({ key: name, line, node }) => {
      const path = serverPath(name);
      const values = new Map<string, Found>();
      parseName(name, (text) => this.#report(line, `${path}: ${text}`));
      for (const entry of this.#entries(path, node, line)) {
        const spec = SERVER_SPECS.find((each) => each.path === entry.key);
        if (spec) this.#take(spec, `${path}.${spec.path}`, entry, values);
        else this.#unknown(`${path}.`, entry, SERVER_NAMES);
      }
      return { name, values };
    });
  }

  #take(spec: KeySpec, path: string, { line, node }: Entry, into: Map<string, Found>): void {
    const items = isSeq<Node | null>(node) ? node.items.map((item) => this.#tree.resolve(item)) : undefined;
    const value = parseValue(spec, items?.map(scalarValue) ?? scalarValue(node), (text, item) => {
      const culprit = item === undefined ? undefined : items?.[item];
      const at = culprit ? this.#tree.lineOf(culprit) : line;
      this.#report(at, `${path}${item === undefined ? '' : `[${item}]`}: ${text}`);
    });
    if (value !== undefined) into.set(spec.path, { value, line });
  }

  /** A key without a value is an empty map, as `servers:` with every entry commented out. */
  #entries(path: string, node: Node | null, line: number): Entry[] {
    if (scalarValue(node) === null) return [];
    const prefix = path === '' ? '' : `${path}: `;
    if (!isMap<Node, Node | null>(node)) {
      this.#report(line, `${prefix}expected a map of keys, found ${describe(isSeq(node) ? [] : scalarValue(node))}`);
      return [];
    }
    const seen = new Map<string, Entry>();
    for (const pair of node.items) {
      const at = this.#tree.lineOf(pair.key);
      const key = isScalar(pair.key) ? (pair.key.source ?? String(pair.key.value)) : undefined;
      const first = key === undefined ? undefined : seen.get(key);
      if (key === undefined) this.#report(at, `${prefix}a key must be a plain name`);
      else if (first) this.#report(at, `${prefix}${quote(key)} is given twice, first on line ${first.line}`);
      else seen.set(key, { key, line: at, node: this.#tree.resolve(pair.value) });
    }
    return [...seen.values()];
  }

  #unknown(prefix: string, { key, line }: Entry, valid: readonly string[]): void {
    const elsewhere = ALL_PATHS.find((path) => path === key || path.endsWith(`.${key}`));
    const close = nearest(key, valid) ?? elsewhere;
    let hint = `valid here: ${valid.join(', ')}`;
    if (key.includes('.') && key === close) hint = 'a dot is a level, write the parts below each other';
    else if (key === close) hint = `"${key}" belongs at the top of the file`;
    else if (close !== undefined) hint = `did you mean "${close}"?`;
    this.#report(line, `${prefix}${/^[\w.-]+$/.test(key) ? key : quote(key)}: unknown key; ${hint}`);
  }
}

/** A list or map inside a value only has to be recognised as one. */
function scalarValue(node: Node | null): unknown {
  if (node === null || isScalar(node)) return node?.value ?? null;
  return isSeq(node) ? [] : {};
}
