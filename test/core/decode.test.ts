/** The guard at the edge of the core: each kind of field at its bounds, times, and each reason to reject a line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { REJECTIONS } from '../../src/core/model/event.ts';
import {
  EVENT_TYPES,
  type EventType,
  FIELDS,
  type FieldName,
  type FieldSpec,
  fieldsOf,
} from '../../src/core/model/fields.ts';
import { decode, isNoJson, isRejection, utf8Length } from '../../src/core/stages/decode.ts';
import { ORIGIN } from '../support/build-event.ts';
import { holds } from '../support/property.ts';

/** The least that each type must carry. */
const LEAST: Readonly<Record<EventType, object>> = {
  open: { exchange: 'x' },
  headers: { exchange: 'x' },
  message: { exchange: 'x' },
  close: { exchange: 'x', how: 'eof' },
  parse: { of: 'result', ok: true },
  settle: { result: 'ok' },
  discovery: { server: 's' },
  client: { client: 'c', event: 'created' },
  gap: { dropped: 1 },
  segment: { id: 'i' },
  end: {},
};
const line = (fields: object, type: string = 'close'): string =>
  JSON.stringify({ v: 1, type, ts: 1, ...(type in LEAST ? LEAST[type as EventType] : {}), ...fields });
const decoded = (text: string) => decode(text, ORIGIN, 3, 77);

function accepted(text: string) {
  const event = decoded(text);
  assert.ok(!isRejection(event), `${text} is rejected: ${JSON.stringify(event)}`);
  return event;
}
function rejected(text: string): string {
  const rejection = decoded(text);
  assert.ok(isRejection(rejection), `${text} is accepted`);
  assert.ok(REJECTIONS.includes(rejection.rejected));
  return rejection.field === undefined ? rejection.rejected : `${rejection.rejected} ${rejection.field}`;
}

test('decode: where it was read stays with the event', () => {
  const event = accepted(line({ status: 200 }));
  assert.deepEqual([event.type, event.ts, event.origin, event.line, event.offset], ['close', 1, ORIGIN, 3, 77]);
  assert.equal(event.fields.status, 200);
});

test('decode: text that is no line of ours', () => {
  for (const text of ['', '{', '{"v":1', 'null x', "{'v':1}", `${line({})}{`, '\uFEFF{}', '\0'.repeat(9), 'NaN'])
    assert.equal(rejected(text), 'not_json', JSON.stringify(text));
  for (const text of ['null', '1', '"v"', '[]', '[{"v":1}]', 'true']) assert.equal(rejected(text), 'not_object', text);
  assert.equal(rejected('['.repeat(1_000_000)), 'not_json');
  assert.equal(rejected('{"a":'.repeat(200_000)), 'not_json');
});

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test('decode: what is refused without a parser is what the parser refuses', () => {
  const isRefused = (text: string) => isNoJson(text) && !parses(text);
  for (const text of ['', ' ', 'x', 'x\n', '{', '{"v":1', '[2026-11-30] hello', 'error: x', 'NaN', "'a'", '\u00a0{}'])
    assert.ok(isRefused(text), JSON.stringify(text));
});

const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 });
holds('decode: no JSON is refused without a parser', 500, [blanks, fc.json(), blanks], (before, json, after) =>
  assert.ok(!isNoJson(before + json + after)),
);
const jsonish = fc.string({ unit: fc.constantFrom(...'{}[]",:-+.019eEtrufalsn \t\n\r\u00a0\ufeffx'), maxLength: 4 });
holds('decode: nor is any short text that a parser takes', 20_000, [jsonish], (text) =>
  assert.ok(!(isNoJson(text) && parses(text)), JSON.stringify(text)),
);

test('decode: the envelope', () => {
  assert.equal(rejected('{}'), 'missing_field v');
  assert.equal(rejected('{"type":"open","ts":1,"exchange":"x"}'), 'missing_field v');
  for (const v of [0, 2, '1', null, true, 1.5, [1]])
    assert.equal(rejected(line({ v })), 'bad_version', JSON.stringify(v));
  assert.equal(rejected('{"v":1}'), 'missing_field type');
  assert.equal(rejected('{"v":1,"type":null,"ts":1}'), 'missing_field type');
  for (const type of ['heartbeat', 'Open', '', 'constructor', '__proto__', 'toString'])
    assert.equal(rejected(`{"v":1,"type":"${type}","ts":1}`), 'unknown_type', type);
  for (const type of [1, {}, ['open'], true])
    assert.equal(rejected(JSON.stringify({ v: 1, type, ts: 1 })), 'unknown_type', JSON.stringify(type));
  assert.equal(rejected('{"v":1,"type":"open","exchange":"x"}'), 'missing_field ts');
  assert.equal(rejected(line({ ts: null })), 'missing_field ts');
});

