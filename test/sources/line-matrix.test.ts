/**
 * The lines of the rotation matrix, R25 to R32, as a pipeline counts them: what is too long, broken or not text is one counted line,
 * named in the log, and its neighbours are read once.
 */
import assert from 'node:assert/strict';
import { appendFileSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createCells } from '../../src/core/measures/cells.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { createDrivenRig, createNumbers, type DrivenOptions } from './driven-rig.ts';
import { tempFolder } from './tail-rig.ts';

const MIB = 1024 * 1024;
/** An event that is accepted, of a given length at least. */
const event = (n: number, length = 0) => {
  const text = `{"v":1,"type":"gap","ts":${1_700_000_000_000 + n},"dropped":1,"x":"`;
  return `${text}${'x'.repeat(Math.max(0, length - text.length - 2))}"}`;
};

function createLineRig(t: TestContext, options: Partial<DrivenOptions> = {}) {
  const cells = createCells();
  const pipeline = createPipeline({ cells });
  const rig = createDrivenRig({ folder: tempFolder(t), ...options });
  t.after(rig.stop);
  Object.assign(rig.sink, {
    line: pipeline.line,
    bytes: pipeline.bytes,
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
  });
  const sum = (family: string, value?: string) => {
    let total = 0;
    for (const { spec, cells: all } of cells.families())
      if (spec.name === family) for (const each of all) if (!value || each.values.includes(value)) total += each.value;
    return total;
  };
  return {
    ...rig,
    accepted: () => sum('tailfin_events_total'),
    rejected: (reason?: string) => sum('tailfin_events_rejected_total', reason),
    invalidUtf8: () => sum('tailfin_events_invalid_utf8_total'),
    said: (text: string) => rig.logs.filter((line) => line.includes(text)),
  };
}

test('R26 1,000 files, 10 of them written to: all once, few descriptors', async (t) => {
  const rig = createDrivenRig({ folder: tempFolder(t) });
  t.after(rig.stop);
  const numbers = createNumbers(rig);
  const name = (i: number) => `f${i}.ndjson`;
  for (let i = 0; i < 1000; i++) numbers.append(name(i), 10);
  await rig.settle();
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10; i++) numbers.append(name(i * 97), 10);
    await rig.settle();
    assert.ok((rig.status().tail?.openFiles ?? 0) <= 256);
  }
  assert.equal(new Set(rig.delivered).size, numbers.count());
  assert.equal(rig.delivered.length, numbers.count());
  assert.equal(rig.state().files.length, 1000);
});

test('R27 a line of 1 MiB is read, one of 64 MiB is skipped in bounded memory, their neighbours once', async (t) => {
  const rig = createLineRig(t);
  const fd = openSync(rig.path('f.ndjson'), 'a');
  writeSync(fd, `${event(0)}\n${event(1, MIB)}\n${event(2)}\n`);
  for (let i = 0; i < 64; i++) writeSync(fd, 'x'.repeat(MIB));
  writeSync(fd, `\n${event(3)}\n`);
  closeSync(fd);
  const held = () => process.memoryUsage().arrayBuffers;
  const before = held();
  let most = 0;
  await rig.look();
  while (rig.turn()) most = Math.max(most, held());
  assert.deepEqual([rig.accepted(), rig.rejected(), rig.rejected('oversize')], [4, 1, 1]);
  assert.ok(most - before < 16 * MIB, `${most - before} bytes of buffers`);
  const at = event(0).length + MIB + event(2).length + 3;
  assert.deepEqual(rig.said('oversize'), [`${rig.path('f.ndjson')}: line 4 at byte ${at} was not accepted (oversize)`]);
});

