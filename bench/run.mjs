/**
 * The benchmark: `npm run bench [-- --quick]`. Measures against goals and exits 1 when a goal is missed.
 * --quick uses 64 MB, 16 MB and 16 MB instead of 2 GB, 100 MB and 2 GB, and 100,000 posted events instead of 500,000; its throughput is shown, not judged, since warming up is most of it.
 * BENCH_MAIN names another bundle than dist/main.js.
 *
 * Throughput is bytes per CPU second, as a ratio to a bare read + split + JSON.parse loop (bare-loop.mjs) that runs in turn with
 * it: wall time on a shared machine varies twofold, the ratio of CPU times does not. Data (traffic.mjs) is kept in bench/data.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareBacklog, hasMtail, scrapeBacklog } from './backlog.mjs';
import { differences, parseExposition } from './exposition.mjs';
import { generateFile, parseSize } from './generate.mjs';
import { measureIdleFiles } from './idle.mjs';
import { measureIngest } from './ingest.mjs';
import { median, rssMibOf, runMeasured, withSidecar } from './measure.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const DATA = here('data');
const ROUNDS = 3;
const STARTS = 5;
const SETTLE_MS = 1500;
const SIZES = {
  full: { large: '2GB', small: '100MB', backlog: '2GB', posted: 500_000, idleSeconds: 30, judged: true },
  quick: { large: '64MB', small: '16MB', backlog: '16MB', posted: 100_000, idleSeconds: 15, judged: false },
};

const GOALS = {
  throughput: 0.45,
  backlogThroughput: 0.55,
  timesMtail: 2,
  scrapeP99Ms: 100,
  peakRssMib: 128,
  growthMib: 10,
  idleRssMib: 72,
  startCpuSeconds: 1,
  scrapeCpuMs: 60,
  postedPerCpuSecond: 60_000,
  idleFilesCore: 0.03,
};

/** A file of the data set and its tally, made when missing. Its name changes with the generator: old ones are removed. */
function dataFile(size) {
  const hash = createHash('sha256');
  for (const part of ['random.mjs', 'traffic.mjs', 'generate.mjs']) hash.update(readFileSync(here(part)));
  const generator = hash.digest('hex').slice(0, 8);
  mkdirSync(DATA, { recursive: true });
  for (const name of readdirSync(DATA)) if (!name.includes(generator)) rmSync(join(DATA, name));
  const path = join(DATA, `${size}-${generator}.ndjson`);
  const tally = `${path}.tally.json`;
  if (existsSync(path) && existsSync(tally)) return { path, tally: JSON.parse(readFileSync(tally, 'utf8')) };
  process.stderr.write(`generating ${size} of events ...\n`);
  return { path, tally: generateFile({ path, bytes: parseSize(size) }) };
}

const rows = [];
/** `goal` null: shown, not judged. */
function row(name, measured, goal, isMet) {
  if (goal !== null) rows.push({ name, isMet });
  const verdict = goal === null ? '-' : isMet ? 'ok' : 'MISS';
  console.log(`| ${name.padEnd(56)} | ${measured.padEnd(42)} | ${(goal ?? '').padEnd(12)} | ${verdict.padEnd(4)} |`);
}
const note = (text) => process.stderr.write(`${text}\n`);
const mib = (value) => `${value.toFixed(1)} MiB`;

async function replayOf(main, { path, tally }) {
  const run = await runMeasured([main, 'replay', '--format', 'prom', path]);
  return { ...run, differences: differences(parseExposition(run.stdout), tally) };
}

async function measureReplay(main, { large, small, judged }) {
  const files = { large: dataFile(large), small: dataFile(small) };
  const bytes = statSync(files.large.path).size;
  const bare = [];
  const replays = [];
  const smallReplays = [];
  for (let round = 1; round <= ROUNDS; round++) {
    bare.push(await runMeasured([here('bare-loop.mjs'), files.large.path]));
    replays.push(await replayOf(main, files.large));
    smallReplays.push(await replayOf(main, files.small));
    note(
      `round ${round}: bare loop ${bare.at(-1).cpuSeconds.toFixed(2)} s, replay ${replays.at(-1).cpuSeconds.toFixed(2)} s of CPU`,
    );
  }
  const cpu = (runs) => median(runs.map((run) => run.cpuSeconds));
  const rate = (seconds) => `${(bytes / 1e6 / seconds).toFixed(0)} MB/CPU-s`;
  const ratio = cpu(bare) / cpu(replays);
  row(
    `replay of ${large}, throughput against a bare parse loop`,
    `${ratio.toFixed(2)} (${rate(cpu(replays))} against ${rate(cpu(bare))})`,
    judged ? `>= ${GOALS.throughput}` : null,
    ratio >= GOALS.throughput,
  );
  const found = [...replays, ...smallReplays].flatMap((run) => run.differences);
  row('replay, totals equal the tally of the generator', `${found.length} differences`, '0', found.length === 0);
  for (const difference of new Set(found)) note(`  ${difference}`);
  const peak = { large: median(replays.map((r) => r.maxRssMib)), small: median(smallReplays.map((r) => r.maxRssMib)) };
  row(`replay of ${large}, peak RSS`, mib(peak.large), `<= ${GOALS.peakRssMib} MiB`, peak.large <= GOALS.peakRssMib);
  const growth = peak.large - peak.small;
  row(
    `replay, peak RSS of ${large} over that of ${small}`,
    `${growth.toFixed(1)} MiB (${mib(peak.small)} at ${small})`,
    `<= ${GOALS.growthMib} MiB`,
    growth <= GOALS.growthMib,
  );
}