test('decode: every type with the least it must carry, and without each of it', () => {
  for (const [type, { required }] of Object.entries(EVENT_TYPES)) {
    accepted(line({}, type));
    for (const field of required) {
      assert.equal(rejected(line({ [field]: undefined }, type)), `missing_field ${field}`, type);
      assert.equal(rejected(line({ [field]: null }, type)), `missing_field ${field}`, type);
    }
  }
});

test('decode: times, as milliseconds or RFC 3339', () => {
  const good: [unknown, number][] = [
    [0, 0],
    [1790000000000, 1790000000000],
    [1790000000000.25, 1790000000000.25],
    [8.64e15, 8.64e15],
    ['2026-11-29T10:00:00Z', Date.UTC(2026, 10, 29, 10)],
    ['2026-11-29t10:00:00z', Date.UTC(2026, 10, 29, 10)],
    ['2026-11-29T10:00:00.5Z', Date.UTC(2026, 10, 29, 10) + 500],
    ['2026-11-29T10:00:00.123456789Z', Date.UTC(2026, 10, 29, 10) + 123],
    ['2026-11-29T12:30:00+02:30', Date.UTC(2026, 10, 29, 10)],
    ['2026-11-29T09:00:00-01:00', Date.UTC(2026, 10, 29, 10)],
    ['2026-11-29 10:00:00Z', Date.UTC(2026, 10, 29, 10)],
    ['2026-11-29T10:00:00.12345678901234567890Z', Date.UTC(2026, 10, 29, 10) + 123],
    ['2026-12-31T23:59:60Z', Date.UTC(2027, 0, 1)],
    ['1970-01-01T00:00:00Z', 0],
  ];
  for (const [text, ms] of good) {
    assert.equal(accepted(line({ ts: text })).ts, ms, String(text));
    assert.equal(accepted(line({ open_ts: text })).fields.open_ts, ms, String(text));
    assert.equal(accepted(line({ terminal_ts: text })).fields.terminal_ts, ms, String(text));
  }
  const bad = [
    ...[-1, 8.65e15, true, {}, [], '', 'now', '1790000000000', '2026-11-29', '2026-11-29T10:00:00'],
    ...[
      '2026-13-01T00:00:00Z',
      '2026-11-29T25:00:00Z',
      '2026-11-29T10:00:00.Z',
      '20261129T100000Z',
      ' 2026-11-29T10:00:00Z',
    ],
  ];
  for (const time of bad) {
    assert.equal(rejected(line({ ts: time })), 'bad_field ts', JSON.stringify(time));
    assert.equal(rejected(line({ open_ts: time })), 'bad_field open_ts', JSON.stringify(time));
  }
  assert.equal(rejected('{"v":1,"type":"end","ts":1e400}'), 'bad_field ts');
});

/** Values that fit each kind of field, and values that do not. */
const KINDS: Readonly<Record<string, { good: readonly unknown[]; bad: readonly unknown[] }>> = {
  id: {
    good: ['', 'x', ' ', 'a'.repeat(128), 'ü'.repeat(64), '\u{1F600}'.repeat(32), '\0', '€'.repeat(42)],
    bad: ['a'.repeat(129), 'ü'.repeat(65), '\u{1F600}'.repeat(33), `${'€'.repeat(42)}abc`, 1, true, [], {}],
  },
  word: { good: ['', 'ECONNRESET', 'x'.repeat(128)], bad: [1, false, [], {}] },
  text: { good: ['', 'file:///a b', 'x'.repeat(2048)], bad: [1, false, [], {}] },
  bool: { good: [true, false], bad: [0, 1, 'true', '', [], {}] },
  count: { good: [0, 1, 2 ** 53 - 1, 1e3], bad: [-1, 0.5, 2 ** 53, 1e300, '1', true, [], {}] },
  int: { good: [0, -32601, 2 ** 53 - 1, -(2 ** 53 - 1)], bad: [0.5, 2 ** 53, '1', true, [], {}] },
  ms: { good: [0, 0.5, 1e12, Number.MAX_VALUE], bad: [-0.5, '1', true, [], {}] },
};

/** A type of line that declares the field. */
const typeOf = (name: string): EventType =>
  (Object.keys(EVENT_TYPES) as EventType[]).find((type) => (fieldsOf(type) as string[]).includes(name)) as EventType;

