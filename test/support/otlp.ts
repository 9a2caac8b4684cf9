/** Spans as SDKs emit them, sent by the real exporters of OpenTelemetry or as OTLP/JSON by hand, and the source that takes them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createOtlpProtocol } from '../../src/sources/otlp/protocol.ts';
import { LOGS, TRACES } from '../../src/sources/otlp/signals.ts';
import type { Digest } from '../../src/sources/otlp/span-line.ts';
import { createIngestRig, type RigOptions } from './ingest-rig.ts';

export type Codec = 'json' | 'protobuf';
export const CODECS: readonly Codec[] = ['json', 'protobuf'];
export const CONTENT_TYPE: Readonly<Record<Codec, string>> = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
};

export interface SpanSpec {
  readonly name: string;
  readonly attributes?: Attributes;
  readonly kind?: SpanKind;
  readonly status?: 'ok' | 'error';
  /** Of the status: the error message, which must go nowhere. */
  readonly message?: string;
  readonly exception?: string;
  /** Milliseconds after the first span. */
  readonly at?: number;
  readonly ms?: number;
}

const call = (tool: string, id: string, more: Attributes = {}): Pick<SpanSpec, 'name' | 'attributes'> => ({
  name: `MCP send tools/call ${tool}`,
  attributes: { 'mcp.method.name': 'tools/call', 'jsonrpc.request.id': id, ...more },
});
const code = (value: string): Attributes => ({ 'error.type': value, 'rpc.response.status_code': value });

/** What the Python SDK 2.3.0 emitted, span for span, against a server that did what the key says (measured 30 Nov 2026). */
export const PYTHON_SPANS = {
  initialize: {
    name: 'MCP send initialize',
    attributes: { 'mcp.method.name': 'initialize', 'jsonrpc.request.id': '1' },
  },
  'a result': call('ok', '2'),
  'a list': { name: 'MCP send tools/list', attributes: { 'mcp.method.name': 'tools/list', 'jsonrpc.request.id': '3' } },
  'a result with isError': call('toolerr', '4'),
  'a JSON-RPC error': { ...call('rpcerr', '5', code('-32602')), status: 'error', message: 'SECRET' },
  'HTTP 500': { ...call('500', '6', code('-32603')), status: 'error', message: 'Server returned an error response' },
  'a cut stream': {
    ...call('cut', '7', code('-32000')),
    status: 'error',
    message: 'SSE stream ended without a response',
  },
  'a reset before the head': call('reset', '8'),
  'a timeout': { ...call('hang', '9'), status: 'error', message: 'TimeoutError: ', exception: 'TimeoutError' },
  'a cancelled call': call('hang', '10'),
} as const satisfies Readonly<Record<string, SpanSpec>>;

/** As one that follows the conventions to the letter would. */
export const conventional = (method: string, target: string, more: Attributes = {}): SpanSpec => ({
  name: `${method} ${target}`,
  attributes: {
    'mcp.method.name': method,
    'gen_ai.tool.name': target,
    'gen_ai.operation.name': 'execute_tool',
    'mcp.protocol.version': '2025-11-25',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'server.address': '10.0.0.1',
    'server.port': 8080,
    ...more,
  },
});

export const PYTHON_RESOURCE: Attributes = {
  'telemetry.sdk.language': 'python',
  'telemetry.sdk.name': 'opentelemetry',
  'service.instance.id': '6f4b8252-70c3-46e3-94c4-4c3c669ba3f3',
  'service.name': 'unknown_service:python',
};

const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
/** The words of the exporters' options, which are enums of a package that is not ours to name. */
const compressionOf = (gzip: boolean) => (gzip ? 'gzip' : 'none') as never;

