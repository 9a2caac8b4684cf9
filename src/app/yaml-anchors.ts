/**
 * Anchors and merge keys of a YAML document, written out: an edit has to part what they tie together. Nodes are copied as they are
 * written, so that quotes, the spelling of numbers and comments stay; nothing here reads a value.
 */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';

const MERGE = '<<';

/** `<<` without quotes; the parser makes a symbol of it. */
function isMergeKey(key: unknown): boolean {
  if (!isScalar(key)) return false;
  const { value, type } = key;
  return typeof value === 'symbol' ? value.description === MERGE : value === MERGE && type === 'PLAIN';
}

export function hasAliases(document: Document): boolean {
  let found = false;
  visit(document, (_, node) => {
    if (isAlias(node) || (isPair(node) && isMergeKey(node.key))) {
      found = true;
      return visit.BREAK;
    }
  });
  return found;
}

export interface AliasProblem {
  readonly node: Node;
  readonly text: string;
}

/** Aliases without an anchor before them, or within what it names: they have no meaning. */
export function aliasProblems(document: Document): AliasProblem[] {
  const found: AliasProblem[] = [];
  walk(document.contents, new Map(), (node, text) => found.push({ node, text }));
  return found;
}

/** The document must have no alias problems. */
export function writeOut(document: Document): void {
  document.contents = walk(document.contents, new Map(), undefined) as never;
  visit(document, { Node: (_, node) => void ('anchor' in node && delete node.anchor) });
}

type Complain = (node: Node, text: string) => void;

/** In the order of the document: an anchor may be set again, and an alias means the last one before it. */
function walk(node: unknown, anchors: Map<string, Node>, complain: Complain | undefined): unknown {
  if (isAlias(node)) {
    const target = anchors.get(node.source);
    if (target === undefined) complain?.(node, `there is no anchor &${node.source} before this alias`);
    if (complain !== undefined || target === undefined) return node;
    const copy = target.clone() as Node;
    if (node.comment) copy.comment = node.comment;
    if (node.commentBefore) copy.commentBefore = node.commentBefore;
    return copy;
  }
  const items: (Node | Pair)[] | undefined = isMap(node) || isSeq(node) ? (node.items as (Node | Pair)[]) : undefined;
  const next = items?.map((item) => {
    if (!isPair(item)) return walk(item, anchors, complain) as Node;
    const key = walk(item.key, anchors, complain);
    const value = walk(item.value, anchors, complain);
    if (complain === undefined) Object.assign(item, { key, value });
    return item;
  });
  if (complain === undefined && next !== undefined)
    (node as { items: unknown[] }).items = isMap(node) ? merged(next as Pair[]) : next;
  const { anchor } = (node ?? {}) as { anchor?: string };
  if (anchor !== undefined) anchors.set(anchor, node as Node);
  return node;
}

/** Keys of the map itself win, whichever side of the merge key they stand on; of several sources the first. */
function merged(pairs: readonly Pair[]): Pair[] {
  const nameOf = ({ key }: Pair): unknown => (isScalar(key) ? key.value : key);
  const taken = new Set(pairs.filter(({ key }) => !isMergeKey(key)).map(nameOf));
  return pairs.flatMap((pair) => {
    if (!isMergeKey(pair.key)) return [pair];
    const sources = isSeq(pair.value) ? pair.value.items : [pair.value];
    return sources
      .filter((source): source is YAMLMap => isMap(source))
      .flatMap(({ items }) => items as Pair[])
      .filter((each) => {
        const name = nameOf(each);
        const isNew = !taken.has(name);
        taken.add(name);
        return isNew;
      })
      .map((each) => each.clone());
  });
}
