/** One quota for all writers of a folder: what is removed, what is not, and what happens when nothing may be. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Writer } from '../../../src/tap/writer/writer.ts';
import { until } from '../../support/until.ts';
import {
  assertInOrder,
  dropsIn,
  emitMany,
  eventsIn,
  idle,
  isRoot,
  NOBODY,
  openFolder,
  readSegments,
  startHost,
  testWriter,
} from './rig.ts';

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

/** A segment of somebody else. */
function plant(folder: string, digit: string, size: number, ended: boolean, ageMs: number): string {
  const name = `${digit.repeat(32)}-0.ndjson`;
  const end = ended
    ? '{"v":1,"type":"end","ts":1,"writer":"w","events":0,"dropped":0}\n'
    : '{"v":1,"type":"open","ts":1}\n';
  writeFileSync(join(folder, name), `${'#'.repeat(size - end.length - 1)}\n${end}`);
  const at = (Date.now() - ageMs) / 1000;
  utimesSync(join(folder, name), at, at);
  return name;
}

test('the oldest ended segments go first, then the oldest silent ones; others and foreign files stay', async (t) => {
  const folder = openFolder(t);
  const HOUR = 3_600_000;
  const live = plant(folder, 'a', 10_000, false, 1000);
  const silent = plant(folder, 'b', 10_000, false, 20 * HOUR);
  const oldEnded = plant(folder, 'c', 10_000, true, 3 * HOUR);
  const newEnded = plant(folder, 'd', 10_000, true, HOUR);
  const foreign = ['app.ndjson', 'notes.txt', `${'e'.repeat(32)}.ndjson`];
  for (const name of foreign) writeFileSync(join(folder, name), '#'.repeat(50_000));
  const has = (name: string) => readdirSync(folder).includes(name);
  const writer = testWriter(t, folder, { quotaBytes: 50_000 });
  let n = 0;
  const emitBytes = async (until: () => boolean) => {
    for (; !until() && n < 3000; n += 5) {
      emitMany(writer, n, 5);
      await idle(writer);
    }
  };
  await emitBytes(() => !has(oldEnded));
  assert.deepEqual([oldEnded, newEnded, silent, live].map(has), [false, true, true, true]);
  await emitBytes(() => !has(newEnded));
  assert.deepEqual([newEnded, silent, live].map(has), [false, true, true]);
  const own = (): number => readdirSync(folder).filter((name) => name.startsWith(writer.stats().writer)).length;
  // Its own ended segments are ended ones like any other: they make room before a silent one does.
  await emitBytes(() => !has(silent) || n > 1500);
  assert.deepEqual([silent, live].map(has), [true, true]);
  assert.ok(own() < writer.stats().segments);
  for (const name of foreign) assert.equal(statSync(join(folder, name)).size, 50_000);
  writer.close();
});

test('a silent segment goes where no ended one is left', async (t) => {
  const folder = openFolder(t);
  const silent = plant(folder, 'b', 90_000, false, 20 * 60_000);
  const live = plant(folder, 'a', 9000, false, 60_000);
  const writer = testWriter(t, folder, { quotaBytes: 100_000 });
  emitMany(writer, 0, 50);
  await idle(writer);
  assert.equal(writer.stats().failure, undefined);
  assert.deepEqual(
    [silent, live].map((name) => readdirSync(folder).includes(name)),
    [false, true],
  );
});

test('several processes at their quota: it holds, no host is affected, and every loss can be told by the numbers', async (t) => {
  const folder = openFolder(t);
  const quota = 400_000;
  const script = `const w = writer({ quotaBytes: ${quota}, flushMs: 1 });
    let n = 0;
    const more = () => { for (let i = 0; i < 40; i++) emit(w, n++);
      n < 8000 ? setTimeout(more, 1) : console.log(JSON.stringify(w.stats())); };
    more();`;
  const hosts = [1, 2, 3, 4].map(() => startHost(folder, script));
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, bytesIn(folder));
  }, 5);
  const ends = await Promise.all(hosts.map(({ ended }) => ended));
  clearInterval(watch);
  // Four buffers may be more than what is left for a moment.
  for (const { code, stderr } of ends) {
    assert.equal(code, 0);
    assert.match(stderr, /^(tailfin-tap: .*\(QUOTA\).*\n)?$/);
  }
  // Each may be a step (a 64th) and a buffer (an eighth) ahead of the others' look.
  assert.ok(most < quota * 1.7, `${most} bytes`);
  assert.ok(most > quota * 0.5, `${most} bytes`);
  const files = readSegments(folder);
  for (const { stdout } of ends) {
    const { writer, events, dropped } = JSON.parse(stdout) as { writer: string; events: number; dropped: number };
    // Gap lines have numbers too, and may be in what was removed.
    assert.ok(events + dropped >= 8000 + gapsOf(files, writer), stdout);
    const mine = files.filter(({ name }) => name.startsWith(writer));
    const lines = eventsIn(mine);
    const seqs = lines.map(({ seq }) => seq as number);
    // A loss that was not told yet when the host printed its count is told by one more line at its end.
    const told = lines.filter(({ seq }) => (seq as number) >= events);
    assert.ok(told.length <= 1 && told.every(({ type }) => type === 'gap'), JSON.stringify(told));
    assert.equal(seqs.at(-1) ?? -1, seqs.length === 0 ? -1 : events - 1 + told.length, 'the newest lines are there');
    for (let i = 1; i < seqs.length; i++) assert.ok(seqs[i]! > seqs[i - 1]!);
  }
});

