// What a checkpoint costs with every store at its cap (`--ordinary`: at 500 exchanges/s): its size, the whole of it, reading it back, and how
// long the event loop is held between two turns: by the clock, which other work on the machine and the garbage collector share in, and by
// the CPU time of the thread. The collector's pauses are shown on their own. The goal is on CPU time: a clock that others share judges them too.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { createCheckpoint, createGate } from '../src/app/checkpoint/checkpoint.ts';
import { restore } from '../src/app/checkpoint/restore.ts';
import { createSlots } from '../src/app/checkpoint/slots.ts';
import { keepHeapSmall, tendHeap } from '../src/app/memory.ts';
import { createPipeline } from '../src/core/pipeline.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { createTurns, nextTurn } from '../src/sources/next-turn.ts';
import { ORIGIN } from '../test/support/build-event.ts';
import { hostile } from '../test/support/hostile.ts';
import { createTraffic } from './traffic.mjs';

const GOAL_MS = 50;
// As the sidecar does.
keepHeapSmall();
const pipeline = createPipeline();
let n = 0;
const isOrdinary = process.argv.includes('--ordinary');
function fillToCaps() {
  for (const line of hostile(1, 200_000).lines) {
    pipeline.line(JSON.stringify(line), ORIGIN, ++n, 0);
    if (n % 5000 !== 0) continue;
    pipeline.tick(line.ts);
    tendHeap();
  }
  // Up to the cap of series, over all servers that have a label.
  for (let i = 0; pipeline.cells.series < 10_000 && i < 200_000; i++)
    pipeline.cells.touch('status_meaning', [`s${i % 60}`, '2025-11-25', String(300 + (i % 290)), 'other']);
}
/** Longer than anything is kept. */
function fillAsUsual() {
  const startTs = 1_793_577_600_000;
  const traffic = createTraffic({ seed: 1, rate: 500, startTs, writers: 4 });
  for (let ts = startTs + 1000; ts < startTs + 700_000; ts += 1000) {
    traffic.advance(ts, (text) => pipeline.line(text.trimEnd(), ORIGIN, ++n, 0));
    pipeline.tick(ts);
    tendHeap();
  }
}
if (isOrdinary) fillAsUsual();
else fillToCaps();

const folder = mkdtempSync(join(tmpdir(), 'tailfin-bench-'));
const slots = createSlots(folder);
await slots.load();
const say = (level, message) => console.log(level, message);
const checkpoint = createCheckpoint({ slots, pipeline, sources: [], gate: createGate(), since: Date.now(), say });
const exporter = createPrometheusExporter(pipeline.cells, {
  process: false,
  turn: createTurns(() => performance.now()),
});

const pauses = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) pauses.push(duration);
}).observe({ entryTypes: ['gc'] });
/** ms of CPU of this thread (the first of the process). */
const cpu = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
const held = [];
const worked = [];
let last = performance.now();
let lastCpu = cpu();
let isOver = false;
const watch = () => {
  const [now, nowCpu] = [performance.now(), cpu()];
  held.push(now - last);
  worked.push(nowCpu - lastCpu);
  [last, lastCpu] = [now, nowCpu];
  if (!isOver) setImmediate(watch);
};
const totals = [];
watch();
for (let i = 0; i < 5; i++) {
  const start = performance.now();
  let shot;
  await checkpoint.commit(async () => {
    pipeline.refresh();
    await nextTurn();
    shot = exporter.take();
  });
  const committed = performance.now() - start;
  await shot.render('text');
  totals.push(`${Math.round(committed)} + ${Math.round(performance.now() - start - committed)} ms`);
}
isOver = true;
const entries = [...pipeline.cells.families()].find(({ key }) => key === 'checkpoint_bytes');
console.log(`series ${pipeline.cells.series}, record ${(entries.cells[0].value / 1e6).toFixed(1)} MB`);
console.log(`commit + rendering: ${totals.join(', ')}`);
await new Promise((resolve) => setTimeout(resolve, 50));
const most = (all) => {
  all.sort((a, b) => b - a);
  return all
    .slice(0, 5)
    .map((ms) => ms.toFixed(1))
    .join(', ');
};
console.log(`event loop held, CPU of the thread: ${most(worked)} ms at most (goal ${GOAL_MS})`);
console.log(`event loop held, by the clock: ${most(held)} ms at most`);
console.log(`pauses of the garbage collector, by the clock: ${most(pauses)} ms at most, ${pauses.length} in all`);
const start = performance.now();
const restored = await restore(slots);
createPipeline().load(restored.parts);
console.log(`read back in ${Math.round(performance.now() - start)} ms`);
await slots.close();
rmSync(folder, { recursive: true });
process.exitCode = worked[0] <= GOAL_MS ? 0 : 1;
