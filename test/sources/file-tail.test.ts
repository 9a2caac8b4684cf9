/** Rotation, truncation and everything else that happens to files that are read; the numbers are those of the rotation matrix. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { type TestContext, test } from 'node:test';
import { append, createRig, lines, openDescriptors, type RigOptions, tempFolder } from './tail-rig.ts';

/** A running tail that has read lines 0..499 of `f.ndjson`. */
async function startedRig(t: TestContext, options: RigOptions = {}) {
  const rig = createRig(t, options);
  append(rig.path('f.ndjson'), 0, 500);
  rig.start();
  await rig.untilOnce(500);
  return { rig, f: rig.path('f.ndjson') };
}

test('tail: what is there, then what is appended', async (t) => {
  const { rig, f } = await startedRig(t);
  append(f, 500, 1);
  await rig.untilOnce(501);
  assert.deepEqual(rig.delivered.at(-1), {
    text: '{"n":500,"ts":0}',
    writer: f,
    line: 501,
    offset: lines(0, 500).length,
  });
  assert.equal(rig.status().state, 'following');
  assert.equal(rig.status().lagBytes, 0);
});

test('tail: renamed and created anew (R1)', async (t) => {
  const { rig, f } = await startedRig(t);
  renameSync(f, `${f}.1`);
  append(f, 500, 500);
  await rig.untilOnce(1000);
});

test('tail: the writer goes on with the renamed file (R2)', async (t) => {
  const { rig, f } = await startedRig(t);
  const writer = openSync(f, 'a');
  renameSync(f, `${f}.1`);
  append(f, 500, 1);
  await rig.untilOnce(501);
  writeSync(writer, lines(501, 499));
  closeSync(writer);
  append(f, 1000, 500);
  await rig.untilOnce(1500);
});

test('tail: a renamed file is given up when it was quiet long enough, and not read again when it comes back', async (t) => {
  const { rig, f } = await startedRig(t, { graceMs: 50 });
  renameSync(f, `${f}.1`);
  await rig.until(() => rig.status().files === 0 && openDescriptors(rig.folder) === 0, 'the renamed file given up');
  append(`${f}.1`, 500, 1);
  renameSync(`${f}.1`, f);
  await rig.untilOnce(501);
});

test('tail: two renames between two looks (R3)', async (t) => {
  const { rig, f } = await startedRig(t, { globs: ['*.ndjson*'] });
  // Without a pause, so that the reader has no turn in between.
  append(f, 500, 100);
  renameSync(f, `${f}.1`);
  append(f, 600, 100);
  renameSync(`${f}.1`, `${f}.2`);
  renameSync(f, `${f}.1`);
  append(f, 700, 100);
  await rig.untilOnce(800);
});

test('tail: names that move on in a ring (R4)', async (t) => {
  const { rig, f } = await startedRig(t, { globs: ['*.ndjson*'], graceMs: 0 });
  for (let step = 0; step < 3; step++) {
    rmSync(`${f}.2`, { force: true });
    if (step > 0) renameSync(`${f}.1`, `${f}.2`);
    renameSync(f, `${f}.1`);
    append(f, 500 + step * 10, 10);
    await rig.untilOnce(510 + step * 10);
  }
});

test('tail: renamed, compressed and removed while unread (R5)', async (t) => {
  const rig = createRig(t, { globs: ['*'] });
  const f = rig.path('f.ndjson');
  append(f, 0, 1);
  rig.start();
  await rig.untilOnce(1);
  append(f, 1, 99);
  copyFileSync(f, `${f}.gz`);
  unlinkSync(f);
  await rig.untilOnce(100);
  await rig.untilLooked();
  assert.deepEqual(rig.delivered.length, 100, 'the compressed file is not read');
});

test('tail: truncated, with an appending writer (R6)', async (t) => {
  const { rig, f } = await startedRig(t);
  truncateSync(f);
  await rig.until(() => rig.logs.some((line) => line.includes('truncated')), 'the truncation seen');
  append(f, 500, 500);
  await rig.untilOnce(1000);
  assert.equal(rig.delivered[500]?.line, 1);
  assert.equal(rig.delivered[500]?.offset, 0);
});

for (const { name, count } of [
  { name: 'past the old end (R7)', count: 700 },
  { name: 'to exactly the old size (R8)', count: 500 },
]) {
  test(`tail: truncated and grown again between two looks ${name}`, async (t) => {
    const rig = createRig(t);
    const f = rig.path('f.ndjson');
    append(f, 1000, 500);
    rig.start();
    await rig.until(() => rig.delivered.length === 500, 'the old lines');
    await rig.untilLooked();
    writeFileSync(f, lines(2000, count));
    await rig.until(() => rig.delivered.length >= 500 + count, 'the new lines');
    const texts = rig.delivered.map(({ text }) => `${text}\n`).join('');
    assert.equal(texts, lines(1000, 500) + lines(2000, count));
  });
}

