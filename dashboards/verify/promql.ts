/** What an expression asks for, by the grammar of Prometheus's own web interface: selectors, functions around them, syntax errors. */
import { parser } from '@prometheus-io/lezer-promql';

type Tree = ReturnType<typeof parser.parse>;
type Node = Tree['topNode'];

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
  /** Functions and aggregations around it, the nearest first. */
  readonly inside: readonly string[];
  /** `[5m]`, or null. */
  readonly range: string | null;
}

/** Grafana's variables are no PromQL. */
export const withoutVariables = (expr: string): string =>
  expr.replace(/\$__(?:rate_interval|interval|range)/g, '5m').replace(/\$\{?\w+\}?/g, 'x');

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (let child = node.firstChild; child !== null; child = child.nextSibling) walk(child, visit);
}

export function syntaxErrors(expr: string): readonly string[] {
  const text = withoutVariables(expr);
  const found: string[] = [];
  walk(parser.parse(text).topNode, ({ type, from, to }) => {
    if (type.isError) found.push(`at ${from}: ${text.slice(Math.max(0, from - 20), to + 20)}`);
  });
  return found;
}

const descend = (node: Node, name: string): Node | null => {
  let found: Node | null = null;
  walk(node, (each) => {
    if (found === null && each.type.name === name) found = each;
  });
  return found;
};

export function selectorsOf(expr: string): readonly Selector[] {
  const text = withoutVariables(expr);
  const textOf = (node: Node | null): string => (node === null ? '' : text.slice(node.from, node.to));
  const found: Selector[] = [];
  walk(parser.parse(text).topNode, (node) => {
    if (node.type.name !== 'VectorSelector') return;
    const matchers: { label: string; operator: string; value: string }[] = [];
    walk(node, (each) => {
      if (!/Matcher$/.test(each.type.name)) return;
      const label = textOf(each.getChild('LabelName') ?? each.getChild('QuotedLabelName'));
      if (label === '') return;
      matchers.push({
        label,
        operator: textOf(each.getChild('MatchOp')),
        value: textOf(each.getChild('StringLiteral')).slice(1, -1),
      });
    });
    const inside: string[] = [];
    let range: string | null = null;
    for (let parent = node.parent; parent !== null; parent = parent.parent) {
      if (parent.type.name === 'MatrixSelector') range = textOf(parent).slice(textOf(node).length);
      if (parent.type.name === 'FunctionCall') inside.push(textOf(descend(parent, 'FunctionIdentifier')));
      if (parent.type.name === 'AggregateExpr') inside.push(textOf(descend(parent, 'AggregateOp')));
    }
    found.push({ metric: textOf(node.getChild('Identifier')), matchers, inside, range });
  });
  return found;
}
