/**
 * What the tap costs its host: `npm run bench:tap [-- --quick]`. Exits 1 when a goal is missed. Runs the benchmarks of the scanner and
 * of the writer too. --quick measures fewer exchanges and shows the costs without judging them. TAILFIN_TEST_NODE picks another Node.
 *
 * Two host processes live side by side, one with the tap and one without, and take turns: a pair of turns sees the same machine.
 * A row is the median over the pairs of (CPU with the tap - CPU without) / CPU without.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, withFolder } from './measure.mjs';
import { LARGE_BYTES, startServer } from './tap-server.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const HOST = here('tap-host.cjs');
const TAP = here('../dist/tailfin-tap.cjs');
const node = process.env.TAILFIN_TEST_NODE ?? process.execPath;

const GOALS = { added: 0.4, aheadKib: 128, leaked: 0 };
/** warmUp: a host lives long, and what the just-in-time compiler does at its beginning is not the cost of an exchange. */
const SIZES = {
  full: { pairs: 15, count: 500, warmUp: 10_000, judged: true },
  quick: { pairs: 3, count: 200, warmUp: 2000, judged: false },
};
const CHUNK = 64 * 1024;
const UNREAD = 50;
/** Collecting garbage takes its turns; what is still held after this is leaked. */
const RELEASE_MS = 30_000;

/** Runs `use` with a host process: ask(task, options) gives its answer. */
async function withHost(env, use) {
  const child = spawn(node, ['--expose-gc', HOST], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const ask = (task, options = {}) =>
    new Promise((resolve, reject) => {
      const gone = (code) => reject(new Error(`the host ended with ${code} during ${task}`));
      child.once('close', gone);
      child.once('message', ({ result, error }) => {
        child.off('close', gone);
        if (error === undefined) resolve(result);
        else reject(new Error(`${task}: ${error}`));
      });
      child.send({ task, ...options });
    });
  try {
    return await use(ask);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

const tapped = (folder) => ({ NODE_OPTIONS: `--require ${JSON.stringify(TAP)}`, TAILFIN_TAP_DIR: folder });
const withBoth = (use) =>
  withFolder((folder) => withHost({}, (bare) => withHost(tapped(join(folder, 'events')), (tap) => use(bare, tap))));

let judged = 0;
let missed = 0;
/** `goal` null: shown, not judged. */
function row(name, measured, goal, isMet) {
  if (goal !== null) judged++;
  if (goal !== null && !isMet) missed++;
  const verdict = goal === null ? '-' : isMet ? 'ok' : 'MISS';
  console.log(`| ${name.padEnd(62)} | ${measured.padEnd(42)} | ${(goal ?? '').padEnd(10)} | ${verdict.padEnd(4)} |`);
}

async function measureCpu(server, { pairs, count, warmUp, judged: judge }) {
  const rows = [
    ['fetch', '/json', 'added CPU per exchange, JSON answer, by the CPU of a bare fetch', judge],
    ['fetch', '/sse', 'the same, an event stream of two notes and the answer', judge],
    ['sdk', '/json', 'the same as the first, by the CPU of a bare callTool() of an SDK', false],
  ];
  for (const [task, path, name, isJudged] of rows)
    await withBoth(async (bare, tap) => {
      const options = { url: server.url(path), count };
      for (const ask of [bare, tap]) await ask(task, { ...options, count: warmUp });
      const ratios = [];
      const own = [];
      const added = [];
      for (let pair = 0; pair < pairs; pair++) {
        // Each goes first in half of the pairs.
        const order = pair % 2 === 0 ? [bare, tap] : [tap, bare];
        const used = new Map();
        for (const ask of order) used.set(ask, await ask(task, options));
        own.push(used.get(bare));
        added.push(used.get(tap) - used.get(bare));
        ratios.push(added.at(-1) / own.at(-1));
      }
      const ratio = median(ratios);
      const figures = `${ratio.toFixed(2)} (${median(added).toFixed(0)} of ${median(own).toFixed(0)} us, ${pairs} pairs)`;
      row(name, figures, isJudged ? `<= ${GOALS.added}` : null, ratio <= GOALS.added);
    });
}

async function measureAhead() {
  const bytes = LARGE_BYTES;
  const [bare, tap] = await withFolder(async (folder) => {
    const env = { TAILFIN_TAP_DIR: join(folder, 'events') };
    const measured = [];
    for (const path of [null, TAP])
      measured.push(await withHost(env, (ask) => ask('ahead', { bytes, chunk: CHUNK, tap: path })));
    return measured;
  });
  const kib = tap.most / 1024;
  const isWhole = tap.consumed === bytes && bare.consumed === bytes;
  row(
    'pulled and not yet consumed, 128 MiB and a slow reader',
    `${kib.toFixed(0)} KiB (without the tap ${(bare.most / 1024).toFixed(0)})${isWhole ? '' : ', bytes are missing'}`,
    `<= ${GOALS.aheadKib} KiB`,
    isWhole && kib <= GOALS.aheadKib,
  );
}

async function measureSlow(server) {
  const url = server.url('/large');
  const [bare, tap] = await withBoth(async (...hosts) => {
    const measured = [];
    for (const ask of hosts) measured.push(await ask('slow', { url }));
    return measured;
  });
  const mib = ({ peakRssMib }) => `${peakRssMib.toFixed(0)} MiB`;
  row('peak RSS of a slow reader of 128 MiB from a socket', `${mib(tap)} (without the tap ${mib(bare)})`, null, true);
}

/** Connections that are still busy with an answer although nothing in the host holds it. (An idle one comes back by itself: undici.) */
async function leaked(server, ask) {
  await ask('unread', { url: server.url('/endless'), count: UNREAD });
  const deadline = performance.now() + RELEASE_MS;
  for (;;) {
    const open = server.open();
    if (open === 0 || performance.now() > deadline) return open;
    await ask('gc');
    await sleep(20);
  }
}

async function measureUnread() {
  const counts = [];
  await withFolder(async (folder) => {
    for (const env of [{}, tapped(join(folder, 'events'))]) {
      const server = await startServer();
      counts.push(await withHost(env, (ask) => leaked(server, ask)));
      server.close();
    }
  });
  const [bare, tap] = counts;
  row(
    `${UNREAD} responses that nobody reads, connections leaked`,
    `${tap} (without the tap ${bare})`,
    `${GOALS.leaked}`,
    tap <= GOALS.leaked,
  );
}

/** The parts have benchmarks of their own; each judges itself. */
async function runPart(name, args) {
  console.log(`\nbench/${name}`);
  const child = spawn(process.execPath, [here(name), ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise((resolve) => child.on('close', resolve));
  judged++;
  if (code !== 0) missed++;
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
if (!existsSync(TAP)) {
  console.error(`${TAP} is missing: run \`npm run build\` first`);
  process.exit(2);
}
const size = SIZES[values.quick ? 'quick' : 'full'];
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n`);
console.log(`| ${'what'.padEnd(62)} | ${'measured'.padEnd(42)} | ${'goal'.padEnd(10)} |      |`);
console.log(`|${'-'.repeat(64)}|${'-'.repeat(44)}|${'-'.repeat(12)}|------|`);
const server = await startServer();
await measureCpu(server, size);
await measureAhead();
await measureSlow(server);
await measureUnread();
server.close();
for (const name of ['scan.mjs', 'writer.mjs'])
  if (existsSync(here(name))) await runPart(name, values.quick ? ['--quick'] : []);
console.log(`\n${judged - missed} of ${judged} goals met`);
process.exitCode = missed === 0 ? 0 : 1;
