/** Sources read into the memory of their sink, where it has some, once there is something to read. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileTail } from '../../src/sources/file-tail.ts';
import { roomFor } from '../../src/sources/room.ts';
import type { LineSink } from '../../src/sources/source.ts';
import { tempFolder } from './tail-rig.ts';

const MEMORY = new ArrayBuffer(1 << 20);

test('tail: asks its sink for memory once, for all files, and not before there is one to read', async (t) => {
  const folder = tempFolder(t);
  const asked: number[] = [];
  const delivered: string[] = [];
  let inMemory = 0;
  const sink: LineSink = {
    line: () => assert.fail('every line is taken as bytes'),
    bytes(bytes, start, end) {
      if (bytes.buffer === MEMORY) inMemory++;
      delivered.push(bytes.latin1Slice(start, end));
      return delivered.length;
    },
    room(bytes) {
      asked.push(bytes);
      return new Uint8Array(MEMORY, 4096, bytes);
    },
    reject: () => assert.fail('no line is refused'),
    invalidUtf8: () => assert.fail('every line is text'),
    advance: () => {},
  };
  const globs = [join(folder, '*.ndjson')];
  const options = { globs, from: 'beginning' as const, maxLineBytes: 1000, sliceBytes: 1000, log: () => {} };
  const tail = createFileTail({ name: 'files', host: '', ...options });
  await tail.drain(sink, 10_000);
  assert.deepEqual(asked, []);
  const expected: string[] = [];
  for (const name of ['a', 'b']) {
    const lines = Array.from({ length: 500 }, (_, i) => `{"${name}":${i}}`);
    appendFileSync(join(folder, `${name}.ndjson`), `${lines.join('\n')}\n`);
    expected.push(...lines);
  }
  await tail.drain(sink, 10_000);
  assert.deepEqual(asked, [1064]);
  assert.deepEqual(delivered.toSorted(), expected.toSorted());
  // A line that two reads cut stands elsewhere: one in each slice of 1000 bytes at most.
  assert.ok(inMemory >= 980 && inMemory < 1000, `${inMemory} of 1000`);
});

test('room: other memory where the sink has none', () => {
  assert.equal(roomFor({}, 100).length, 100);
  assert.equal(roomFor({ room: () => undefined }, 100).length, 100);
  const room = roomFor({ room: (bytes) => new Uint8Array(MEMORY, 8, bytes) }, 100);
  assert.ok(room.buffer === MEMORY);
  assert.deepEqual([room.byteOffset, room.length], [8, 100]);
});
