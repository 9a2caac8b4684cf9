/**
 * The writer and the sidecar's file source together: every line once while segments rotate, losses to the event, and writers that
 * were killed. Real files, a real tail, and the pipeline behind it.
 */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createPipeline } from '../../../src/core/pipeline.ts';
import { SOURCES } from '../../../src/sources/index.ts';
import type { LineSink } from '../../../src/sources/source.ts';
import { sampleSum } from '../../support/build-event.ts';
import { until } from '../../support/until.ts';
import { emitMany, eventsIn, idle, openFolder, readSegments, startHost, testWriter } from './rig.ts';

/** A sidecar without its command line. Windows close when it is asked for its totals. */
function follow(t: TestContext, folder: string, options: { silentMs?: number; from?: 'beginning' | 'end' } = {}) {
  const pipeline = createPipeline();
  const arrived = new Map<string, number>();
  let looks = 0;
  const sink: LineSink = {
    line(text, origin, line, offset) {
      const { writer, seq } = JSON.parse(text) as { writer: string; seq?: number };
      if (seq !== undefined) arrived.set(`${writer} ${seq}`, (arrived.get(`${writer} ${seq}`) ?? 0) + 1);
      return pipeline.line(text, origin, line, offset);
    },
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
    silent: pipeline.silent,
    advance(_, watermark) {
      looks++;
      pipeline.tick(watermark);
    },
  };
  const source = SOURCES.file.create({
    ...{ name: 'files', host: 'h', globs: [join(folder, '*.ndjson')], from: 'beginning', maxLineBytes: 1024 * 1024 },
    ...{ log: () => {}, pollMs: 10, ...options },
  });
  const control = new AbortController();
  const running = source.run(sink, control.signal);
  t.after(async () => {
    control.abort();
    await running;
    await source.drain(sink, 0);
  });
  const sum = (name: string): number => sampleSum(pipeline.cells.families(), name);
  return {
    arrived,
    unclean: () => sum('tailfin_writers_unclean_total'),
    /** Until nothing is left to read. */
    async settle() {
      const seen = looks;
      await until(() => looks > seen + 3 && source.status().lagBytes === 0, { timeoutMs: 20_000, what: 'all is read' });
    },
    async totals() {
      control.abort();
      await running;
      await source.drain(sink, 20_000);
      pipeline.finish();
      return {
        events: sum('tailfin_events_total'),
        missing: sum('tailfin_events_missing_total'),
        rejected: sum('tailfin_events_rejected_total'),
      };
    },
  };
}

test('segments rotate under a tail: every seq arrives exactly once, nothing is missing', async (t) => {
  const folder = openFolder(t);
  const tail = follow(t, folder);
  const script = `const w = writer({ flushMs: 1, segmentBytes: 20000, flushBytes: 3000 });
    let n = 0; const more = () => { for (let i = 0; i < 25; i++) emit(w, n++); if (n < 10000) setTimeout(more, 1); }; more();`;
  const ends = await Promise.all([1, 2, 3].map(() => startHost(folder, script).ended));
  for (const { code, stderr } of ends) assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.ok(readdirSync(folder).length > 60, `${readdirSync(folder).length} files`);
  await until(() => tail.arrived.size === 30_000, { timeoutMs: 30_000, what: () => `${tail.arrived.size} arrived` });
  assert.deepEqual(await tail.totals(), { events: 30_000, missing: 0, rejected: 0 });
  assert.deepEqual([...new Set(tail.arrived.values())], [1]);
});

test('what was read before it was removed is not missing; what was not, is: to the event', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { segmentBytes: 20_000 });
  const emitSegments = async (from: number) => {
    for (let n = from; n < from + 1000; n += 50) {
      emitMany(writer, n, 50);
      await idle(writer);
    }
  };
  const tail = follow(t, folder);
  await emitSegments(0);
  await tail.settle();
  // Read, and removed as an operator or another writer's quota would do it; the newest one among them.
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  await emitSegments(1000);
  writer.close();
  await until(() => tail.arrived.size === 2000, { timeoutMs: 20_000, what: () => `${tail.arrived.size} arrived` });
  assert.deepEqual(await tail.totals(), { events: 2000, missing: 0, rejected: 0 });

  // A sidecar that begins only now has lost them.
  const late = follow(t, folder);
  await late.settle();
  assert.deepEqual(await late.totals(), { events: 1000, missing: 1000, rejected: 0 });
});

test('a quota that is too small for what nobody reads: arrived and missing make up what was numbered', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { quotaBytes: 60_000 });
  for (let n = 0; n < 3000; n += 30) {
    emitMany(writer, n, 30);
    await idle(writer);
  }
  writer.close();
  const there = eventsIn(readSegments(folder)).length;
  assert.ok(there < 500, `${there} lines are left`);
  const tail = follow(t, folder);
  await tail.settle();
  assert.deepEqual(await tail.totals(), { events: there, missing: 3000 - there, rejected: 0 });
});

test('a gap line is what was dropped before it had a number', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { bufferBytes: 10_000 });
  emitMany(writer, 0, 1000);
  const { dropped } = writer.stats();
  assert.ok(dropped > 500);
  writer.close();
  const tail = follow(t, folder);
  await tail.settle();
  assert.deepEqual(await tail.totals(), { events: 1000 - dropped + 1, missing: dropped, rejected: 0 });
});

test('a sidecar that begins at the end misses nothing of what was before', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { segmentBytes: 5000, flushBytes: 2000 });
  for (let n = 0; n < 200; n += 20) {
    emitMany(writer, n, 20);
    await idle(writer);
  }
  const tail = follow(t, folder, { from: 'end' });
  await tail.settle();
  for (let n = 200; n < 300; n += 20) {
    emitMany(writer, n, 20);
    await idle(writer);
  }
  writer.close();
  await tail.settle();
  assert.deepEqual(await tail.totals(), { events: 100, missing: 0, rejected: 0 });
});

test('a host that is killed is an unclean writer; one that is idle, one that ended and one that goes on are none', async (t) => {
  const folder = openFolder(t);
  const tail = follow(t, folder, { silentMs: 3000 });
  const idleScript = `const w = writer({ flushMs: 1, beatMs: 50 }); emit(w, 1); setInterval(() => {}, 1000);`;
  const hosts = {
    killed: startHost(folder, idleScript),
    idle: startHost(folder, idleScript),
    busy: startHost(folder, `const w = writer({ flushMs: 1 }); let n = 0; setInterval(() => emit(w, n++), 20);`),
    ended: startHost(folder, `emit(writer(), 1);`),
    terminated: startHost(folder, idleScript),
  };
  t.after(() => {
    for (const { child } of Object.values(hosts)) child.kill('SIGKILL');
  });
  await hosts.ended.ended;
  await until(() => readdirSync(folder).length === 5 && eventsIn(readSegments(folder)).length > 20, {
    timeoutMs: 30_000,
  });
  hosts.killed.child.kill('SIGKILL');
  hosts.terminated.child.kill('SIGTERM');
  await until(() => tail.unclean() === 2, { timeoutMs: 30_000, what: 'two are counted' });
  // As long again: whoever lives is not counted.
  const enough = performance.now() + 3000;
  await until(() => performance.now() > enough, { timeoutMs: 30_000 });
  assert.equal(tail.unclean(), 2);
});
