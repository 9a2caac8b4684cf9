/** What cannot be read: one line in the status and one in the log, no block, no crash, and reading goes on when it can. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { chmodSync, mkdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { append, createRig, withoutPrivileges } from './tail-rig.ts';

interface Obstacle {
  readonly name: string;
  readonly put: (path: string, t: TestContext) => void | Promise<void>;
  readonly reason: string;
}

const OBSTACLES: readonly Obstacle[] = [
  { name: 'a folder', put: (path) => mkdirSync(path), reason: 'it is a directory, not a regular file' },
  { name: 'a FIFO', put: (path) => void execFileSync('mkfifo', [path]), reason: 'it is a FIFO, not a regular file' },
  {
    name: 'a socket',
    put: async (path, t) => {
      const server = createServer();
      t.after(() => server.close());
      await new Promise<void>((resolve) => server.listen(path, resolve));
    },
    reason: 'it is a socket, not a regular file',
  },
  {
    name: 'a link to nowhere',
    put: (path) => symlinkSync('nowhere', path),
    reason: 'no such file or directory (ENOENT)',
  },
  {
    name: 'a link to itself',
    put: (path) => symlinkSync('f.ndjson', path),
    reason: 'too many symbolic links encountered (ELOOP)',
  },
];

for (const { name, put, reason } of OBSTACLES) {
  test(`R22 ${name} in the place of a file`, async (t) => {
    const rig = createRig(t);
    const f = rig.path('f.ndjson');
    append(f, 0, 1);
    append(rig.path('good.ndjson'), 1, 1);
    rig.start();
    await rig.untilOnce(2);
    unlinkSync(f);
    await put(f, t);
    const fault = `cannot read ${f}: ${reason}`;
    await rig.until(() => rig.status().faults.length > 0, 'the fault');
    assert.deepEqual(rig.status().faults, [fault]);
    append(rig.path('good.ndjson'), 2, 1);
    await rig.untilOnce(3);

    rmSync(f, { recursive: true });
    append(f, 3, 1);
    await rig.untilOnce(4);
    await rig.until(() => rig.status().faults.length === 0, 'the fault gone');
    assert.equal(rig.logs.filter((line) => line === fault).length, 1, 'said once');
  });
}

test('tail faults: a folder is none where the pattern asks for anything', async (t) => {
  const rig = createRig(t, { globs: ['*', '**'] });
  mkdirSync(rig.path('folder'));
  append(rig.path('f'), 0, 1);
  rig.start();
  await rig.untilOnce(1);
  assert.deepEqual(rig.status().faults, []);
});

test('R23 a file without permission, then with', async (t) => {
  if (!withoutPrivileges(t)) return t.skip('needs another user');
  const clock = 5_000_000;
  const rig = createRig(t, { now: () => clock });
  const f = rig.path('f.ndjson');
  append(f, 0, 10);
  chmodSync(f, 0);
  rig.start();
  const fault = `cannot read ${f}: permission denied (EACCES)`;
  await rig.until(() => rig.status().faults.length > 0, 'the fault');
  assert.deepEqual(rig.status().faults, [fault]);
  assert.equal(rig.status().state, 'following', 'it holds nothing up');
  assert.equal(rig.status().lagBytes > 0, true);
  await rig.until(() => rig.watermarks.at(-1) === clock, 'time goes on without it');
  chmodSync(f, 0o600);
  await rig.untilOnce(10);
  assert.deepEqual(rig.status().faults, []);
  assert.deepEqual(
    rig.logs.filter((line) => line.includes(f)),
    [fault, `can read ${f} again`],
  );
});

test('tail faults: an empty file without permission, then with', async (t) => {
  if (!withoutPrivileges(t)) return t.skip('needs another user');
  const rig = createRig(t);
  const f = rig.path('f.ndjson');
  writeFileSync(f, '', { mode: 0 });
  rig.start();
  await rig.until(() => rig.status().faults.length > 0, 'the fault');
  chmodSync(f, 0o600);
  await rig.until(() => rig.status().faults.length === 0, 'the fault gone');
});

test('tail faults: a folder without permission says nothing about the files in it', async (t) => {
  if (!withoutPrivileges(t)) return t.skip('needs another user');
  const rig = createRig(t, { globs: ['in/*.ndjson'], graceMs: 0 });
  const folder = rig.path('in');
  mkdirSync(folder);
  append(rig.path('in/f.ndjson'), 0, 1);
  rig.start();
  await rig.untilOnce(1);
  chmodSync(folder, 0);
  await rig.until(() => rig.status().faults.length > 0, 'the fault');
  assert.deepEqual(rig.status().faults, [`cannot read ${folder}: permission denied (EACCES)`]);
  await rig.untilLooked();
  assert.equal(rig.status().files, 1);
  chmodSync(folder, 0o700);
  append(rig.path('in/f.ndjson'), 1, 1);
  await rig.untilOnce(2);
  await rig.until(() => rig.status().faults.length === 0, 'the fault gone');
});

test('tail faults: a folder that appears later, goes, and comes again', async (t) => {
  const clock = 5_000_000;
  const rig = createRig(t, { globs: ['in/*.ndjson'], now: () => clock, graceMs: 20 }).start();
  const folder = rig.path('in');
  const said = () => rig.logs.filter((line) => line === `events is waiting: ${folder} does not exist yet`).length;
  await rig.until(() => said() > 0, 'a word about waiting');
  await rig.untilLooked();
  assert.equal(said(), 1, 'said once');
  assert.deepEqual(rig.status(), {
    name: 'events',
    state: 'waiting',
    faults: [],
    isUp: false,
    files: 0,
    lagBytes: 0,
    lagSeconds: 0,
    tail: { openFiles: 0, unreadRotatedBytes: 0, backlogRatio: 1 },
  });
  assert.equal(rig.watermarks.at(-1), clock);
  mkdirSync(folder);
  append(rig.path('in/f.ndjson'), 0, 10);
  await rig.untilOnce(10);
  assert.equal(rig.status().state, 'following');

  unlinkSync(rig.path('in/f.ndjson'));
  rmdirSync(folder);
  await rig.until(() => said() === 2, 'waiting again');
  mkdirSync(folder);
  append(rig.path('in/f.ndjson'), 10, 10);
  await rig.untilOnce(20);
});

test('C10 no folder can be watched, polling does it all', async (t) => {
  const watch = t.mock.method(fs, 'watch', () => {
    throw Object.assign(new Error('ENOSPC: System limit for number of file watchers reached'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  t.after(() => {
    watch.mock.restore();
    syncBuiltinESMExports();
  });
  const rig = createRig(t);
  append(rig.path('f.ndjson'), 0, 1);
  rig.start();
  await rig.untilOnce(1);
  assert.ok(watch.mock.callCount() > 0);
  append(rig.path('f.ndjson'), 1, 1);
  append(rig.path('g.ndjson'), 2, 1);
  await rig.untilOnce(3);
  assert.deepEqual(rig.status().faults, []);
  assert.deepEqual(rig.logs, []);
});
