/**
 * `npm run lab`: runs the fault lab and prints it row by row and client by client. Exit code 1 on any difference, 2 on bad usage.
 * It decides nothing: lab.ts does.
 */
import { commandLine, failUsage } from '../support/command-line.ts';
import { CLIENTS, type ClientName } from './clients.ts';
import { type LabResult, runLab } from './lab.ts';
import { ROWS } from './rows.ts';

const HELP = `usage: npm run lab [-- OPTIONS]
Drives real MCP clients through every fault of test/lab-expected.tsv, with and without the tap.

  --row ROW        only this row (again for more): ${ROWS.map(({ id }) => id).join(' ')}
  --client CLIENT  only this client (again for more): ${CLIENTS.map(({ name }) => name).join(' ')}
  --no-compare     leave out the run without the tap
  --modules KIND   how hosts load their SDK: cjs (default) or esm
  --verbose        all that the host saw of each row, and the requests that the server got
  --keep DIR       leave the recorded segments there
  --help

TAILFIN_TEST_NODE=/path/to/node runs the hosts and the replay on another Node.
Example: npm run lab -- --row h --row i --client S1`;

const values = commandLine(HELP, {
  row: { type: 'string', multiple: true },
  client: { type: 'string', multiple: true },
  'no-compare': { type: 'boolean' },
  modules: { type: 'string', default: 'cjs' },
  verbose: { type: 'boolean', default: false },
  keep: { type: 'string' },
  help: { type: 'boolean' },
});
for (const row of values.row ?? [])
  if (!ROWS.some(({ id }) => id === row)) failUsage(HELP, `--row ${row}: no such row`);
for (const client of values.client ?? [])
  if (!CLIENTS.some(({ name }) => name === client)) failUsage(HELP, `--client ${client}: no such client`);
if (values.modules !== 'cjs' && values.modules !== 'esm') failUsage(HELP, `--modules ${values.modules}: cjs or esm`);

const line = (...cells: readonly string[]): string =>
  [10, 8, 48, 46, 60]
    .map((width, i) => (cells[i] ?? '').padEnd(width))
    .join(' ')
    .concat(cells[5] ?? '')
    .trimEnd();

function show({ row, client, not, verdicts, findings, host, details, problems }: LabResult): void {
  if (not !== null) {
    console.log(line(row, client, `not run: ${not}`));
    return;
  }
  console.log(line(row, client, verdicts, findings.join(' '), host, problems.length === 0 ? 'ok' : 'DIFFERS'));
  if (values.verbose) for (const detail of details) console.log(`    ${detail}`);
  for (const problem of problems) console.log(`    ${problem}`);
}

const started = performance.now();
const node = process.env.TAILFIN_TEST_NODE ?? process.execPath;
const results = await runLab({
  node,
  modules: values.modules,
  compare: !values['no-compare'],
  ...(values.row && { rows: values.row }),
  ...(values.client && { clients: values.client as ClientName[] }),
  ...(values.keep && { keep: values.keep }),
});
console.log(line('row', 'client', 'verdict, cause, cut, stage', 'findings', 'the host saw'));
for (const result of results) show(result);
const run = results.filter(({ not }) => not === null);
const wrong = run.filter(({ problems }) => problems.length > 0);
console.log(
  `\n${run.length - wrong.length} of ${run.length} as the table says, ${results.length - run.length} not run, ` +
    `${((performance.now() - started) / 1000).toFixed(0)} s`,
);
process.exitCode = wrong.length === 0 && run.length > 0 ? 0 : 1;
