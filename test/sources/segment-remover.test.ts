/** Which segments of a tap are removed after they were read, and that nothing else ever is. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  readdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createDrivenRig, type DrivenOptions, lineOf } from './driven-rig.ts';
import { NOBODY, tempFolder, withoutPrivileges } from './tail-rig.ts';

const MINUTE = 60_000;
const WRITER = 'a'.repeat(32);

const head = (n: number, ts: number, writer = WRITER) =>
  `{"v":1,"type":"segment","ts":${ts},"writer":"${writer}","id":"${writer}-${n}","n":${n}}\n`;
const end = (n: number, ts: number) =>
  `{"v":1,"type":"end","ts":${ts},"writer":"${WRITER}","id":"${WRITER}-${n}","events":1,"dropped":0}\n`;

function createRemoverRig(t: TestContext, options: Partial<DrivenOptions> = {}) {
  const rig = createDrivenRig({ folder: tempFolder(t), removesSegments: true, ...options });
  t.after(rig.stop);
  // The wall clock of the test begins where that of the files is.
  rig.clock.now = Date.now();
  const name = (n: number) => `${WRITER}-${n}.ndjson`;
  return {
    ...rig,
    name,
    segment(n: number, isEnded: boolean) {
      const ts = rig.clock.now;
      writeFileSync(rig.path(name(n)), head(n, ts) + lineOf(n, ts) + (isEnded ? end(n, ts) : ''));
    },
    exists: (n: number) => existsSync(rig.path(name(n))),
  };
}

test('segments: one that has ended is removed 10 min after its end, once it was read', async (t) => {
  const rig = createRemoverRig(t);
  rig.segment(0, true);
  rig.segment(1, false);
  await rig.settle();
  await rig.look(9 * MINUTE);
  assert.ok(rig.exists(0));
  await rig.look(2 * MINUTE);
  assert.deepEqual([rig.exists(0), rig.exists(1)], [false, true]);
  assert.equal(rig.counted('segments_removed'), 1);
  assert.equal(rig.counted('lost_rotated_bytes'), 0);
  assert.deepEqual(
    rig.state().files.map(({ name }) => name),
    [rig.path(rig.name(1))],
  );
  assert.deepEqual(rig.logs, []);
});

test('segments: with commits it stays until what was read of it is durable', async (t) => {
  const rig = createRemoverRig(t, { hasCommits: true });
  rig.segment(0, true);
  await rig.settle();
  await rig.look(60 * MINUTE);
  assert.ok(rig.exists(0));
  rig.committed();
  await rig.look();
  assert.ok(!rig.exists(0));
});

test('segments: with commits, one that an earlier run had read is removed without being read again', async (t) => {
  const rig = createRemoverRig(t, { hasCommits: true });
  rig.segment(0, true);
  await rig.settle();
  rig.resume(rig.keep());
  await rig.look(60 * MINUTE);
  assert.ok(!rig.exists(0));
  assert.equal(rig.delivered.length, 3);
});

test('segments: without its end it is removed when its writer gave no sign of life for 15 min of watching', async (t) => {
  const rig = createRemoverRig(t);
  rig.segment(0, false);
  appendFileSync(rig.path(rig.name(0)), '{"n":');
  await rig.settle();
  for (let looks = 0; looks < 80; looks++) await rig.look(10_000);
  assert.ok(rig.exists(0), 'not yet');
  utimesSync(rig.path(rig.name(0)), new Date(), new Date(Date.now() + 5000)); // a sign of life
  await rig.settle();
  for (let looks = 0; looks < 80; looks++) await rig.look(10_000);
  assert.ok(rig.exists(0), 'not yet again');
  for (let looks = 0; looks < 20; looks++) await rig.look(10_000);
  assert.ok(!rig.exists(0));
  assert.equal(rig.silent.length, 2, 'after 10 min, before and after it');
  assert.equal(rig.rejects.length, 1, 'its unfinished line is counted');
});

test('segments: other files are never removed, whatever they look like', async (t) => {
  const rig = createRemoverRig(t);
  const now = rig.clock.now;
  const other = `${'b'.repeat(32)}-0.ndjson`;
  writeFileSync(rig.path('foreign.ndjson'), lineOf(0, now));
  writeFileSync(rig.path(`${'c'.repeat(32)}-0.ndjson`), lineOf(1, now)); // the name alone
  writeFileSync(rig.path('named.ndjson'), head(7, now) + end(7, now)); // the content alone
  rig.segment(0, true);
  copyFileSync(rig.path(rig.name(0)), rig.path(other)); // the name of one, the content of another
  await rig.settle();
  await rig.look(60 * MINUTE);
  for (let looks = 0; looks < 120; looks++) await rig.look(10_000);
  assert.deepEqual(readdirSync(rig.folder).sort(), [
    other,
    `${'c'.repeat(32)}-0.ndjson`,
    'foreign.ndjson',
    'named.ndjson',
  ]);
});

test('segments: nothing is removed where it is switched off, or while it is unread', async (t) => {
  const off = createRemoverRig(t, { removesSegments: false });
  off.segment(0, true);
  await off.settle();
  await off.look(60 * MINUTE);
  assert.ok(off.exists(0));
  const unread = createRemoverRig(t);
  unread.segment(0, true);
  await unread.look(60 * MINUTE);
  await unread.look();
  assert.ok(unread.exists(0));
});

test('segments: where the folder lets only the owner remove, they stay, which is said once', async (t) => {
  const rig = createRemoverRig(t);
  rig.segment(0, true);
  rig.segment(1, true);
  if (process.geteuid?.() === 0) {
    chmodSync(rig.folder, 0o1777);
    chownSync(rig.folder, 0, 0);
  }
  if (process.geteuid?.() !== 0 || !withoutPrivileges(t)) return t.skip('needs the superuser, to become another user');
  assert.notEqual(NOBODY, 0);
  await rig.settle();
  for (let looks = 0; looks < 5; looks++) await rig.look(11 * MINUTE);
  process.seteuid?.(0);
  assert.ok(rig.exists(0) && rig.exists(1));
  assert.deepEqual(rig.logs, [`segments that were read stay in ${rig.folder}: operation not permitted (EPERM)`]);
});

test('segments: 10,000 that were left over cost one reading, then a look at their names', async (t) => {
  const rig = createRemoverRig(t, { removesSegments: false });
  const COUNT = 10_000;
  for (let n = 0; n < COUNT; n++) rig.segment(n, true);
  await rig.settle();
  assert.equal(rig.delivered.length, 3 * COUNT);
  const kept = rig.keep();
  rig.resume(kept);
  const before = process.cpuUsage();
  const started = performance.now();
  await rig.look();
  const first = performance.now() - started;
  const sweeps = 5;
  for (let i = 0; i < sweeps; i++) await rig.look();
  const used = process.cpuUsage(before);
  const cpuMs = (used.user + used.system) / 1000 / (sweeps + 1);
  while (rig.turn());
  assert.equal(rig.delivered.length, 3 * COUNT, 'nothing is read again');
  assert.equal(rig.status().tail?.openFiles, 0, 'and nothing opened');
  t.diagnostic(
    `${cpuMs.toFixed(0)} ms of CPU a sweep (first ${first.toFixed(0)} ms), ${kept.state.length} bytes of state`,
  );
  assert.ok(cpuMs < 1000, `${cpuMs} ms of CPU a sweep`);
});
