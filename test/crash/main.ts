/** `npm run crashtest`: kills the sidecar so many times and says by how much two scrapers are wrong. Exit 1 unless it is 0. */
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../support/cli.ts';
import { SEED } from '../support/property.ts';
import { crashRun } from './crash-run.ts';

const { values } = parseArgs({ options: { kills: { type: 'string' }, nightly: { type: 'boolean' } } });
const kills = Number(values.kills ?? (values.nightly ? 200 : 20));
await ensureBuilt();
const report = await crashRun({ kills, seed: SEED, say: (line) => console.log(line) });
console.log(`${report.kills} kills, ${report.lines} lines, ${report.rotations} rotations`);
for (const { everyMs, answers, refusals, resets, errors } of report.scrapers) {
  console.log(`scraper every ${everyMs} ms: ${answers} answers, ${refusals} refusals, ${resets} resets`);
  for (const [family, error] of Object.entries(errors)) console.log(`  ${family}: error ${error}`);
}
const isExact = report.scrapers.every(
  ({ resets, errors }) => resets === 0 && Object.values(errors).every((e) => e === 0),
);
process.exitCode = isExact && report.lines > 0 ? 0 : 1;
