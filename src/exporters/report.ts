/** `replay --format text`: the apparent error rate beside what it hides, per server, and the worst operations as stories. */

import { correlation } from '../core/detectors/trend-window.ts';
import type { MetricKey } from '../core/measures/catalog.ts';
import type { Cells } from '../core/measures/cells.ts';
import { SIZE_CLASSES, sizeClass } from '../core/measures/domains.ts';
import type { Fact, TrendFact } from '../core/model/facts.ts';
import type { OperationFact } from '../core/model/operation.ts';
import { percent, plain, plural } from './plain.ts';
import { tellStory } from './story.ts';
import { table } from './table.ts';
import { createWorstOperations } from './worst-operations.ts';

const MAX_STORIES = 5;
/** Servers listed one by one; the rest is summed up in one row. */
const MAX_SERVERS = 20;
const BAR = 30;

interface ServerTally {
  operations: number;
  surfaced: number;
  hidden: number;
  rotated: number;
  uncertain: number;
  streams: number;
  ambiguous: number;
  parsed: number;
  unparsed: number;
}
const emptyTally = (): ServerTally => ({
  operations: 0,
  surfaced: 0,
  hidden: 0,
  rotated: 0,
  uncertain: 0,
  streams: 0,
  ambiguous: 0,
  parsed: 0,
  unparsed: 0,
});

export interface Report {
  add(fact: Fact): void;
  render(cells: Cells): string;
}

