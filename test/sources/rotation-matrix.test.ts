/**
 * The rotation matrix: what a rotating, truncating or renaming writer may do to its files, with the reader idle, busy, stopped and
 * killed meanwhile. Every line once; what is lost by nature is counted. R22 and R23 are in blocked-files.test.ts, R25 to R32 in
 * line-matrix.test.ts.
 */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
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
import { gzipSync } from 'node:zlib';
import { lineOf, numberOf } from './driven-rig.ts';
import { type Case, matrix } from './matrix-rig.ts';
import { NOBODY, untilClockMoves, withoutPrivileges } from './tail-rig.ts';

const F = 'f.ndjson';
const ALL = { globs: ['*'] };

/** Those of the first lines that were not delivered. */
function undelivered(c: Case, count: number): number[] {
  const seen = new Set(c.delivered.map(numberOf));
  return Array.from({ length: count }, (_, n) => n).filter((n) => !seen.has(n));
}
const NO_REUSE = 'needs a file system that gives the inode of a removed file to the next one (ext4)';
/** Removes the file and makes it anew with the same inode. False: the file system did not give it again. */
function recreate(path: string, text: string): boolean {
  const { ino } = statSync(path);
  // Another process may get it in between; then the next but one is as good.
  for (let tries = 0; tries < 100; tries++) {
    unlinkSync(path);
    writeFileSync(path, '');
    if (statSync(path).ino !== ino) continue;
    appendFileSync(path, text);
    return true;
  }
  return false;
}
const sizeOf = (c: Case, numbers: readonly number[]): number =>
  numbers.reduce((sum, n) => sum + lineOf(n, c.clock.now).length, 0);

matrix('R1', 'renamed and created anew', async (c) => {
  c.append(F, 500);
  await c.read();
  renameSync(c.path(F), c.path('f.1'));
  c.append(F, 500);
  await c.finish();
  c.assertOnce();
  assert.equal(c.counted('lost_rotated_bytes'), 0);
});

matrix('R2', 'the writer goes on with the renamed file', async (c) => {
  c.append(F, 500);
  await c.read();
  const writer = openSync(c.path(F), 'a');
  renameSync(c.path(F), c.path('f.1'));
  c.append(F, 1);
  await c.seen();
  writeSync(writer, c.text(500));
  closeSync(writer);
  c.append(F, 499);
  await c.finish();
  c.assertOnce();
});

matrix(
  'R3',
  'renamed twice between two looks',
  async (c) => {
    c.append(F, 500);
    await c.read();
    c.append(F, 100);
    renameSync(c.path(F), c.path('f.1'));
    c.append(F, 100);
    renameSync(c.path('f.1'), c.path('f.2'));
    renameSync(c.path(F), c.path('f.1'));
    c.append(F, 100);
    await c.finish();
    c.assertOnce();
  },
  ALL,
);

matrix(
  'R4',
  'names that move on in a ring',
  async (c) => {
    c.append(F, 500);
    await c.read();
    for (let step = 0; step < 3; step++) {
      if (existsSync(c.path('f.1'))) renameSync(c.path('f.1'), c.path(`f.${step + 1}`));
      renameSync(c.path(F), c.path('f.1'));
      c.append(F, 10);
      await c.seen();
    }
    await c.finish();
    c.assertOnce();
  },
  ALL,
);

matrix(
  'R5',
  'renamed, compressed and removed',
  async (c) => {
    c.append(F, 500);
    await c.read();
    renameSync(c.path(F), c.path('f.1'));
    writeFileSync(c.path('f.1.gz'), gzipSync(readFileSync(c.path('f.1'))));
    unlinkSync(c.path('f.1'));
    c.append(F, 1);
    await c.finish();
    if (c.variant !== 'killed') return c.assertOnce();
    // Nobody held the file when it went away: what was unread is counted to the byte.
    const lost = undelivered(c, 500);
    assert.ok(lost.length > 0 && lost.length < 500);
    c.assertOnce(lost);
    assert.equal(c.counted('lost_rotated_bytes'), sizeOf(c, lost));
  },
  ALL,
);

