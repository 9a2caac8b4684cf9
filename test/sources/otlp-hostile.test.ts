/** OTLP from anybody: whatever the bytes, an answer and bounded work; whatever the attributes, nothing leaves that the tables do not name. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { SPAN_ATTRIBUTES } from '../../src/sources/otlp/attributes.ts';
import type { OtlpFormat } from '../../src/sources/otlp/deliver.ts';
import { LOGS, TRACES } from '../../src/sources/otlp/signals.ts';
import { capture, exportLogs, exportSpans, jsonRequest, jsonSpan, keyValues, PYTHON_SPANS } from '../support/otlp.ts';
import { deliver, digest, field, inRequest, isRefused, T0 } from '../support/otlp-deliver.ts';
import { holds, SEED } from '../support/property.ts';

const CANARY = 'cAnArY';

/** Texts that must not leave. */
const secret = fc.string({ maxLength: 20 }).map((text) => `${text}${CANARY}${text}`);
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    secret.map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.integer().map((whole) => ({ intValue: String(whole) })),
    fc.double().map((doubleValue) => ({ doubleValue: Number.isFinite(doubleValue) ? doubleValue : 'NaN' })),
    secret.map((text) => ({ bytesValue: Buffer.from(text).toString('base64') })),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => ({ arrayValue: { values } })),
    fc
      .array(fc.record({ key: secret, value: tie('value') }), { maxLength: 3 })
      .map((values) => ({ kvlistValue: { values } })),
    fc.constantFrom(null, 7, 'x', [], {}),
  ),
})).value;

/** On the list, and what of it may leave is another matter: names of tools, servers and processes do. */
const LEAVES = [
  'mcp.method.name',
  'gen_ai.tool.name',
  'gen_ai.prompt.name',
  'service.peer.name',
  'peer.service',
  'server.address',
  'jsonrpc.request.id',
];
const HELD_BACK = Object.keys(SPAN_ATTRIBUTES).filter((key) => !LEAVES.includes(key));
const attribute = fc.record({ key: fc.oneof(secret, fc.constantFrom(...HELD_BACK)), value: anyValue });

const span = fc.record(
  {
    name: secret.map((text) => `x ${text}`),
    kind: fc.oneof(fc.constant(3), fc.anything()),
    startTimeUnixNano: fc.oneof(fc.constant(`${T0}000000`), fc.anything()),
    endTimeUnixNano: fc.oneof(fc.constant(`${T0 + 5}000000`), fc.anything()),
    traceId: fc.oneof(fc.constant('a'.repeat(32)), fc.anything(), secret),
    spanId: fc.oneof(fc.constant('b'.repeat(16)), fc.anything(), secret),
    status: fc.oneof(fc.record({ code: fc.integer({ min: 0, max: 3 }), message: secret }), fc.anything()),
    attributes: fc.array(attribute, { maxLength: 8 }),
    events: fc.array(
      fc.record({ name: fc.constantFrom('exception', 'x'), attributes: fc.array(attribute, { maxLength: 3 }) }),
      { maxLength: 2 },
    ),
    traceState: secret,
    links: fc.array(fc.record({ attributes: fc.array(attribute, { maxLength: 2 }) }), { maxLength: 2 }),
  },
  { requiredKeys: ['attributes'] },
);
const METHOD = keyValues({ 'mcp.method.name': 'tools/call' });

const text = (no: number, value: string): Uint8Array => field(no, Buffer.from(value));

interface Value {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly bytesValue?: string;
  readonly arrayValue?: { readonly values: readonly unknown[] };
  readonly kvlistValue?: { readonly values: readonly unknown[] };
}
/** AnyValue and KeyValue in protobuf. */
function encodeValue(value: unknown): Uint8Array {
  const { stringValue, boolValue, intValue, bytesValue, arrayValue, kvlistValue } = Object(value) as Value;
  if (stringValue !== undefined) return text(1, stringValue);
  if (boolValue !== undefined) return new BinaryWriter().tag(2, WireType.Varint).bool(boolValue).finish();
  if (intValue !== undefined) return new BinaryWriter().tag(3, WireType.Varint).int64(intValue).finish();
  if (bytesValue !== undefined) return field(7, Buffer.from(bytesValue, 'base64'));
  if (arrayValue !== undefined)
    return field(5, Buffer.concat(arrayValue.values.map((each) => field(1, encodeValue(each)))));
  return kvlistValue === undefined
    ? new Uint8Array()
    : field(6, Buffer.concat(kvlistValue.values.map((each) => field(1, encodeAttribute(each)))));
}
function encodeAttribute(attribute: unknown): Uint8Array {
  const { key, value } = attribute as { readonly key: string; readonly value: unknown };
  return Buffer.concat([text(1, key), field(2, encodeValue(value))]);
}

