/**
 * What the tap's writer costs its host: `node bench/writer.mjs [--quick]`. Exits 1 when a goal is missed.
 *
 * CPU: of the main thread (schedstat of Linux), per event, for emit and flush, against JSON.stringify of the same objects in turn
 * with it: on a shared machine the ratio holds where the times do not. Event loop: what one flush of a host at 2,000 events/s takes
 * of the main thread, all its callbacks together, is the most that it can hold the loop up. The delay that such a host sees is shown
 * beside it, and not judged: on a busy machine it is that of the other processes.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { median } from './measure.mjs';

const GOALS = { ratio: 3, flushMs: 0.5 };
const { values } = parseArgs({ options: { quick: { type: 'boolean' }, part: { type: 'string' } } });
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const DATA = here('data');
const BUNDLE = join(DATA, 'writer.mjs');

/** CPU of this process's main thread in microseconds. */
const mainThreadUs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;

/** A close line as the tap writes it, about 570 bytes as a line; objects are new each time. */
const fieldsOf = (n) => ({
  exchange: `7f3a9c2e-${n}`,
  client: 'c-18',
  server: 'search.internal:8443',
  endpoint: '10.1.14.7:8443',
  how: 'eof',
  by: 'peer',
  http_method: 'POST',
  method: 'tools/call',
  target: 'search_documents',
  rpc_id: String(n),
  protocol_version: '2025-11-25',
  session: true,
  args_digest: 'b0Qx3mPz2aE',
  request_bytes: 812,
  open_ts: 1790000000000 + n,
  sent: 'body',
  status: 200,
  content_type: 'text/event-stream',
  framing: 'chunked',
  bytes: 18_211 + (n % 997),
  events: 3,
  notifications: 2,
  terminal: true,
  terminal_kind: 'result',
  id_match: 'match',
  cut: 'boundary',
});

/** One part in a process of its own; prints its measure as JSON. */
const PARTS = {
  async build(count) {
    return perEvent(count, (n) => void fieldsOf(n));
  },
  async stringify(count) {
    return perEvent(count, (n) => void JSON.stringify(fieldsOf(n)));
  },
  async writer(count) {
    const { writer, folder } = await openWriter();
    const result = await perEvent(count, (n) => writer.emit('close', fieldsOf(n)));
    const { dropped } = writer.stats();
    writer.close();
    rmSync(folder, { recursive: true });
    return { ...result, dropped };
  },
  /** 200 lines and a pause, as 100 ms at 2,000 events/s; they are written, or only kept. */
  'flush-on': (count) => cycles(count, { flushMs: 5 }),
  'flush-off': (count) => cycles(count, { flushMs: 3_600_000, ...KEEP_ALL }),
  /** A host at 2,000 events/s: 4 each 2 ms. */
  async 'paced-none'(count) {
    return paced(count, (n) => void fieldsOf(n));
  },
  async 'paced-writer'(count) {
    const { writer, folder } = await openWriter();
    const result = await paced(count, (n) => writer.emit('close', fieldsOf(n)));
    writer.close();
    rmSync(folder, { recursive: true });
    return result;
  },
};

const GIB = 2 ** 30;
const KEEP_ALL = { quotaBytes: 64 * GIB, bufferBytes: GIB, flushBytes: GIB };

async function cycles(count, options) {
  const { writer, folder } = await openWriter(options);
  const cycle = async (n) => {
    for (let i = 0; i < 200; i++) writer.emit('close', fieldsOf(n * 200 + i));
    await sleep(25);
  };
  for (let n = 0; n < count / 4; n++) await cycle(n);
  const before = mainThreadUs();
  for (let n = 0; n < count; n++) await cycle(n);
  const ms = (mainThreadUs() - before) / 1000 / count;
  writer.close();
  rmSync(folder, { recursive: true });
  return { ms };
}

async function openWriter(options = {}) {
  const { createWriter } = await import(BUNDLE);
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-bench-'));
  return { folder, writer: createWriter({ folder, host: 'bench', ...options }) };
}

/** Bursts of a flush each, and a pause in which the disk can follow: all parts have it, `build` has nothing else. */
async function perEvent(count, work) {
  const burst = async (from, to) => {
    for (let n = from; n < to; n++) {
      work(n);
      if (n % 460 === 0) await sleep(20);
    }
    await sleep(150);
  };
  await burst(0, count / 4);
  const before = mainThreadUs();
  await burst(0, count);
  return { us: (mainThreadUs() - before) / count };
}

