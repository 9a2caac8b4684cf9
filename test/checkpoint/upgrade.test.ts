/**
 * State folders of other versions. fixtures/record-v1.bin is a slot that 0.1 wrote (its record with the engine's serialiser, fields
 * packed): numbers go on, and so does what was in flight. Never write it anew: it stands for what is out there.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { STATE_FORMAT } from '../../src/app/checkpoint/checkpoint.ts';
import { FORM } from '../../src/app/checkpoint/graph-format.ts';
import { beginLife } from '../../src/app/checkpoint/life.ts';
import { decodeRecord, encodeRecord } from '../../src/app/checkpoint/record.ts';
import { HEAD_BYTES, SLOT_FILES, SLOT_FORMAT } from '../../src/app/checkpoint/slots.ts';
import type { Fact } from '../../src/core/model/facts.ts';
import { ANSWERED, client, close, JSON_BODY, ORIGIN, parse, sampleSum } from '../support/build-event.ts';
import { ensureBuilt, startSidecar, tempFolder } from '../support/cli.ts';
import { bytesOf } from '../support/restart.ts';

before(ensureBuilt);

const fixture = (name: string): Buffer => readFileSync(fileURLToPath(new URL(`fixtures/${name}`, import.meta.url)));
const V1 = fixture('record-v1.bin');
/** The same state, written by the first version with format 2. */
const V2 = fixture('record-v2.bin');

function folderWith(t: TestContext, slot: Buffer): string {
  const folder = join(tempFolder(t), 'state');
  mkdirSync(folder);
  writeFileSync(join(folder, SLOT_FILES[0]), slot);
  return folder;
}

/** A slot as slots.ts lays it out, around any record. */
function slotOf(record: Buffer, slotFormat: number = SLOT_FORMAT): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('TAILFIN\n', 'latin1');
  head.writeUInt32LE(slotFormat, 8);
  head.writeBigUInt64LE(3n, 12);
  head.writeBigUInt64LE(BigInt(record.length), 20);
  head.writeUInt32LE(crc32(record), 28);
  head.writeUInt32LE(crc32(head.subarray(0, 36)), 36);
  return Buffer.concat([head, record]);
}

for (const [version, slot] of [
  [1, V1],
  [2, V2],
] as const)
  test(`a record of version ${version}: its numbers, its places, and what was in flight`, async (t) => {
    const attempts: (readonly string[])[] = [];
    const said: string[] = [];
    const onFact = (fact: Fact): void => {
      if (fact.is === 'operation') attempts.push(fact.operation.attempts.map(({ exchange }) => exchange));
    };
    const life = await beginLife(folderWith(t, slot), 'files', (_, message) => void said.push(message), { onFact });
    t.after(life.release);
    const { pipeline, start, files } = life;
    const total = (name: string, labels = {}) => sampleSum(pipeline.cells.families(), name, labels);
    assert.equal(start, 'restored', said.join('\n'));
    assert.deepEqual([files?.files[0]?.offset, files?.files[0]?.line], [1234, 10]);
    assert.equal(total('tailfin_events_total'), 9);
    assert.equal(total('tailfin_events_rejected_total', { reason: 'not_json' }), 1);
    assert.equal(total('tailfin_stream_closes_total'), 2);

    let line = 10;
    const send = (fields: object) => pipeline.line(JSON.stringify(fields), ORIGIN, ++line, 0);
    // The retry of what was cut, the answer to what was open, the parse line of what came later, the number that was missing.
    send(close('again', 5000, { ...JSON_BODY, ...ANSWERED, server: 'shop', target: 'get', args_digest: 'a-cut' }));
    send(close('pending', 5100, { ...JSON_BODY, ...ANSWERED, server: 'shop', target: 'slow', args_digest: 'späte' }));
    send(close('early', 5200, { ...JSON_BODY, ...ANSWERED, server: 'shop' }));
    send(client('created', 5300, { writer: 'holes', seq: 6 }));
    send(parse('done', 5400, { server: 'shop' }));
    pipeline.finish();
    assert.deepEqual(
      attempts.find(({ length }) => length === 2),
      ['cut', 'again'],
    );
    assert.equal(total('tailfin_events_late_total'), 0);
    assert.equal(total('tailfin_events_missing_total'), 1, 'of the two that were missing');
    // done, cut with its retry, the suspended one, pending, early.
    assert.equal(total('tailfin_operations_total'), 5);
  });

test('a record of version 1: what its rules remember in another form is left out, and the next calls of a client are looked at', async (t) => {
  // The ring of one call, as it was written: opened at 0, closed at 9000.
  const ring = { ts: 9000, until: 9000, next: 1, hashes: [7], opens: [0], closes: [9000] };
  const { head, parts } = decodeRecord(V1.subarray(HEAD_BYTES, HEAD_BYTES + Number(V1.readBigUInt64LE(20))));
  const old = encodeRecord(head, [...parts, ['client_calls', ['h1\nc1', ring]]]);
  const found: string[] = [];
  const onFact = (fact: Fact): void => {
    if (fact.is === 'finding') found.push(fact.rule);
  };
  const life = await beginLife(folderWith(t, slotOf(bytesOf(old))), 'files', () => {}, { onFact });
  t.after(life.release);
  assert.equal(life.start, 'restored');
  const call = { ...JSON_BODY, ...ANSWERED, server: 'shop', host: 'h1', client: 'c1', rpc_id: '1', open_ts: 5000 };
  for (const [i, exchange] of ['one', 'two'].entries())
    life.pipeline.line(JSON.stringify(close(exchange, 6000 + i, call)), ORIGIN, 20 + i, 0);
  assert.deepEqual(found, ['duplicate_in_flight_id']);
});

const LATER: readonly (readonly [what: string, says: RegExp, slot: () => Buffer])[] = [
  [
    'a state',
    /state format 99, this version reads/,
    () => slotOf(bytesOf(encodeRecord({ format: 99, sources: {} }, []))),
  ],
  ['a form of the record', /another form of a record/, () => slotOf(Buffer.from([FORM + 1, 1, 2, 3]))],
  ['a slot', /format 9, this version reads/, () => slotOf(Buffer.from([FORM]), 9)],
];
for (const [what, says, slot] of LATER)
  test(`${what} of a later version: run starts, says why, and answers`, async (t) => {
    const state = folderWith(t, slot());
    const sidecar = await startSidecar(t, join(tempFolder(t), '*.ndjson'), {
      args: ['--state-dir', state, '--scrape-interval-seconds', '0'],
    });
    assert.match(sidecar.stderr(), says);
    assert.match(sidecar.stderr(), /no checkpoint can be used/);
    const { sum } = await sidecar.scrape();
    assert.equal(sum('tailfin_checkpoint_restores_total', { result: 'unusable' }), 1);
  });

test('run goes on from a record of version 1, and writes its own over it', async (t) => {
  const state = folderWith(t, V1);
  const sidecar = await startSidecar(t, join(tempFolder(t), '*.ndjson'), {
    args: ['--state-dir', state, '--scrape-interval-seconds', '0'],
  });
  const { sum } = await sidecar.scrape();
  assert.equal(sum('tailfin_events_total'), 9);
  assert.equal(sum('tailfin_checkpoint_restores_total', { result: 'restored' }), 1);
  const written = readFileSync(join(state, SLOT_FILES[1]));
  assert.equal(written[HEAD_BYTES], FORM);
  assert.equal(STATE_FORMAT, 2, 'else: a record of this format belongs beside the others');
});