export function createReport(): Report {
  const servers = new Map<string, ServerTally>();
  const sizes = new Map<string, { ok: number; failed: number }>();
  const worst = createWorstOperations();
  const trend = { n: 0, failed: 0, x: 0, xx: 0, xFailed: 0, unknown: 0 };
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;

  const of = (server: string): ServerTally => {
    const known = servers.get(server);
    if (known !== undefined) return known;
    const tally = emptyTally();
    servers.set(server, tally);
    return tally;
  };
  const seen = (ts: number): void => {
    first = Math.min(first, ts);
    last = Math.max(last, ts);
  };

  const addOperation = (fact: OperationFact): void => {
    const tally = of(fact.operation.server);
    tally.operations++;
    if (fact.result === 'surfaced') tally.surfaced++;
    if (fact.result.startsWith('masked') || fact.result === 'unproven') tally.hidden++;
    if (fact.result === 'masked_rotated') tally.rotated++;
    if (fact.nextAction === 'confirm_outcome') tally.uncertain++;
    worst.add(fact);
  };

  const serverTable = (): string => {
    const named = [...servers].sort(
      ([, a], [, b]) => b.surfaced + b.hidden + b.ambiguous - (a.surfaced + a.hidden + a.ambiguous),
    );
    const rest = named.splice(MAX_SERVERS);
    if (rest.length > 0) named.push([`${rest.length} more`, sum(rest.map(([, tally]) => tally))]);
    const head = ['server', 'operations', 'says', 'hides', 'rotated', 'uncertain writes', 'ambiguous', 'bad parses'];
    return table(
      head,
      named.map(([name, t]) => [
        plain(name),
        String(t.operations),
        percent(t.surfaced, t.operations),
        percent(t.hidden, t.operations),
        String(t.rotated),
        String(t.uncertain),
        `${t.ambiguous} of ${t.streams}`,
        `${t.unparsed} of ${t.parsed}`,
      ]),
    );
  };

  const sizeTable = (): string => {
    const rows = SIZE_CLASSES.flatMap((name) => {
      const tally = sizes.get(name);
      if (tally === undefined) return [];
      const share = tally.failed / (tally.ok + tally.failed);
      return [
        [
          name,
          String(tally.ok + tally.failed),
          String(tally.failed),
          percent(share, 1),
          '#'.repeat(Math.ceil(BAR * share)),
        ],
      ];
    });
    if (rows.every((row) => row[2] === '0')) return '';
    const { r, z } = correlation(trend);
    const grows =
      z > 4 && r > 0.1 ? 'failures grow with length: truncation that looks like bad JSON' : 'no growth with length';
    const unknown =
      trend.unknown > 0 ? `  ${trend.unknown} failures of unknown full length are not in this table\n` : '';
    return `\nParse failures by full length of the payload\n${table(['size', 'parsed', 'failed', 'share', ''], rows)}${unknown}  r = ${r.toFixed(2)}, z = ${z.toFixed(1)}: ${grows}\n`;
  };

  const addTrend = ({ failed, length }: TrendFact): void => {
    if (length === null) {
      trend.unknown++;
      return;
    }
    const name = sizeClass(length);
    const tally = sizes.get(name) ?? { ok: 0, failed: 0 };
    sizes.set(name, tally);
    const x = Math.log2(Math.max(1, length));
    trend.n++;
    trend.x += x;
    trend.xx += x * x;
    if (failed) {
      tally.failed++;
      trend.failed++;
      trend.xFailed += x;
    } else tally.ok++;
  };

  return {
    add(fact) {
      switch (fact.is) {
        case 'verdict':
          seen(fact.exchange.closeTs);
          if (fact.kind !== 'response' || !fact.verdict?.head) break;
          of(fact.exchange.server).streams++;
          if (fact.verdict.outcome === 'ambiguous') of(fact.exchange.server).ambiguous++;
          break;
        case 'operation':
          addOperation(fact);
          break;
        case 'parse': {
          seen(fact.ts);
          of(fact.server).parsed++;
          if (fact.result !== 'ok') of(fact.server).unparsed++;
          break;
        }
        case 'trend':
          addTrend(fact);
          break;
      }
    },

    render(cells) {
      const all = sum([...servers.values()]);
      const total = (key: MetricKey): number => {
        for (const family of cells.families())
          if (family.key === key) return family.cells.reduce((n, c) => n + c.value, 0);
        return 0;
      };
      const span = last >= first ? `, ${new Date(first).toISOString()} to ${new Date(last).toISOString()}` : '';
      let text = `${plural(total('events'), 'event')}, ${plural(servers.size, 'server')}${span}\n`;
      text += troubles(total('events_rejected'), total('events_missing'));
      if (servers.size === 0) return `${text}\nNothing to report: no exchange in this input.\n`;
      text += `\nYour error rate says ${percent(all.surfaced, all.operations)}: ${all.surfaced} of ${all.operations} operations failed where their caller could see it.\n`;
      text += `It hides ${percent(all.hidden, all.operations)}: ${all.hidden} operations failed at least once and were retried in silence or taken for success.\n`;
      text += `Ambiguous closes: ${all.ambiguous} of ${all.streams} response streams ended with no proof that they were complete.\n`;
      text += `Uncertain writes: ${all.uncertain} operations may have run, or run twice, and nothing tells.\n\n`;
      text += serverTable();
      text += sizeTable();
      const shown = worst.list().slice(0, MAX_STORIES);
      if (shown.length > 0) text += '\nWorst operations\n';
      for (const [i, { fact, count }] of shown.entries())
        text += `\n${tellStory(fact, `${i + 1}) ${count > 1 ? `${count} times: ` : ''}`)}`;
      return text;
    },
  };
}

function sum(tallies: readonly ServerTally[]): ServerTally {
  const total = emptyTally();
  for (const tally of tallies) for (const key of Object.keys(total) as (keyof ServerTally)[]) total[key] += tally[key];
  return total;
}

/** What makes the numbers short of the truth is said before they are. */
function troubles(rejected: number, missing: number): string {
  const lines = [
    ...(rejected > 0
      ? [`${rejected} lines were not accepted (reasons: --format prom, tailfin_events_rejected_total)`]
      : []),
    ...(missing > 0
      ? [`${missing} events were written and never arrived: the numbers below are short of the truth`]
      : []),
  ];
  return lines.map((line) => `warning: ${line}\n`).join('');
}
