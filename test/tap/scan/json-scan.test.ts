import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../src/demo/faults.ts';
import { JsonRpcScan } from '../src/demo/json-rpc-scan.ts';
import { JsonScan } from '../src/demo/json-scan.ts';
import { SseScan } from '../src/demo/sse-scan.ts';

const utf8 = new TextEncoder();
const parses = (bytes: Uint8Array): boolean => {
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch {
    return false;
  }
};
const scanned = (bytes: Uint8Array, split = bytes.length): JsonRpcScan => {
  const scan = new JsonRpcScan();
  scan.push(bytes.slice(0, split));
  scan.push(bytes.slice(split));
  return scan;
};

const DOCUMENT = {
  jsonrpc: '2.0',
  result: {
    content: [{ type: 'text', text: 'é 😀 "quoted" \\ \n' }],
    isError: false,
    n: [-0, 1.5e-7, 12, [], {}, null],
  },
  id: 'a"b',
};

test('every prefix of a document is empty or cut, and only the whole is complete', () => {
  const bytes = utf8.encode(JSON.stringify(DOCUMENT, null, 1));
  for (let end = 0; end <= bytes.length; end++) {
    const expected = end === 0 ? 'empty' : end === bytes.length ? 'complete' : 'cut';
    assert.equal(scanned(bytes.subarray(0, end)).state(), expected, `${end} bytes`);
  }
});

test('mutated documents are complete exactly when JSON.parse takes them', () => {
  const random = seededRandom(1, 'json');
  const below = (n: number) => Math.floor(random() * n);
  const alphabet = utf8.encode('{}[]",:\\/0019eE+-.tfnu aé\n\u0001');
  const original = utf8.encode(JSON.stringify(DOCUMENT));
  for (let round = 0; round < 20_000; round++) {
    const bytes = original.slice(0, 1 + below(original.length));
    for (let edits = 1 + below(3); edits > 0; edits--)
      bytes[below(bytes.length)] = alphabet[below(alphabet.length)] as number;
    const scan = scanned(bytes, below(bytes.length));
    const text = () => JSON.stringify(new TextDecoder().decode(bytes));
    assert.equal(scan.state() === 'complete', parses(bytes), text());
    assert.equal(scan.malformedAt !== undefined, scan.state() === 'malformed', text());
  }
});

test('the number grammar is that of JSON.parse', () => {
  for (const text of [
    '0',
    '-0',
    '01',
    '-',
    '1.',
    '1.5',
    '.5',
    '1e',
    '1e+',
    '1E-9',
    '1e5.',
    '+1',
    '--1',
    '1 2',
    '0x1',
    '12a',
  ]) {
    const bytes = utf8.encode(text);
    assert.equal(scanned(bytes).state() === 'complete', parses(bytes), text);
  }
});

test('a byte order mark is skipped at the start and nowhere else', () => {
  const marked = utf8.encode('\uFEFF{"id":1}');
  for (const split of [0, 1, 2, 3, 5]) assert.equal(scanned(marked, split).state(), 'complete');
  assert.equal(scanned(utf8.encode('{"a":\uFEFF1}')).state(), 'malformed');
});

test('hostile nesting is malformed, not memory', () => {
  const scan = new JsonScan();
  const deep = new Uint8Array(1024 * 1024).fill('['.charCodeAt(0));
  scan.push(deep);
  assert.equal(scan.state(), 'malformed');
});

test('the envelope: kind, id, code, isError and resultType, wherever they stand', () => {
  const envelope = (message: object) => scanned(utf8.encode(JSON.stringify(message))).envelope;
  assert.deepEqual(envelope({ result: { x: { isError: true }, isError: false, resultType: 'complete' }, id: 7 }), {
    answer: 'result',
    isError: false,
    resultType: 'complete',
    id: '7',
  });
  assert.deepEqual(envelope({ id: null, error: { message: 'no', code: -32601, data: { code: 5 } } }), {
    id: 'null',
    answer: 'error',
    errorCode: -32601,
  });
  assert.deepEqual(envelope({ method: 'notifications/progress', params: { id: 3, result: {} } }), { method: true });
  assert.deepEqual(envelope([{ id: 1, result: {} }]), {}, 'a batch is no message');
  assert.deepEqual(envelope({ error: [{ code: 1 }], toString: { code: 2 } }), { answer: 'error' });
});

