/** What a start makes of a state folder: which record it goes on from, and the way there from an earlier format. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATE_FORMAT } from '../../src/app/checkpoint/checkpoint.ts';
import { encodeRecord } from '../../src/app/checkpoint/record.ts';
import { readRecord, restore } from '../../src/app/checkpoint/restore.ts';
import type { LoadedSlot, Slots } from '../../src/app/checkpoint/slots.ts';
import { bytesOf } from '../support/restart.ts';

const recordOf = (format: number, parts: readonly (readonly [string, unknown])[] = []): Buffer =>
  bytesOf(encodeRecord({ format, sources: { files: { version: 1 } } }, parts));
const slotsOf = (found: readonly LoadedSlot[], problems: readonly string[] = []): Slots => ({
  load: async () => ({ found, problems }),
  write: async () => 0,
  async markExposed() {},
  async makeRoom() {},
  async close() {},
});
const slot = (generation: number, record: Buffer, isExposed = false): LoadedSlot => ({ generation, record, isExposed });
const GOOD = recordOf(STATE_FORMAT, [['part', new Map([['a', 1]])]]);
const LATER = recordOf(STATE_FORMAT + 1);

test('nothing was ever written: the first start', async () => {
  assert.equal((await restore(slotsOf([]))).start, 'none');
});

test('the newest record, whole', async () => {
  const { start, generation, sources, parts } = await restore(slotsOf([slot(7, GOOD), slot(6, LATER)], ['x']));
  assert.deepEqual([start, generation, sources], ['restored', 7, { files: { version: 1 } }]);
  assert.deepEqual([...parts], [['part', new Map([['a', 1]])]]);
});

test('one that newer numbers than its own were shown of, and one that is older than what cannot be read: behind', async () => {
  assert.equal((await restore(slotsOf([slot(7, GOOD, true)]))).start, 'behind');
  const { start, generation, problems } = await restore(slotsOf([slot(7, LATER), slot(6, GOOD)]));
  assert.deepEqual([start, generation], ['behind', 6]);
  assert.deepEqual(problems, [`record 7: state format ${STATE_FORMAT + 1}, this version reads ${STATE_FORMAT}`]);
});

test('only what cannot be read: unusable, and why', async () => {
  const { start, problems, sources } = await restore(
    slotsOf([slot(2, LATER), slot(1, Buffer.from('noise'))], ['torn']),
  );
  assert.deepEqual([start, sources, problems.length], ['unusable', {}, 3]);
  assert.equal((await restore(slotsOf([], ['torn']))).start, 'unusable');
});

test('an earlier format goes through every upgrade up to this one; a missing step, or one that leads nowhere, is said', () => {
  const step = (to: number) => (record: ReturnType<typeof readRecord>) => ({
    head: { ...record.head, format: to },
    parts: [...record.parts, [`added by ${to}`, true]] as const,
  });
  const upgraded = readRecord(recordOf(1), { 1: step(2), 2: step(3) }, 3);
  assert.deepEqual(upgraded.head, { format: 3, sources: { files: { version: 1 } } });
  assert.deepEqual(
    [...upgraded.parts].map(([name]) => name),
    ['added by 2', 'added by 3'],
  );
  assert.throws(() => readRecord(recordOf(1), { 2: step(3) }, 3), /state format 1, this version reads 3/);
  assert.throws(() => readRecord(recordOf(1), { 1: step(1) }, 3), /no way on/);
});

test('what is no record is an error with a reason, whatever it is', () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(100),
    GOOD.subarray(0, GOOD.length - 1),
    Buffer.from([0xff, 15, 48]),
  ])
    assert.throws(() => readRecord(bytes), Error);
});
