/** What a sender of OTLP is answered: in its own encoding, with what was rejected, and whether to send again. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { MAX_RECORDS } from '../../src/sources/otlp/record-index.ts';
import type { Answer } from '../support/ingest-rig.ts';
import { send } from '../support/ingest-rig.ts';
import {
  CODECS,
  CONTENT_TYPE,
  type Codec,
  createOtlpRig,
  jsonRequest,
  jsonSpan,
  type OtlpRig,
  PYTHON_SPANS,
} from '../support/otlp.ts';

const span = PYTHON_SPANS['a result'];
const startOf = (rig: OtlpRig) => rig.clock.now - 60_000;
const post = (rig: OtlpRig, body: Buffer | string, codec: Codec, headers = {}, path = 'v1/traces') =>
  send(`${rig.url}${path}`, body, { headers: { 'content-type': CONTENT_TYPE[codec], ...headers } });

/** Fields of a message by number: texts as text, numbers as numbers. */
function fieldsOf(bytes: Uint8Array): Record<number, unknown> {
  const reader = new BinaryReader(bytes);
  const found: Record<number, unknown> = {};
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    found[field] = type === WireType.Varint ? Number(reader.int64()) : reader.bytes();
  }
  return found;
}
const text = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString();

/** google.rpc.Status of a refusal. */
function statusOf(answer: Answer, codec: Codec): { code: unknown; message: string } {
  assert.equal(answer.headers['content-type'], CONTENT_TYPE[codec]);
  if (codec === 'json') return answer.json as unknown as { code: unknown; message: string };
  const { 1: code, 2: message } = fieldsOf(answer.bytes);
  return { code, message: text(message) };
}

const nested = (...numbers: number[]): Buffer => {
  let bytes = new Uint8Array();
  for (const no of numbers.reverse())
    bytes = new BinaryWriter().tag(no, WireType.LengthDelimited).bytes(bytes).finish();
  return Buffer.from(bytes);
};