/** Sends them by the SDK, in batches as it makes them; fails where one was refused. */
export async function exportSpans(
  url: string,
  codec: Codec,
  specs: readonly SpanSpec[],
  { gzip = false, startAt = 0, resource = PYTHON_RESOURCE, scope = 'mcp-python-sdk', headers = {} } = {},
): Promise<void> {
  const options = { url: `${url}v1/traces`, compression: compressionOf(gzip), headers };
  const exporter = codec === 'json' ? new JsonTraces(options) : new ProtobufTraces(options);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(resource),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer(scope);
  for (const { name, attributes = {}, kind = SpanKind.CLIENT, status, message, exception, at = 0, ms = 100 } of specs) {
    const span = tracer.startSpan(name, { kind, attributes, startTime: hrTime(startAt + at) });
    if (exception !== undefined)
      span.addEvent('exception', { 'exception.type': exception, 'exception.message': 'SECRET' });
    if (status !== undefined) {
      const code = status === 'ok' ? SpanStatusCode.OK : SpanStatusCode.ERROR;
      span.setStatus({ code, ...(message !== undefined && { message }) });
    }
    span.end(hrTime(startAt + at + ms));
  }
  await provider.forceFlush();
  await provider.shutdown();
}

/** Sends log records with these bodies by the SDK. */
export async function exportLogs(url: string, codec: Codec, bodies: readonly unknown[], gzip = false): Promise<void> {
  const options = { url: `${url}v1/logs`, compression: compressionOf(gzip) };
  const exporter = codec === 'json' ? new JsonLogs(options) : new ProtobufLogs(options);
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('test');
  for (const body of bodies) logger.emit({ body: body as never, attributes: { 'log.file.name': 'canary' } });
  await provider.forceFlush();
  await provider.shutdown();
}

const anyValue = (value: unknown): unknown => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Number.isInteger(value)) return { intValue: String(value) };
  if (typeof value === 'number') return { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return value ?? {};
};
export const keyValues = (attributes: object): unknown[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));

/** One span of OTLP/JSON by hand. `own` replaces members of it. */
export const jsonSpan = (n: number, spec: SpanSpec, startAt: number, own: object = {}): object => ({
  traceId: '5b8efff798038103d269b633813fc60c',
  spanId: (n + 1).toString(16).padStart(16, '0'),
  name: spec.name,
  kind: (spec.kind ?? SpanKind.CLIENT) + 1,
  startTimeUnixNano: `${startAt + (spec.at ?? 0)}000000`,
  endTimeUnixNano: `${startAt + (spec.at ?? 0) + (spec.ms ?? 100)}000000`,
  attributes: keyValues(spec.attributes ?? {}),
  status: spec.status === undefined ? {} : { code: spec.status === 'ok' ? 1 : 2 },
  ...(spec.exception !== undefined && {
    events: [{ name: 'exception', attributes: keyValues({ 'exception.type': spec.exception }) }],
  }),
  ...own,
});

export const jsonRequest = (spans: readonly object[], resource: Attributes = {}): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'mcp-python-sdk' }, spans }],
      },
    ],
  });

/** The source with both paths of OTLP behind a listener. */
export const createOtlpRig = (t: TestContext, digest?: Digest, options: RigOptions = {}) =>
  createIngestRig(t, {
    ...{ name: 'otlp', host: 'otlp' },
    ...options,
    protocols: { '/v1/traces': createOtlpProtocol(TRACES, digest), '/v1/logs': createOtlpProtocol(LOGS, digest) },
  });
export type OtlpRig = Awaited<ReturnType<typeof createOtlpRig>>;

/** Every sample of the pipeline after all windows have closed, by name and labels. */
export function totalsOf({ pipeline }: OtlpRig): Record<string, unknown> {
  pipeline.finish();
  pipeline.refresh();
  const totals: Record<string, unknown> = {};
  for (const { spec, cells } of pipeline.cells.families())
    for (const { values, value, buckets } of cells) totals[`${spec.name}{${values.join()}}`] = buckets ?? value;
  assert.ok(Object.keys(totals).length > 0);
  return totals;
}

export interface Captured {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What the exporters put on the wire, as it was. */
export async function capture(sending: (url: string) => Promise<void>): Promise<Captured[]> {
  const captured: Captured[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      captured.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces) });
      response.setHeader('Content-Type', request.headers['content-type'] ?? '');
      response.end(request.headers['content-type'] === CONTENT_TYPE.json ? '{}' : '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await sending(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return captured;
}
