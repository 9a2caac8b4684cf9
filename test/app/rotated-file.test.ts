/** The evidence file: whole lines, a bounded total, and a fault that is said once, counted and overcome. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createRotatedFile, type RotatedFileOptions } from '../../src/app/rotated-file.ts';
import { linesOf, tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';

const CLOSE_MS = 30_000;

function fileIn(folder: string, options: Partial<RotatedFileOptions> = {}) {
  const path = join(folder, 'e.ndjson');
  const faults: (string | null)[] = [];
  const dropped: Record<string, number> = {};
  const file = createRotatedFile({
    ...{ path, maxBytes: 1e6, oldFiles: 2 },
    onDropped(lines, reason) {
      dropped[reason] = (dropped[reason] ?? 0) + lines;
    },
    onFault: (reason) => faults.push(reason),
    ...options,
  });
  const content = (name = 'e.ndjson') => readFileSync(join(folder, name), 'utf8');
  return { path, file, faults, dropped, content };
}
const line = (n: number, bytes = 100): string => `${JSON.stringify({ n, pad: 'x'.repeat(bytes) })}\n`;
const numbers = (text: string): number[] => linesOf(text).map((each) => (JSON.parse(each) as { n: number }).n);
const settled = (file: { write(line: string): void; close(ms: number): Promise<void> }) => file.close(CLOSE_MS);

describe('rotation', () => {
  test('every line once, in order, over all files; no file larger than the limit, no more files than allowed', async (t) => {
    const folder = tempFolder(t);
    const { file, content, dropped, faults } = fileIn(folder, { maxBytes: 5000, oldFiles: 3 });
    for (let n = 0; n < 60; n++) {
      file.write(line(n));
      // One write each, so that the size is looked at for each.
      await settled(file);
    }
    const names = readdirSync(folder).sort();
    assert.deepEqual(names, ['e.ndjson', 'e.ndjson.1', 'e.ndjson.2', 'e.ndjson.3'].slice(0, names.length));
    for (const name of names) assert.ok(statSync(join(folder, name)).size <= 5000, name);
    assert.deepEqual(
      names.reverse().flatMap((name) => numbers(content(name))),
      Array.from({ length: 60 }, (_, n) => n),
    );
    for (let n = 60; n < 1000; n++) file.write(line(n));
    await settled(file);
    const kept = readdirSync(folder)
      .sort()
      .reverse()
      .flatMap((name) => numbers(content(name)));
    assert.equal(readdirSync(folder).length, 4);
    assert.equal(kept.at(-1), 999);
    assert.deepEqual(
      kept,
      Array.from({ length: kept.length }, (_, i) => 1000 - kept.length + i),
    );
    assert.deepEqual([dropped, faults], [{}, []]);
  });

  test('without old files it starts afresh', async (t) => {
    const folder = tempFolder(t);
    const { file, content } = fileIn(folder, { maxBytes: 1000, oldFiles: 0 });
    for (let n = 0; n < 30; n++) {
      file.write(line(n));
      await settled(file);
    }
    assert.deepEqual(readdirSync(folder), ['e.ndjson']);
    assert.ok(statSync(join(folder, 'e.ndjson')).size <= 1000);
    assert.equal(numbers(content()).at(-1), 29);
  });

  test('moved or removed by somebody else: it goes on in a new file', async (t) => {
    const folder = tempFolder(t);
    const { file, path, content } = fileIn(folder);
    file.write(line(1));
    await settled(file);
    renameSync(path, join(folder, 'taken'));
    file.write(line(2));
    await settled(file);
    rmSync(path);
    file.write(line(3));
    await settled(file);
    assert.deepEqual([numbers(content('taken')), numbers(content())], [[1], [3]]);
  });

  test('the end of a line that a crash cut off spoils no other line', async (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, 'e.ndjson'), `${line(1)}{"n":2,"pa`);
    const { file, content } = fileIn(folder);
    file.write(line(3));
    await settled(file);
    assert.deepEqual(
      linesOf(content()).map((each) => each.slice(0, 7)),
      ['{"n":1,', '{"n":2,', '{"n":3,'],
    );
  });
});

describe('faults', () => {
  test('a folder that is missing: said at start and once, counted, overcome', async (t) => {
    const folder = join(tempFolder(t), 'later');
    const { file, faults, dropped, content } = fileIn(folder);
    await until(() => faults.length > 0);
    for (let n = 0; n < 5; n++) {
      file.write(line(n));
      await settled(file);
    }
    assert.deepEqual([faults, dropped], [['no such file or directory (ENOENT)'], { write_failed: 5 }]);
    mkdirSync(folder);
    file.write(line(7));
    await settled(file);
    assert.deepEqual(faults.slice(1), [null]);
    assert.deepEqual(numbers(content()), [7]);
    assert.deepEqual(dropped, { write_failed: 5 });
  });

  test('what is no regular file is refused, a FIFO without a reader too', async (t) => {
    const folder = tempFolder(t);
    mkdirSync(join(folder, 'e.ndjson'));
    const directory = fileIn(folder);
    directory.file.write(line(1));
    await settled(directory.file);
    assert.deepEqual(directory.faults, ['illegal operation on a directory (EISDIR)']);

    const other = tempFolder(t);
    assert.equal(spawnSync('mkfifo', [join(other, 'e.ndjson')]).status, 0);
    const fifo = fileIn(other);
    fifo.file.write(line(1));
    await settled(fifo.file);
    assert.deepEqual([fifo.faults, fifo.dropped], [['it is not a regular file'], { write_failed: 1 }]);
  });

  test('a full disk: whole lines only, counted, and it goes on when there is room', async (t: TestContext) => {
    const folder = tempFolder(t);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status === 0;
    if (!mounted) return t.skip('no right to mount a small file system here');
    try {
      const { file, faults, dropped, content } = fileIn(folder, { maxBytes: 1e6 });
      const filler = join(folder, 'filler');
      appendFileSync(filler, Buffer.alloc(40 * 1024));
      for (let n = 0; n < 100; n++) {
        file.write(line(n, 900));
        await settled(file);
      }
      const written = numbers(content());
      assert.ok(written.length > 5 && written.length < 40, `${written.length} lines`);
      assert.deepEqual(faults, ['no space left on device (ENOSPC)']);
      assert.deepEqual(dropped, { write_failed: 100 - written.length });
      rmSync(filler);
      file.write(line(500));
      await settled(file);
      assert.equal(faults.at(-1), null);
      assert.deepEqual(numbers(content()), [...written, 500]);
    } finally {
      spawnSync('umount', [folder]);
    }
    return undefined;
  });

  test('lines that come faster than they can be written are dropped past a mebibyte, and counted', async (t) => {
    const folder = tempFolder(t);
    const { file, dropped, content } = fileIn(folder, { maxBytes: 1e9 });
    const count = 3000;
    // In one turn of the event loop: nothing can be written meanwhile.
    for (let n = 0; n < count; n++) file.write(line(n, 1000));
    await settled(file);
    const written = numbers(content());
    assert.ok(Buffer.byteLength(content()) <= 1024 * 1024);
    assert.ok(dropped.slow_reader! > 1000);
    assert.equal(written.length + dropped.slow_reader!, count);
    assert.ok(existsSync(join(folder, 'e.ndjson')));
  });
});