test('tail: truncated, with a writer that leaves a NUL run (R9)', async (t) => {
  const { rig, f } = await startedRig(t);
  const writer = openSync(f, 'r+');
  t.after(() => closeSync(writer));
  ftruncateSync(writer);
  writeSync(writer, lines(500, 100), statSync(f).size + 8000);
  await rig.untilOnce(600);
  assert.deepEqual(rig.rejects, []);
});

test('tail: half a line when renamed, completed in the renamed file (R10)', async (t) => {
  const { rig, f } = await startedRig(t);
  appendFileSync(f, '{"n":5');
  renameSync(f, `${f}.1`);
  append(f, 501, 1);
  await rig.until(() => rig.delivered.length === 501, 'the line of the new file');
  appendFileSync(`${f}.1`, '00,"ts":0}\n');
  await rig.untilOnce(502);
  assert.deepEqual(rig.rejects, []);
});

test('tail: half a line that is never completed is one reject, and not glued to the new file (R11)', async (t) => {
  const { rig, f } = await startedRig(t, { graceMs: 50 });
  appendFileSync(f, '{"n":');
  renameSync(f, `${f}.1`);
  append(f, 500, 1);
  await rig.untilOnce(501);
  await rig.until(() => rig.rejects.length > 0, 'the reject');
  assert.deepEqual(rig.rejects, [`incomplete 501 ${lines(0, 500).length}`]);
  assert.equal(rig.status().files, 1);
});

test('tail: half a line, then truncated', async (t) => {
  const { rig, f } = await startedRig(t);
  appendFileSync(f, '{"n":');
  await rig.untilLooked();
  writeFileSync(f, lines(500, 1));
  await rig.untilOnce(501);
  assert.deepEqual(rig.rejects, [`incomplete 501 ${lines(0, 500).length}`]);
});

test('tail: half a line survives a restart (R12)', async (t) => {
  const { rig, f } = await startedRig(t);
  appendFileSync(f, '{"n":5');
  await rig.untilLooked();
  await rig.stop();
  await rig.drain();
  assert.deepEqual(rig.rejects, []);
  const again = createRig(t, { folder: rig.folder, resume: rig.tail.state() });
  appendFileSync(f, '00,"ts":0}\n');
  again.start();
  await again.until(() => again.delivered.length === 1, 'the line');
  assert.deepEqual(again.delivered, [{ text: '{"n":500,"ts":0}', writer: f, line: 501, offset: lines(0, 500).length }]);
});

test('tail: removed while open (R13)', async (t) => {
  const { rig, f } = await startedRig(t, { graceMs: 200 });
  const writer = openSync(f, 'a');
  unlinkSync(f);
  writeSync(writer, lines(500, 500));
  closeSync(writer);
  await rig.untilOnce(1000);
  await rig.until(() => openDescriptors(rig.folder) === 0 && rig.status().files === 0, 'the removed file closed');
  assert.deepEqual(rig.tail.state().files, [], 'nothing can lead to it again');
  assert.equal(rig.status().state, 'waiting');
});

test('tail: removed and created anew, open (R14)', async (t) => {
  const { rig, f } = await startedRig(t);
  unlinkSync(f);
  append(f, 500, 500);
  await rig.untilOnce(1000);
});

test('tail: removed and created anew with the same inode while its descriptor was taken away', async (t) => {
  const { rig, f } = await startedRig(t, { maxOpenFiles: 1 });
  append(rig.path('g.ndjson'), 500, 1);
  await rig.untilOnce(501);
  await rig.untilLooked();
  unlinkSync(f);
  append(f, 501, 700);
  await rig.untilOnce(1201);
});

test('tail: files with an equal beginning are different files (R16)', async (t) => {
  const rig = createRig(t).start();
  for (const name of ['a.ndjson', 'b.ndjson']) append(rig.path(name), 0, 100);
  await rig.until(() => rig.delivered.length === 200, 'both');
  assert.equal(new Set(rig.delivered.map(({ writer }) => writer)).size, 2);
});

test('tail: two names of one file are read once', async (t) => {
  const { rig, f } = await startedRig(t);
  linkSync(f, rig.path('hard.ndjson'));
  symlinkSync(f, rig.path('soft.ndjson'));
  append(f, 500, 1);
  await rig.untilOnce(501);
  unlinkSync(f);
  await rig.untilLooked();
  append(rig.path('hard.ndjson'), 501, 1);
  await rig.untilOnce(502);
  assert.equal(rig.status().files, 1);
  assert.deepEqual(rig.status().faults, [`cannot read ${rig.path('soft.ndjson')}: no such file or directory (ENOENT)`]);
});

