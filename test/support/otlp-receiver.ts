/**
 * An OTLP backend for tests. It decodes with code that protobufjs generated from the official .proto files (and JSON by the rules of
 * OTLP/JSON), which shares nothing with the writer in the exporters. What it answers is the test's to say.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Signal } from '../../src/app/otel/settings.ts';

interface Message {
  decode(bytes: Uint8Array): unknown;
  toObject(message: unknown, options: object): unknown;
  encode(message: object): { finish(): Uint8Array };
}
type Package = Readonly<Record<string, Message>>;
interface Root {
  readonly opentelemetry: {
    readonly proto: { readonly collector: Readonly<Record<Signal | 'trace', { readonly v1: Package }>> };
  };
}
const root = createRequire(import.meta.url)('otlp-proto-generated/build/src/generated/root.js') as Root;
const { collector } = root.opentelemetry.proto;
const TYPES: Readonly<Record<Signal, { readonly v1: Package; readonly name: string }>> = {
  metrics: { v1: collector.metrics.v1, name: 'ExportMetricsService' },
  traces: { v1: collector.trace.v1, name: 'ExportTraceService' },
  logs: { v1: collector.logs.v1, name: 'ExportLogsService' },
};

export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };
export type Attributes = Readonly<Record<string, Value>>;

export interface Point {
  readonly metric: string;
  readonly unit: string;
  readonly kind: 'sum' | 'gauge' | 'histogram';
  /** As the wire has it: 1 delta, 2 cumulative; 0 a gauge. */
  readonly temporality: number;
  readonly isMonotonic: boolean;
  readonly attributes: Attributes;
  readonly startMs: number;
  readonly atMs: number;
  /** Of a histogram the sum. */
  readonly value: number;
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly atMs: number; readonly attributes: Attributes }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly attributes: Attributes }[];
  /** 0 unset, 2 error. */
  readonly status: number;
}

export interface ReceivedLog {
  readonly atMs: number;
  readonly severity: number;
  readonly severityText: string;
  readonly eventName: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Attributes;
  readonly body: Value;
}

export interface Received {
  readonly signal: Signal;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  readonly resource: Attributes;
  readonly points: readonly Point[];
  readonly spans: readonly ReceivedSpan[];
  readonly logs: readonly ReceivedLog[];
}

/** Says everything itself; false: the usual answer. */
export type Responder = (response: ServerResponse, received: Received) => boolean | Promise<boolean>;

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  respond: Responder;
  points(): readonly Point[];
  spans(): readonly ReceivedSpan[];
  logs(): readonly ReceivedLog[];
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: what is on the wire has no type before it is read
type Any = any;

const hex = (id: unknown, isJson: boolean): string => {
  if (typeof id !== 'string' || id === '') return '';
  return isJson ? id : Buffer.from(id, 'base64').toString('hex');
};
const ms = (nanos: unknown): number => Number(BigInt(String(nanos ?? 0)) / 1000n) / 1000;

function anyValueOf(any: Any): Value {
  if (any === undefined || any === null) return null;
  if (any.stringValue !== undefined) return any.stringValue;
  if (any.boolValue !== undefined) return any.boolValue;
  if (any.intValue !== undefined) return Number(any.intValue);
  if (any.doubleValue !== undefined) return Number(any.doubleValue);
  if (any.arrayValue !== undefined) return (any.arrayValue.values ?? []).map(anyValueOf);
  return any.kvlistValue === undefined ? null : attributesOf(any.kvlistValue.values);
}
function attributesOf(pairs: Any): Record<string, Value> {
  const all: Record<string, Value> = {};
  for (const { key, value } of pairs ?? []) {
    assert.ok(!(key in all), `the attribute ${key} stands twice`);
    all[key] = anyValueOf(value);
  }
  return all;
}

function pointsOf(metric: Any): Point[] {
  const kind = (['sum', 'gauge', 'histogram'] as const).find((each) => metric[each] !== undefined);
  assert.ok(kind !== undefined, `${metric.name} holds no data`);
  const { dataPoints, aggregationTemporality = 0, isMonotonic = false } = metric[kind];
  return (dataPoints ?? []).map((point: Any) => {
    const counts = (point.bucketCounts ?? []).map(Number);
    if (kind === 'histogram') {
      assert.equal(counts.length, (point.explicitBounds ?? []).length + 1, metric.name);
      assert.equal(
        Number(point.count ?? 0),
        counts.reduce((a: number, b: number) => a + b, 0),
        metric.name,
      );
    }
    return {
      ...{ metric: metric.name, unit: metric.unit ?? '', kind, temporality: aggregationTemporality, isMonotonic },
      ...{
        attributes: attributesOf(point.attributes),
        startMs: ms(point.startTimeUnixNano),
        atMs: ms(point.timeUnixNano),
      },
      value: Number(kind === 'histogram' ? (point.sum ?? 0) : (point.asDouble ?? point.asInt ?? 0)),
      ...{ bounds: point.explicitBounds ?? [], counts },
    };
  });
}

