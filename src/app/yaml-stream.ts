/**
 * A stream of YAML documents, cut where `---` stands at the start of a line, so that a document that nobody changes leaves byte by
 * byte as it came. It decides nothing about what is in a document.
 */
import { type Document, isMap, LineCounter, parseDocument, type ScalarTag, type Tags, visit } from 'yaml';
import { aliasProblems } from './yaml-anchors.ts';

export interface StreamDocument {
  readonly text: string;
  /** Lines of the stream before this document. */
  readonly linesBefore: number;
}

/** Where a document begins: at its marker, or at the directives that stand before that. */
const START = /^(?:%.*\r?\n(?:[%#].*\r?\n|[ \t]*\r?\n)*)?---(?=\s|$)/gm;

/** The parts, together exactly the input: a marker belongs to the document that it begins. */
export function splitStream(text: string): StreamDocument[] {
  const starts = [0, ...[...text.matchAll(START)].map(({ index }) => index)];
  let lines = 0;
  return starts.flatMap((start, index) => {
    const part = text.slice(start, starts[index + 1]);
    const linesBefore = lines;
    lines += part.split('\n').length - 1;
    return part === '' ? [] : [{ text: part, linesBefore }];
  });
}

/** Numbers keep their spelling: `defaultMode: 0644` is octal to Kubernetes and must not become 644. */
const asWritten = (tags: Tags): Tags =>
  tags.map((tag) => {
    if (typeof tag !== 'object' || !/:(int|float)$/.test(tag.tag)) return tag;
    const { stringify, ...rest } = tag as ScalarTag;
    return { ...rest, stringify: (item, ...more) => item.source ?? stringify?.(item, ...more) ?? String(item.value) };
  });

interface Problem {
  readonly line: number;
  readonly text: string;
}

export interface ParsedDocument {
  readonly document: Document.Parsed;
  /** Undefined where there are problems. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Keys that stand twice: Helm takes the last one, so such a document may pass, but nothing in it can be changed safely. */
  readonly duplicates: readonly Problem[];
  lineOf(path: readonly (string | number)[]): number;
}

export function parseOne({ text, linesBefore }: StreamDocument): ParsedDocument {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, merge: true, customTags: asWritten, uniqueKeys: true });
  const lineAt = (offset: number) => linesBefore + lineCounter.linePos(offset).line;
  const found = (isDuplicate: boolean): Problem[] =>
    document.errors
      .filter(({ code }) => (code === 'DUPLICATE_KEY') === isDuplicate)
      .map(({ pos, message }) => ({
        line: lineAt(pos[0]),
        text: message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? '',
      }));
  const problems = [
    ...found(false),
    ...aliasProblems(document).map(({ node, text }) => ({ line: lineAt(node.range?.[0] ?? 0), text })),
  ];
  let value: unknown;
  if (problems.length === 0)
    try {
      value = document.toJS();
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      problems.push({
        line: linesBefore + 1,
        text: 'aliases of aliases make this document far larger than it is written',
      });
    }
  return {
    document,
    value,
    problems,
    duplicates: found(true),
    lineOf(path) {
      for (let length = path.length; length >= 0; length -= 1) {
        const node = document.getIn(path.slice(0, length), true) as { range?: [number] } | undefined;
        if (node?.range) return lineAt(node.range[0]);
      }
      return linesBefore + 1;
    },
  };
}

/** The document as text again, in the manner of its source. */
export function printDocument(document: Document, source: string): string {
  if (isJson(source)) return `${JSON.stringify(document.toJS(), null, 4)}\n`;
  // From a key to the keys below it, the first time that they stand on lines of their own.
  const steps = [...source.matchAll(/^( *)[^\s#-][^\n]*:[ \t]*\r?\n(?= *[^\s#-])(\1 +)/gm)];
  const indent = steps.map(([, outer = '', inner = '']) => inner.length - outer.length)[0] ?? 2;
  const indentSeq = !/^( *)[^\s#-].*:[ \t]*\r?\n\1- /m.test(source);
  padFlow(document, source);
  const printed = document.toString({ lineWidth: 0, indent: Math.min(indent, 8), indentSeq });
  return source.includes('\r\n') ? printed.replaceAll(/\r?\n/g, '\r\n') : printed;
}

/** `{ a: b }` or `{a: b}`, and the same for lists, which formatters treat apart: as the source has it. */
function padFlow(document: Document, source: string): void {
  const padding: { map?: string; seq?: string } = {};
  visit(document, {
    Collection(_, node) {
      // Not from a line end: a collection over several lines says nothing about those on one.
      const after = node.flow && node.range ? source[node.range[0] + 1] : undefined;
      if (after !== undefined && !/[\r\n\]}]/.test(after))
        padding[isMap(node) ? 'map' : 'seq'] ??= after === ' ' ? ' ' : '';
    },
  });
  visit(document, {
    Collection(_, node) {
      if (!node.flow) return;
      const flowCollectionPadding = padding[isMap(node) ? 'map' : 'seq'] ?? padding.map ?? padding.seq ?? '';
      const print = node.toString;
      node.toString = (context, ...more) => print.call(node, context && { ...context, flowCollectionPadding }, ...more);
    },
  });
}

/** What came from `kubectl -o json` goes on as JSON. */
function isJson(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}