describe('a request that is taken', () => {
  for (const codec of CODECS)
    test(`${codec}: an empty one, with and without groups`, async (t) => {
      const rig = await createOtlpRig(t);
      const bodies =
        codec === 'json'
          ? ['{}', '{"resourceSpans":[]}', ' {"resourceSpans":null}\n', '{"x":[{"y":"]}"}]}']
          : ['', nested(1), nested(1, 2)];
      for (const body of bodies) {
        const answer = await post(rig, body, codec);
        assert.deepEqual([answer.status, answer.body.trim()], [200, codec === 'json' ? '{}' : '']);
        assert.equal(answer.headers['content-type'], CONTENT_TYPE[codec]);
      }
    });

  test('json: what was rejected, in words of the closed list', async (t) => {
    const rig = await createOtlpRig(t);
    const good = jsonSpan(0, span, startOf(rig));
    const spans = [
      good,
      { ...good, traceId: 'zz', x: 'CANARY' },
      { ...good, spanId: '2'.repeat(16), endTimeUnixNano: '0' },
    ];
    const answer = await post(rig, jsonRequest(spans), 'json');
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json, { partialSuccess: { rejectedSpans: '2', errorMessage: 'missing_field' } });
    assert.equal(rig.sum('tailfin_events_rejected_total', { source: 'otlp', reason: 'missing_field' }), 2);
    assert.equal(rig.sum('tailfin_events_total', { source: 'otlp' }), 1);
  });

  test('protobuf: the same', async (t) => {
    const rig = await createOtlpRig(t);
    // A span with a method and nothing else, and one whose inside is broken.
    const attribute = new BinaryWriter().tag(1, WireType.LengthDelimited).string('mcp.method.name');
    attribute
      .tag(2, WireType.LengthDelimited)
      .bytes(new BinaryWriter().tag(1, WireType.LengthDelimited).string('ping').finish());
    const bare = new BinaryWriter()
      .tag(9, WireType.LengthDelimited)
      .bytes(attribute.finish())
      .tag(6, WireType.Varint)
      .int32(3)
      .finish();
    const scope = new BinaryWriter();
    for (const each of [bare, new Uint8Array([0x4a, 0x7f])]) scope.tag(2, WireType.LengthDelimited).bytes(each);
    const group = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(scope.finish()).finish();
    const answer = await post(
      rig,
      Buffer.from(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(group).finish()),
      'protobuf',
    );
    assert.equal(answer.status, 200);
    const { 1: partial } = fieldsOf(answer.bytes);
    const { 1: rejected, 2: message } = fieldsOf(partial as Uint8Array);
    assert.deepEqual([rejected, text(message)], [2, 'missing_field, not_protobuf']);
    assert.equal(rig.sum('tailfin_events_rejected_total', { reason: 'not_protobuf' }), 1);
  });

  test('json: a record that is no JSON is rejected alone', async (t) => {
    const rig = await createOtlpRig(t);
    const good = JSON.stringify(jsonSpan(0, span, startOf(rig)));
    const answer = await post(rig, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"a":tru},${good},7,null]}]}]}`, 'json');
    assert.deepEqual(answer.json, { partialSuccess: { rejectedSpans: '1', errorMessage: 'not_json' } });
    assert.equal(rig.sum('tailfin_events_rejected_total', { reason: 'not_mcp' }), 2);
    assert.equal(rig.sum('tailfin_events_total'), 1);
  });

  test('log records count as such', async (t) => {
    const rig = await createOtlpRig(t);
    const body = JSON.stringify({
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: '{"v":9}' } }, {}] }] }],
    });
    const answer = await post(rig, body, 'json', {}, 'v1/logs');
    assert.deepEqual(answer.json, { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'bad_version' } });
  });

  test('the resource may come after its spans', async (t) => {
    const rig = await createOtlpRig(t);
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'agent' } }] };
    const scopeSpans = [{ spans: [jsonSpan(0, span, startOf(rig))] }];
    await post(
      rig,
      JSON.stringify({
        resourceSpans: [{ scopeSpans, resource }, { scopeSpans: [{ spans: [jsonSpan(1, span, startOf(rig))] }] }],
      }),
      'json',
    );
    assert.deepEqual(
      rig.delivered.map((line) => JSON.parse(line).host),
      ['agent', undefined],
    );
  });
});

describe('a request that is refused: whole, and nothing of it is counted', () => {
  for (const codec of CODECS)
    test(`${codec}: by status, google.rpc.Status and Retry-After`, async (t) => {
      const rig = await createOtlpRig(t, undefined, { token: 'secret', maxBatchBytes: 10_000 });
      const auth = { authorization: 'Bearer secret' };
      const cut =
        codec === 'json' ? '{"resourceSpans":[{"scopeSpans":[{"spans":[{}' : nested(1, 2, 2, 9).subarray(0, -1);
      const cases: readonly (readonly [Buffer | string, Record<string, string>, number, number, string])[] = [
        [cut, auth, 400, 3, 'bad_otlp'],
        ['[]', auth, 400, 3, 'bad_otlp'],
        ['x', { ...auth, 'content-encoding': 'gzip' }, 400, 3, 'bad_gzip'],
        [gzipSync(Buffer.alloc(1000)).subarray(0, -9), { ...auth, 'content-encoding': 'gzip' }, 400, 3, 'bad_gzip'],
        [gzipSync(Buffer.alloc(1_000_000)), { ...auth, 'content-encoding': 'gzip' }, 413, 8, 'too_large'],
        [Buffer.alloc(10_001), auth, 413, 8, 'too_large'],
        [cut, {}, 401, 16, 'unauthorized'],
        [cut, { ...auth, origin: 'http://x' }, 403, 7, 'from_browser'],
        [cut, { ...auth, 'content-encoding': 'br' }, 415, 3, 'wrong_encoding'],
      ];
      for (const [body, headers, status, code, error] of cases) {
        const answer = await post(rig, body, codec, headers);
        const said = statusOf(answer, codec);
        assert.deepEqual([answer.status, said.code, said.message.split(':')[0]], [status, code, error]);
      }
      assert.equal(rig.delivered.length, 0);
      assert.equal(rig.sum('tailfin_events_rejected_total'), 0);
    });

  test('another type, or none: 415 in JSON, which names the two', async (t) => {
    const rig = await createOtlpRig(t);
    for (const headers of [{ 'content-type': 'text/plain' }, {}]) {
      const answer = await send(`${rig.url}v1/traces`, '{}', { headers });
      assert.deepEqual([answer.status, answer.headers.accept], [415, 'application/x-protobuf, application/json']);
      assert.equal(statusOf(answer, 'json').code, 3);
    }
    assert.equal((await send(`${rig.url}v1/traces`, '', { method: 'GET' })).status, 405);
  });

  test('busy, not stored, stopping: to be sent again', async (t) => {
    const busy = await createOtlpRig(t, undefined, { maxHeldBytes: 1 });
    const body = jsonRequest([jsonSpan(0, span, startOf(busy))]);
    for (const codec of CODECS) {
      const answer = await post(busy, body, codec);
      assert.deepEqual([answer.status, answer.headers['retry-after'], statusOf(answer, codec).code], [429, '1', 8]);
    }
    let isStored = false;
    const rig = await createOtlpRig(t, undefined, { stored: async () => isStored });
    const refused = await post(rig, body, 'json');
    assert.deepEqual([refused.status, refused.headers['retry-after'], statusOf(refused, 'json').code], [503, '5', 14]);
    isStored = true;
    assert.equal((await post(rig, body, 'json')).status, 200);
    // Told by its ids: what came twice is late, and counts nowhere else.
    rig.pipeline.finish();
    assert.equal(rig.sum('tailfin_events_late_total', { source: 'otlp' }), 1);
    assert.equal(rig.sum('tailfin_operations_total'), 1);
    await rig.source.drain(rig.sink, 1000);
    assert.equal((await post(rig, body, 'json')).status, 503);
  });

  test('too many records, or groups of them', async (t) => {
    const rig = await createOtlpRig(t);
    const many = (count: number) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(count - 1)}{}]}]}]}`;
    assert.equal((await post(rig, many(MAX_RECORDS + 1), 'json')).status, 413);
    assert.equal(rig.sum('tailfin_events_rejected_total'), 0);
    assert.equal((await post(rig, many(MAX_RECORDS), 'json')).status, 200);
    assert.equal(rig.sum('tailfin_events_rejected_total', { reason: 'not_mcp' }), MAX_RECORDS);
    const groups = `{"resourceSpans":[${'{},'.repeat(MAX_RECORDS)}{}]}`;
    const scopes = `{"resourceSpans":[{"scopeSpans":[${'{},'.repeat(4 * MAX_RECORDS)}{}]}]}`;
    for (const body of [groups, scopes]) assert.equal((await post(rig, body, 'json')).status, 413);
    for (const unit of [nested(1), nested(1, 2), Buffer.from([0x38, 0x01])])
      assert.equal((await post(rig, Buffer.concat(Array(4 * MAX_RECORDS + 1).fill(unit)), 'protobuf')).status, 413);
  });
});