test('ids are compared as JSON values, not as text', () => {
  const match = (id: unknown, requestId: string | number) =>
    scanned(utf8.encode(JSON.stringify({ id, result: {} }))).idMatch(requestId);
  assert.equal(match(7, 7), 'match');
  assert.equal(match('7', 7), 'mismatch');
  assert.equal(match('é"', 'é"'), 'match');
  assert.equal(match(null, 7), 'null_id');
  assert.equal(match(undefined, 7), 'null_id');
  assert.equal(scanned(utf8.encode('{"method":"ping","id":7}')).idMatch(7), undefined);
});

interface Seen {
  events: number;
  ids: number;
  last: string | undefined;
  cut: string;
  messages: string[];
}

function readEvents(text: string, split?: number): Seen {
  const messages: string[] = [];
  const scan = new SseScan((message) => {
    const { method, answer } = message.envelope;
    messages.push(`${answer ?? (method ? 'method' : 'none')} ${message.state()}`);
  });
  const bytes = utf8.encode(text);
  scan.push(bytes.slice(0, split ?? bytes.length));
  scan.push(bytes.slice(split ?? bytes.length));
  return { events: scan.events, ids: scan.eventIds, last: scan.lastEventId, cut: scan.cut(), messages };
}

const NOTE = 'event: message\ndata: {"method":"x"}\n\n';

test('event streams: where the bytes stop', () => {
  const cases: [string, string][] = [
    ['', 'none'],
    [NOTE, 'boundary'],
    [': ping\n', 'boundary'],
    [`${NOTE}: ping\n\n`, 'boundary'],
    [`${NOTE}\n\n`, 'boundary'],
    [`${NOTE}: pi`, 'mid'],
    [`${NOTE}event: message\n`, 'mid'],
    [`${NOTE}data: {"id":1,"result":{}}`, 'mid'],
    [`${NOTE}data: {"id":1,"result":{}}\n`, 'mid'],
    [`${NOTE}data: {"id":1,"resu\n\n`, 'mid'],
    [`${NOTE}data: no json\n\n`, 'boundary'],
  ];
  for (const [text, cut] of cases) assert.equal(readEvents(text).cut, cut, JSON.stringify(text));
});

test('event streams: fields, line ends, ids and messages of the format', () => {
  const answer = '{"id":1,"result":{}}';
  assert.deepEqual(readEvents(`id: 5\ndata:\n\nid:6\ndata:${answer}\n\n`).messages, ['none empty', 'result complete']);
  assert.deepEqual(readEvents('data: {"id":1,\ndata: "result":{}}\n\n').messages, ['result complete']);
  assert.deepEqual(readEvents(`data: ${answer}\r\n\r\ndata: ${answer}\r\r`).messages, Array(2).fill('result complete'));
  assert.deepEqual(
    readEvents(`event: ping\ndata: ${answer}\n\n`).messages,
    [],
    'only unnamed and message events are messages',
  );
  assert.deepEqual(readEvents(`\uFEFFdata: ${answer}\n\n`).messages, ['result complete']);
  assert.deepEqual(readEvents(`database: x\ndataset\ndata: ${answer}\n\n`).messages, ['result complete']);
  const { ids, last, events } = readEvents(`id: one\ndata: ${answer}\n\n${NOTE}id: two\n\n`);
  assert.deepEqual([ids, last, events], [2, 'two', 2]);
});

test('event streams: chunking changes nothing', () => {
  const text = `: hi\r\nid: é\r\n${NOTE}data: {"id":1,\r\ndata:"result":{"a":"\u{1F600}"}}\r\r\nretry: 5\n\ndata: {"id":2,"err`;
  const whole = readEvents(text);
  assert.deepEqual([whole.events, whole.cut], [2, 'mid']);
  const length = utf8.encode(text).length;
  for (let split = 0; split <= length; split++) assert.deepEqual(readEvents(text, split), whole, `split at ${split}`);
});
