// What a checkpoint costs with every store at its cap: how long the event loop is held at most, the whole of it, its size; and reading it back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCheckpoint, createGate } from '../src/app/checkpoint/checkpoint.ts';
import { restore } from '../src/app/checkpoint/restore.ts';
import { createSlots } from '../src/app/checkpoint/slots.ts';
import { holdYoungGeneration, keepHeapSmall } from '../src/app/memory.ts';
import { createPipeline } from '../src/core/pipeline.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { ORIGIN } from '../test/support/build-event.ts';
import { hostile } from '../test/support/hostile.ts';

const GOAL_MS = 50;
// As the sidecar does.
keepHeapSmall();
const pipeline = createPipeline();
let n = 0;
for (const line of hostile(1, 200_000).lines) {
  pipeline.line(JSON.stringify(line), ORIGIN, ++n, 0);
  if (n % 5000 === 0) pipeline.tick(line.ts);
  if (n % 5000 === 0) holdYoungGeneration();
}
// Up to the cap of series, over all servers that have a label.
for (let i = 0; pipeline.cells.series < 10_000 && i < 200_000; i++)
  pipeline.cells.touch('status_meaning', [`s${i % 60}`, '2025-11-25', String(300 + (i % 290)), 'other']);

const folder = mkdtempSync(join(tmpdir(), 'tailfin-bench-'));
const slots = createSlots(folder);
await slots.load();
const say = (level, message) => console.log(level, message);
const checkpoint = createCheckpoint({ slots, pipeline, sources: [], gate: createGate(), say });
const exporter = createPrometheusExporter(pipeline.cells, { process: false });

const held = [];
let last = performance.now();
let isOver = false;
const watch = () => {
  const now = performance.now();
  held.push(now - last);
  last = now;
  if (!isOver) setImmediate(watch);
};
const totals = [];
watch();
for (let i = 0; i < 5; i++) {
  const start = performance.now();
  let shot;
  await checkpoint.commit(() => {
    pipeline.refresh();
    shot = exporter.take();
  });
  const committed = performance.now() - start;
  await shot.render('text');
  totals.push(`${Math.round(committed)} + ${Math.round(performance.now() - start - committed)} ms`);
}
isOver = true;
held.sort((a, b) => b - a);
const entries = [...pipeline.cells.families()].find(({ key }) => key === 'checkpoint_bytes');
console.log(`series ${pipeline.cells.series}, record ${(entries.cells[0].value / 1e6).toFixed(1)} MB`);
console.log(`commit + rendering: ${totals.join(', ')}`);
console.log(
  `event loop held: ${held
    .slice(0, 5)
    .map((ms) => ms.toFixed(1))
    .join(', ')} ms at most (goal ${GOAL_MS})`,
);
const start = performance.now();
const restored = await restore(slots);
createPipeline().load(restored.parts);
console.log(`read back in ${Math.round(performance.now() - start)} ms`);
await slots.close();
rmSync(folder, { recursive: true });
process.exitCode = held[0] <= GOAL_MS ? 0 : 1;