async function measureRun(main) {
  const starts = [];
  const idle = [];
  for (let i = 0; i < STARTS; i++) {
    await withSidecar(main, async ({ pid, url, startCpuSeconds }) => {
      starts.push(startCpuSeconds);
      for (let scrape = 0; scrape < 2; scrape++) await (await fetch(url)).text();
      await sleep(SETTLE_MS);
      idle.push(rssMibOf(pid));
    });
  }
  const rss = median(idle);
  row(
    `run on an empty folder, RSS after 3 scrapes (${process.version})`,
    mib(rss),
    `<= ${GOALS.idleRssMib} MiB`,
    rss <= GOALS.idleRssMib,
  );
  const cpuSeconds = median(starts);
  row(
    'run, CPU from spawn to the first 200 of /metrics',
    `${cpuSeconds.toFixed(2)} s`,
    `<= ${GOALS.startCpuSeconds} s`,
    cpuSeconds <= GOALS.startCpuSeconds,
  );
}

async function measureBacklog(main, { backlog, judged }) {
  const { path } = dataFile(backlog);
  const { cpu, rssMib } = await compareBacklog(main, path, ROUNDS, note);
  const shown = (seconds) =>
    `${(cpu.loop / seconds).toFixed(2)} (${seconds.toFixed(2)} against ${cpu.loop.toFixed(2)} s of CPU)`;
  row(`run on ${backlog} with checkpoints, against a bare parse loop`, shown(cpu.run), null, true);
  const isFast = cpu.loop / cpu.runBare >= GOALS.backlogThroughput;
  row('the same without the detectors', shown(cpu.runBare), judged ? `>= ${GOALS.backlogThroughput}` : null, isFast);
  row(`run on ${backlog}, peak RSS`, mib(rssMib), `<= ${GOALS.peakRssMib} MiB`, rssMib <= GOALS.peakRssMib);
  if (hasMtail()) {
    const times = cpu.mtail / cpu.run;
    const text = `${times.toFixed(2)} times (mtail ${cpu.mtail.toFixed(2)} s of CPU)`;
    row(
      'run, throughput against mtail with three labels',
      text,
      judged ? `>= ${GOALS.timesMtail}` : null,
      times >= GOALS.timesMtail,
    );
  } else note('skipped: needs mtail');
  const { p50, p99, answers } = await scrapeBacklog(main, path);
  row(
    `run on ${backlog}, a scrape every 200 ms, p99 of ${answers}`,
    `${p99.toFixed(0)} ms (median ${p50.toFixed(0)} ms)`,
    judged ? `<= ${GOALS.scrapeP99Ms} ms` : null,
    p99 <= GOALS.scrapeP99Ms,
  );
}

async function measureIdle(main, { idleSeconds }) {
  const share = await measureIdleFiles(main, { files: 1000, seconds: idleSeconds });
  row(
    `run on 1,000 idle files, share of a core over ${idleSeconds} s`,
    `${(100 * share).toFixed(2)} %`,
    `<= ${100 * GOALS.idleFilesCore} %`,
    share <= GOALS.idleFilesCore,
  );
}

async function measureScrape() {
  const { stdout } = await runMeasured([here('scrape.mjs')]);
  const { series, text, openmetrics } = JSON.parse(stdout);
  for (const [what, { cpuMs, bytes }] of Object.entries({ text, 'OpenMetrics with exemplars': openmetrics }))
    row(
      `scrape of ${series} changed series, ${what}`,
      `${cpuMs.toFixed(1)} ms of CPU (${(bytes / 2 ** 20).toFixed(2)} MiB)`,
      `<= ${GOALS.scrapeCpuMs} ms`,
      cpuMs <= GOALS.scrapeCpuMs,
    );
}

async function measurePosts(main, { posted, judged }) {
  const run = await measureIngest(main, posted);
  row(
    `ingest of ${run.events} events, 100 a batch, per CPU second`,
    `${run.eventsPerCpuSecond.toFixed(0)} (${run.cpuSeconds.toFixed(2)} s of CPU)`,
    judged ? `>= ${GOALS.postedPerCpuSecond}` : null,
    run.eventsPerCpuSecond >= GOALS.postedPerCpuSecond,
  );
  row(
    'ingest, throughput against bare JSON.parse of the bodies',
    `${run.ratio.toFixed(2)} (${run.bareCpuSeconds.toFixed(2)} s of CPU)`,
    null,
    true,
  );
  row('ingest, totals equal the tally', `${run.differences.length} differences`, '0', run.differences.length === 0);
  for (const difference of run.differences) note(`  ${difference}`);
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const main = process.env.BENCH_MAIN ?? here('../dist/main.js');
if (!existsSync(main)) {
  console.error(`${main} is missing: run \`npm run build\` first`);
  process.exit(2);
}
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n`);
console.log(`| ${'what'.padEnd(56)} | ${'measured'.padEnd(42)} | ${'goal'.padEnd(12)} |      |`);
console.log(`|${'-'.repeat(58)}|${'-'.repeat(44)}|${'-'.repeat(14)}|------|`);
const sizes = SIZES[values.quick ? 'quick' : 'full'];
await measureReplay(main, sizes);
await measureRun(main);
await measureBacklog(main, sizes);
await measureIdle(main, sizes);
await measureScrape();
await measurePosts(main, sizes);
const missed = rows.filter((each) => !each.isMet);
console.log(`\n${rows.length - missed.length} of ${rows.length} goals met`);
process.exitCode = missed.length === 0 ? 0 : 1;
