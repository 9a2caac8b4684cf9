/**
 * The soak: `node test/soak.mjs [SECONDS]` (300 by default, outside of `npm test`). Files and HTTP together into one sidecar, both at
 * RATE exchanges/s with four writers each; one batch in ten is posted again. In the end every total must be the generators', the
 * memory of the last minute that of the first, and no stretch between two scrapes may have an event loop p99 of 50 ms or more
 * (nodejs_eventloop_lag_p99_seconds, as the sidecar itself measures it since the scrape before). A stretch in which an idle loop
 * beside it had to wait as well tells of the machine: it is shown, not judged.
 *
 * Event time ends 11 minutes ago, so that every window closes once the sources are idle.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { differences, parseExposition, total } from '../bench/exposition.mjs';
import { cpuSecondsOf, median, withSidecar } from '../bench/measure.mjs';
import { writePaced } from '../bench/paced.mjs';
import { createSender, postUntilTaken } from '../bench/post.mjs';
import { createRandom } from '../bench/random.mjs';
import { createTraffic } from '../bench/traffic.mjs';

const SECONDS = Number(process.argv[2] ?? 300);
const RATE = 500;
const WRITERS = 4;
const FLUSH_MS = 200;
const SENT_AGAIN = 0.1;
const SCRAPE_MS = 5000;
const QUIET_MS = 11 * 60_000;
/** The windows of failures fill for 600 s: so much may be held at the end that was not at the start. */
const RSS_GROWTH_MIB = 16;
const LOOP_P99_MS = 50;
/** An idle loop on a machine with time to spare: 11 ms, since it is looked at every 10 ms. */
const QUIET_P99_MS = 20;
/** Reading what was there before, and the compiler's first work. */
const WARM_UP_MS = 15_000;
const MINUTE_MS = 60_000;

const main = process.env.BENCH_MAIN ?? fileURLToPath(new URL('../dist/main.js', import.meta.url));
if (!existsSync(main)) {
  console.error(`${main} is missing: run \`npm run build\` first`);
  process.exit(2);
}

/** The event loop of a thread that does nothing: `p99()` in ms since it was asked last. */
function createIdleLoop() {
  const worker = new Worker(
    `const { monitorEventLoopDelay } = require('node:perf_hooks');
    const { parentPort } = require('node:worker_threads');
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    parentPort.on('message', () => {
      parentPort.postMessage(delays.percentile(99) / 1e6);
      delays.reset();
    });`,
    { eval: true },
  );
  return {
    async p99() {
      worker.postMessage('p99');
      return (await once(worker, 'message'))[0];
    },
    close: () => worker.terminate(),
  };
}

/** Posts what happens, a batch per writer each FLUSH_MS. Returns the tally and how many lines were posted again. */
async function postPaced(url, startTs) {
  const traffic = createTraffic({ seed: 77, rate: RATE, startTs, writers: WRITERS });
  const random = createRandom(78);
  const senders = Array.from({ length: WRITERS }, () => createSender(`${url}v1/events`));
  const lines = Array.from({ length: WRITERS }, () => []);
  // The files have writers of their own: a name stands for one sequence of numbers.
  const sink = (line, writer) => lines[writer].push(line.replace('"writer":"host-', '"writer":"poster-'));
  let again = 0;
  let batches = 0;
  const flush = () =>
    Promise.all(
      senders.map(async (sender, w) => {
        const batch = lines[w].splice(0);
        if (batch.length === 0) return;
        const body = Buffer.from(batch.join(''));
        batches++;
        await postUntilTaken(sender, body);
        if (!random.chance(SENT_AGAIN)) return;
        const { duplicates } = await postUntilTaken(sender, body);
        if (duplicates !== batch.length) throw new Error(`${duplicates} duplicates of ${batch.length}`);
        again += batch.length;
      }),
    );
  const startedAt = performance.now();
  for (;;) {
    const elapsedMs = Math.min(performance.now() - startedAt, SECONDS * 1000);
    traffic.advance(startTs + elapsedMs, sink);
    await flush();
    if (elapsedMs >= SECONDS * 1000) break;
    await sleep(FLUSH_MS);
  }
  traffic.drain(sink);
  await flush();
  for (const sender of senders) sender.close();
  return { tally: traffic.tally, again, batches };
}

/** Numbers added, tables by key. */
function merge(a, b) {
  const sum = {};
  for (const [name, value] of Object.entries(a)) {
    if (typeof value === 'number') sum[name] = value + b[name];
    else {
      sum[name] = { ...value };
      for (const [key, count] of Object.entries(b[name])) sum[name][key] = (sum[name][key] ?? 0) + count;
    }
  }
  return sum;
}

