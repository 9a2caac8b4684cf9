/** What stands in segment files: first and last line, numbers, order, rotation; and that the sidecar accepts every line. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decode, isRejection } from '../../../src/core/stages/decode.ts';
import { nodeFiles } from '../../../src/tap/writer/files.ts';
import { SEGMENT_NAME } from '../../../src/tap/writer/quota.ts';
import { ORIGIN } from '../../support/build-event.ts';
import { until } from '../../support/until.ts';
import {
  assertInOrder,
  emitMany,
  eventsIn,
  filesWith,
  idle,
  openFolder,
  readSegments,
  startHost,
  testWriter,
} from './rig.ts';

test('a segment begins with its head and ends with its end; the sidecar accepts every line', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { keyId: 'k1', host: 'pod "a"' });
  assert.deepEqual(readdirSync(folder), [], 'no file before the first event');
  writer.emit('open', { exchange: 'x1', method: 'tools/call', annotations: { read_only: true } });
  writer.emit('close', { exchange: 'x1', how: 'eof', host: 'other' });
  await idle(writer);
  writer.close();
  const [file, ...more] = readSegments(folder);
  assert.deepEqual(more, []);
  assert.match(file!.name, SEGMENT_NAME);
  const [head, first, second, end] = file!.lines;
  const { writer: id } = writer.stats();
  assert.equal(file!.name, `${id}-0.ndjson`);
  assert.deepEqual(head, {
    v: 1,
    type: 'segment',
    ts: head!.ts,
    writer: id,
    host: 'pod "a"',
    id: `${id}-0`,
    n: 0,
    key_id: 'k1',
  });
  assert.deepEqual([first!.seq, first!.host, first!.exchange], [0, 'pod "a"', 'x1']);
  assert.deepEqual([second!.seq, second!.host], [1, 'other']);
  assert.deepEqual(end, {
    v: 1,
    type: 'end',
    ts: end!.ts,
    writer: id,
    host: 'pod "a"',
    id: `${id}-0`,
    events: 2,
    dropped: 0,
  });
  for (const text of readFileSync(join(folder, file!.name), 'utf8').trimEnd().split('\n')) {
    const event = decode(text, ORIGIN, 1, 0);
    assert.ok(!isRejection(event), text);
  }
});

test('lines say what the objects said when they were given', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder);
  const connection = { id: 'c', reused: true };
  writer.emit('open', { exchange: 'x', connection });
  connection.id = 'changed';
  writer.close();
  assert.deepEqual(eventsIn(readSegments(folder))[0]!.connection, { id: 'c', reused: true });
});

test('a host name longer than an id may be is cut, not refused by the sidecar', (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { host: 'ä'.repeat(200) });
  emitMany(writer, 0, 1);
  writer.close();
  const [line] = eventsIn(readSegments(folder));
  assert.equal(line!.host, 'ä'.repeat(64));
  assert.ok(!isRejection(decode(JSON.stringify(line), ORIGIN, 1, 0)));
});

test('rotation: each segment names the one before, numbers go on, sizes are kept, nothing is renamed', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { segmentBytes: 10_000, flushBytes: 2000 });
  const seen = new Map<string, number>();
  for (let n = 0; n < 1000; n += 10) {
    emitMany(writer, n, 10);
    if (n % 50 === 0) await idle(writer);
    for (const name of readdirSync(folder)) {
      const { ino } = statSync(join(folder, name));
      assert.equal(seen.get(name) ?? ino, ino, 'a name stands for one file for ever');
      seen.set(name, ino);
    }
  }
  writer.close();
  const files = readSegments(folder);
  assert.ok(files.length > 5, `${files.length} files`);
  assert.deepEqual(files.map(({ name }) => name).sort(), [...seen.keys()].sort());
  assertInOrder(files);
  assert.equal(eventsIn(files).length, 1000);
  for (const [i, { name, lines }] of files.entries()) {
    const { size } = statSync(join(folder, name));
    // The last act appends what waits and begins no new file for it.
    assert.ok(size < (i === files.length - 1 ? 20_000 : 10_500), `${size} bytes`);
    const [head, end] = [lines[0]!, lines.at(-1)!];
    assert.deepEqual([head.type, end.type], ['segment', 'end']);
    assert.equal(head.prev, i === 0 ? undefined : files[i - 1]!.lines[0]!.id);
    assert.deepEqual([end.id, end.events], [head.id, lines.length - 2]);
  }
});

test('one write at a time, in order, whatever the sizes; short writes go on where they stopped', async (t) => {
  const folder = openFolder(t);
  let inFlight = 0;
  let most = 0;
  const files = filesWith({
    async write(fd, bytes, position) {
      most = Math.max(most, ++inFlight);
      const count = await nodeFiles.write(fd, bytes.subarray(0, Math.min(bytes.length, 777)), position);
      inFlight--;
      return count;
    },
  });
  const writer = testWriter(t, folder, { files, flushBytes: 1000 });
  for (let n = 0; n < 2000; n += 100) {
    emitMany(writer, n, 100);
    await new Promise(setImmediate);
  }
  await idle(writer);
  writer.close();
  assert.equal(most, 1);
  assertInOrder(readSegments(folder));
  assert.equal(eventsIn(readSegments(folder)).length, 2000);
});

test('a quarter of a MiB is written before its time', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { flushMs: 3_600_000 });
  emitMany(writer, 0, 100);
  await new Promise(setImmediate);
  assert.deepEqual(readdirSync(folder), []);
  emitMany(writer, 100, 3000);
  await until(() => eventsIn(readSegments(folder)).length > 1000, { what: 'a write by size' });
});

test('every user may read the files, whatever the umask of the host', async (t) => {
  const folder = openFolder(t);
  const host = startHost(folder, `process.umask(0o077); emit(writer(), 1);`);
  assert.equal((await host.ended).code, 0);
  const [name] = readdirSync(folder);
  assert.equal(statSync(join(folder, name!)).mode & 0o777, 0o644);
});

test('a file that stands where the next segment belongs is left alone', async (t) => {
  const folder = openFolder(t);
  const taken: string[] = [];
  const files = filesWith({
    async create(path) {
      taken.push(path);
      if (taken.length === 1) throw Object.assign(new Error('there'), { code: 'EEXIST' });
      return nodeFiles.create(path);
    },
  });
  const writer = testWriter(t, folder, { files });
  emitMany(writer, 0, 3);
  await idle(writer);
  writer.close();
  assert.notEqual(taken[0], taken[1]);
  assertInOrder(readSegments(folder));
});

test('an idle writer gives signs of life that change no byte', async (t) => {
  const folder = openFolder(t);
  const writer = testWriter(t, folder, { beatMs: 5 });
  emitMany(writer, 0, 3);
  await idle(writer);
  const path = join(folder, readdirSync(folder)[0]!);
  const [text, { mtimeMs }] = [readFileSync(path, 'utf8'), statSync(path)];
  await until(() => statSync(path).mtimeMs > mtimeMs, { what: 'a sign of life' });
  assert.equal(readFileSync(path, 'utf8'), text);
});