const spanOf = (span: Any, isJson: boolean): ReceivedSpan => ({
  ...{ traceId: hex(span.traceId, isJson), spanId: hex(span.spanId, isJson) },
  ...{ parentSpanId: hex(span.parentSpanId, isJson), name: span.name, kind: span.kind },
  ...{
    startMs: ms(span.startTimeUnixNano),
    endMs: ms(span.endTimeUnixNano),
    attributes: attributesOf(span.attributes),
  },
  events: (span.events ?? []).map((event: Any) => ({
    ...{ name: event.name, atMs: ms(event.timeUnixNano), attributes: attributesOf(event.attributes) },
  })),
  links: (span.links ?? []).map((link: Any) => ({
    ...{
      traceId: hex(link.traceId, isJson),
      spanId: hex(link.spanId, isJson),
      attributes: attributesOf(link.attributes),
    },
  })),
  status: span.status?.code ?? 0,
});

const logOf = (log: Any, isJson: boolean): ReceivedLog => ({
  ...{ atMs: ms(log.timeUnixNano), severity: log.severityNumber, severityText: log.severityText },
  ...{ eventName: log.eventName ?? '', traceId: hex(log.traceId, isJson), spanId: hex(log.spanId, isJson) },
  ...{ attributes: attributesOf(log.attributes), body: anyValueOf(log.body) },
});

const IDS = { longs: String, bytes: String, enums: Number };

function read(signal: Signal, request: IncomingMessage, body: Buffer): Received {
  const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  const isJson = request.headers['content-type'] === 'application/json';
  if (!isJson) assert.equal(request.headers['content-type'], 'application/x-protobuf');
  const { v1, name } = TYPES[signal];
  const type = v1[`${name}Request`] as Message;
  const all: Any = isJson ? JSON.parse(bytes.toString()) : type.toObject(type.decode(bytes), IDS);
  const [group] = all.resourceMetrics ?? all.resourceSpans ?? all.resourceLogs ?? [{}];
  const scopes: Any[] = group.scopeMetrics ?? group.scopeSpans ?? group.scopeLogs ?? [];
  return {
    ...{ signal, headers: request.headers, bytes, resource: attributesOf(group.resource?.attributes) },
    points: scopes.flatMap(({ metrics = [] }) => metrics.flatMap(pointsOf)),
    spans: scopes.flatMap(({ spans = [] }) => spans.map((span: Any) => spanOf(span, isJson))),
    logs: scopes.flatMap(({ logRecords = [] }) => logRecords.map((log: Any) => logOf(log, isJson))),
  };
}

/** A response that took all but `rejected` entries. */
export function partialSuccess(signal: Signal, rejected: number, isJson = false): Buffer {
  const field = { metrics: 'rejectedDataPoints', traces: 'rejectedSpans', logs: 'rejectedLogRecords' }[signal];
  const answer = { partialSuccess: { [field]: rejected, errorMessage: 'canary.backend' } };
  if (isJson) return Buffer.from(JSON.stringify(answer));
  const { v1, name } = TYPES[signal];
  return Buffer.from((v1[`${name}Response`] as Message).encode(answer).finish());
}

/** `tls`: key and certificate in PEM. `port` 0: any. */
export async function startReceiver(
  t: TestContext,
  { tls, port = 0 }: { readonly tls?: { readonly key: string; readonly cert: string }; readonly port?: number } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const signal = /^\/v1\/(metrics|traces|logs)$/.exec(request.url ?? '')?.[1] as Signal | undefined;
    if (signal === undefined) {
      response.writeHead(404).end();
      return;
    }
    const one = read(signal, request, Buffer.concat(chunks));
    received.push(one);
    if (await receiver.respond(response, one)) return;
    response.writeHead(200, { 'content-type': request.headers['content-type'] }).end();
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch((error: unknown) => {
      failures.push(error);
      response.destroy();
    });
  };
  const failures: unknown[] = [];
  const server: Server = tls === undefined ? createServer(onRequest) : (createTlsServer(tls, onRequest) as Server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const receiver: Receiver = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    respond: () => false,
    points: () => received.flatMap(({ points }) => points),
    spans: () => received.flatMap(({ spans }) => spans),
    logs: () => received.flatMap(({ logs }) => logs),
    close,
  };
  t.after(async () => {
    await close();
    assert.deepEqual(failures, [], 'what could not be read');
  });
  return receiver;
}
