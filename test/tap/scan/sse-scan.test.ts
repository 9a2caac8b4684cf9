/** The event stream machine: tables, a plain reader of the WHATWG rules, and the parser that the MCP SDKs use. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { MessageScan } from '../../../src/tap/scan/message-scan.ts';
import { MAX_EVENT_BYTES, SseScan } from '../../../src/tap/scan/sse-scan.ts';
import { judge, type Opinion } from '../../support/json-oracle.ts';
import { MESSAGES } from '../../support/mcp-messages.ts';
import { inChunks, mutatedBody } from '../../support/mutate-bytes.ts';
import { SEED } from '../../support/property.ts';
import { type Dice, dice } from '../../support/random.ts';
import { readMessages } from '../../support/rpc-oracle.ts';
import { event, SSE_TYPE, scanOf } from '../../support/scan-body.ts';
import { readStream } from '../../support/sse-oracle.ts';

const utf8 = new TextEncoder();
const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
/** The data of an event is parsed as it is: behind a space, a byte order mark is the error that it is there. */
const judgeData = (data: Uint8Array): Opinion => judge(Uint8Array.of(0x20, ...data));
const carriesMessages = (type: string): boolean => type === '' || type === 'message';

interface Seen {
  readonly events: number;
  readonly ids: number;
  readonly last: string | undefined;
  readonly cut: string;
  /** State and bytes of the data of each event that carries messages. */
  readonly messages: readonly string[];
}

function scanned(chunks: readonly Uint8Array[]): Seen {
  const messages: string[] = [];
  const scan = new SseScan(new MessageScan({ idMatch: (id) => id === '7' }, false, false), {
    began() {},
    data() {},
    message: (message) => messages.push(`${message.state()} ${message.bytes}`),
  });
  for (const chunk of chunks) scan.push(chunk);
  const last = scan.lastEventId;
  return { events: scan.events, ids: scan.eventIds, last, cut: scan.cut(), messages };
}
const readText = (text: string): Seen => scanned([utf8.encode(text)]);

function expected(bytes: Uint8Array): Seen {
  const { events, ids, lastId, isOpen } = readStream(bytes);
  const judged = events.map(({ type, data }) => {
    return { type, state: judgeData(latin1(data)).state, bytes: data.length };
  });
  const last = judged.at(-1);
  const lastWasCut = last !== undefined && carriesMessages(last.type) && last.state === 'cut';
  return {
    events: events.length,
    ids,
    last: lastId === undefined ? undefined : Buffer.from(lastId, 'latin1').toString(),
    cut: bytes.length === 0 ? 'none' : isOpen || lastWasCut ? 'mid' : 'boundary',
    messages: judged.filter(({ type }) => carriesMessages(type)).map(({ state, bytes: size }) => `${state} ${size}`),
  };
}

const NOTE = 'event: message\ndata: {"method":"x"}\n\n';
const ANSWER = '{"id":7,"result":{}}';

test('where the bytes stop', () => {
  const CASES: readonly (readonly [text: string, cut: string])[] = [
    ['', 'none'],
    [NOTE, 'boundary'],
    ['\uFEFF', 'boundary'],
    [': ping\n', 'boundary'],
    [': ping\r', 'boundary'],
    ['unknown: x\n', 'boundary'],
    [`${NOTE}: ping\n\n`, 'boundary'],
    [`${NOTE}\n\r\n`, 'boundary'],
    [`${NOTE}: pi`, 'mid'],
    [`${NOTE}event: message\n`, 'mid'],
    [`${NOTE}id: 5\n`, 'mid'],
    [`${NOTE}retry: 5\n`, 'mid'],
    [`${NOTE}d`, 'mid'],
    [`${NOTE}data: ${ANSWER}`, 'mid'],
    [`${NOTE}data: ${ANSWER}\n`, 'mid'],
    [`${NOTE}data: {"id":7,"resu\n\n`, 'mid'],
    [`data: {"id":7,"resu\n\n${NOTE}`, 'boundary'],
    [`data: {"id":7,"resu\n\n: ping\n\n`, 'mid'],
    [`${NOTE}data: no json\n\n`, 'boundary'],
    [`${NOTE}event: endpoint\ndata: "x\n\n`, 'boundary'],
    [`${NOTE}id: 9\ndata:\n\n`, 'boundary'],
  ];
  for (const [text, cut] of CASES) {
    assert.equal(readText(text).cut, cut, JSON.stringify(text));
    assert.equal(expected(utf8.encode(text)).cut, cut, `the oracle: ${JSON.stringify(text)}`);
  }
  assert.equal(scanned([Uint8Array.of(0xef, 0xbb)]).cut, 'mid', 'half a byte order mark');
});

