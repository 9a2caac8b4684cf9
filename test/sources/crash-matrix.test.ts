/**
 * The crash cases C1 to C11 of the rotation matrix, as far as they are the file source's: it is dropped and goes on from the state that
 * was kept, with the counts that were kept with it. C2, C4 and C9 are cases of whoever keeps the state.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFileTailState } from '../../src/sources/file-state.ts';
import { dice } from '../support/random.ts';
import { createDrivenRig, createNumbers } from './driven-rig.ts';
import { matrix } from './matrix-rig.ts';
import { append, createRig, tempFolder } from './tail-rig.ts';

const F = 'f.ndjson';

test('C1 killed again and again between reading and keeping: what was kept never shrinks, all is read once', async (t) => {
  const { int, chance } = dice('C1');
  const rig = createDrivenRig({ folder: tempFolder(t), sliceBytes: 512 });
  t.after(rig.stop);
  const numbers = createNumbers(rig);
  let kept = rig.keep();
  for (let round = 0; round < 200; round++) {
    numbers.append(F, int(40));
    if (chance(0.1)) renameSync(rig.path(F), rig.path(`old${round}.ndjson`));
    await rig.look();
    for (let turns = int(20); turns > 0; turns--) rig.turn();
    if (chance(0.6)) {
      const next = rig.keep();
      assert.ok(next.delivered >= kept.delivered);
      kept = next;
    }
    for (let turns = int(5); turns > 0; turns--) rig.turn();
    rig.resume(kept);
  }
  await rig.settle();
  assert.equal(rig.delivered.length, numbers.count());
  assert.equal(new Set(rig.delivered).size, numbers.count());
});

test('C3 C5 a stored state that is broken, empty, of another version or incomplete is refused with a reason', async (t) => {
  const rig = createDrivenRig({ folder: tempFolder(t) });
  t.after(rig.stop);
  createNumbers(rig).append(F, 1);
  await rig.settle();
  const good = JSON.parse(JSON.stringify(rig.state()));
  assert.deepEqual(readFileTailState(good), good);
  const [file] = good.files;
  const broken: readonly (readonly [unknown, string])[] = [
    [undefined, 'it is no object'],
    [null, 'it is no object'],
    ['\0\0\0\u0000758', 'it is no object'],
    [{}, 'version undefined is not 1'],
    [{ ...good, version: 2 }, 'version 2 is not 1'],
    [{ ...good, watermark: 'x' }, 'a time is no number'],
    [{ ...good, unstableBirth: [1] }, 'unstableBirth is no list of devices'],
    [{ ...good, files: {} }, 'files is no list'],
    [{ ...good, files: [file, { ...file, offset: -1 }] }, 'files[1] is no position'],
    [{ ...good, files: [{ ...file, tail: null }] }, 'files[0] is no position'],
    [{ ...good, files: [{ ...file, segment: { id: 1 } }] }, 'files[0] is no position'],
  ];
  for (const [value, reason] of broken) assert.equal(readFileTailState(value), reason);
});

matrix('C6', 'the clock steps an hour back and forth', async (c) => {
  c.append(F, 300);
  await c.read();
  for (const step of [-3_600_000, 7_200_000, -3_600_000]) {
    c.clock.now += step;
    c.append(F, 100);
    await c.seen();
  }
  await c.finish();
  c.assertOnce();
  assert.equal(c.counted('truncations'), 0);
});

matrix('C7', 'a writer whose disk was full goes on in the middle of a line', async (c) => {
  c.append(F, 100);
  appendFileSync(c.path(F), '{"n":');
  await c.read();
  appendFileSync(c.path(F), '\n');
  c.append(F, 100);
  await c.finish();
  const broken = c.delivered.filter((text) => text === '{"n":');
  assert.equal(broken.length, 1, 'one broken line, which the decoder rejects');
  assert.equal(c.delivered.length, 201);
});

test('C8 three processes append whole lines of 500 bytes to 1 MiB to one file: each once, none torn', async (t) => {
  const rig = createRig(t, { maxLineBytes: 2 * 1024 * 1024 });
  const f = rig.path(F);
  writeFileSync(f, '');
  rig.start();
  const each = 60;
  const code = `
    const { openSync, writeSync } = require('node:fs');
    const fd = openSync(process.argv[1], 'a');
    const from = Number(process.argv[2]);
    for (let i = 0; i < ${each}; i++) {
      const length = i % 20 === 0 ? 1048000 : 500 + (i * 7919) % 60000;
      writeSync(fd, '{"n":' + (from + i) + ',"ts":0,"x":"' + 'x'.repeat(length) + '"}\\n');
    }`;
  const ended = [0, 1, 2].map(
    (i) =>
      new Promise<void>((resolve, reject) => {
        const child = spawn(process.execPath, ['-e', code, f, String(i * each)], {
          stdio: ['ignore', 'ignore', 'inherit'],
        });
        child.on('error', reject);
        child.on('close', (status) =>
          status === 0 ? resolve() : reject(new Error(`the writer ended with ${status}`)),
        );
      }),
  );
  await Promise.all(ended);
  await rig.untilOnce(3 * each);
  assert.deepEqual(rig.rejects, []);
});

test('C10 every event of the folder watch is lost: the next scan finds it all', async (t) => {
  // The driven rig has no watch at all: a file that is cold, one that is new, one that was renamed.
  const rig = createDrivenRig({ folder: tempFolder(t), globs: ['*'], maxOpenFiles: 1 });
  t.after(rig.stop);
  const numbers = createNumbers(rig);
  numbers.append('a', 10);
  numbers.append('b', 10);
  await rig.settle();
  await rig.look(600_000);
  numbers.append('a', 10);
  renameSync(rig.path('b'), rig.path('c'));
  numbers.append('c', 10);
  numbers.append('d', 10);
  await rig.look(250);
  await rig.look(4 * 250);
  while (rig.turn());
  assert.equal(new Set(rig.delivered).size, numbers.count());
  assert.equal(rig.delivered.length, numbers.count());
});

test('C11 stopped within its budget in the middle of a backlog, then on from the state, once', async (t) => {
  const rig = createRig(t, { sliceBytes: 4096, onLine: (text) => void (text.includes('"n":100,') && stop()) });
  let stop = () => {};
  append(rig.path(F), 0, 20_000);
  const stopped = new Promise<void>((resolve) => {
    stop = () => void rig.stop().then(resolve);
  });
  rig.start();
  await stopped;
  await rig.tail.drain(rig.sink, 0);
  const count = rig.delivered.length;
  assert.ok(count > 100 && count < 20_000, `${count} lines`);
  assert.ok((rig.status().tail?.backlogRatio ?? 1) < 1);
  const state = JSON.parse(JSON.stringify(rig.tail.state()));
  const again = createRig(t, { folder: rig.folder, resume: state }).start();
  await again.until(() => again.delivered.length >= 20_000 - count, 'the rest');
  const all = [...rig.delivered, ...again.delivered];
  assert.equal(all.length, 20_000);
  assert.ok(all.every(({ line, text }, i) => line === i + 1 && text.includes(`"n":${i},`)));
});
