/**
 * Brings a YAML document from one value to another and leaves everything that is the same in both as it is written: comments, order,
 * quotes. It does not know what the values mean; items of a list are the same when they are equal, else when they have one name.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Document, isCollection, isMap, isSeq, type Node } from 'yaml';

type Path = readonly (string | number)[];
type Plain = Record<string, unknown>;

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Replaces the value at `path`, which must exist. */
export function edit(document: Document, path: Path, before: unknown, after: unknown): void {
  if (path.length === 0) document.contents = changed(document, document.contents as Node, before, after) as never;
  else document.setIn(path, changed(document, document.getIn(path, true) as Node, before, after));
}

function changed(document: Document, node: Node, before: unknown, after: unknown): Node {
  if (isDeepStrictEqual(before, after)) return node;
  if (isMap(node) && isPlain(before) && isPlain(after)) {
    for (const key of Object.keys(before)) if (!(key in after)) node.delete(key);
    for (const [key, value] of Object.entries(after)) {
      // Not even looked up: a key that YAML reads as a number is another one than its text.
      if (key in before && isDeepStrictEqual(before[key], value)) continue;
      const child = node.get(key, true) as Node | undefined;
      if (child === undefined || child === null) node.set(key, created(document, node, value));
      else {
        const next = changed(document, child, before[key], value);
        if (next !== child) node.set(key, next);
      }
    }
    return node;
  }
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) {
    const items = [...node.items] as Node[];
    const left = new Set(before.keys());
    const take = (matches: (value: unknown) => boolean): number | undefined => {
      const found = [...left].find((index) => matches(before[index]));
      if (found !== undefined) left.delete(found);
      return found;
    };
    // Equal items first: a changed one must not take the place of one that stayed.
    const equal = after.map((value) => take((old) => isDeepStrictEqual(old, value)));
    node.items = after.map((value, index) => {
      const at = equal[index] ?? take((old) => isPlain(old) && isPlain(value) && old.name === value.name);
      return at === undefined ? created(document, node, value) : changed(document, items[at]!, before[at], value);
    });
    return node;
  }
  const next = created(document, undefined, after);
  next.commentBefore = node.commentBefore ?? null;
  next.comment = node.comment ?? null;
  // A scalar keeps its manner of quoting where that can hold the new text.
  const { type } = node as { type?: string };
  if (!isCollection(next) && type?.startsWith('QUOTE')) (next as { type?: string }).type = type;
  return next;
}

function created(document: Document, parent: Node | undefined, value: unknown): Node {
  const isFlow = isCollection(parent) && parent.flow === true && parent.items.length > 0;
  return document.createNode(value, { flow: isFlow, aliasDuplicateObjects: false });
}
