/**
 * A backlog as `tailfin run` reads it, files, checkpoints and all: CPU against a bare loop and against mtail, peak memory, and how long a
 * scrape takes meanwhile. A part of `npm run bench`; alone: `node bench/backlog.mjs FILE [ROUNDS]` prints what it measures as JSON.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median, runMeasured, USAGE, withFolder } from './measure.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const LOOK_MS = 500;
const SCRAPE_MS = 200;
/** After so long a scrape has a record of its own. */
const RECORD_MS = 1100;
const LONGEST_MS = 30 * 60_000;

/** The sidecar with no detector, since goals were set before there were any. */
export async function withoutDetectors(folder) {
  await build({
    entryPoints: [here('../src/main.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // As it is shipped: what it does not use is not read.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['@modelcontextprotocol/*', 'zod'],
    define: { __TAILFIN_VERSION__: '"bench"' },
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'no-detectors',
        setup({ onLoad }) {
          onLoad({ filter: /core\/detectors\/index\.ts$/ }, () => ({
            contents: 'export const DETECTORS = [];',
            loader: 'ts',
          }));
        },
      },
    ],
    logLevel: 'error',
  });
  return join(folder, 'main.mjs');
}

/** One life of `tailfin run`: calls `use(url)` when it listens, ends it after that; what it used by its end. */
async function life(main, folder, use, more = []) {
  const usage = join(folder, 'usage.json');
  const args = [
    '--require',
    USAGE,
    main,
    'run',
    '--events',
    join(folder, 'events', '*'),
    '--state-dir',
    join(folder, 'state'),
  ];
  args.push('--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0', ...more);
  const env = { ...process.env, BENCH_USAGE: usage };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const until = async (isDone) => {
    for (const start = performance.now(); !(await isDone()); await sleep(LOOK_MS))
      if (child.exitCode !== null || performance.now() - start > LONGEST_MS) throw new Error(`tailfin run: ${stderr}`);
  };
  let used;
  try {
    let address;
    await until(() => {
      address = /"metrics on (http:[^"]+)\/metrics"/.exec(stderr)?.[1];
      return address !== undefined;
    });
    used = await use(address, until);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
  return { ...used, ...JSON.parse(readFileSync(usage, 'utf8')) };
}

const isRead = (address) => async () => (await fetch(`${address}/readyz`)).status === 200;

/** Reads the file from its beginning to its end; all numbers are shown at once then. */
export const readBacklog = (main, file) =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, 'events'));
    symlinkSync(resolve(file), join(folder, 'events', 'backlog.ndjson'));
    const read = async (address, until) => {
      await until(isRead(address));
      const text = await (await fetch(`${address}/metrics`)).text();
      return { checkpoints: Number(/^tailfin_checkpoint_commits_total (\d+)$/m.exec(text)?.[1]), text };
    };
    return life(main, folder, read, ['--scrape-interval-seconds', '0']);
  });

/** The same, after a first life that left a checkpoint, with a scrape every 200 ms: {first, p50, p90, p99, most (ms), answers, refusals}. */
export const scrapeBacklog = (main, file) =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, 'events'));
    // Two records: a life of some length leaves both of its files at their size.
    await life(main, folder, async (address) => {
      await (await fetch(`${address}/metrics`)).text();
      await sleep(RECORD_MS);
      await (await fetch(`${address}/metrics`)).text();
    });
    symlinkSync(resolve(file), join(folder, 'events', 'backlog.ndjson'));
    return life(main, folder, async (address, until) => {
      const times = [];
      let refusals = 0;
      const flying = [];
      const scrape = async () => {
        const start = performance.now();
        const answer = await fetch(`${address}/metrics`);
        await answer.arrayBuffer();
        times.push(performance.now() - start);
        if (answer.status !== 200) refusals++;
      };
      const timer = setInterval(() => flying.push(scrape()), SCRAPE_MS);
      await until(isRead(address));
      clearInterval(timer);
      await Promise.all(flying);
      const [first] = times;
      times.sort((a, b) => a - b);
      const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))];
      return { first, p50: at(0.5), p90: at(0.9), p99: at(0.99), most: times.at(-1), answers: times.length, refusals };
    });
  });

export const hasMtail = () => spawnSync('mtail', ['--version']).status === 0;

/** CPU seconds of mtail for the same lines, and how many it counted. */
export function mtailOf(file) {
  const args = [
    '-c',
    'TIMEFORMAT="%U %S"; time mtail --one_shot --one_shot_format=prometheus --progs "$1" --logs "$2"',
  ];
  const { stdout, stderr, status } = spawnSync('bash', [...args, 'bash', here('closes.mtail'), file], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const times = /^([\d.]+) ([\d.]+)$/m.exec(stderr);
  if (status !== 0 || times === null) throw new Error(`mtail: ${stderr}`);
  const lines = [...stdout.matchAll(/^closes\{.*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  return { cpuSeconds: Number(times[1]) + Number(times[2]), lines };
}

/** All in turn, round by round: medians of CPU seconds. */
export async function compareBacklog(main, file, rounds, note = () => {}) {
  return withFolder(async (folder) => {
    const bare = await withoutDetectors(folder);
    const all = { loop: [], run: [], runBare: [], mtail: [] };
    const rss = [];
    for (let round = 1; round <= rounds; round++) {
      all.loop.push((await runMeasured([here('bare-loop.mjs'), file])).cpuSeconds);
      const run = await readBacklog(main, file);
      all.run.push(run.cpuSeconds);
      rss.push(run.maxRssMib);
      all.runBare.push((await readBacklog(bare, file)).cpuSeconds);
      if (hasMtail()) all.mtail.push(mtailOf(file).cpuSeconds);
      note(
        `round ${round}: ${Object.entries(all)
          .map(([name, each]) => `${name} ${each.at(-1)?.toFixed(2)}`)
          .join(', ')} s of CPU`,
      );
    }
    const cpu = Object.fromEntries(
      Object.entries(all).map(([name, each]) => [name, each.length > 0 ? median(each) : undefined]),
    );
    return { bytes: statSync(file).size, cpu, rssMib: median(rss) };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , path, rounds = '3'] = process.argv;
  const main = process.env.BENCH_MAIN ?? here('../dist/main.js');
  if (path === undefined || !existsSync(main))
    throw new Error('node bench/backlog.mjs FILE [ROUNDS], after npm run build');
  const file = resolve(path);
  const note = (text) => process.stderr.write(`${text}\n`);
  console.log(
    JSON.stringify({
      ...(await compareBacklog(main, file, Number(rounds), note)),
      scrapes: await scrapeBacklog(main, file),
    }),
  );
}