matrix('R6', 'copied and truncated, with an appending writer', async (c) => {
  c.append(F, 500);
  await c.read();
  const writer = openSync(c.path(F), 'a');
  copyFileSync(c.path(F), c.path('f.1'));
  truncateSync(c.path(F));
  writeSync(writer, c.text(500));
  closeSync(writer);
  await c.finish();
  // What the reader had not come to is lost by nature; of what it knew to be there the bytes are counted.
  const lost = undelivered(c, 500);
  c.assertOnce(lost);
  assert.equal(c.counted('truncations'), 1);
  assert.equal(lost.length > 0, c.variant === 'busy' || c.variant === 'killed');
  const counted = c.counted('lost_truncated_bytes');
  assert.ok(counted <= sizeOf(c, lost) && counted > 0 === lost.length > 0, `${counted} bytes`);
});

for (const [id, what, more] of [
  ['R7', 'truncated and grown past the old place between two looks', 200],
  ['R8', 'truncated and grown to exactly the old size', 0],
] as const) {
  matrix(
    id,
    what,
    async (c) => {
      // Numbers of the same width, so that as many lines are as many bytes.
      const text = (from: number, count: number) =>
        Array.from({ length: count }, (_, i) => lineOf(from + i, c.clock.now)).join('');
      const [before, after] = [text(1000, 500), text(5000, 500 + more)];
      writeFileSync(c.path(F), before);
      await c.read();
      await untilClockMoves(c.path(F));
      writeFileSync(c.path(F), after);
      assert.equal(statSync(c.path(F)).size - before.length, text(7000, more).length);
      await c.finish();
      assert.equal(c.delivered.map((line) => `${line}\n`).join(''), before + after);
      assert.equal(c.counted('truncations'), 1);
    },
    { variants: ['idle', 'stopped'] },
  );
}

matrix(
  'R9',
  'truncated, with a writer that leaves a run of NUL bytes',
  async (c) => {
    c.append(F, 500);
    await c.read();
    const writer = openSync(c.path(F), 'r+');
    ftruncateSync(writer);
    writeSync(writer, c.text(100), 9000);
    closeSync(writer);
    await c.finish();
    c.assertOnce();
    assert.deepEqual(c.rejects, []);
    assert.equal(c.counted('nul_run'), 1);
  },
  { variants: ['idle', 'stopped'] },
);

matrix('R10', 'half a line when renamed, completed in the renamed file', async (c) => {
  c.append(F, 500);
  const line = c.text(1);
  appendFileSync(c.path(F), line.slice(0, 5));
  await c.read();
  const writer = openSync(c.path(F), 'a');
  renameSync(c.path(F), c.path('f.1'));
  c.append(F, 1);
  await c.seen();
  writeSync(writer, line.slice(5));
  closeSync(writer);
  await c.finish();
  c.assertOnce();
  assert.deepEqual(c.rejects, []);
});

matrix('R11', 'half a line that is never completed is one reject, not glued to the new file', async (c) => {
  c.append(F, 500);
  appendFileSync(c.path(F), '{"n":');
  await c.read();
  renameSync(c.path(F), c.path('f.1'));
  c.append(F, 1);
  await c.finish();
  await c.look(70_000);
  await c.settle();
  c.assertOnce();
  assert.deepEqual(c.rejects, [`incomplete 501 ${statSync(c.path('f.1')).size - 5}`]);
  assert.equal(c.status().files, 1);
});

matrix('R12', 'half a line, completed while it does not run', async (c) => {
  c.append(F, 500);
  const line = c.text(1);
  appendFileSync(c.path(F), line.slice(0, 5));
  await c.read();
  appendFileSync(c.path(F), line.slice(5));
  await c.finish();
  c.assertOnce();
  assert.deepEqual(c.rejects, []);
});

