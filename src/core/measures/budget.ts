/** Budgets of label values that come from outside: the first N keep their name, the rest is `_other`, counted. */
import { LIMITS } from '../model/limits.ts';
import { keepMap, type Parts } from '../state.ts';
import type { Cells } from './cells.ts';
import { OTHER } from './domains.ts';

/** Half a character is no UTF-8: all of them would look the same in an exposition, and series would come twice. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

export interface LabelBudget {
  server(name: string): string;
  /** The same without counting anything. */
  peek(name: string): string;
  endpoint(server: string, name: string | null): string;
}

export function createLabelBudget(cells: Cells, parts: Parts): LabelBudget {
  const servers = keepMap<string, Set<string>>(parts, 'labels');
  return {
    server(name) {
      if (servers.has(name)) return name;
      if (name.search(LONE_SURROGATE) !== -1) return this.server(name.replace(LONE_SURROGATE, '\ufffd'));
      // `_other` is one of the values.
      if (servers.size < LIMITS.servers - 1) {
        servers.set(name, new Set());
        return name;
      }
      cells.add('label_overflow', 1, ['server']);
      return OTHER;
    },
    peek: (name) => (servers.has(name) || servers.size < LIMITS.servers - 1 ? name : OTHER),
    endpoint(server, name) {
      if (name === null) return 'unknown';
      const endpoints = servers.get(server);
      // Servers past the budget share one set of endpoints of one: their endpoints say nothing any more.
      if (endpoints?.has(name)) return name;
      if (name.search(LONE_SURROGATE) !== -1) return this.endpoint(server, name.replace(LONE_SURROGATE, '\ufffd'));
      if (endpoints !== undefined && endpoints.size < LIMITS.endpointsPerServer - 1) {
        endpoints.add(name);
        return name;
      }
      cells.add('label_overflow', 1, ['endpoint']);
      return OTHER;
    },
  };
}
