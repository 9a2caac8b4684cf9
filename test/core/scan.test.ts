/** The short way from bytes to an event against the long one: the same event, or none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EVENT_TYPES,
  type EventType,
  FIELDS,
  type FieldName,
  type FieldSpec,
  fieldsOf,
} from '../../src/core/model/fields.ts';
import { isOfExchange, recordFrom, SLOTS } from '../../src/core/model/record.ts';
import { createMachine, LINE_AT, type Machine } from '../../src/core/scan/machine.ts';
import { KIND_COUNT } from '../../src/core/scan/program.ts';
import { LineScanner } from '../../src/core/scan/scan.ts';
import type { TextBytes } from '../../src/core/scan/text-bytes.ts';
import { decode, isRejection } from '../../src/core/stages/decode.ts';
import { ANSWERED, close, ORIGIN, open } from '../support/build-event.ts';
import { mutant, validLine } from '../support/mutate.ts';
import { dice } from '../support/random.ts';

const SEED = Number(process.env.TEST_SEED ?? 20261129);
const MUTANTS = 1_000_000;

/** Scans a line that stands among others, as in a chunk. */
function scanned(scanner: LineScanner, text: string) {
  const bytes = Buffer.from(`}\n${text}\n{"v":1`, 'latin1') as Buffer & TextBytes;
  return scanner.scan(bytes, 2, 2 + text.length, ORIGIN, 3, 77);
}

/** What decode makes of it. */
function expected(text: string) {
  const event = decode(text, ORIGIN, 3, 77);
  return isRejection(event) ? null : event;
}

/** Returns whether the short way took it. */
function compare(scanner: LineScanner, text: string): boolean {
  const event = scanned(scanner, text);
  if (event === null) return false;
  assert.deepStrictEqual(event, expected(text), text);
  return true;
}

test('record: the order of its fields is that of the table, and lines of an exchange have all that they may say', () => {
  const names = Object.keys(FIELDS) as FieldName[];
  assert.equal(SLOTS.size, names.length);
  const record = recordFrom(names, false);
  for (const name of names) assert.equal(record[name], name);
  assert.deepEqual(Object.keys(record), names);
  const ofExchange = new Set((Object.keys(EVENT_TYPES) as EventType[]).filter(isOfExchange).flatMap(fieldsOf));
  const own = names.filter((name) => ofExchange.has(name));
  assert.deepEqual(recordFrom(names, true), Object.fromEntries(own.map((name) => [name, name])));
  assert.deepEqual(Object.keys(recordFrom(names, true)), own);
});

test('scan: an ordinary line is taken, and nothing of it is left in the next one', () => {
  const scanner = new LineScanner();
  assert.ok(compare(scanner, JSON.stringify(close('x1', 10, { ...ANSWERED, status: 503, error_code: -32601 }))));
  assert.ok(compare(scanner, JSON.stringify(open('x2', 20, { session: null, last_event_id: false }))));
  assert.equal(
    scanned(scanner, '{"v":1,"type":"close","ts":5,"exchange":"x3","how":"eof","bytes":1,"status":"no"}'),
    null,
  );
  assert.ok(compare(scanner, '{"v":1,"type":"close","ts":5,"exchange":"x3","how":"eof"}'));
});

test('scan: a line of any type, with all that it may say but objects, is taken', () => {
  const scanner = new LineScanner();
  const sample = ({ is }: FieldSpec, n: number): unknown => {
    if (typeof is !== 'string') return is[n % is.length];
    if (is === 'object') return null;
    if (is === 'bool') return n % 2 === 0;
    return ['id', 'word', 'text'].includes(is) ? `i${n}` : n;
  };
  for (const type of Object.keys(EVENT_TYPES) as EventType[])
    for (let n = 1; n <= 3; n++) {
      const fields = fieldsOf(type).map((name, i) => [name, sample(FIELDS[name], n + i)]);
      const text = JSON.stringify({ v: 1, type, ts: n, ...Object.fromEntries(fields) });
      assert.ok(compare(scanner, text), text);
    }
});