matrix(
  'R13',
  'removed while open, and still written to',
  async (c) => {
    c.append(F, 500);
    await c.read();
    const writer = openSync(c.path(F), 'a');
    unlinkSync(c.path(F));
    writeSync(writer, c.text(500));
    closeSync(writer);
    await c.finish();
    await c.settle();
    c.assertOnce();
    await c.look(6000);
    assert.equal(c.status().files, 0);
    assert.equal(c.status().tail?.openFiles, 0);
    assert.deepEqual(c.state().files, [], 'nothing can lead to it again');
  },
  { variants: ['idle', 'busy'] },
);

matrix(
  'R14',
  'removed and created anew under the same name',
  async (c) => {
    c.append(F, 500);
    await c.read();
    unlinkSync(c.path(F));
    c.append(F, 500);
    await c.finish();
    c.assertOnce();
  },
  { variants: ['idle', 'busy', 'stopped'] },
);

matrix(
  'R15',
  'removed and created anew with the same inode while it does not run, and longer',
  async (c) => {
    c.append(F, 500);
    await c.read();
    if (!recreate(c.path(F), c.text(700))) return c.t.skip(NO_REUSE);
    await c.finish();
    c.assertOnce();
    assert.equal(c.places[500], 'f.ndjson:1:0');
  },
  { variants: ['stopped'] },
);

matrix(
  'R15',
  'removed and created anew with the same inode after its descriptor was taken away',
  async (c) => {
    c.append(F, 500);
    c.append('g.ndjson', 1);
    await c.settle();
    if (!recreate(c.path(F), c.text(700))) return c.t.skip(NO_REUSE);
    await c.finish();
    c.assertOnce();
  },
  { variants: ['idle'], maxOpenFiles: 1 },
);

matrix('R16', 'files with the same beginning', async (c) => {
  const head = `{"n":0,"ts":1,"x":"${'x'.repeat(2000)}"}`;
  const names = ['a.ndjson', 'b.ndjson'];
  for (const name of names) writeFileSync(c.path(name), `${head}\n`);
  for (const name of names) c.append(name, 100);
  await c.read();
  for (const name of names) c.append(name, 100);
  await c.finish();
  assert.equal(c.delivered.filter((text) => text === head).length, 2);
  const others = c.delivered.filter((text) => text !== head);
  assert.deepEqual(
    others.map(numberOf).sort((a, b) => a - b),
    Array.from({ length: 400 }, (_, n) => n),
  );
});

matrix(
  'R17',
  'a copy within the glob is another file',
  async (c) => {
    c.append(F, 500);
    await c.read();
    copyFileSync(c.path(F), c.path('copy.ndjson'));
    await c.finish();
    assert.equal(c.delivered.length, 1000);
    assert.equal(c.counted('copies'), 0);
  },
  { variants: ['idle', 'stopped'] },
);

matrix('R17', 'a copy of a segment is known by its id, and not read', async (c) => {
  const id = `${'0'.repeat(32)}-0`;
  const head = `{"v":1,"type":"segment","ts":${c.clock.now},"writer":"${'0'.repeat(32)}","id":"${id}","n":0}\n`;
  writeFileSync(c.path(`${id}.ndjson`), head);
  c.append(`${id}.ndjson`, 500);
  await c.read();
  copyFileSync(c.path(`${id}.ndjson`), c.path('copy.ndjson'));
  await c.finish();
  c.resume(c.keep());
  c.append(`${id}.ndjson`, 1);
  appendFileSync(c.path('copy.ndjson'), '{"n":0,"ts":1}\n');
  await c.settle();
  assert.equal(c.delivered.length, 502);
  assert.equal(new Set(c.delivered).size, 502);
  assert.equal(c.counted('copies'), 1);
  assert.equal(c.status().lagBytes, 0);
});

