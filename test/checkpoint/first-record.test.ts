/**
 * The records of a life that has not shown anything yet: what they are worth to the next one, and what scrapes get before, beside and after
 * them, on a clock that the test drives.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createCheckpoint, createGate, type Gate } from '../../src/app/checkpoint/checkpoint.ts';
import { restore, type Start } from '../../src/app/checkpoint/restore.ts';
import { createSlots } from '../../src/app/checkpoint/slots.ts';
import { createExposition, type Scrape } from '../../src/app/exposition.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { createPrometheusExporter, type PrometheusExporter } from '../../src/exporters/prometheus.ts';
import type { SourceStatus } from '../../src/sources/source.ts';
import { close, ORIGIN } from '../support/build-event.ts';
import { tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';

interface Stage {
  readonly start: Start;
  /** What was read of the bytes that were there at start. */
  readonly backlogRatio: number;
}

function rig(t: TestContext, stage: Stage) {
  const folder = tempFolder(t);
  let now = 0;
  let { backlogRatio } = stage;
  let recordMs = 0;
  const isOpenAtRender: boolean[] = [];
  const pipeline = createPipeline();
  const { cells } = pipeline;
  const gate: Gate = createGate();
  const slots = createSlots(folder);
  // A record takes as long as the test says.
  const timed = {
    ...slots,
    write: async (...args: Parameters<typeof slots.write>) => {
      const bytes = await slots.write(...args);
      now += recordMs;
      return bytes;
    },
  };
  const isBehind = stage.start !== 'restored';
  const elapsed = () => now;
  const checkpoint = createCheckpoint({
    ...{ slots: timed, pipeline, sources: [], gate, since: 0, isBehind, say: () => {}, elapsed },
  });
  t.after(() => checkpoint.stop());
  const plain = createPrometheusExporter(cells, { process: false });
  const exporter: PrometheusExporter = {
    ...plain,
    take(isHeld) {
      const shot = plain.take(isHeld);
      return {
        render(format) {
          isOpenAtRender.push(gate.pause() === undefined);
          return shot.render(format);
        },
      };
    },
  };
  const statuses = (): SourceStatus[] => [
    {
      ...{ name: 'files', state: 'replaying', faults: [], isUp: true, files: 1, lagBytes: 9, lagSeconds: 0 },
      tail: { openFiles: 1, unreadRotatedBytes: 0, backlogRatio },
    },
  ];
  const exposition = createExposition({
    ...{ cells, exporter, refresh: pipeline.refresh, statuses, checkpoint, start: stage.start, hold: gate.close },
    ...{ holdMs: 0, now: elapsed, elapsed },
  });
  let line = 0;
  return {
    gate,
    exposition,
    count: () => pipeline.line(JSON.stringify(close(`x${++line}`, line)), ORIGIN, line, 0),
    pass: (ms: number) => {
      now += ms;
    },
    recordsTake: (ms: number) => {
      recordMs = ms;
    },
    readAll: () => {
      backlogRatio = 1;
    },
    rendered: () => isOpenAtRender.splice(0),
    shows: async (): Promise<number | string> => shown(await exposition.scrape('text')),
    /** How the next life would begin. */
    next: async () => (await restore(createSlots(folder))).start,
  };
}

const shown = (scrape: Scrape): number | string =>
  'notYet' in scrape
    ? scrape.notYet
    : Number(/^tailfin_events_total\{.*type="close"\} (\d+)$/m.exec(scrape.text)?.[1] ?? 0);

for (const start of ['behind', 'unusable'] as const)
  test(`${start}: a crash before all is read again begins behind once more, whatever was written meanwhile`, async (t) => {
    const { exposition, count, shows, readAll, next } = rig(t, { start, backlogRatio: 0.5 });
    count();
    await exposition.renew();
    assert.equal(await next(), 'behind');
    assert.match(String(await shows()), /^reading what was there at the start/);
    count();
    readAll();
    assert.equal(await shows(), 2);
    assert.equal(await next(), 'restored');
  });

test('where records take long, a scrape is answered with the last durable numbers, and its record follows the answer', async (t) => {
  const { exposition, count, pass, recordsTake, shows, next } = rig(t, { start: 'restored', backlogRatio: 0.5 });
  recordsTake(51);
  count();
  await exposition.renew();
  assert.equal(await next(), 'restored');
  count();
  assert.equal(await shows(), 1, 'shared');
  pass(1000);
  assert.equal(await shows(), 1, 'not waited for');
  await until(async () => (await shows()) === 2);
  // None is under way any more.
  await exposition.renew();
  recordsTake(5);
  count();
  pass(1000);
  assert.equal(await shows(), 2);
  await until(async () => (await shows()) === 3);
  await exposition.renew();
  count();
  pass(1000);
  assert.equal(await shows(), 4, 'records are short again: waited for');
  recordsTake(51);
  count();
  pass(10_000);
  assert.equal(await shows(), 5, 'what is older than 10 s is not shown, however long it takes');
});

test('sources wait while an answer is made, and go on', async (t) => {
  const { gate, count, shows, rendered } = rig(t, { start: 'restored', backlogRatio: 0.5 });
  count();
  assert.equal(await shows(), 1);
  assert.deepEqual(rendered(), [false]);
  assert.equal(gate.pause(), undefined);
});

test('a gate is open when all who closed it have opened it, each once', async () => {
  const gate = createGate();
  const [first, second] = [gate.close(), gate.close()];
  const waits = gate.pause();
  assert.ok(waits !== undefined);
  first();
  first();
  assert.equal(gate.pause(), waits);
  second();
  await waits;
  assert.equal(gate.pause(), undefined);
  const third = gate.close();
  second();
  assert.ok(gate.pause() !== undefined, 'those of before do not open it');
  third();
  assert.equal(gate.pause(), undefined);
});
