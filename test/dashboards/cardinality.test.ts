/** docs/sizing.md says how many series there are: it is what is measured. `UPDATE_GOLDENS=1` writes it anew. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { groupsOf } from '../../dashboards/rules/render.ts';
import { readSettings } from '../../dashboards/settings.ts';
import { cardinality } from '../../dashboards/verify/cardinality.ts';
import { ROOT } from '../support/cli.ts';

const FILE = join(ROOT, 'docs/sizing.md');

test('the published numbers of series are those that are measured', () => {
  const { own, quiet, servers, pod } = cardinality();
  const recorded = groupsOf(readSettings()).recording.flatMap(({ rules }) =>
    rules.flatMap(({ record }) => record ?? []),
  );
  const at = (level: string): number => recorded.filter((name) => name.startsWith(`${level}:`)).length;
  const rows = [
    `| a sidecar by itself, stores, sources and events included | ${own} |`,
    `| a server of which one clean call was seen | ${quiet} |`,
    `| a server of the incident, from the calmest to the busiest | ${servers[0]?.[1]} to ${servers.at(-1)?.[1]} |`,
    `| a pod with five servers | ${pod} |`,
    `| for each cluster, namespace and server | ${at('cluster_namespace_server')} |`,
    `| for each kind of payload of a server (arguments, result, message) | ${at('cluster_namespace_server_of')} |`,
    `| for each outcome of a server | ${at('cluster_namespace_server_outcome')} |`,
  ];
  const text = readFileSync(FILE, 'utf8');
  const start = (row: string): string => row.slice(0, row.lastIndexOf('| ') + 2);
  const wanted = text
    .split('\n')
    .map((line) => rows.find((row) => line.startsWith(start(row))) ?? line)
    .join('\n');
  if (process.env.UPDATE_GOLDENS === '1') writeFileSync(FILE, wanted);
  else assert.equal(text, wanted);
  for (const row of rows) assert.ok(wanted.includes(row), row);
  assert.equal(servers.length, 5);
});
