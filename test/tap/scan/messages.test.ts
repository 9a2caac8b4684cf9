/** The JSON-RPC envelope, batches and inner JSON, against a reader of the parsed document; also on broken bodies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageScan } from '../../../src/tap/scan/message-scan.ts';
import { judge } from '../../support/json-oracle.ts';
import { MESSAGES } from '../../support/mcp-messages.ts';
import { inChunks, mutatedBody } from '../../support/mutate-bytes.ts';
import { SEED } from '../../support/property.ts';
import { type Dice, dice } from '../../support/random.ts';
import { type Found, type Reading, readMessages } from '../../support/rpc-oracle.ts';
import { JSON_TYPE, scanOf } from '../../support/scan-body.ts';

const utf8 = new TextEncoder();
const isAwaited = (id: string): boolean => id === '7';

function reading(chunks: readonly Uint8Array[]): Reading {
  const scan = new MessageScan({ idMatch: isAwaited }, true, true);
  for (const chunk of chunks) scan.push(chunk);
  const { matched, other, notifications, cancelled } = scan.messages;
  return { matched, other: other as Found | undefined, notifications, cancelled } as Reading;
}
const readText = (text: string): Reading => reading([utf8.encode(text)]);

test('every message of the corpus is read as its parsed form says, byte by byte too', () => {
  for (const { name, text } of MESSAGES) {
    const bytes = utf8.encode(text);
    const expected = readMessages(judge(bytes).value, isAwaited);
    assert.deepEqual(reading([bytes]), expected, name);
    const single = Array.from(bytes, (_, i) => bytes.slice(i, i + 1));
    assert.deepEqual(reading(single), expected, `${name}, byte by byte`);
  }
});

test('the envelope: the last of equal keys wins, nothing below or beside the message counts', () => {
  const TEXTS = [
    '{"id":7,"result":{"isError":true},"result":{}}',
    '{"id":7,"result":{"resultType":"x"},"error":{"code":5}}',
    '{"id":7,"error":{"code":5},"error":{}}',
    '{"id":7,"error":{"code":5},"error":null,"result":{}}',
    '{"id":7,"result":{},"error":null,"error":{"code":1}}',
    '{"id":7,"result":{},"id":8}',
    '{"id":8,"result":{},"id":7}',
    '{"id":7,"id":null,"result":{}}',
    '{"id":7,"id":{},"result":{}}',
    '{"id":{"id":7},"result":{}}',
    '{"id":[7],"result":[]}',
    '{"id":true,"result":0}',
    '{"id":7.0,"result":{}}',
    '{"id":0.7e1,"result":{}}',
    '{"id":"7","result":{}}',
    '{"id":"\\u0037","error":{}}',
    '{"id":-0,"result":{}}',
    '{"id":9007199254740993,"result":{}}',
    '{"result":{}}',
    '{"id":7}',
    '{"id":7,"method":"ping","result":{}}',
    '{"id":7,"method":5,"result":{}}',
    '{"method":5}',
    '{"method":"x"}',
    '{"method":"x","id":null}',
    '{"method":"notifications/cancelled","params":{"requestId":"7"}}',
    '{"method":"notifications/cancelled","params":{"requestId":7},"params":{}}',
    '{"method":"notifications/cancelled"}',
    '{"params":{"requestId":7,"x":{"requestId":8}},"method":"notifications/cancelled"}',
    '{"id":7,"error":{"code":1.5}}',
    '{"id":7,"error":{"code":"5"}}',
    '{"id":7,"error":{"code":-32601,"data":{"code":5}}}',
    '{"id":7,"error":[{"code":5}]}',
    '{"id":7,"result":{"a":{"isError":true,"resultType":"task"},"isError":"true","resultType":5}}',
    '{"id":7,"result":{"isError":null,"resultType":"my secret"}}',
    '{"a":{"id":7,"result":{}}}',
    '{"id":7,"re\\u0073ult":{"isErr\\u006fr":false}}',
    '{"toString":1,"__proto__":{"result":{}},"constructor":{"result":{}},"id":7}',
    '[]',
    '[[{"id":7,"result":{}}]]',
    '[{"id":7,"result":{}},{"id":7,"error":{"code":3}},1,null,"x",[],{"id":8,"result":{}},{"method":"x"}]',
    '[{"id":8,"result":{}},{"id":7,"result":{"isError":true}}]',
    '5',
    '"result"',
  ];
  for (const text of TEXTS) assert.deepEqual(readText(text), readMessages(JSON.parse(text), isAwaited), text);
});

test('ids, methods and keys of any length: what is longer than a token is unknown, not wrong', () => {
  const long = 'x'.repeat(5000);
  const { other } = readText(`{"${long}":1,"id":"${long}","method${long}":1,"result":{"resultType":"${long}"}}`);
  assert.deepEqual(
    [other?.idJson, other?.match, other?.kind, other?.resultType],
    [undefined, undefined, 'result', 'other'],
  );
  assert.equal(readText(`{"method":"${long}"}`).notifications, 0);
  const id = JSON.stringify('i'.repeat(1000));
  const scan = new MessageScan({ idMatch: (json) => json === id }, false, true);
  scan.push(utf8.encode(`{"id":${id.slice(0, 500)}`));
  scan.push(utf8.encode(`${id.slice(500)},"result":{}}`));
  assert.equal(scan.messages.matched.length, 1);
});

test('inner JSON: texts that begin with a bracket, after any space and in any spelling', () => {
  const part = (text: string, more = '') => `{"type":"text","text":${text}${more}}`;
  const inner = (...parts: string[]) =>
    `{"id":7,"result":{"content":[${parts.join()}],"structuredContent":{"content":[${part('"{"')}]}}}`;
  const CASES: readonly (readonly [json: string, word: string])[] = [
    [inner(), 'none'],
    [inner(part('"prose"')), 'none'],
    [inner(part('""')), 'none'],
    [inner(part('"{}"')), 'ok'],
    [inner(part('" \\n\\t[1, 2]\\r\\n"')), 'ok'],
    [inner(part('"\\u007b\\u0022a\\u0022:\\"\\u00e9\\\\u00e9\\\\\\"\\"}"')), 'ok'],
    [inner(part('"{\\"a\\":\\"é\\\\n\\"}"')), 'ok'],
    [inner(part('"{\\"a\\":\\"\\n\\"}"')), 'bad'],
    [inner(part('"{é}"')), 'bad'],
    [inner(part('"[\\u00e9]"')), 'bad'],
    [inner(part('"[INFO] started"')), 'bad'],
    [inner(part('"{\\"a\\":1"')), 'bad'],
    [inner(part('"{} {}"')), 'bad'],
    [inner(part('"\\ufeff{}"')), 'none'],
    [inner(part('"5"'), part('"[]"')), 'ok'],
    [inner(part('"{"'), part('"[]"')), 'bad'],
    [inner(part('"[]"'), part('"{"')), 'bad'],
    [inner('{"type":"image","text":"{"}', '{"text":"{"}', '{"type":"text","text":["{"]}', '[]', '"{"'), 'none'],
    [inner('{"text":"{","type":"text"}'), 'bad'],
    [inner(part('"{"', ',"text":"{}"')), 'ok'],
    [inner(part('"{"', ',"text":5')), 'none'],
    [inner(part('"{"', ',"type":"image"')), 'none'],
    [inner(part('"{"', ',"type":{}')), 'none'],
    [inner(part('"{"', ',"more":{"type":"image","text":"{}"}')), 'bad'],
    ['{"id":7,"result":{"content":[{"type":"text","text":"{"}],"content":[]}}', 'none'],
  ];
  for (const [json, word] of CASES) {
    assert.equal(readMessages(JSON.parse(json), isAwaited).matched[0]?.inner, word, `the oracle: ${json}`);
    const bytes = utf8.encode(json);
    for (let split = 0; split < bytes.length; split++)
      assert.equal(reading([bytes.slice(0, split), bytes.slice(split)]).matched[0]?.inner, word, `${json} at ${split}`);
  }
});

/** One body through the scanner of JSON bodies: must not throw, and must say what the parsed document says. */
function checkBody(bytes: Uint8Array, roll: Dice): boolean {
  const expected = judge(bytes);
  const fields = scanOf(inChunks(bytes, roll), { mediaType: JSON_TYPE }).close();
  const where = () => JSON.stringify(Buffer.from(bytes).toString('latin1'));
  assert.equal(fields.json, expected.state, where());
  assert.equal(fields.bytes, bytes.length);
  const isWhole = expected.state === 'complete';
  const { matched, other, cancelled } = readMessages(isWhole ? expected.value : undefined, isAwaited);
  const seen = matched[0] ?? other;
  assert.equal(fields.terminal, matched.length > 0, where());
  assert.equal(fields.id_match, seen?.match, where());
  assert.equal(fields.terminal_kind, matched[0]?.kind, where());
  assert.equal(fields.error_code, seen?.errorCode, where());
  assert.equal(fields.is_error, seen?.isError, where());
  assert.equal(fields.result_type, seen?.resultType, where());
  const results = matched.filter(({ kind }) => kind === 'result').map(({ inner }) => inner);
  const inner = results.includes('bad') ? 'bad' : results.includes('ok') ? 'ok' : 'none';
  assert.equal(fields.inner_json, results.length === 0 ? undefined : inner, where());
  assert.equal(fields.cancelled, undefined, `${cancelled.length} cancellations do not end a call`);
  return isWhole;
}

test('mutated bodies: no throw, and the state and the envelope that JSON.parse finds', (t) => {
  const bodies = process.env.TAILFIN_LONG === '1' ? 1_000_000 : 20_000;
  const corpus = MESSAGES.map(({ text }) => utf8.encode(text)).filter((bytes) => bytes.length < 3000);
  const roll = dice(SEED);
  let whole = 0;
  for (let n = 0; n < bodies; n++) if (checkBody(mutatedBody(corpus, roll), roll)) whole++;
  t.diagnostic(`${bodies} bodies, ${whole} of them still valid JSON: no throw, full agreement with JSON.parse`);
  assert.ok(whole > bodies * 0.2 && whole < bodies * 0.8, `${whole} of ${bodies} are valid: a one-sided test`);
});
