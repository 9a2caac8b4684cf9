/**
 * The soak: `node test/soak.mjs [SECONDS]` (300 by default, outside of `npm test`). Files and HTTP together into one sidecar, both at
 * RATE exchanges/s with four writers each; one batch in ten is posted again. In the end every total must be the generators', the
 * memory of the last minute that of the first, and no stretch between two scrapes may have an event loop p99 of 50 ms or more
 * (nodejs_eventloop_lag_p99_seconds, as the sidecar itself measures it since the scrape before). A stretch in which an idle loop
 * beside it had to wait as well tells of the machine: it is shown, not judged.
 *
 * Before the clock starts, half an hour of both is delivered as fast as it is taken: failures are held for ten minutes and lines for as
 * long as a writer takes to send 200,000, so from then on what the sidecar has to remember grows no more. Event time ends 11 minutes ago, so that every window closes once the sources are idle.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { differences, parseExposition, total } from '../bench/exposition.mjs';
import { cpuSecondsOf, median, withSidecar } from '../bench/measure.mjs';
import { createAppender } from '../bench/paced.mjs';
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
const LEAD_MS = 30 * 60_000;
const LEAD_STEP_MS = 2000;
/** The collector's moods. */
const RSS_GROWTH_MIB = 8;
const LOOP_P99_MS = 50;
/** An idle loop on a machine with time to spare: 11 ms, since it is looked at every 10 ms. */
const QUIET_P99_MS = 20;
const MINUTE_MS = 60_000;

/** What is remembered of calls to compare later ones with has room for two minutes of 500 exchanges/s. It makes findings, no total. */
const isForgetful = ({ name, labels }) =>
  name === 'tailfin_state_evictions_total' && labels.store === 'successful_writes';

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

/** Both kinds of traffic, in step: what happened up to a time of the events is written and posted. */
function createLoad(folder, url, startTs) {
  const random = createRandom(78);
  const options = { rate: RATE, startTs, writers: WRITERS };
  const written = createTraffic({ seed: 76, ...options });
  const posted = createTraffic({ seed: 77, ...options });
  const appenders = Array.from({ length: WRITERS }, (_, w) =>
    createAppender(join(folder, `host-${w + 1}.ndjson`), random),
  );
  const senders = Array.from({ length: WRITERS }, () => createSender(`${url}v1/events`));
  const lines = Array.from({ length: WRITERS }, () => []);
  const toFile = (line, writer) => appenders[writer].line(line);
  // The files have writers of their own: a name stands for one sequence of numbers.
  const toBatch = (line, writer) => lines[writer].push(line.replace('"writer":"host-', '"writer":"poster-'));
  const counts = { batches: 0, again: 0 };
  const post = async (sender, batch) => {
    if (batch.length === 0) return;
    const body = Buffer.from(batch.join(''));
    counts.batches++;
    await postUntilTaken(sender, body);
    if (!random.chance(SENT_AGAIN)) return;
    const { duplicates } = await postUntilTaken(sender, body);
    if (duplicates !== batch.length) throw new Error(`${duplicates} duplicates of ${batch.length}`);
    counts.again += batch.length;
  };
  const flush = async (isLast) => {
    for (const appender of appenders) appender.flush(isLast);
    await Promise.all(senders.map((sender, w) => post(sender, lines[w].splice(0))));
  };
  return {
    counts,
    async advance(ts) {
      written.advance(ts, toFile);
      posted.advance(ts, toBatch);
      await flush(false);
    },
    /** The calls in flight too. Returns the tally of everything. */
    async end() {
      written.drain(toFile);
      posted.drain(toBatch);
      await flush(true);
      for (const sender of senders) sender.close();
      return merge(written.tally, posted.tally);
    },
  };
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
  const startTs = Date.now() - QUIET_MS - SECONDS * 1000 - LEAD_MS;
  const load = createLoad(folder, localUrl, startTs);
  for (let ms = 0; ms <= LEAD_MS; ms += LEAD_STEP_MS) await load.advance(startTs + ms);
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
  for (let ms = 0; ms < SECONDS * 1000; ) {
    await sleep(FLUSH_MS);
    ms = Math.min(Date.now() - startedAt, SECONDS * 1000);
    await load.advance(startTs + LEAD_MS + ms);
  }
  isOver = true;
  await sampling;
  await idle.close();
  const cpuSeconds = cpuSecondsOf(pid) - cpuBefore;

  const tally = await load.end();
  const { again, batches } = load.counts;
  const wanted = `tailfin_events_rejected_total: ${again}, expected 0`;
  let found = [];
  for (const end = Date.now() + MINUTE_MS; Date.now() < end; await sleep(500)) {
    found = differences(
      (await scrape()).filter((sample) => !isForgetful(sample)),
      tally,
    );
    if (found.length === (again > 0 ? 1 : 0)) break;
  }
  // What was sent again was refused, all of it and nothing else.
  const rest = found.filter((difference) => difference !== wanted);
  const exact = rest.length === 0 && found.length === (again > 0 ? 1 : 0);
  const duplicates = total(await scrape(), 'tailfin_events_rejected_total', { source: 'http', reason: 'duplicate' });
  say(
    'load',
    `${SECONDS} s, ${RATE} exchanges/s by files and ${RATE} by HTTP; ${tally.lines} lines, ${batches} batches`,
  );
  say('totals', `${rest.length} differences`, exact);
  for (const difference of rest.slice(0, 20)) console.log(`       ${difference}`);
  say('sent again', `${again} lines, ${duplicates} counted as duplicate`, duplicates === again);

  const within = (from, to) => samples.filter(({ at }) => at >= from && at < to).map(({ rssMib }) => rssMib);
  const first = median(within(0, MINUTE_MS));
  const last = median(within(SECONDS * 1000 - MINUTE_MS, Number.POSITIVE_INFINITY));
  const growth = last - first;
  say(
    'RSS',
    `${first.toFixed(1)} MiB in the first minute, ${last.toFixed(1)} MiB in the last (${growth.toFixed(1)} MiB, at most ${RSS_GROWTH_MIB})`,
    growth <= RSS_GROWTH_MIB,
  );
  const all = samples.map(({ p99Ms }) => p99Ms);
  const quiet = samples.filter(({ idleMs }) => idleMs < QUIET_P99_MS).map(({ p99Ms }) => p99Ms);
  say(
    'event loop p99',
    `worst of ${quiet.length} stretches ${Math.max(0, ...quiet).toFixed(1)} ms (below ${LOOP_P99_MS} ms); ` +
      `all ${all.length}: median ${median(all).toFixed(1)} ms, worst ${Math.max(...all).toFixed(1)} ms, ` +
      `an idle loop beside it: median ${median(samples.map(({ idleMs }) => idleMs)).toFixed(1)} ms`,
    Math.max(0, ...quiet) < LOOP_P99_MS && (quiet.length > 0 || median(all) < LOOP_P99_MS),
  );
  say('CPU', `${((100 * cpuSeconds) / SECONDS).toFixed(1)} % of a core`);
}

await withSidecar(main, soak, ['--ingest', '--local-listen', '127.0.0.1:0']);
process.exitCode = problems.length === 0 ? 0 : 1;