async function paced(count, work) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const cpu = mainThreadUs();
  const started = performance.now();
  delay.enable();
  for (let n = 0; n < count; await sleep(2)) for (let i = 0; i < 4; i++) work(n++);
  delay.disable();
  const ms = performance.now() - started;
  return { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, cpu: (mainThreadUs() - cpu) / 10 / ms };
}

if (values.part !== undefined) {
  const [name, count] = values.part.split(':');
  writeSync(1, JSON.stringify(await PARTS[name](Number(count))));
  process.exit(0);
}

mkdirSync(DATA, { recursive: true });
await build({
  entryPoints: [here('../src/tap/writer/writer.ts')],
  ...{ outfile: BUNDLE, bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
});

/** Node may lock itself up while it ends, at no CPU (nodejs/node#54918): what was measured by then counts. A part takes seconds. */
const PART_MS = 120_000;
function measure(name, count) {
  const { stdout, stderr, status, signal } = spawnSync(
    process.execPath,
    [here('writer.mjs'), `--part=${name}:${count}`],
    {
      ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: PART_MS, killSignal: 'SIGKILL' },
    },
  );
  if (stdout === '' || (status !== 0 && signal !== 'SIGKILL'))
    throw new Error(`${name}: ended with ${status ?? signal}\n${stderr}`);
  return JSON.parse(stdout);
}

const rounds = values.quick ? 3 : 7;
const count = values.quick ? 30_000 : 100_000;
const results = {};
const take = (times, events, names) => {
  for (const name of names) results[name] = [];
  for (let i = 0; i < times; i++) for (const name of names) results[name].push(measure(name, events));
};
take(rounds, count, ['build', 'stringify', 'writer']);
take(values.quick ? 1 : 5, values.quick ? 50 : 200, ['flush-off', 'flush-on']);
take(values.quick ? 1 : 5, values.quick ? 2000 : 8000, ['paced-none', 'paced-writer']);

const of = (name, field) => results[name].map((each) => each[field]);
/** Less what both have: the objects and the pauses. */
const net = (name) => of(name, 'us').map((us, i) => us - results.build[i].us);
const ratio = median(net('writer').map((us, i) => us / net('stringify')[i]));
const flushes = of('flush-on', 'ms').map((ms, i) => ms - results['flush-off'][i].ms);
const flush = median(flushes);
const number = (value, digits = 2) => value.toFixed(digits);
const spread = (all) => `${number(median(all))} (${number(Math.min(...all))}-${number(Math.max(...all))})`;
let missed = 0;
function row(name, text, goal, isMet) {
  if (goal !== '' && !isMet) missed++;
  console.log(
    `| ${name.padEnd(58)} | ${text.padEnd(20)} | ${goal.padEnd(9)} | ${goal === '' ? '-' : isMet ? 'ok' : 'MISS'} |`,
  );
}
console.log(
  `${cpus()[0].model}, ${cpus().length} cores, Node ${process.version}, ${rounds} rounds of ${count} events\n`,
);
console.log('| measure | median (min-max) | goal | |\n| --- | --- | --- | --- |');
row('JSON.stringify, us of main thread per event', spread(net('stringify')), '', true);
row('emit and flush, us of main thread per event', spread(net('writer')), '', true);
row('emit and flush / JSON.stringify', number(ratio), `<= ${GOALS.ratio}`, ratio <= GOALS.ratio);
row('events dropped while the disk stalled (worst round)', String(Math.max(...of('writer', 'dropped'))), '', true);
row('main thread for one flush of 200 lines, ms', spread(flushes), `<= ${GOALS.flushMs}`, flush <= GOALS.flushMs);
row('event loop p99 at 2,000 events/s without, ms', spread(of('paced-none', 'p99')), '', true);
row('event loop p99 at 2,000 events/s with the writer, ms', spread(of('paced-writer', 'p99')), '', true);
row('main thread at 2,000 events/s without, % of a core', spread(of('paced-none', 'cpu')), '', true);
row('main thread at 2,000 events/s with the writer, %', spread(of('paced-writer', 'cpu')), '', true);
if (missed > 0) process.exitCode = 1;
