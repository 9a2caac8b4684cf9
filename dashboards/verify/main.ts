/** `npm run verify:dashboards [-- --prometheus BINARY]`: prints what holds, and every query that does not. Exits 1 on a failure, 2 without its tools. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prometheusVersion } from '../../test/support/prometheus.ts';
import { BEGIN, unixSeconds } from './story.ts';
import { prepare, verify } from './verify.ts';

const { values } = parseArgs({ options: { prometheus: { type: 'string', default: 'prometheus' } } });
const missing = [values.prometheus, 'promtool'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
if (missing.length > 0) {
  console.error(`needs ${missing.join(' and ')} (Debian: apt-get install prometheus)`);
  process.exit(2);
}
const started = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'tailfin-dashboards-'));
try {
  const binary = values.prometheus;
  const prepared = await prepare(folder, binary);
  console.log('the story is in two folders of blocks');
  const report = await verify(prepared, { binary, log: (line) => console.log(line) });
  const minute = (at: number): number => Math.round((at - unixSeconds(BEGIN)) / 60);
  console.log('\nalerts in the story (minutes after its begin; the incident lasts from 40 to 80)');
  for (const { alert, labels, times } of report.firings)
    console.log(
      `  ${String(minute(times[0] as number)).padStart(3)} to ${String(minute(times.at(-1) as number)).padStart(3)}  ${alert} ${labels.server ?? labels.pod ?? ''}`,
    );
  console.log(
    `\nPrometheus ${prometheusVersion(values.prometheus)}: queries that hold, at scrape intervals of 15 s and 60 s, variables at all and chosen`,
  );
  for (const [kind, count] of Object.entries(report.passed))
    console.log(`  ${kind.padEnd(20)} ${String(count).padStart(5)}`);
  for (const failure of report.failures) console.error(`FAILED ${failure}`);
  const total = Object.values(report.passed).reduce((a, b) => a + b, 0);
  console.log(
    `${total} passed, ${report.failures.length} failed in ${Math.round((performance.now() - started) / 1000)} s`,
  );
  process.exitCode = report.failures.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