test('tail: replaced by a rename over it (R19)', async (t) => {
  const { rig, f } = await startedRig(t);
  append(rig.path('tmp'), 500, 500);
  renameSync(rig.path('tmp'), f);
  await rig.untilOnce(1000);
});

test('tail: a link that is led to another file (R20)', async (t) => {
  const rig = createRig(t, { globs: ['current'] });
  append(rig.path('s1'), 0, 10);
  symlinkSync('s1', rig.path('current'));
  rig.start();
  await rig.untilOnce(10);
  append(rig.path('s2'), 10, 10);
  symlinkSync('s2', rig.path('next'));
  renameSync(rig.path('next'), rig.path('current'));
  append(rig.path('s1'), 20, 10);
  await rig.untilOnce(30);
});

test('tail: a line without its end waits (R24)', async (t) => {
  const rig = createRig(t).start();
  const f = rig.path('f.ndjson');
  writeFileSync(f, '');
  await rig.until(() => rig.status().files === 1, 'the file');
  appendFileSync(f, '{"n":0,"ts":0}');
  await rig.untilLooked();
  assert.equal(rig.delivered.length, 0);
  assert.equal(rig.status().lagBytes, 0);
  appendFileSync(f, '\n');
  await rig.untilOnce(1);
});

test('tail: many files, few descriptors (R26)', async (t) => {
  const maxOpenFiles = 16;
  const rig = createRig(t, { maxOpenFiles, graceMs: 50 });
  const name = (i: number) => rig.path(`f${i}.ndjson`);
  for (let i = 0; i < 300; i++) append(name(i), i, 1);
  rig.start();
  await rig.untilOnce(300);
  assert.ok(openDescriptors(rig.folder) <= maxOpenFiles);
  for (let i = 0; i < 300; i++) append(name(i), 300 + i, 1);
  await rig.untilOnce(600);
  assert.ok(openDescriptors(rig.folder) <= maxOpenFiles);
  for (let i = 0; i < 300; i++) renameSync(name(i), rig.path(`g${i}.ndjson`));
  await rig.untilLooked();
  append(rig.path('g7.ndjson'), 600, 1);
  await rig.untilOnce(601);
  assert.equal(rig.status().files, 300);
  assert.equal(rig.delivered.at(-1)?.line, 3);
});

test('tail: a line over the limit between others (R27)', async (t) => {
  const rig = createRig(t, { maxLineBytes: 1000, sliceBytes: 512 });
  writeFileSync(rig.path('f.ndjson'), `${lines(0, 1)}${'x'.repeat(100_000)}\n${lines(1, 1)}`);
  rig.start();
  await rig.untilOnce(2);
  assert.deepEqual(rig.rejects, [`oversize 2 ${lines(0, 1).length}`]);
});

test('tail: a slice boundary anywhere makes no difference (R32)', async (t) => {
  const folder = tempFolder(t);
  const content = `${lines(0, 3)}{"n":3,"text":"€😀"}\r\n${lines(4, 3)}`;
  writeFileSync(`${folder}/f.ndjson`, content);
  for (let sliceBytes = 1; sliceBytes < 40; sliceBytes++) {
    const rig = createRig(t, { folder, sliceBytes });
    await rig.drain();
    assert.equal(rig.delivered.map(({ text }) => text).join('\n'), content.trimEnd().replace('\r', ''));
  }
});

test('tail: reading from the end', async (t) => {
  const folder = tempFolder(t);
  const [f, late, long] = ['f', 'late', 'long'].map((name) => `${folder}/${name}.ndjson`) as [string, string, string];
  writeFileSync(f, `${lines(0, 500)}{"n":`);
  writeFileSync(long, 'x'.repeat(5000));
  const rig = createRig(t, { folder, from: 'end', maxLineBytes: 1000 }).start();
  await rig.until(() => rig.status().state === 'following', 'the end');
  appendFileSync(f, `0,"ts":0}\n${lines(1, 1)}`);
  append(late, 2, 1);
  appendFileSync(long, `x\n${lines(3, 1)}`);
  await rig.untilOnce(4);
  assert.deepEqual(rig.rejects, ['oversize 1 3998'], 'the unfinished long line');
  assert.equal(rig.delivered.find(({ text }) => text.includes('"n":0'))?.offset, lines(0, 500).length);
});