matrix('R18', 'replaced by a file with the same content and a line more', async (c) => {
  c.append(F, 500);
  await c.read();
  copyFileSync(c.path(F), c.path('tmp'));
  c.append('tmp', 1);
  renameSync(c.path('tmp'), c.path(F));
  await c.finish();
  c.assertOnce();
  assert.equal(c.counted('lost_rotated_bytes'), 0);
});

matrix('R19', 'replaced by a file with other content of the same size', async (c) => {
  c.append(F, 500);
  const { size } = statSync(c.path(F));
  await c.read();
  const text = c.text(500);
  writeFileSync(c.path('tmp'), text.length > size ? `${text.slice(0, size - 1)}\n` : text.padEnd(size, '\n'));
  renameSync(c.path('tmp'), c.path(F));
  const fresh = readFileSync(c.path(F), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  await c.finish();
  for (const line of fresh) assert.equal(c.delivered.filter((text) => text === line).length, 1, line);
  const old = c.delivered.filter((text) => !fresh.includes(text));
  assert.equal(new Set(old).size, old.length);
  // Read by the open descriptor; a reader that was killed has lost the rest, and says so.
  if (c.variant !== 'killed') assert.equal(old.length, 500);
  assert.equal(c.counted('lost_rotated_bytes') > 0, c.variant === 'killed');
});

matrix(
  'R20',
  'a link that is led to another file',
  async (c) => {
    c.append('s1', 100);
    symlinkSync('s1', c.path('current'));
    await c.read();
    c.append('s2', 100);
    symlinkSync('s2', c.path('next'));
    renameSync(c.path('next'), c.path('current'));
    c.append('s1', 100);
    await c.seen();
    c.append('s2', 100);
    await c.finish();
    c.assertOnce();
  },
  { globs: ['current'] },
);

matrix('R21', 'a folder that is a link, led to another folder as the kubelet does', async (c) => {
  for (const version of ['..1', '..2']) mkdirSync(c.path(version));
  symlinkSync('..1', c.path('..data'));
  symlinkSync('..data/f.ndjson', c.path(F));
  c.append('..1/f.ndjson', 100);
  await c.read();
  copyFileSync(c.path('..1/f.ndjson'), c.path('..2/f.ndjson'));
  c.append('..2/f.ndjson', 1);
  symlinkSync('..2', c.path('..new'));
  renameSync(c.path('..new'), c.path('..data'));
  rmSync(c.path('..1'), { recursive: true });
  await c.finish();
  c.assertOnce();
});

matrix(
  'R23',
  'no permission to read, then with',
  async (c) => {
    if (process.geteuid?.() === 0) chownSync(c.folder, NOBODY, NOBODY);
    if (!withoutPrivileges(c.t)) return c.t.skip('needs another user');
    c.append(F, 500);
    await c.read();
    // What is open needs no permission any more.
    const hold = c.variant === 'idle' ? 'g.ndjson' : F;
    c.append(hold, 500);
    chmodSync(c.path(hold), 0);
    await c.finish();
    assert.deepEqual(c.status().faults, [`cannot read ${c.path(hold)}: permission denied (EACCES)`]);
    assert.equal(c.delivered.length, 500);
    chmodSync(c.path(hold), 0o644);
    await c.settle();
    c.assertOnce();
    assert.deepEqual(c.status().faults, []);
    assert.equal(c.counted('truncations'), 0);
  },
  { variants: ['idle', 'stopped'] },
);

matrix('R24', 'a line without its end waits', async (c) => {
  writeFileSync(c.path(F), '');
  await c.read();
  const line = c.text(1);
  appendFileSync(c.path(F), line.trimEnd());
  await c.seen();
  while (c.turn());
  assert.equal(c.delivered.length, 0);
  appendFileSync(c.path(F), '\n');
  await c.finish();
  c.assertOnce();
});
