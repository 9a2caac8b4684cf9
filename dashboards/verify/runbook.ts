/** The queries of docs/runbook.md, as somebody who is paged would paste them. It reads them; what must hold of them is said by who calls. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const RUNBOOK = fileURLToPath(new URL('../../docs/runbook.md', import.meta.url));

export interface RunbookQuery {
  readonly section: string;
  readonly expr: string;
}

/** What stands in backticks, by section. */
export const spansOf = (text: string): readonly RunbookQuery[] =>
  text.split(/^## /m).flatMap((section) =>
    [...section.matchAll(/`([^`\n]+)`/g)].map(([, expr]) => ({
      section: section.split('\n')[0] as string,
      expr: expr as string,
    })),
  );

const isQuery = (span: string): boolean => /\{\w+=|\bby \(|^\w+\(/.test(span);
export const queriesOf = (text: string): readonly RunbookQuery[] => spansOf(text).filter(({ expr }) => isQuery(expr));
export const runbookQueries = (): readonly RunbookQuery[] => queriesOf(readFileSync(RUNBOOK, 'utf8'));

/** With a server and a pod in the places of NAME and POD. */
export const filledIn = (expr: string, server: string, pod: string): string =>
  expr.replaceAll('"NAME"', `"${server}"`).replaceAll('"POD"', `"${pod}"`);