describe('attributes of any kind', () => {
  holds(
    'never throw and never leak, in JSON',
    400,
    [fc.array(span, { maxLength: 4 }), fc.boolean(), secret],
    async (spans, isMcp, scope) => {
      const sent = spans.map((each) => ({
        ...each,
        attributes: isMcp ? [...each.attributes, ...METHOD] : each.attributes,
      }));
      const resource = { attributes: keyValues({ [scope]: scope }) };
      const body = JSON.stringify({
        resourceSpans: [{ resource, scopeSpans: [{ scope: { name: scope }, spans: sent }] }],
      });
      const delivered = await deliver(body, 'json');
      assert.equal(isRefused(delivered), false);
      assert.equal(delivered.lines.length + delivered.rejected, spans.length);
      assert.ok(!JSON.stringify(delivered).includes(CANARY), JSON.stringify(delivered));
    },
  );

  holds(
    'never throw and never leak, in protobuf',
    400,
    [span, fc.boolean()],
    async ({ attributes, name = '', events = [] }, isMcp) => {
      const sent = isMcp ? [...attributes, ...METHOD] : attributes;
      const own = new BinaryWriter()
        .tag(8, WireType.Bit64)
        .fixed64(BigInt(T0) * 1_000_000n)
        .tag(6, WireType.Varint)
        .int32(3)
        .finish();
      const record = Buffer.concat([
        ...[field(1, Buffer.alloc(16, 1)), field(2, Buffer.alloc(8, 1)), own, text(5, name), text(3, CANARY)],
        ...sent.map((each) => field(9, encodeAttribute(each))),
        ...events.map((each) =>
          field(
            11,
            Buffer.concat([text(2, each.name), ...each.attributes.map((one) => field(3, encodeAttribute(one)))]),
          ),
        ),
        field(15, text(2, CANARY)),
      ]);
      const delivered = await deliver(inRequest(record), 'protobuf');
      const isOurs = attributes.some(({ key }) => key === 'tailfin.operation.result');
      assert.deepEqual([isRefused(delivered), delivered.lines.length], [false, isMcp && !isOurs ? 1 : 0]);
      assert.ok(!JSON.stringify(delivered).includes(CANARY), JSON.stringify(delivered));
    },
  );

  test('a session leaves as a digest under the key, or not at all', async () => {
    const spec = {
      ...PYTHON_SPANS['a result'],
      attributes: { 'mcp.method.name': 'ping', 'mcp.session.id': CANARY, 'jsonrpc.request.id': 5 },
    };
    const { lines } = await deliver(jsonRequest([jsonSpan(0, spec, T0)]), 'json');
    const { client, rpc_id } = JSON.parse(lines[0] as string);
    assert.deepEqual([client, rpc_id], [`session-${digest(CANARY)}`, '5']);
    assert.ok(!lines.join().includes(CANARY));
  });

  const record = fc.record({ body: anyValue, attributes: fc.array(attribute, { maxLength: 2 }) });
  holds('never throw in log records', 200, [fc.array(record)], async (logRecords) => {
    const delivered = await deliver(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }), 'json', LOGS);
    assert.equal(delivered.lines.length + delivered.rejected, logRecords.length);
  });
});

describe('bytes of any kind', () => {
  const specs = Object.values(PYTHON_SPANS).slice(0, 5);
  const lines = [
    { v: 1, type: 'gap', ts: T0, dropped: 1, reason: 'x' },
    '{"v":1}',
    { v: 1, connection: { id: [1, 2.5, true] } },
  ];
  const bodies = async (codec: OtlpFormat) => [
    { signal: TRACES, body: (await capture((url) => exportSpans(url, codec, specs, { startAt: T0 })))[0]!.body },
    { signal: LOGS, body: (await capture((url) => exportLogs(url, codec, lines)))[2]!.body },
  ];

  for (const codec of ['json', 'protobuf'] as const)
    test(`${codec}: real requests, cut, changed, doubled: taken or refused, never an exception`, async () => {
      for (const { body, signal } of await bodies(codec)) {
        for (let length = 0; length < body.length; length++) await deliver(body.subarray(0, length), codec, signal);
        const change = fc.record({
          at: fc.nat(body.length - 1),
          to: fc.oneof(fc.nat(255), fc.constantFrom(0x22, 0x5b, 0x7b, 0x7d, 0x80, 0xff)),
        });
        await fc.assert(
          fc.asyncProperty(
            fc.array(change, { minLength: 1, maxLength: 6 }),
            fc.boolean(),
            async (changes, isDoubled) => {
              const bytes = Buffer.from(isDoubled ? Buffer.concat([body, body]) : body);
              for (const { at, to } of changes) bytes[at] = to;
              await deliver(bytes, codec, signal);
            },
          ),
          { seed: SEED, numRuns: 1500, interruptAfterTimeLimit: 9000, markInterruptAsFailure: false },
        );
        await fc.assert(
          fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
            await deliver(Buffer.from(bytes), codec, signal);
          }),
          { seed: SEED, numRuns: 500 },
        );
      }
    });
});