test('R28 NUL and bytes that are no UTF-8 inside a line, a lone surrogate', async (t) => {
  const rig = createLineRig(t);
  const bad = Buffer.concat([Buffer.from(event(0).slice(0, -2)), Buffer.from([0xff, 0xfe]), Buffer.from('"}\n')]);
  const nul = `${event(1).slice(0, -2)}\0"}\n`;
  const lone = `${event(2).slice(0, -2)}\\ud800"}\n`;
  writeFileSync(
    rig.path('f.ndjson'),
    Buffer.concat([bad, Buffer.from(nul), Buffer.from(lone), Buffer.from(`${event(3)}\n`)]),
  );
  await rig.settle();
  assert.deepEqual([rig.accepted(), rig.rejected(), rig.rejected('not_json'), rig.invalidUtf8()], [3, 1, 1, 1]);
  assert.equal(rig.said('line 1 at byte 0 holds bytes that are no UTF-8').length, 1);
  assert.equal(rig.said(`line 2 at byte ${bad.length} was not accepted (not_json)`).length, 1);
});

test('R29 CR LF, blank lines and lines of spaces: offsets are exact, also after a restart', async (t) => {
  const rig = createLineRig(t);
  const text = `${event(0)}\r\n\n  \t\r\n${event(1)}\n`;
  writeFileSync(rig.path('f.ndjson'), text);
  await rig.settle();
  assert.deepEqual([rig.accepted(), rig.rejected()], [2, 0]);
  assert.deepEqual([rig.counted('crlf'), rig.counted('blank')], [2, 2]);
  assert.equal(rig.state().files[0]?.offset, text.length);
  assert.equal(rig.state().files[0]?.line, 5);
  assert.equal(rig.said('line 1 at byte 0 ends with CR LF').length, 1, 'said once');
  assert.equal(rig.said('ends with CR LF').length, 1, 'said once');
  rig.resume(rig.keep());
  appendFileSync(rig.path('f.ndjson'), `${event(2)}\r\n`);
  await rig.settle();
  assert.equal(rig.accepted(), 3);
});

test('R30 a byte order mark at the start, and after a rotation', async (t) => {
  const rig = createLineRig(t);
  writeFileSync(rig.path('f.ndjson'), `\ufeff${event(0)}\n`);
  await rig.settle();
  writeFileSync(rig.path('f.ndjson'), `\ufeff${event(1)}\n${event(2)}\n`);
  await rig.settle();
  assert.deepEqual([rig.accepted(), rig.rejected(), rig.counted('bom')], [3, 0, 2]);
});

test('R31 two values, a list, a scalar, great depth, a number without bound: never two events', async (t) => {
  const rig = createLineRig(t);
  const bad = [
    `${event(0)}${event(1)}`,
    `[${event(2)}]`,
    '7',
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    event(3).replace('"dropped":1', '"dropped":1e999'),
  ];
  writeFileSync(rig.path('f.ndjson'), `${bad.join('\n')}\n${event(4)}\n`);
  await rig.settle();
  assert.deepEqual([rig.accepted(), rig.rejected()], [1, 5]);
});

test('R32 cut at every byte: lines, places and counts are the same', async (t) => {
  const folder = tempFolder(t);
  const text = `\ufeff{"n":0,"ts":1}\r\n\0\0{"n":1,"ts":2,"x":"€😀"}\0\n\n{"n":2,"ts":3}\n\0\0\n{"n":`;
  writeFileSync(`${folder}/f.ndjson`, text);
  const seen = new Set<string>();
  for (let sliceBytes = 1; sliceBytes <= text.length + 10; sliceBytes++) {
    const rig = createDrivenRig({ folder, sliceBytes });
    await rig.settle();
    const counts = (['bom', 'crlf', 'nul_run', 'blank'] as const).map((what) => rig.counted(what));
    const [file] = rig.state().files;
    seen.add(JSON.stringify([rig.delivered, rig.places, rig.rejects, counts, file]));
    rig.stop();
    // In the middle, too: from any state on, the rest is the rest.
    const again = createDrivenRig({ folder, sliceBytes });
    await again.look();
    for (let turns = 0; turns < sliceBytes % 7; turns++) again.turn();
    again.resume(again.keep());
    await again.settle();
    assert.deepEqual(again.delivered, rig.delivered);
    again.stop();
  }
  assert.equal(seen.size, 1, [...seen].join('\n'));
  assert.match([...seen][0] as string, /\[1,1,2,2\]/);
});