test('scan: a key for which the program has no place is refused, not cut', () => {
  const { program, bytes } = createMachine() as Machine;
  const add = (key: string, slot: number) => {
    for (let i = 0; i < key.length; i++) bytes[LINE_AT + i] = key.charCodeAt(i);
    program.addKey(LINE_AT, key.length, slot, KIND_COUNT, -1);
  };
  add(`"${'k'.repeat(29)}":`, 127);
  assert.throws(() => add(`"${'k'.repeat(30)}":`, 0));
  assert.throws(() => add('"k":', 128));
  for (let i = 1; i < 127; i++) add(`"k${i}":`, i);
  assert.throws(() => add('"k":', 0));
});

test('scan: what only decode may judge is left to it', () => {
  const scanner = new LineScanner();
  const rest = '"v":1,"type":"open","ts":5,"exchange":"x"';
  for (const text of [
    ...[
      '',
      '{',
      '}',
      '{}',
      '[]',
      'null',
      `{${rest}`,
      `${rest}}`,
      `{${rest},}`,
      `{${rest}}}`,
      `{{${rest}}`,
      `{,${rest}}`,
    ],
    ...[`{ ${rest}}`, `{${rest} }`, `{${rest}, "n":1}`, `{${rest},"n" :1}`, `{${rest},"n":}`, `{${rest},"n"}`],
    ...['01', '-0', '-1', '1.5', '1e3', '1.', '-', '+1', '0x1', '9007199254740993', 'nul', 'True', 'tru', '"1"'].map(
      (n) => `{${rest},"n":${n}}`,
    ),
    ...['"a\\u0062"', '"a\\"', '"a\tb"', '"a\u00e9"', '"', '""', `"${'x'.repeat(129)}"`, 'x', '1'].map(
      (id) => `{${rest},"prev":${id}}`,
    ),
    ...[`{${rest},"unknown":1}`, `{${rest},"__proto__":null}`, `{${rest},"list":{"count":1}}`, `{${rest},"":1}`],
    ...['{"v":2,"type":"open","ts":5,"exchange":"x"}', '{"v":null,"type":"open","ts":5,"exchange":"x"}'],
    ...['{"v":1,"type":null,"ts":5,"exchange":"x"}', '{"v":1,"type":"toString","ts":5,"exchange":"x"}'],
    ...['{"v":1,"type":"open","ts":null,"exchange":"x"}', '{"v":1,"type":"open","ts":"5","exchange":"x"}'],
    ...['{"v":1,"type":"open","ts":5}', '{"v":1,"type":"open","ts":5,"exchange":null}', '{"type":"open","ts":5}'],
    ...[
      `{${rest},"ok":1}`,
      `{${rest},"ok":"true"}`,
      `{${rest},"how":"EOF"}`,
      `{${rest},"n":true}`,
      `{${rest},"how":true}`,
    ],
  ])
    assert.equal(scanned(scanner, text), null, text);
});

test('scan: duplicate keys are left to decode, of which the last one counts', () => {
  const scanner = new LineScanner();
  const rest = '"v":1,"type":"open","ts":5,"exchange":"x"';
  for (const more of ['"seq":1,"seq":2', '"seq":1,"seq":null', '"exchange":"y"', '"ts":6', '"type":"headers"'])
    assert.equal(scanned(scanner, `{${rest},${more}}`), null, more);
});