test('fields, line ends, ids and data of the format', () => {
  const whole = `complete ${ANSWER.length}`;
  const messages = (text: string) => readText(text).messages;
  assert.deepEqual(messages(`id: 5\ndata:\n\nid:6\ndata:${ANSWER}\n\n`), ['empty 0', whole]);
  assert.deepEqual(messages('data: {"id":7,\ndata:"result":{}}\n\n'), ['complete 21'], 'lines are joined by a newline');
  assert.deepEqual(messages('data\ndata\n\n'), ['empty 1'], 'a field without a colon is an empty one');
  assert.deepEqual(messages(`data: ${ANSWER}\r\n\r\ndata: ${ANSWER}\r\rdata: ${ANSWER}\n\n`), [whole, whole, whole]);
  assert.deepEqual(messages(`data:  ${ANSWER}\n\n`), [`complete ${ANSWER.length + 1}`], 'one space is dropped');
  assert.deepEqual(
    messages(`event: ping\ndata: ${ANSWER}\n\ndata: ${ANSWER}\n\n`),
    [whole],
    'the type ends with its event',
  );
  assert.deepEqual(messages(`data: ${ANSWER}\nevent: ping\n\n`), []);
  assert.deepEqual(messages(`event: ping\nevent:\ndata: ${ANSWER}\n\n`), [whole]);
  assert.deepEqual(messages(`database: x\ndataset\n:data: x\nDATA: x\n data: x\ndata: ${ANSWER}\n\n`), [whole]);
  assert.deepEqual(messages(`\uFEFFdata: ${ANSWER}\n\n`), [whole]);
  assert.deepEqual(messages(`${NOTE}\uFEFFdata: ${ANSWER}\n\n`).length, 1, 'a mark in the middle is part of a name');
  assert.deepEqual(messages(`data: \uFEFF${ANSWER}\n\n`), [`malformed ${ANSWER.length + 3}`]);
});

test('ids: the last one that an event brought; a NUL voids it, an empty one is none', () => {
  const ids = (text: string) => {
    const { ids: count, last } = readText(text);
    return [count, last];
  };
  assert.deepEqual(ids(`id: one\ndata: x\n\n${NOTE}id: zwö\n\n`), [2, 'zwö']);
  assert.deepEqual(ids('id: one\n\nid: two\n'), [1, 'one'], 'an event without its blank line was never seen');
  assert.deepEqual(ids('id: one\n\nid: t\0wo\ndata: x\n\n'), [1, 'one']);
  assert.deepEqual(ids('id: one\nid: two\n\nid\n\nid:\n\n'), [1, 'two']);
  assert.deepEqual(ids(`id: ${'x'.repeat(5000)}\n\n`), [1, undefined], 'too long to be digested');
});

test('an event beyond the bound is marked, and read all the same', () => {
  const block = utf8.encode('x'.repeat(1024 * 1024));
  const scan = (blocks: number) =>
    scanOf([utf8.encode('data: {"id":7,"result":{"a":"'), ...Array(blocks).fill(block), utf8.encode('"}}\n\n')], {
      mediaType: SSE_TYPE,
    });
  const within = scan(MAX_EVENT_BYTES / block.length - 1);
  assert.deepEqual([within.close().oversize, within.close().terminal], [undefined, true]);
  const beyond = scan(MAX_EVENT_BYTES / block.length);
  assert.deepEqual([beyond.close().oversize, beyond.close().terminal, beyond.parse()?.ok], [true, true, true]);
});

const FIELDS = [
  'data: ',
  'data:',
  'data',
  'id: ',
  'id:',
  'id',
  'event: ',
  'event:',
  'retry: 5',
  ': ',
  ':',
  'dat: ',
  'x: ',
];
const VALUES = [
  '',
  ' ',
  'a',
  'message',
  'ping',
  '1',
  'x\0',
  'é',
  '{',
  '{}',
  '"a',
  '{"method":"x"}',
  ANSWER,
  '\uFEFF{}',
  'a:b',
];
const ENDS = ['\n', '\n', '\n\n', '\r\n', '\r\n\r\n', '\r', '\r\r', '\n\r', ''];

const STREAMS = 10_000;

function stream(roll: Dice): Uint8Array {
  let text = roll.chance(0.1) ? '\uFEFF' : '';
  for (let lines = roll.int(12); lines > 0; lines--) text += roll.pick(FIELDS) + roll.pick(VALUES) + roll.pick(ENDS);
  const bytes = utf8.encode(text);
  return roll.chance(0.3) ? bytes.slice(0, roll.int(bytes.length + 1)) : bytes;
}

