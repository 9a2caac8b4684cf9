/** `npm run crashtest`: kills the sidecar so many times and says by how much those who scraped it are wrong. Exit 1 unless it is 0. */
import { ensureBuilt } from '../support/cli.ts';
import { commandLine, failUsage } from '../support/command-line.ts';
import { PROMETHEUS, prometheusVersion } from '../support/prometheus.ts';
import { SEED } from '../support/property.ts';
import { crashRun } from './crash-run.ts';

const HELP = `usage: npm run crashtest [-- OPTIONS]
Kills \`tailfin run\` under load (SIGKILL), again and again, and adds up what those saw who scraped it. Exit 1 unless all come to
exactly what was written and no counter ever went back; 2 on bad usage or without Prometheus where it is asked for.

  --kills N     so many kills (20)
  --nightly     200 kills
  --prometheus  beside the two scrapers a real Prometheus scrapes each second; its account is of the samples that it stored
  --help

Environment: TAILFIN_PROMETHEUS=/path/to/prometheus takes another one than that of PATH; TEST_SEED=N is another course of lines and kills;
TAILFIN_TEST_MAIN=/path/to/main.js kills another build.

Examples:
  npm run crashtest
  npm run crashtest -- --kills 200 --prometheus
  TEST_SEED=7 TAILFIN_PROMETHEUS=/opt/prometheus-3/prometheus npm run crashtest -- --kills 30 --prometheus`;

const values = commandLine(HELP, {
  kills: { type: 'string' },
  nightly: { type: 'boolean' },
  prometheus: { type: 'boolean' },
  help: { type: 'boolean' },
});
const kills = Number(values.kills ?? (values.nightly ? 200 : 20));
if (!Number.isInteger(kills) || kills < 1) failUsage(HELP, `--kills ${values.kills}: not a number of kills`);
if (values.prometheus && prometheusVersion() === undefined) {
  console.error(`needs ${PROMETHEUS} (Debian: apt-get install prometheus)`);
  process.exit(2);
}
await ensureBuilt();
const { lines, rotations, scrapers, stored } = await crashRun({
  ...{ kills, seed: SEED, say: (line: string) => console.log(line) },
  prometheus: values.prometheus ? PROMETHEUS : undefined,
});
console.log(`${kills} kills, ${lines} lines, ${rotations} rotations, seed ${SEED}`);
for (const { everyMs, answers, refusals, rises, resets, lateDebuts, errors } of scrapers) {
  console.log(
    `scraper every ${everyMs} ms: ${answers} answers, ${refusals} refusals, ${rises} rises before the last kill, ${resets} resets, ${lateDebuts} late debuts`,
  );
  for (const [family, error] of Object.entries(errors)) console.log(`  ${family}: error ${error}`);
}
if (stored !== undefined) {
  const { version, answers, failures, longestGapSeconds, series, samples, rises, resets, lateDebuts, errors } = stored;
  console.log(
    `Prometheus ${version} every 1000 ms: ${answers} answers, ${failures} failed scrapes, ${rises} rises before the last kill, ${resets} resets, ${lateDebuts} late debuts`,
  );
  console.log(
    `  stored: ${samples} samples of ${series} series; at most ${longestGapSeconds.toFixed(1)} s between two answers`,
  );
  for (const [family, error] of Object.entries(errors)) console.log(`  ${family}: error ${error}`);
}
const isExact = [...scrapers, ...(stored === undefined ? [] : [stored])].every(
  ({ resets, rises, errors }) => resets === 0 && rises > 0 && Object.values(errors).every((error) => error === 0),
);
process.exitCode = isExact && lines > 0 ? 0 : 1;
