/**
 * A disk that hangs, as a file handle that never answers and a clock that the test drives: the record is given up in time, with the reason in
 * the metric; nothing is asked of the disk meanwhile, nothing newer than the last record is shown for a minute, and it goes on by itself.
 */
import assert from 'node:assert/strict';
import { type FileHandle, open } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { createCheckpoint, createGate } from '../../src/app/checkpoint/checkpoint.ts';
import { DISK_MS } from '../../src/app/checkpoint/patience.ts';
import { createSlots } from '../../src/app/checkpoint/slots.ts';
import { createExposition } from '../../src/app/exposition.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { createPrometheusExporter } from '../../src/exporters/prometheus.ts';
import { close, ORIGIN, sampleSum } from '../support/build-event.ts';
import { tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';

type Call = 'write' | 'datasync';

function rig(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const folder = tempFolder(t);
  let now = 0;
  let hangsAt: Call | undefined;
  const stuck: (() => void)[] = [];
  const hanging = <T>(call: Call, work: () => Promise<T>): Promise<T> =>
    call === hangsAt ? new Promise<void>((resolve) => stuck.push(resolve)).then(work) : work();
  const openSlow = async (path: string, flags: string, mode?: number): Promise<FileHandle> => {
    const file = await open(path, flags, mode);
    return new Proxy(file, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (key === 'write' || key === 'datasync')
          return (...args: unknown[]) =>
            hanging(key, () => Reflect.apply(value as () => Promise<unknown>, target, args));
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  const elapsed = () => now;
  const slots = createSlots(folder, { elapsed, open: openSlow });
  const pipeline = createPipeline();
  const { cells } = pipeline;
  const said: string[] = [];
  const gate = createGate();
  const say = (_level: string, _message: string, kind: string): void => void said.push(kind);
  const checkpoint = createCheckpoint({ slots, pipeline, sources: [], gate, since: 0, say, elapsed });
  const exporter = createPrometheusExporter(cells, { process: false });
  const exposition = createExposition({
    ...{ cells, exporter, refresh: pipeline.refresh, statuses: () => [], checkpoint, start: 'restored', holdMs: 0 },
    ...{ now: () => now, elapsed },
  });
  let line = 0;
  return {
    folder,
    gate,
    said,
    stuck,
    checkpoint,
    exposition,
    hang(call: Call | undefined) {
      hangsAt = call;
    },
    /** Lets time pass for clock and timers. */
    pass(ms: number) {
      now += ms;
      t.mock.timers.tick(ms);
    },
    release() {
      hangsAt = undefined;
      for (const resolve of stuck.splice(0)) resolve();
    },
    count: () => pipeline.line(JSON.stringify(close(`x${++line}`, line)), ORIGIN, line, 0),
    failures: () => sampleSum(cells.families(), 'tailfin_checkpoint_failures_total', { reason: 'slow' }),
    async shows(): Promise<number | string> {
      const scrape = await exposition.scrape('text');
      if ('notYet' in scrape) return scrape.notYet;
      return Number(/^tailfin_events_total\{.*type="close"\} (\d+)$/m.exec(scrape.text)?.[1]);
    },
    async stored() {
      const { found } = await createSlots(folder).load();
      return found.map(({ generation, isExposed }) => [generation, isExposed]);
    },
  };
}

const HANGS: readonly Call[] = ['write', 'datasync'];
for (const call of HANGS)
  test(`${call} that hangs: given up in time, counted, and the sources go on`, async (t) => {
    const { gate, checkpoint, stuck, failures, said, hang, pass, release, count, stored } = rig(t);
    count();
    assert.equal(await checkpoint.commit(), true);
    hang(call);
    count();
    const committed = checkpoint.commit();
    await until(() => stuck.length > 0);
    const asked = stuck.length;
    pass(DISK_MS - 1);
    assert.equal(failures(), 0);
    pass(1);
    assert.equal(await committed, false);
    assert.deepEqual([failures(), said.at(-1)], [1, 'checkpoint_failed']);
    assert.equal(gate.pause(), undefined, 'the sources go on');
    // Nobody waits for it again while it owes an answer, and nothing is written beside it.
    assert.equal(await checkpoint.commit(), false);
    assert.deepEqual([failures(), stuck.length], [2, asked]);
    release();
    await until(() => checkpoint.commit());
    assert.equal(said.at(-1), 'checkpoint_recovered');
    assert.deepEqual((await stored())[0], [2, false]);
  });

test('a disk that answers in time is not given up, however many answers are waited for at once', async (t) => {
  const { checkpoint, stuck, said, hang, pass, release, count } = rig(t);
  count();
  assert.equal(await checkpoint.commit(), true);
  hang('write');
  count();
  const committed = checkpoint.commit();
  await until(() => stuck.length === 2);
  pass(DISK_MS / 2 + 300);
  hang('datasync');
  for (const answer of stuck.splice(0)) answer();
  await until(() => stuck.length === 1);
  pass(1000);
  release();
  assert.equal(await committed, true, said.join());
});

test('what no record holds is not shown while the disk may still answer: the last numbers, then none, after a minute all the same', async (t) => {
  const { shows, count, hang, pass, said, stuck } = rig(t);
  count();
  assert.equal(await shows(), 1);
  hang('write');
  count();
  pass(2000);
  const asked = shows();
  await until(() => stuck.length > 0);
  pass(50);
  assert.equal(await asked, 1, 'it does not wait for the disk');
  pass(DISK_MS);
  assert.match(String(await shows()), /does not answer/);
  assert.ok(!said.includes('checkpoint_mark_failed'));
  pass(60_000);
  assert.equal(await shows(), 2);
  assert.ok(said.includes('checkpoint_mark_failed'));
});

test('a record that became whole after it was given up does not pass for what was shown later', async (t) => {
  const { shows, count, hang, pass, stuck, release, stored } = rig(t);
  count();
  assert.equal(await shows(), 1);
  hang('datasync');
  count();
  pass(20_000);
  const asked = shows();
  await until(() => stuck.length > 0);
  pass(DISK_MS);
  assert.match(String(await asked), /does not answer/);
  count();
  pass(60_000);
  assert.equal(await shows(), 3);
  release();
  await until(async () => (await stored()).every(([, isExposed]) => isExposed));
  assert.deepEqual(
    (await stored()).map(([generation]) => generation),
    [2, 1],
  );
});

test('after the stop nothing touches the folder: who asks late hears false', async (t) => {
  const { checkpoint, count, pass, stored } = rig(t);
  count();
  assert.equal(await checkpoint.commit(), true);
  const soon = checkpoint.commitSoon();
  await checkpoint.stop();
  assert.equal(await soon, false);
  const before = await stored();
  count();
  const late = checkpoint.commitSoon();
  pass(60_000);
  assert.deepEqual(
    [await checkpoint.commit(), await late, await checkpoint.exposeUncommitted()],
    [false, false, false],
  );
  assert.deepEqual(await stored(), before);
});
