/**
 * The folder or the disk fails: the host notices nothing, what was numbered arrives once and in order, and what was not is told by a
 * `gap` line when writing works again. Disk full is a real one (a small tmpfs) where this user may mount; access is tested as
 * another user, since modes do not hold root back. Calls that fail on command (EMFILE, ENOSPC in the middle of a line) are replaced ones.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nodeFiles } from '../../../src/tap/writer/files.ts';
import { until } from '../../support/until.ts';
import {
  assertInOrder,
  dropsIn,
  emitMany,
  eventsIn,
  failing,
  filesWith,
  idle,
  isRoot,
  NOBODY,
  openFolder,
  readSegments,
  startHost,
  testWriter,
} from './rig.ts';

/** A file system of so many bytes, or undefined where this user may not mount. */
function smallDisk(t: TestContext, size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=1777`, 'tmpfs', folder]).status === 0;
  t.after(() => {
    if (mounted) spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  return mounted ? folder : undefined;
}

test('a full disk: lines wait, the rest is dropped and told, nothing is torn or doubled', async (t) => {
  const folder = smallDisk(t, '256k');
  if (folder === undefined) return t.skip('skipped: needs mount');
  const ballast = join(folder, 'ballast');
  writeFileSync(ballast, Buffer.alloc(240_000));
  const writer = testWriter(t, folder, { bufferBytes: 50_000, flushBytes: 10_000 });
  emitMany(writer, 0, 1000);
  await until(() => writer.stats().failure === 'disk_full', { what: 'the disk is full' });
  emitMany(writer, 1000, 1000);
  const { dropped, events } = writer.stats();
  assert.ok(dropped > 0);
  assert.equal(events + dropped, 2000);
  rmSync(ballast);
  await idle(writer);
  emitMany(writer, 2000, 10);
  writer.close();
  const files = readSegments(folder);
  assertInOrder(files);
  assert.equal(dropsIn(files), dropped);
  const gaps = eventsIn(files).filter(({ type }) => type === 'gap');
  assert.deepEqual(
    gaps.map(({ reason }) => reason),
    ['disk_full'],
  );
  assert.equal(eventsIn(files).length - gaps.length + dropped, 2010);
  assert.equal(files.at(-1)!.lines.at(-1)!.dropped, dropped);
});

test('a volume smaller than the quota: the oldest segments make room, as at the quota', async (t) => {
  const folder = smallDisk(t, '256k');
  if (folder === undefined) return t.skip('skipped: needs mount');
  const writer = testWriter(t, folder, { segmentBytes: 30_000 });
  for (let n = 0; n < 6000; n += 50) {
    emitMany(writer, n, 50);
    await idle(writer);
  }
  assert.deepEqual([writer.stats().dropped, writer.stats().events], [0, 6000]);
  writer.close();
  const files = readSegments(folder);
  const [first] = eventsIn(files);
  assert.ok(files.length > 2 && (first!.seq as number) > 3000);
  assert.deepEqual(
    eventsIn(files).map(({ seq }) => (seq as number) - (first!.seq as number)),
    eventsIn(files).map((_, i) => i),
  );
});

test('a disk that is full to the end: the host ends as ever, with its own exit code and one line on stderr', async (t) => {
  const folder = smallDisk(t, '64k');
  if (folder === undefined) return t.skip('skipped: needs mount');
  const host = startHost(
    folder,
    `const w = writer({ flushMs: 1 });
     let n = 0;
     const more = () => { for (let i = 0; i < 500; i++) emit(w, n++); n < 20000 ? setTimeout(more, 1) : process.exit(7); };
     more();`,
  );
  const { code, stdout, stderr } = await host.ended;
  assert.deepEqual({ code, stdout }, { code: 7, stdout: '' });
  assert.match(stderr, /^tailfin-tap: cannot write to \S+ \(ENOSPC\); events are dropped, the host is not affected\n$/);
});

test('no access, no folder: the host of another user is not affected; one line, no file', async (t) => {
  if (!isRoot) return t.skip('skipped: needs root');
  const folder = openFolder(t);
  const closed = join(folder, 'closed');
  mkdirSync(closed, { mode: 0o755 });
  for (const [place, code] of [
    [closed, 'EACCES'],
    ['/nonexistent/volume/events', 'ENOENT'],
  ] as const) {
    const script = `const w = writer({ flushMs: 1 }); for (let i = 0; i < 100; i++) emit(w, i);
      setTimeout(() => console.log('host done'), 30);`;
    const { code: exit, stdout, stderr } = await startHost(place, script, { uid: NOBODY }).ended;
    assert.deepEqual({ exit, stdout }, { exit: 0, stdout: 'host done\n' });
    assert.match(stderr, new RegExp(`^tailfin-tap: cannot write to ${place} \\(${code}\\);.*\\n$`));
  }
  assert.deepEqual(readdirSync(closed), []);
  assert.ok(!existsSync('/nonexistent'));
});

test('access comes back: what waited is written, what did not fit is a gap', async (t) => {
  if (!isRoot) return t.skip('skipped: needs root');
  const folder = openFolder(t);
  chmodSync(folder, 0o755);
  const host = startHost(
    folder,
    `const w = writer({ flushMs: 1, bufferBytes: 20000 });
     for (let i = 0; i < 1000; i++) emit(w, i);
     console.log(w.stats().dropped);
     const wait = setInterval(() => { if (w.stats().failure) console.log(w.stats().failure);
       else if (w.stats().buffered === 0) { clearInterval(wait); } }, 5);`,
    { uid: NOBODY },
  );
  await until(() => host.stdout().includes('no_access'), { what: 'no access' });
  chmodSync(folder, 0o1777);
  assert.equal((await host.ended).code, 0);
  const dropped = Number(host.stdout().split('\n')[0]);
  const files = readSegments(folder);
  assertInOrder(files);
  assert.ok(dropped > 0);
  assert.equal(dropsIn(files), dropped);
  assert.equal(eventsIn(files).length, 1000 - dropped + 1);
  assert.equal(statSync(join(folder, files[0]!.name)).uid, NOBODY);
});

test('a deleted folder is made again, for every user, where the one above is there', async (t) => {
  const above = openFolder(t);
  const folder = join(above, 'events');
  const writer = testWriter(t, folder);
  emitMany(writer, 0, 3);
  await idle(writer);
  assert.equal(statSync(folder).mode & 0o7777, 0o1777);
  rmSync(folder, { recursive: true });
  emitMany(writer, 3, 3);
  await idle(writer);
  writer.close();
  const [file, ...more] = readSegments(folder);
  assert.deepEqual(more, []);
  assert.deepEqual(
    eventsIn([file!]).map(({ seq }) => seq),
    [3, 4, 5],
  );
  assert.match(String(file!.lines[0]!.prev), /-0$/);
});

test('a folder that is not there at the last moment is made then', async (t) => {
  const folder = join(openFolder(t), 'events');
  const { code } = await startHost(folder, `emit(writer(), 1); process.exit(3)`).ended;
  assert.equal(code, 3);
  assertInOrder(readSegments(folder));
  assert.equal(eventsIn(readSegments(folder)).length, 1);
});

test('a removed segment is given up before the next write; an idle writer notices by itself', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { beatMs: 10 });
  emitMany(writer, 0, 5);
  await idle(writer);
  rmSync(join(folder, `${writer.stats().writer}-0.ndjson`));
  await until(() => readdirSync(folder).length === 1, { what: 'a new segment without an event' });
  emitMany(writer, 5, 5);
  await idle(writer);
  rmSync(join(folder, `${writer.stats().writer}-1.ndjson`));
  emitMany(writer, 10, 5);
  writer.close();
  const [file] = readSegments(folder);
  assert.equal(file!.name, `${writer.stats().writer}-2.ndjson`);
  // The numbers 0 to 9 are missed by their numbers: no gap line says it a second time.
  assert.deepEqual(
    eventsIn([file!]).map(({ seq, type }) => `${seq} ${type}`),
    [10, 11, 12, 13, 14].map((n) => `${n} close`),
  );
});

test('a segment that is removed while a part of a line is in it: the line comes whole in the next one', async (t) => {
  const folder = openFolder(t);
  let failAt = 2;
  const files = filesWith({
    async write(fd, bytes, position) {
      if (--failAt === 0) return nodeFiles.write(fd, bytes.subarray(0, 250), position);
      if (failAt === -1) {
        rmSync(join(folder, `${writer.stats().writer}-0.ndjson`));
        throw failing('ENOSPC');
      }
      return nodeFiles.write(fd, bytes, position);
    },
  });
  const writer = testWriter(t, folder, { files });
  emitMany(writer, 0, 10);
  await idle(writer);
  writer.close();
  const events = eventsIn(readSegments(folder));
  assert.equal(events[0]!.seq, 1, 'the first line was whole in the removed file');
  assert.equal(events.length, 9);
});

for (const [code, reason] of [
  ['EMFILE', 'no_descriptor'],
  ['EIO', 'io_error'],
  ['EROFS', 'no_access'],
] as const)
  test(`${code} at opening is a gap of ${reason} when it is over, and no seq is lost`, async (t) => {
    const folder = openFolder(t);
    let isBroken = true;
    const files = filesWith({
      create: (path) => (isBroken ? Promise.reject(failing(code)) : nodeFiles.create(path)),
    });
    const said: string[] = [];
    const writer = testWriter(t, folder, { files, bufferBytes: 5000, complain: (text) => said.push(text) });
    emitMany(writer, 0, 10);
    await until(() => writer.stats().failure === reason, { what: reason });
    emitMany(writer, 10, 100);
    const { dropped } = writer.stats();
    isBroken = false;
    await idle(writer);
    writer.close();
    const files2 = readSegments(folder);
    assertInOrder(files2);
    assert.equal(dropsIn(files2), dropped);
    assert.equal(eventsIn(files2).find(({ type }) => type === 'gap')!.reason, reason);
    assert.match(said[0]!, new RegExp(`\\(${code}\\)`));
  });

test('the host closes our descriptor and gets its number for a file of its own: that file stays as it is', async (t) => {
  const folder = openFolder(t);
  const fds: number[] = [];
  const files = filesWith({
    async create(path) {
      const fd = await nodeFiles.create(path);
      fds.push(fd);
      return fd;
    },
  });
  const writer = testWriter(t, folder, { files });
  emitMany(writer, 0, 3);
  await idle(writer);
  const mine = join(folder, 'of the host');
  writeFileSync(mine, 'untouched');
  closeSync(fds[0]!);
  const fd = openSync(mine, 'r+');
  assert.equal(fd, fds[0]);
  emitMany(writer, 3, 3);
  await idle(writer);
  writer.close();
  assert.equal(readFileSync(mine, 'utf8'), 'untouched');
  closeSync(fd);
  assertInOrder(readSegments(folder));
  assert.equal(eventsIn(readSegments(folder)).length, 6);
});

test('a disk that answers nothing: memory stays bounded, what does not fit is dropped', async (t) => {
  const folder = openFolder(t);
  let go = () => {};
  const stalled = new Promise<void>((resolve) => {
    go = resolve;
  });
  const files = filesWith({ write: (fd, bytes, position) => stalled.then(() => nodeFiles.write(fd, bytes, position)) });
  const writer = testWriter(t, folder, { files });
  emitMany(writer, 0, 500_000);
  const { buffered, dropped, events } = writer.stats();
  assert.ok(buffered <= 1024 * 1024, `${buffered} bytes wait`);
  assert.ok(buffered > 1024 * 1024 - 1000, `${buffered} bytes wait`);
  assert.equal(events + dropped, 500_000);
  go();
  await idle(writer);
  writer.close();
  assert.equal(dropsIn(readSegments(folder)), dropped);
  assert.equal(eventsIn(readSegments(folder)).find(({ type }) => type === 'gap')!.reason, 'buffer_full');
});

test('what has no JSON is a drop like any other and never an exception', (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder);
  const round: { list?: unknown } = {};
  round.list = round;
  writer.emit('close', round as never);
  emitMany(writer, 0, 1);
  writer.close();
  writer.emit('close', { exchange: 'after the end' });
  assert.deepEqual(
    eventsIn(readSegments(folder)).map(({ type, reason, dropped }) => [type, reason, dropped]),
    [
      ['close', undefined, undefined],
      ['gap', 'bad_event', 1],
    ],
  );
});
