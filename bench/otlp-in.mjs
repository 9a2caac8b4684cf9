/**
 * What spans by OTLP cost: CPU of the whole sidecar process for JSON and for protobuf, against bare JSON.parse of the same JSON bodies
 * in the same run, and whether the totals are the generator's. `npm run bench:otlp-in -- [SPANS]` prints it as JSON.
 *
 * One sender, 512 spans a batch as SDKs send them, one batch after the other, on one core's worth of work. Event time runs at 500 spans/s
 * and ends long enough ago for every window to close as soon as the sidecar has been idle for 10 s.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuSecondsOf, rssMibOf, runMeasured, withFolder, withSidecar } from './measure.mjs';
import { BATCH, createSpans, toJson, toProtobuf } from './otlp-spans.mjs';
import { createSender } from './post.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const RATE = 500;
const QUIET_MS = 11 * 60_000;
const CLOSED_WITHIN_MS = 60_000;
const TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' };

const resultsIn = (text) => {
  const found = {};
  for (const [, result, value] of text.matchAll(/^tailfin_operations_total\{[^}]*result="(\w+)"[^}]*\} (\d+)$/gm))
    if (value !== '0') found[result] = (found[result] ?? 0) + Number(value);
  return found;
};

async function measure(main, codec, bodies, tally, count) {
  const use = async ({ pid, url, localUrl }) => {
    const sender = createSender(`${localUrl}v1/traces`);
    const before = cpuSecondsOf(pid);
    const started = performance.now();
    for (const body of bodies) {
      const { status, body: answer } = await sender.post(body, { 'content-type': TYPES[codec] });
      if (status !== 200 || (answer !== '' && answer !== '{}')) throw new Error(`${status} ${answer}`);
    }
    const wallSeconds = (performance.now() - started) / 1000;
    const cpuSeconds = cpuSecondsOf(pid) - before;
    const rssMib = rssMibOf(pid);
    sender.close();
    let found = {};
    for (const end = Date.now() + CLOSED_WITHIN_MS; Date.now() < end; await sleep(500)) {
      found = resultsIn(await (await fetch(url)).text());
      if (Object.entries(tally).every(([result, n]) => found[result] === n)) break;
    }
    const differences = Object.entries(tally).filter(([result, n]) => found[result] !== n);
    return { cpuSeconds, wallSeconds, spansPerCpuSecond: Math.round(count / cpuSeconds), rssMib, differences };
  };
  return withSidecar(main, use, ['--ingest-otlp']);
}

const count = Number(process.argv[2] ?? 200_000);
const main = process.env.BENCH_MAIN ?? here('../dist/main.js');
const startTs = Date.now() - QUIET_MS - Math.ceil((count / RATE) * 1000);
const { spans, tally } = createSpans({ count, seed: 5, startTs, rate: RATE });
const batches = Array.from({ length: Math.ceil(count / BATCH) }, (_, i) => spans.slice(i * BATCH, (i + 1) * BATCH));
const bodies = { json: batches.map(toJson), protobuf: batches.map(toProtobuf) };
const bare = await withFolder((folder) => {
  const file = join(folder, 'bodies.ndjson');
  for (const body of bodies.json) appendFileSync(file, Buffer.concat([body, Buffer.from('\n')]));
  return runMeasured([here('bare-bodies.mjs'), file]);
});
const bytesPerSpan = (all) => Math.round(all.reduce((sum, { length }) => sum + length, 0) / count);
const results = { spans: count, bareCpuSeconds: bare.cpuSeconds };
for (const codec of ['json', 'protobuf']) {
  const run = await measure(main, codec, bodies[codec], tally, count);
  results[codec] = { bytesPerSpan: bytesPerSpan(bodies[codec]), ...run, ratio: bare.cpuSeconds / run.cpuSeconds };
}
console.log(JSON.stringify(results, null, 2));
