/** Export requests of the Python SDK and of one that follows the conventions, 512 spans each, in JSON and in protobuf, with their tally. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { createRandom } from './random.mjs';

export const BATCH = 512;
const PYTHON = {
  'telemetry.sdk.language': 'python',
  'telemetry.sdk.name': 'opentelemetry',
  'telemetry.sdk.version': '1.45.2',
  'service.instance.id': '6f4b8252-70c3-46e3-94c4-4c3c669ba3f3',
  'service.name': 'agent',
};
const CONVENTIONAL = {
  'gen_ai.operation.name': 'execute_tool',
  'mcp.protocol.version': '2025-11-25',
  'network.transport': 'tcp',
  'network.protocol.name': 'http',
  'server.address': '10.0.0.1',
  'server.port': 8080,
};

/** One kind of call in `share` of all: what its span says, and the result that it proves. */
const KINDS = [
  { share: 0.6, result: 'unresolved', attributes: {} },
  { share: 0.35, result: 'first_try', status: 1, attributes: CONVENTIONAL },
  {
    share: 0.03,
    result: 'first_try',
    status: 2,
    attributes: { 'error.type': '-32602', 'rpc.response.status_code': '-32602' },
  },
  {
    share: 0.02,
    result: 'surfaced',
    status: 2,
    attributes: { 'error.type': '-32000', 'rpc.response.status_code': '-32000' },
  },
];

function pick(unit) {
  let upTo = 0;
  for (const kind of KINDS) {
    upTo += kind.share;
    if (unit < upTo) return kind;
  }
  return KINDS[0];
}

/** {spans, tally by result}; `rate` in spans per second of event time. */
export function createSpans({ count, seed, startTs, rate }) {
  const { unit: next, hex16 } = createRandom(seed);
  const tally = {};
  const spans = Array.from({ length: count }, (_, i) => {
    const { result, status = 0, attributes } = pick(next());
    tally[result] = (tally[result] ?? 0) + 1;
    const end = startTs + (i * 1000) / rate;
    const tool = `tool-${Math.floor(next() * 20)}`;
    return {
      traceId: hex16() + hex16(),
      spanId: hex16(),
      parentSpanId: hex16(),
      name: `MCP send tools/call ${tool}`,
      start: BigInt(Math.round(end - 20 - next() * 400)) * 1_000_000n,
      end: BigInt(Math.round(end)) * 1_000_000n,
      status,
      attributes: {
        'mcp.method.name': 'tools/call',
        'jsonrpc.request.id': String(i),
        'gen_ai.tool.name': tool,
        ...attributes,
      },
    };
  });
  return { spans, tally };
}

const anyValue = (value) => (typeof value === 'number' ? { intValue: String(value) } : { stringValue: value });
const keyValues = (attributes) => Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));

export const toJson = (spans) =>
  Buffer.from(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: keyValues(PYTHON) },
          scopeSpans: [
            {
              scope: { name: 'mcp-python-sdk' },
              spans: spans.map(({ start, end, status, attributes, ...rest }) => ({
                ...rest,
                kind: 3,
                flags: 257,
                startTimeUnixNano: String(start),
                endTimeUnixNano: String(end),
                attributes: keyValues(attributes),
                status: status === 0 ? {} : { code: status },
              })),
            },
          ],
        },
      ],
    }),
  );

const message = (fill) => {
  const writer = new BinaryWriter();
  fill(writer);
  return writer.finish();
};
const bytes = (writer, no, value) => writer.tag(no, WireType.LengthDelimited).bytes(value);
const text = (writer, no, value) => writer.tag(no, WireType.LengthDelimited).string(value);
const attributesInto = (writer, no, attributes) => {
  for (const [key, value] of Object.entries(attributes)) {
    const any = message((w) =>
      typeof value === 'number' ? w.tag(3, WireType.Varint).int64(value) : text(w, 1, value),
    );
    bytes(
      writer,
      no,
      message((w) => bytes(text(w, 1, key), 2, any)),
    );
  }
};

export const toProtobuf = (spans) => {
  const spanBytes = (span) =>
    message((w) => {
      bytes(w, 1, Buffer.from(span.traceId, 'hex'));
      bytes(w, 2, Buffer.from(span.spanId, 'hex'));
      bytes(w, 4, Buffer.from(span.parentSpanId, 'hex'));
      text(w, 5, span.name);
      w.tag(6, WireType.Varint).int32(3);
      w.tag(7, WireType.Bit64).fixed64(span.start);
      w.tag(8, WireType.Bit64).fixed64(span.end);
      attributesInto(w, 9, span.attributes);
      bytes(w, 15, span.status === 0 ? new Uint8Array() : message((s) => s.tag(3, WireType.Varint).int32(span.status)));
      w.tag(16, WireType.Bit32).fixed32(257);
    });
  const scope = message((w) => {
    bytes(
      w,
      1,
      message((s) => text(s, 1, 'mcp-python-sdk')),
    );
    for (const span of spans) bytes(w, 2, spanBytes(span));
  });
  const group = message((w) =>
    bytes(
      bytes(
        w,
        1,
        message((r) => attributesInto(r, 1, PYTHON)),
      ),
      2,
      scope,
    ),
  );
  return Buffer.from(message((w) => bytes(w, 1, group)));
};
