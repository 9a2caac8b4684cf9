/** The two slots of a checkpoint: whatever happens to the bytes of one, the other one is read, and what is wrong is said. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSlots, HEAD_BYTES, SLOT_FILES } from '../../src/app/checkpoint/slots.ts';

const MIB = 1024 * 1024;

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-slots-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
const files = (folder: string): string[] => SLOT_FILES.map((name) => join(folder, name));

async function write(folder: string, ...records: string[]): Promise<void> {
  const slots = createSlots(folder);
  await slots.load();
  for (const record of records) await slots.write([Buffer.from(record)], () => {});
  await slots.close();
}
async function read(folder: string): Promise<{ records: string[]; exposed: boolean[]; problems: readonly string[] }> {
  const { found, problems } = await createSlots(folder).load();
  return {
    records: found.map(({ record }) => record.toString()),
    exposed: found.map(({ isExposed }) => isExposed),
    problems,
  };
}

test('the last two records, newest first; over many lives', async (t) => {
  const folder = join(newFolder(t), 'made', 'where missing');
  assert.deepEqual(await read(folder), { records: [], exposed: [], problems: [] });
  await write(folder, 'one');
  assert.deepEqual((await read(folder)).records, ['one']);
  await write(folder, 'two', 'three');
  for (const n of [4, 5, 6, 7]) await write(folder, `${n}`);
  assert.deepEqual(await read(folder), { records: ['7', '6'], exposed: [false, false], problems: [] });
});

test('a record that is torn anywhere does not count, and the one before it does', async (t) => {
  const folder = newFolder(t);
  await write(folder, 'first', 'second');
  const [a, b] = files(folder) as [string, string];
  const before = readFileSync(a);
  const third = 'the third record, which is longer';
  await write(folder, third);
  const after = readFileSync(a);
  assert.deepEqual((await read(folder)).records, [third, 'second']);
  // As the record and then its head are written: so many bytes of each have reached the disk.
  const end = HEAD_BYTES + third.length;
  for (let done = HEAD_BYTES; done < end; done++) {
    writeFileSync(
      a,
      Buffer.concat([before.subarray(0, HEAD_BYTES), after.subarray(HEAD_BYTES, done), before.subarray(done)]),
    );
    const { records } = await read(folder);
    assert.equal(records[0], 'second', `${done} bytes of the record`);
  }
  const differs = [...after.subarray(0, HEAD_BYTES)].findLastIndex((byte, i) => byte !== before[i]) + 1;
  for (let done = 0; done < differs; done++) {
    writeFileSync(
      a,
      Buffer.concat([after.subarray(0, done), before.subarray(done, HEAD_BYTES), after.subarray(HEAD_BYTES)]),
    );
    const { records, problems } = await read(folder);
    assert.deepEqual(records, ['second'], `${done} bytes of the head`);
    assert.equal(problems.length, 1);
  }
  // Not in the order in which they were written, as a power failure may leave them.
  writeFileSync(a, Buffer.concat([after.subarray(0, HEAD_BYTES), before.subarray(HEAD_BYTES)]));
  assert.deepEqual((await read(folder)).records, ['second']);
  assert.equal(
    readFileSync(b)
      .subarray(HEAD_BYTES, HEAD_BYTES + 6)
      .toString(),
    'second',
  );
});

const BROKEN: readonly (readonly [what: string, says: RegExp | null, make: (whole: Buffer) => Buffer])[] = [
  ['empty', null, () => Buffer.alloc(0)],
  ['zeros, as it is before its first record', null, (whole) => Buffer.alloc(whole.length)],
  ['something else', /not a checkpoint/, () => Buffer.from('{"version":1}\n'.repeat(20))],
  ['behind zeros', /not a checkpoint/, (whole) => Buffer.concat([Buffer.alloc(5), whole])],
  ['of a later format', /format 2, this version reads 1/, (whole) => Buffer.from(whole.fill(2, 8, 9))],
  ['cut in its head', /not a checkpoint/, (whole) => whole.subarray(0, 30)],
  ['cut short', /cut short/, (whole) => whole.subarray(0, HEAD_BYTES + 3)],
  [
    'one bit of its record',
    /damaged/,
    (whole) => Buffer.from(whole.fill(whole[HEAD_BYTES]! ^ 1, HEAD_BYTES, HEAD_BYTES + 1)),
  ],
  ['one bit of its head', /head is damaged/, (whole) => Buffer.from(whole.fill(whole[12]! ^ 1, 12, 13))],
];
for (const [what, says, make] of BROKEN)
  test(`both slots broken: ${what}`, async (t) => {
    const folder = newFolder(t);
    await write(folder, 'first', 'second');
    for (const file of files(folder)) writeFileSync(file, make(readFileSync(file)));
    const { records, problems } = await read(folder);
    assert.deepEqual(records, []);
    assert.equal(problems.length, says === null ? 0 : 2);
    for (const problem of problems) assert.match(problem, says as RegExp);
    // And the next record is written over it.
    await write(folder, 'again');
    assert.deepEqual((await read(folder)).records, ['again']);
  });

test('a slot that is a folder: said; the other one is used, and its neighbour is safe', async (t) => {
  const folder = newFolder(t);
  mkdirSync(join(folder, SLOT_FILES[0]));
  const slots = createSlots(folder);
  assert.match((await slots.load()).problems.join(), /checkpoint-a: .*directory/);
  let taken = 0;
  await assert.rejects(
    slots.write([Buffer.from('x')], () => taken++),
    { code: 'EISDIR' },
  );
  assert.equal(taken, 1, 'whoever waits for the pieces to be taken goes on');
  rmSync(join(folder, SLOT_FILES[0]), { recursive: true });
  await slots.write([Buffer.from('put right')], () => {});
  await slots.close();
  assert.deepEqual((await read(folder)).records, ['put right']);
});

test('room is taken ahead, in steps, in both: before the first record, and when one fills most of a slot', async (t) => {
  const folder = join(newFolder(t), 'made where missing');
  const paths = files(folder);
  const sizes = (): number[] => paths.map((path) => statSync(path).size / MIB);
  const slots = createSlots(folder);
  await slots.load();
  await slots.makeRoom();
  assert.deepEqual(sizes(), [4, 4]);
  assert.deepEqual(await read(folder), { records: [], exposed: [], problems: [] });
  const records = ['small', 'x'.repeat(2 * MIB), 'y'.repeat(3.5 * MIB), 'z'.repeat(8 * MIB), 'small again'];
  const grown: number[][] = [];
  for (const record of records) {
    await slots.write([Buffer.from(record)], () => {});
    await slots.makeRoom();
    grown.push(sizes());
    assert.equal((await read(folder)).records[0], record);
  }
  assert.deepEqual(grown, [
    [4, 4],
    [4, 4],
    [8, 8],
    [12, 12],
    [12, 12],
  ]);
  for (const path of paths)
    assert.ok(statSync(path).blocks * 512 >= 12 * MIB, 'no hole that a full disk could not fill');
  assert.equal((await read(folder)).records[1]?.length, 8 * MIB);
  await slots.close();
  // The next life knows from what it finds how much it needs.
  truncateSync(paths[0] as string, MIB);
  const again = createSlots(folder);
  await again.load();
  await again.makeRoom();
  assert.deepEqual(sizes(), [12, 12]);
  await again.close();
});

test('a record of which newer numbers were shown before it was written has the mark from the start', async (t) => {
  const folder = newFolder(t);
  const slots = createSlots(folder);
  await slots.load();
  await slots.write([Buffer.from('one')], () => {}, true);
  assert.deepEqual(await read(folder), { records: ['one'], exposed: [true], problems: [] });
  await slots.write([Buffer.from('two')], () => {});
  await slots.close();
  assert.deepEqual((await read(folder)).exposed, [false, true]);
});

test('the mark of what was shown beyond a record: of the newest one alone, gone with the next one', async (t) => {
  const folder = newFolder(t);
  const slots = createSlots(folder);
  await slots.load();
  await slots.markExposed();
  await slots.write([Buffer.from('one')], () => {});
  await slots.write([Buffer.from('two')], () => {});
  await slots.markExposed();
  assert.deepEqual(await read(folder), { records: ['two', 'one'], exposed: [true, false], problems: [] });
  await slots.write([Buffer.from('three')], () => {});
  assert.deepEqual((await read(folder)).exposed, [false, true]);
  await slots.close();
});

test('a writer that fails half way leaves the newest record, and the next one is written', async (t) => {
  const folder = newFolder(t);
  await write(folder, 'one', 'two');
  const slots = createSlots(folder);
  await slots.load();
  function* failing(): Generator<Buffer> {
    yield Buffer.alloc(MIB, 'x');
    throw new Error('half way');
  }
  await assert.rejects(
    slots.write(failing(), () => {}),
    /half way/,
  );
  assert.deepEqual((await read(folder)).records, ['two']);
  await slots.write([Buffer.from('three')], () => {});
  await slots.close();
  assert.deepEqual((await read(folder)).records, ['three', 'two']);
});