test('scan: lines in its own memory, lines elsewhere, and lines longer than it copies', () => {
  const scanner = new LineScanner();
  const room = scanner.room(200_000) as Uint8Array;
  const own = Buffer.from(room.buffer, room.byteOffset, room.length) as Buffer & TextBytes;
  const line = (n: number, more: object = {}) =>
    JSON.stringify(close(`x${n}`, n, { ...ANSWERED, rpc_id: `${n}`, server: `s${n % 3}`, ...more }));
  for (let n = 0; n < 60; n++) {
    const text = line(n, n % 7 === 0 ? { rpc_id: null, status: 500 + n } : {});
    if (n % 2 === 0) assert.ok(compare(scanner, text), text);
    else {
      const at = (n * 977) % 1000;
      own.fill('}', 0, 2000);
      own.write(text, at, 'latin1');
      assert.deepStrictEqual(scanner.scan(own, at, at + text.length, ORIGIN, 3, 77), expected(text));
    }
  }
  // Of a text as long as this the event has the beginning, which only decode cuts.
  const long = line(60, { target: 't'.repeat(70_000) });
  assert.equal(scanned(scanner, long), null);
  own.write(long, 0, 'latin1');
  assert.equal(scanner.scan(own, 0, long.length, ORIGIN, 3, 77), null);
  assert.ok(compare(scanner, line(61)));
  // At the very end of the room.
  const last = line(62);
  own.write(last, own.length - last.length, 'latin1');
  assert.deepStrictEqual(scanner.scan(own, own.length - last.length, own.length, ORIGIN, 3, 77), expected(last));
});

test('scan: there is memory for a few sources, and each has its own', () => {
  const scanner = new LineScanner();
  const rooms: Uint8Array[] = [];
  for (let room = scanner.room(256 * 1024); room; room = scanner.room(256 * 1024)) rooms.push(room);
  assert.ok(rooms.length >= 4, `${rooms.length} rooms`);
  for (const [i, room] of rooms.entries()) room.fill(i + 1);
  for (const [i, room] of rooms.entries()) assert.ok(room.every((byte) => byte === i + 1));
  assert.ok(compare(scanner, JSON.stringify(close('x1', 10, ANSWERED))));
});

test(`scan: more texts than the table holds, some of them many times (seed ${SEED})`, () => {
  const roll = dice(SEED);
  const scanner = new LineScanner();
  // Lengths around those at which the table compares, and gives up.
  const name = (n: number) =>
    `${n}`.padEnd([1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80][n % 14] as number, 'n');
  let taken = 0;
  for (let i = 0; i < 60_000; i++) {
    const few = roll.int(40);
    const text = JSON.stringify(
      close(`x${i}`, i, {
        ...ANSWERED,
        ...{
          server: name(roll.chance(0.5) ? few : roll.int(20_000)),
          endpoint: name(few),
          target: name(roll.int(9000)),
        },
        // One that its field does not take, whatever else the line brought.
        ...(roll.chance(0.1) && { writer: name(roll.int(5000)), host: roll.chance(0.5) ? 'h'.repeat(129) : 'h' }),
        ...(roll.chance(0.1) && { how: roll.chance(0.5) ? 'eof' : 'later' }),
      }),
    );
    const event = scanned(scanner, roll.chance(0.05) ? text.slice(0, -roll.int(60) - 1) : text);
    if (event === null) continue;
    taken++;
    assert.deepStrictEqual(event, expected(text), text);
  }
  assert.ok(taken > 30_000, `${taken} taken`);
});

test(`scan: ${MUTANTS} mutations, never another result than decode (seed ${SEED})`, () => {
  const roll = dice(SEED);
  const scanner = new LineScanner();
  const valid = Array.from({ length: 2000 }, () => validLine(roll));
  valid.push(close('x1', 10, ANSWERED), open('x2', 11));
  let taken = 0;
  for (let i = 0; i < MUTANTS; i++) {
    const text = roll.chance(0.7) ? mutant(valid, roll) : JSON.stringify(roll.pick(valid));
    // The splitter gives lines of ASCII only.
    if (/^[\0-\x7f]*$/.test(text) && !text.includes('\n') && compare(scanner, text)) taken++;
  }
  assert.ok(taken > MUTANTS / 10, `${taken} taken: the mutations test nothing`);
});
