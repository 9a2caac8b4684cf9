/**
 * `npm run bench:sizing [-- --seconds 30]`: what a sidecar needs beside a host of a given traffic, under the heap limit of the injected
 * pod and with its checkpoint. Prints the table of docs/sizing.md. Run it on the Node of the image (deploy/Dockerfile), on an otherwise idle machine.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cpuSecondsOf, rssMibOf, withFolder, withSidecar } from './measure.mjs';
import { writePaced } from './paced.mjs';

const MAIN = process.env.BENCH_MAIN ?? fileURLToPath(new URL('../dist/main.js', import.meta.url));
/** HEAP_MIB of src/k8s/constants.ts: a test compares them. */
export const HEAP_MIB = 160;
const RATES = [0, 10, 100, 500, 1000];
const SCRAPE_MS = 5000;
const LOOK_MS = 200;

/** With a checkpoint, as in the pod: it is written before each scrape is answered. */
const measure = (rate, seconds) =>
  withFolder((state) => withSidecar(MAIN, (sidecar) => watch(sidecar, rate, seconds), ['--state-dir', state]));

async function watch({ pid, url, folder }, rate, seconds) {
  const before = cpuSecondsOf(pid);
  const started = performance.now();
  let peak = 0;
  let done = false;
  const writing = (rate === 0 ? sleep(seconds * 1000) : writePaced({ folder, rate, seconds })).finally(() => {
    done = true;
  });
  for (let nextScrape = 0; !done; await sleep(LOOK_MS)) {
    peak = Math.max(peak, rssMibOf(pid));
    if (performance.now() - started < nextScrape) continue;
    await (await fetch(url)).text();
    nextScrape += SCRAPE_MS;
  }
  await writing;
  const lasted = (performance.now() - started) / 1000;
  return { millicores: Math.round(((cpuSecondsOf(pid) - before) / lasted) * 1000), peak: Math.round(peak) };
}

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });
process.env.NODE_OPTIONS = `--max-old-space-size=${HEAP_MIB}`;
console.log(
  `Node ${process.version}, ${values.seconds} s each, a scrape every ${SCRAPE_MS / 1000} s, heap limit ${HEAP_MIB} MiB\n`,
);
console.log('| exchanges/s | CPU, of one core | peak memory (RSS) |\n|---|---|---|');
for (const rate of RATES) {
  const { millicores, peak } = await measure(rate, Number(values.seconds));
  console.log(`| ${rate} | ${millicores} m | ${peak} MiB |`);
}
