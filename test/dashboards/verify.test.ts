/**
 * The boards and rules in a real Prometheus that holds the story (dashboards/verify): everything holds, the headlines say what happened,
 * and faults that are put into the boards are found.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BoardJson, panelsOf, readBoards } from '../../dashboards/verify/read-boards.ts';
import { runbookQueries } from '../../dashboards/verify/runbook.ts';
import { prepare, SCRAPES, verify } from '../../dashboards/verify/verify.ts';
import { tempFolder } from '../support/cli.ts';
import { prometheusVersion } from '../support/prometheus.ts';

/** What is put in the place of an expression, and what must be said of it. */
const FAULTS: readonly (readonly [what: string, expr: string, legend: string, says: RegExp])[] = [
  ['a metric that nobody has', 'sum(rate(tailfin_stream_close_total[5m]))', 'x', /empty result/],
  ['a label value that nobody has', 'sum(rate(tailfin_stream_closes_total{outcome="odd"}[5m]))', 'x', /empty result/],
  ['a quantile without le', 'histogram_quantile(0.9, sum(rate(tailfin_stream_bytes_bucket[5m])))', 'x', /empty result/],
  ['0 / 0', '0 * sum(up) / (0 * sum(up))', 'x', /NaN only/],
  ['1 / 0', 'sum(up) / (0 * sum(up))', 'x', /infinite/],
  ['nothing but 0', 'sum(0 * up)', 'x', /0 only/],
  ['a syntax error', 'sum(rate(', 'x', /parse error/],
  ['a variable that is not there', 'sum(up{pod="$pods"})', 'x', /unknown variable/],
  ['a label that is summed away', 'sum by (server) (rate(tailfin_stream_closes_total[5m]))', '{{pod}}', /label pod/],
  [
    'rate() of a gauge',
    'sum(rate(tailfin_source_lag_bytes[5m]))',
    'x',
    /rate\(\) of tailfin_source_lag_bytes, a gauge/,
  ],
  ['a counter as it stands', 'sum(tailfin_stream_closes_total)', 'x', /a counter, as it stands/],
  ['le as an integer', 'sum(rate(tailfin_stream_bytes_bucket{le="1024"}[5m]))', 'x', /le="1024"/],
];

/** The first board with one panel for each fault. */
function spoilt(): BoardJson {
  const [board] = readBoards() as [BoardJson];
  const [panel] = panelsOf(board);
  assert.ok(panel);
  const panels = FAULTS.map(([title, expr, legendFormat]) => ({
    ...panel,
    title,
    targets: [{ refId: 'A', expr, legendFormat, range: true }],
  }));
  return { ...board, panels, annotations: { list: [] } };
}

test('every query of every board and rule, and what the story must show', { timeout: 600_000 }, async (t) => {
  if (prometheusVersion() === undefined) return t.skip('skipped: needs prometheus');
  const prepared = await prepare(tempFolder(t));
  const report = await verify(prepared);
  assert.deepEqual(report.failures, []);
  const boards = readBoards();
  const targets = (board: BoardJson): number => panelsOf(board).reduce((n, { targets = [] }) => n + targets.length, 0);
  for (const board of boards) assert.equal(report.passed[board.uid], (SCRAPES.length + 1) * targets(board), board.uid);
  assert.ok((report.passed.headlines ?? 0) >= 24);
  assert.equal(report.passed.runbook, SCRAPES.length * runbookQueries().length);

  const found = (await verify(prepared, { boards: [spoilt()], scrapes: [60] })).failures;
  for (const [what, , , says] of FAULTS) {
    const own = found.filter((line) => line.includes(` / ${what} A`));
    assert.ok(own.length > 0, `${what} is not found`);
    for (const line of own) assert.match(line, says);
  }
});
