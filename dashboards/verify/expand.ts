/** Variables of a board as Grafana would fill them in: first from Prometheus, then in a query. */

import type { Prometheus } from '../../test/support/prometheus.ts';
import type { BoardJson, VariableJson } from './read-boards.ts';

/** A window of time, and how the data source says it is scraped. */
export interface View {
  readonly from: number;
  readonly to: number;
  readonly scrape: number;
}
export type Filled = Readonly<Record<string, string>>;

const MAX_POINTS = 600;
/** Between two points of a graph, in seconds: never less than a scrape. */
export const stepOf = ({ from, to, scrape }: View): number =>
  Math.max(scrape, Math.ceil((to - from) / MAX_POINTS / scrape) * scrape);

export function expand(expr: string, filled: Filled, view: View): string {
  const step = stepOf(view);
  const known: Filled = {
    ...filled,
    __rate_interval: `${Math.max(step + view.scrape, 4 * view.scrape)}s`,
    __interval: `${step}s`,
    __range: `${view.to - view.from}s`,
  };
  const done = expr.replace(/\$\{?(\w+)\}?/g, (all, name: string) => known[name] ?? all);
  const left = /\$\{?\w+\}?/.exec(done);
  if (left !== null) throw new Error(`unknown variable ${left[0]}`);
  return done;
}

const LABEL_VALUES = /^label_values\((.+), (\w+)\)$/s;
const queryOf = ({ query }: VariableJson): string => (typeof query === 'string' ? query : query.query);

/** `all`: as the board opens. `each`: every value that there is, chosen one by one. */
export async function fillVariables(
  board: BoardJson,
  prometheus: Prometheus,
  view: View,
  mode: 'all' | 'each',
): Promise<Filled> {
  const filled: Record<string, string> = {};
  for (const variable of board.templating.list) {
    if (variable.type !== 'query') continue;
    const [, series, label] = LABEL_VALUES.exec(queryOf(variable)) ?? [];
    if (series === undefined || label === undefined)
      throw new Error(`${variable.name}: not understood: ${queryOf(variable)}`);
    const values = await prometheus.get<readonly string[]>(`label/${label}/values`, {
      'match[]': expand(series, filled, view),
      start: String(view.from),
      end: String(view.to),
    });
    const { name, allValue = '.*' } = variable;
    filled[name] = mode === 'all' || values.length === 0 ? allValue : `(${values.map(escaped).join('|')})`;
  }
  return filled;
}
const escaped = (value: string): string => value.replace(/[\\.+*?()|[\]{}^$]/g, '\\\\$&');