test('streams by dice, in any chunks, are what the rules say', (t) => {
  const roll = dice(SEED);
  let events = 0;
  for (let n = 0; n < STREAMS; n++) {
    const bytes = stream(roll);
    // Half a mark at the very end is the one thing that cannot be told from a name.
    const isHalfMark = bytes.length < 3 && bytes[0] === 0xef;
    const want = isHalfMark ? { ...expected(bytes), cut: 'mid' } : expected(bytes);
    assert.deepEqual(scanned(inChunks(bytes, roll)), want, JSON.stringify(Buffer.from(bytes).toString('latin1')));
    events += want.events;
  }
  t.diagnostic(`${events} events in ${STREAMS} streams`);
  assert.ok(events > 4000, `${events}`);
});

test('the parser of the SDKs sees the same events and ids', async (t) => {
  // A dependency of the SDKs, not of this project: found from where they are.
  const require = createRequire(createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/client'));
  const { createParser } = (await import(require.resolve('eventsource-parser'))) as {
    createParser(config: { onEvent(event: { id?: string; event?: string; data: string }): void }): {
      feed(text: string): void;
    };
  };
  const roll = dice(SEED);
  let compared = 0;
  for (let n = 0; n < STREAMS; n++) {
    // That parser waits for what follows a CR, holds a mark in text for a field name, and takes bytes only as text.
    const bytes = stream(roll);
    if (bytes.at(-1) === 13 || bytes[0] === 0xef || bytes.includes(0)) continue;
    const states: string[] = [];
    let [events, ids] = [0, 0];
    const parser = createParser({
      onEvent({ id, event: type, data }) {
        events++;
        if (id) ids++;
        if (type === undefined || type === 'message') states.push(judgeData(utf8.encode(data)).state);
      },
    });
    parser.feed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    const seen = scanned(inChunks(bytes, roll));
    const text = JSON.stringify(Buffer.from(bytes).toString());
    assert.equal(seen.events, events, text);
    assert.deepEqual(
      seen.messages.map((message) => message.split(' ')[0]),
      states,
      text,
    );
    // Ids of blocks without data are none of its business.
    assert.ok(seen.ids >= ids, text);
    compared++;
  }
  t.diagnostic(`${compared} streams compared`);
  assert.ok(compared > STREAMS / 3, `${compared}`);
});

test('mutated messages in mutated streams: no throw, and the answers that a plain reader finds', (t) => {
  const streams = process.env.TAILFIN_LONG === '1' ? 200_000 : 5000;
  const messages = MESSAGES.map(({ text }) => utf8.encode(text)).filter(({ length }) => length < 2000);
  const corpus = MESSAGES.filter(({ text }) => text.length < 2000).map(({ text }, i) =>
    utf8.encode(
      event(text.replaceAll('\n', ' ').replaceAll('\r', ' '), ...(i % 3 === 0 ? ['event: message', `id: ${i}`] : [])),
    ),
  );
  const roll = dice(SEED + 1);
  let answered = 0;
  for (let n = 0; n < streams; n++) {
    const broken = roll.chance(0.5) ? mutatedBody(corpus, roll) : utf8.encode(event(mutatedText(messages, roll)));
    const bytes = new Uint8Array(Buffer.concat([roll.pick(corpus), broken, roll.pick(corpus)]));
    const want = expected(bytes);
    const fields = scanOf(inChunks(bytes, roll), { mediaType: SSE_TYPE }).close();
    const where = () => JSON.stringify(Buffer.from(bytes).toString('latin1'));
    assert.deepEqual([fields.events, fields.event_ids, fields.cut], [want.events, want.ids, want.cut], where());
    const documents = readStream(bytes)
      .events.filter(({ type }) => carriesMessages(type))
      .map(({ data }) => judgeData(latin1(data)))
      .filter(({ state }) => state === 'complete')
      .map(({ value }) => readMessages(value, (id) => id === '7'));
    const first = documents.flatMap(({ matched }) => matched)[0];
    const other = documents.map(({ other: found }) => found).find((found) => found !== undefined);
    assert.equal(fields.terminal, first !== undefined, where());
    assert.equal(fields.id_match, (first ?? other)?.match, where());
    assert.equal(fields.error_code, (first ?? other)?.errorCode, where());
    assert.equal(
      fields.notifications,
      documents.reduce((sum, { notifications }) => sum + notifications, 0),
      where(),
    );
    if (first !== undefined) answered++;
  }
  t.diagnostic(`${streams} streams, ${answered} with their answer: no throw, full agreement`);
  assert.ok(answered > streams * 0.3 && answered < streams, `${answered}`);
});

const mutatedText = (corpus: readonly Uint8Array[], roll: Dice): string =>
  Buffer.from(mutatedBody(corpus, roll))
    .toString()
    .replace(/[\r\n]/g, ' ');