test('tail: positions that were restored', async (t) => {
  const { rig, f } = await startedRig(t);
  const moved = rig.path('moved.ndjson');
  append(moved, 500, 10);
  await rig.untilOnce(510);
  await rig.stop();
  await rig.drain();
  const state = rig.tail.state();
  assert.equal(state.files.length, 2);

  renameSync(moved, `${moved}.away`);
  writeFileSync(f, lines(0, 1)); // shorter than before
  append(rig.path('new.ndjson'), 1, 1);
  const again = createRig(t, { folder: rig.folder, resume: state, from: 'end' }).start();
  await again.untilOnce(2);
  assert.ok(
    again.tail.state().files.some((position) => position.path === moved && position.offset > 0),
    'a file that is not here yet keeps its position',
  );
  renameSync(`${moved}.away`, rig.path('back.ndjson'));
  append(rig.path('back.ndjson'), 2, 1);
  await again.untilOnce(3);
  assert.equal(again.delivered.at(-1)?.writer, moved, 'the writer is the first name');
  assert.equal(again.delivered.at(-1)?.line, 11);
});

test('tail: positions of absent files are kept while their folder is missing, then up to a limit', async (t) => {
  const mark = { bytes: 0, hash: '' };
  const files = Array.from({ length: 3000 }, (_, i) => ({
    ...{ path: `/gone/${i}`, name: `/gone/${i}`, dev: '1', ino: String(i), birthtimeNs: '1' },
    ...{ offset: 10, line: 2, size: 10, proved: 10, head: mark, tail: mark, newestTs: null },
  }));
  const resume = { version: 1, watermark: null, newestTs: null, unstableBirth: [], files } as const;
  const rig = createRig(t, { globs: ['in/*'], resume }).start();
  await rig.untilLooked();
  assert.equal(rig.tail.state().files.length, 3000);
  mkdirSync(rig.path('in'));
  await rig.until(() => rig.tail.state().files.length < 3000, 'the oldest forgotten');
  assert.deepEqual(rig.tail.state().files, files.slice(-1024));
});

test('tail: drain reads to the end, within its budget', async (t) => {
  const rig = createRig(t, { sliceBytes: 64 });
  append(rig.path('f.ndjson'), 0, 500);
  await rig.tail.drain(rig.sink, 0);
  assert.equal(rig.delivered.length, 0);
  await rig.drain();
  await rig.untilOnce(500);
  assert.equal(openDescriptors(rig.folder), 0);
  assert.equal(readFileSync(rig.path('f.ndjson')).length, rig.tail.state().files[0]?.offset);
});

test('tail: several globs, nested folders that appear later', async (t) => {
  const rig = createRig(t, { globs: ['a/*.ndjson', 'b/**/*.log', 'c/exact[.]name', 'a/one.ndjson'] }).start();
  await rig.until(() => rig.logs.length > 0, 'a word about waiting');
  mkdirSync(rig.path('a'));
  append(rig.path('a/one.ndjson'), 0, 1);
  mkdirSync(rig.path('b/deep/er'), { recursive: true });
  append(rig.path('b/deep/er/two.log'), 1, 1);
  append(rig.path('b/three.log'), 2, 1);
  append(rig.path('b/other.txt'), 9, 1);
  mkdirSync(rig.path('c'));
  append(rig.path('c/exact.name'), 3, 1);
  await rig.untilOnce(4);
});

test('tail: of lines of two bytes no turn reads more than 1,024; order and positions are exact', async (t) => {
  const perTurn = new Map<string, number>();
  let turn = () => 0;
  const rig = createRig(t, {
    onLine: (text) => void perTurn.set(`${text} ${turn()}`, (perTurn.get(`${text} ${turn()}`) ?? 0) + 1),
  });
  turn = () => rig.watermarks.length;
  const count = 20 * 1024;
  for (const name of ['x', 'y']) writeFileSync(rig.path(`${name}.ndjson`), `${name}\n`.repeat(count));
  rig.start();
  await rig.until(() => rig.delivered.length >= 2 * count, 'all lines');
  assert.equal(Math.max(...perTurn.values()), 1024);
  const turns = new Set([...perTurn.keys()].map((key) => key.split(' ')[1]));
  assert.equal(turns.size, perTurn.size, 'one file a turn');
  for (const name of ['x', 'y']) {
    const own = rig.delivered.filter(({ text }) => text === name);
    assert.equal(own.length, count);
    assert.ok(own.every(({ line, offset }, i) => line === i + 1 && offset === 2 * i));
  }
  await rig.stop();
  assert.deepEqual(
    rig.tail.state().files.map(({ offset, line }) => [offset, line]),
    [
      [2 * count, count + 1],
      [2 * count, count + 1],
    ],
  );
});
