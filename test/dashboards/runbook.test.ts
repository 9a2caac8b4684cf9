/**
 * What somebody does with the runbook at night: queries that Prometheus takes, of metrics, labels and words that there are; commands that
 * the program has; causes with what tells them apart. That the queries find something is shown by verify.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { EXTERNAL } from '../../dashboards/queries.ts';
import { selectorsOf, syntaxErrors } from '../../dashboards/verify/promql.ts';
import { queriesOf, RUNBOOK, spansOf } from '../../dashboards/verify/runbook.ts';
import { CATALOG, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { type Ended, ensureBuilt, tailfin } from '../support/cli.ts';

const specs: readonly MetricSpec[] = Object.values(CATALOG);
/** Of the target, whatever the metric. */
const TARGET = ['job', 'cluster', 'namespace', 'pod', 'instance', 'le'];
const OVER_COUNTERS = ['rate', 'irate', 'increase'];

/** Faults of a value of a label, where the label has a closed list. */
const wordFaults = (spec: MetricSpec, label: string, value: string): readonly string[] => {
  const [, domain] = spec.labels.find(([name]) => name === label) ?? [];
  if (domain === undefined) return TARGET.includes(label) ? [] : [`${spec.name} has no label ${label}`];
  return typeof domain === 'string' || (domain as readonly string[]).includes(value)
    ? []
    : [`${label}="${value}" is no word of ${spec.name}`];
};

function queryFaults(expr: string): readonly string[] {
  const found = [...syntaxErrors(expr)];
  const selectors = selectorsOf(expr);
  if (selectors.length === 0) found.push('asks for nothing');
  for (const { metric, matchers, inside } of selectors) {
    const spec = specs.find(({ name }) => name === metric);
    if (spec === undefined) {
      if (metric !== '' && !(Object.values(EXTERNAL) as string[]).includes(metric)) found.push(`no metric ${metric}`);
      continue;
    }
    for (const { label, value } of matchers) found.push(...wordFaults(spec, label, value));
    const counts = inside.some((name) => name.startsWith('count'));
    if (spec.kind === 'counter' && !counts && !inside.some((name) => OVER_COUNTERS.includes(name)))
      found.push(`${metric}, a counter, as it stands`);
    if (spec.kind !== 'counter' && inside.some((name) => OVER_COUNTERS.includes(name)))
      found.push(`${metric} is no counter`);
    for (const [, labels = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of labels.split(', '))
        if (!TARGET.includes(label) && !spec.labels.some(([name]) => name === label))
          found.push(`${metric} has no label ${label}`);
  }
  return found;
}

const text = readFileSync(RUNBOOK, 'utf8');
const sections = text.split(/^## (?=Tailfin)/m).slice(1);

describe('the runbook', () => {
  for (const { section, expr } of queriesOf(text))
    test(`${section}: ${expr}`, () => assert.deepEqual(queryFaults(expr), []));

  test('words of labels beside the queries are words of that label', () => {
    for (const { section, expr } of spansOf(text)) {
      const [, label, value] = /^(\w+)="([^"]+)"$/.exec(expr) ?? [];
      if (label === undefined || value === undefined) continue;
      const having = specs.filter(({ labels }) => labels.some(([name]) => name === label));
      assert.ok(
        having.some((spec) => wordFaults(spec, label, value).length === 0),
        `${section}: ${expr}`,
      );
    }
  });

  test('every alert has at least one query, and every section its causes with the evidence', () => {
    for (const section of sections) {
      const [name = ''] = section.split('\n');
      const exact = queriesOf(section).length;
      // Of two alerts the queries are those of the section before, or Prometheus has nothing to ask for.
      assert.ok(exact > 0, `${name}: no query`);
      const [, causes = ''] = /\*\*Likely causes\.\*\*([\s\S]*?)\*\*Do\.\*\*/.exec(section) ?? [];
      const rows = causes.split('\n').filter((line) => /^\| (?!cause \|)/.test(line));
      assert.ok(rows.length >= 2, `${name}: ${rows.length} causes`);
      assert.match(causes, /^\| cause \| evidence \|$/m, name);
      for (const row of rows) assert.match(row, /^\| .{8,} \| .{8,} \|$/, name);
    }
  });

  test('commands and their options are those of the program', async () => {
    await ensureBuilt();
    const commands = spansOf(text).filter(({ expr }) => expr.startsWith('tailfin '));
    assert.ok(commands.length > 10);
    const helps = new Map<string, Promise<Ended>>();
    for (const { section, expr } of commands) {
      const [, ...words] = expr.split(' ');
      const names = words.slice(0, words[0] === 'config' ? 2 : 1);
      const help = helps.get(names.join(' ')) ?? tailfin([...names, '--help']);
      helps.set(names.join(' '), help);
      const { stdout } = await help;
      assert.ok(stdout.startsWith(`Usage: tailfin ${names.join(' ')} `), `${section}: ${expr}`);
      for (const option of words.filter((word) => word.startsWith('--')))
        assert.ok(stdout.includes(option), `${section}: ${expr}`);
    }
    assert.doesNotMatch((await tailfin(['explane', '--help'])).stdout, /^Usage: tailfin explane/);
  });

  test('faults are found', () => {
    for (const [expr, says] of [
      ['sum by (server) (increase(tailfin_stream_close_total{server="NAME"}[1h]))', /no metric/],
      ['increase(tailfin_findings_total{rule="list_drifts"}[1h])', /no word/],
      ['sum by (hint) (increase(tailfin_retries_total{server="NAME"}[1h]))', /no label hint/],
      ['tailfin_retries_total{server="NAME"}', /as it stands/],
      ['increase(tailfin_source_up{pod="POD"}[5m])', /no counter/],
      ['sum by (server (tailfin_streams_open)', /at \d+/],
    ] as const)
      assert.ok(
        queryFaults(expr).some((fault) => says.test(fault)),
        `${expr}: ${queryFaults(expr)}`,
      );
  });
});