test('decode: every declared field, by its kind; null is known to be absent', () => {
  for (const [name, spec] of Object.entries<FieldSpec>(FIELDS)) {
    if (spec.is === 'time') continue;
    const type = typeOf(name);
    const isRequired = (EVENT_TYPES[type].required as readonly string[]).includes(name);
    const { good, bad } =
      typeof spec.is !== 'string'
        ? { good: spec.is, bad: [1, true, {}, [], [spec.is[0]]] }
        : spec.is === 'object'
          ? { good: [{}, { other: 1 }], bad: [[], 'x', 1, true] }
          : (KINDS[spec.is] as (typeof KINDS)[string]);
    for (const value of good) {
      const text = line({ [name]: value }, type);
      if (isRequired && value === '') assert.equal(rejected(text), `missing_field ${name}`);
      else
        assert.deepEqual(
          accepted(text).fields[name as FieldName],
          spec.is === 'object' ? {} : value,
          `${name} ${JSON.stringify(value)}`,
        );
    }
    for (const value of bad)
      assert.equal(rejected(line({ [name]: value }, type)), `bad_field ${name}`, JSON.stringify(value));
    if (isRequired) continue;
    assert.equal(accepted(line({ [name]: null }, type)).fields[name as FieldName], null, name);
    assert.equal(accepted(line({}, type)).fields[name as FieldName], undefined, name);
  }
  assert.equal(rejected('{"v":1,"type":"settle","ts":1,"result":"ok","waited_ms":1e400}'), 'bad_field waited_ms');
});

test('decode: a word that is not known says nothing; where the line needs it, it is missing', () => {
  for (const word of ['', 'x', 'EOF', 'constructor']) {
    assert.equal(accepted(line({ framing: word })).fields.framing, undefined, word);
    assert.equal(accepted(line({ rpc: word }, 'message')).fields.rpc, undefined, word);
    assert.equal(rejected(line({ how: word })), 'missing_field how', word);
    assert.equal(rejected(line({ result: word }, 'settle')), 'missing_field result', word);
    assert.equal(rejected(line({ of: word }, 'parse')), 'missing_field of', word);
  }
});

test('decode: names that others chose are cut to a length, not refused', () => {
  assert.equal(accepted(line({ error: 'x'.repeat(5000) })).fields.error?.length, 128);
  assert.equal(accepted(line({ target: 'x'.repeat(5000) })).fields.target?.length, 2048);
});

test('decode: parts of an object are checked like fields', () => {
  const annotations = { read_only: true, idempotent: null, title: 'x', destructive: undefined };
  assert.deepEqual(accepted(line({ annotations })).fields.annotations, { read_only: true, idempotent: null });
  assert.deepEqual(accepted(line({ list: { count: 2, digest: 'd', auth: null } })).fields.list, {
    ...{ count: 2, digest: 'd', auth: null },
  });
  assert.equal(rejected(line({ annotations: { read_only: 'yes' } })), 'bad_field annotations');
  assert.equal(rejected(line({ list: { count: -1 } })), 'bad_field list');
  assert.equal(rejected(line({ connection: { id: 'x'.repeat(129) } })), 'bad_field connection');
  assert.equal(rejected(line({ connection: { idle_ms: {} } })), 'bad_field connection');
});

test('decode: what is not declared for a type is ignored on it', () => {
  for (const type of Object.keys(EVENT_TYPES) as EventType[]) {
    const text = line({ status: 'two hundred' }, type);
    if (fieldsOf(type).includes('status')) assert.equal(rejected(text), 'bad_field status', type);
    else accepted(text);
  }
  for (const name of ['note', 'payload', 'constructor', 'toString', 'hasOwnProperty', 'Exchange', 'exchange '])
    accepted(line({ [name]: { deep: [1, 2, { x: 'y'.repeat(5000) }] } }));
  accepted(line({}).replace('{', '{"__proto__":{"exchange":1,"status":"x"},'));
});

test('decode: a key given twice counts as its last value', () => {
  assert.equal(accepted('{"v":1,"type":"gap","ts":1,"dropped":1,"dropped":2}').fields.dropped, 2);
  assert.equal(rejected('{"v":1,"type":"gap","ts":1,"dropped":1,"dropped":"2"}'), 'bad_field dropped');
});

test('decode: the length of an id is that of its UTF-8 bytes', () => {
  for (const text of ['', 'abc', 'ü€', '\u{1F600}x', '\0', 'a\u{10FFFF}'])
    assert.equal(utf8Length(text), Buffer.byteLength(text), JSON.stringify(text));
  for (const lone of ['\ud800', '\udc00x', 'x\ud800', '\ud800\ud800'])
    assert.equal(utf8Length(lone), Buffer.byteLength(lone), JSON.stringify(lone));
});