test('many writers with little each: who holds a segment and writes no more gives way to who comes later', async (t) => {
  const folder = openFolder(t);
  const quotaBytes = 40_000;
  const writers: Writer[] = [];
  // One after the other: 45 of them fill the quota, with segments that are neither ended nor silent.
  for (let n = 0; n < 60; n++) {
    const writer = testWriter(t, folder, { quotaBytes, beatMs: 50 });
    writers.push(writer);
    emitMany(writer, 0, 5);
    await idle(writer);
  }
  assert.ok(bytesIn(folder) < quotaBytes + 1500, `${bytesIn(folder)} bytes`);
  // All at once, again and again.
  for (let n = 5; n < 30; n += 5) {
    for (const writer of writers) emitMany(writer, n, 5);
    await Promise.all(writers.map((writer) => idle(writer, 60_000)));
  }
  for (const writer of writers) assert.equal(writer.stats().failure, undefined);
  // All look at the same moment here: each may be what it writes at once over the quota. 300,000 bytes were written.
  assert.ok(bytesIn(folder) < quotaBytes + 60 * 1500, `${bytesIn(folder)} bytes`);
});

const gapsOf = (files: ReturnType<typeof readSegments>, writer: string): number =>
  eventsIn(files).filter((line) => line.writer === writer && line.type === 'gap').length;

test('a folder filled by another user, where nothing may be removed: dropped, told, and going on when there is room', async (t) => {
  if (!isRoot) return t.skip('skipped: needs root');
  const folder = openFolder(t);
  const theirs = plant(folder, 'a', 50_000, true, 1000);
  chownSync(folder, 0, 0);
  chmodSync(folder, 0o1777);
  const script = `const w = writer({ quotaBytes: 50000, flushMs: 1 });
    for (let n = 0; n < 1000; n++) emit(w, n);
    const wait = setInterval(() => { const s = w.stats(); console.log(s.failure, s.dropped);
      if (s.buffered === 0) clearInterval(wait); }, 5);`;
  const host = startHost(folder, script, { uid: NOBODY });
  await until(() => /^quota \d+$/m.test(host.stdout()), { timeoutMs: 20_000, what: 'the quota' });
  assert.deepEqual(readdirSync(folder), [theirs]);
  writeFileSync(join(folder, theirs), '');
  const { code, stderr } = await host.ended;
  assert.equal(code, 0);
  assert.match(stderr, /^tailfin-tap: .*\(QUOTA\).*\n$/);
  const files = readSegments(folder).filter(({ name }) => name !== theirs);
  assertInOrder(files);
  assert.equal(dropsIn(files) + eventsIn(files).length - 1, 1000);
  assert.equal(eventsIn(files).find(({ type }) => type === 'gap')!.reason, 'quota');
});

test('processes too short to flush keep to the quota too, and to a number of files', async (t) => {
  const folder = openFolder(t);
  for (let i = 0; i < 1100; i++)
    writeFileSync(join(folder, `${i.toString(16).padStart(32, '0')}-0.ndjson`), '{"v":1,"type":"end","ts":1}\n');
  const { code, stderr } = await startHost(folder, 'emit(writer(), 1); process.exit(0)').ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const names = readdirSync(folder);
  assert.ok(names.length <= 1024, `${names.length} files`);
  const own = names.filter((name) => readFileSync(join(folder, name), 'utf8').includes('"x1"'));
  assert.equal(own.length, 1);
});
