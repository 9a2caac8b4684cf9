/**
 * What OpenTelemetry costs an idle sidecar: resident memory and the CPU of a start, without it and with it, in turns in one run.
 * `node bench/otel.mjs [--runs 5] [--base OTHER/dist/main.js]`: with --base another build as well, to compare with it switched off.
 * Exit 1 when it is over 80 MiB with it, or more than a tenth over the base without it.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, rssMibOf, withSidecar } from './measure.mjs';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const GOAL_MIB = 80;
const NOISE = 1.1;
/** Past the start's garbage, and several exports. */
const SETTLE_MS = 15_000;

const { values } = parseArgs({ options: { runs: { type: 'string', default: '5' }, base: { type: 'string' } } });
let requests = 0;
const backend = createServer((request, response) => {
  requests++;
  request.resume().on('end', () => response.end());
}).listen(0, '127.0.0.1');
await new Promise((resolve) => backend.once('listening', resolve));
const exporting = [
  '--otel-endpoint',
  `http://127.0.0.1:${backend.address().port}`,
  '--otel-metrics-interval-ms',
  '1000',
];

const kinds = { ...(values.base && { base: [values.base, []] }), off: [MAIN, []], on: [MAIN, exporting] };
const found = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, { rss: [], cpu: [] }]));
for (let run = 0; run < Number(values.runs); run++)
  for (const [kind, [main, more]] of Object.entries(kinds))
    await withSidecar(
      main,
      async ({ pid, url, startCpuSeconds }) => {
        await sleep(SETTLE_MS);
        await (await fetch(url)).text();
        found[kind].rss.push(rssMibOf(pid));
        found[kind].cpu.push(startCpuSeconds * 1000);
      },
      more,
    );
backend.close();

const of = (kind) => ({ rss: median(found[kind].rss), cpu: median(found[kind].cpu) });
for (const kind of Object.keys(kinds)) {
  const { rss, cpu } = of(kind);
  console.log(`${kind.padEnd(4)} ${rss.toFixed(1)} MiB idle, ${cpu.toFixed(0)} ms of CPU until the first answer`);
}
if (requests === 0) throw new Error('nothing was exported');
const faults = [];
const ratio = (a, b, what) => (of(a)[what] / of(b)[what]).toFixed(3);
console.log(`on/off: memory ${ratio('on', 'off', 'rss')}, start ${ratio('on', 'off', 'cpu')}`);
if (of('on').rss > GOAL_MIB) faults.push(`over ${GOAL_MIB} MiB with OpenTelemetry`);
if (values.base) {
  console.log(`off/base: memory ${ratio('off', 'base', 'rss')}, start ${ratio('off', 'base', 'cpu')}`);
  for (const what of ['rss', 'cpu'])
    if (ratio('off', 'base', what) > NOISE) faults.push(`${what} without it is over the base`);
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