const problems = [];
const say = (name, text, isGood = true) => {
  console.log(`${isGood ? 'ok  ' : 'MISS'} ${name}: ${text}`);
  if (!isGood) problems.push(name);
};

async function soak({ pid, url, localUrl, folder }) {
  const scrape = async () => parseExposition(await (await fetch(url)).text());
  const startTs = Date.now() - QUIET_MS - SECONDS * 1000;
  const startedAt = Date.now();
  const samples = [];
  const idle = createIdleLoop();
  let isOver = false;
  const sampling = (async () => {
    for (await scrape(), await idle.p99(); !isOver; ) {
      await sleep(SCRAPE_MS);
      const found = await scrape();
      samples.push({
        at: Date.now() - startedAt,
        rssMib: total(found, 'process_resident_memory_bytes') / 2 ** 20,
        p99Ms: 1000 * total(found, 'nodejs_eventloop_lag_p99_seconds'),
        idleMs: await idle.p99(),
      });
    }
  })();
  const cpuBefore = cpuSecondsOf(pid);
  const [files, http] = await Promise.all([
    writePaced({ folder, files: WRITERS, rate: RATE, seconds: SECONDS, startTs, seed: 76 }),
    postPaced(localUrl, startTs),
  ]);
  isOver = true;
  await sampling;
  await idle.close();
  const cpuSeconds = cpuSecondsOf(pid) - cpuBefore;

  const tally = merge(files, http.tally);
  const wanted = `tailfin_events_rejected_total: ${http.again}, expected 0`;
  let found = [];
  for (const end = Date.now() + MINUTE_MS; Date.now() < end; await sleep(500)) {
    found = differences(await scrape(), tally);
    if (found.length === (http.again > 0 ? 1 : 0)) break;
  }
  // What was sent again was refused, all of it and nothing else.
  const rest = found.filter((difference) => difference !== wanted);
  const exact = rest.length === 0 && found.length === (http.again > 0 ? 1 : 0);
  const duplicates = total(await scrape(), 'tailfin_events_rejected_total', { source: 'http', reason: 'duplicate' });
  say(
    'load',
    `${SECONDS} s, ${RATE} exchanges/s by files and ${RATE} by HTTP; ${tally.lines} lines, ${http.batches} batches`,
  );
  say('totals', `${rest.length} differences`, exact);
  for (const difference of rest.slice(0, 20)) console.log(`       ${difference}`);
  say('sent again', `${http.again} lines, ${duplicates} counted as duplicate`, duplicates === http.again);

  const within = (from, to) => samples.filter(({ at }) => at >= from && at < to).map(({ rssMib }) => rssMib);
  const first = median(within(WARM_UP_MS, WARM_UP_MS + MINUTE_MS));
  const last = median(within(SECONDS * 1000 - MINUTE_MS, Number.POSITIVE_INFINITY));
  const growth = last - first;
  say(
    'RSS',
    `${first.toFixed(1)} MiB in the first minute, ${last.toFixed(1)} MiB in the last (${growth.toFixed(1)} MiB, at most ${RSS_GROWTH_MIB})`,
    growth <= RSS_GROWTH_MIB,
  );
  const warm = samples.filter(({ at }) => at >= WARM_UP_MS);
  const all = warm.map(({ p99Ms }) => p99Ms);
  const quiet = warm.filter(({ idleMs }) => idleMs < QUIET_P99_MS).map(({ p99Ms }) => p99Ms);
  say(
    'event loop p99',
    `worst of ${quiet.length} stretches ${Math.max(0, ...quiet).toFixed(1)} ms (below ${LOOP_P99_MS} ms); ` +
      `all ${all.length}: median ${median(all).toFixed(1)} ms, worst ${Math.max(...all).toFixed(1)} ms, ` +
      `idle loop beside it: median ${median(warm.map(({ idleMs }) => idleMs)).toFixed(1)} ms`,
    Math.max(0, ...quiet) < LOOP_P99_MS && (quiet.length > 0 || median(all) < LOOP_P99_MS),
  );
  say('CPU', `${((100 * cpuSeconds) / SECONDS).toFixed(1)} % of a core`);
}

await withSidecar(main, soak, ['--ingest', '--local-listen', '127.0.0.1:0']);
process.exitCode = problems.length === 0 ? 0 : 1;
