/**
 * OpenTelemetry's SDK as this sidecar uses it: NodeSDK with a reader over our producer of metrics, a tracer and a logger whose processors
 * hand over what was just made. It makes SDK objects out of plain values and knows the resource; it counts, queues and decides nothing.
 * The only file besides its neighbours here that loads the SDK: never import it statically from outside of otel.ts.
 */
import { metrics as metricsApi, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { logs as logsApi } from '@opentelemetry/api-logs';
import { type logs, metrics, NodeSDK, resources, tracing } from '@opentelemetry/sdk-node';
import type { TraceContext } from '../../exporters/otel-ids.ts';
import { type PlainLog, SEVERITIES } from '../../exporters/otel-log.ts';
import type { PlainSpan } from '../../exporters/otel-trace.ts';
import { VERSION } from '../version.ts';
import { hrTime } from './metric-data.ts';
import { listenForPartialSuccess } from './partial-success.ts';
import type { ResourceAttributes } from './resource.ts';

export interface Sdk {
  /** Everything that the producer gives now, with the resource. */
  collect(): Promise<metrics.ResourceMetrics>;
  spans(plain: readonly PlainSpan[]): Promise<tracing.ReadableSpan[]>;
  logs(plain: readonly PlainLog[]): Promise<logs.ReadableLogRecord[]>;
  close(): Promise<void>;
}

export interface SdkOptions {
  readonly resource: ResourceAttributes;
  /** The metrics of this moment. */
  readonly produce: () => metrics.MetricData[];
}

const SCOPE = { name: 'tailfin', version: VERSION };

/** Collected when it is asked: when that is, and what follows, is the export cycle's. */
class PulledReader extends metrics.MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const remote = ({ traceId, spanId }: TraceContext, isRemote = true) =>
  trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1, isRemote });

/**
 * OTEL_LOG_LEVEL: NodeSDK would write to stdout what it does and what it sends; evidence may go there, and nothing else may. Limits: what
 * is exported is bounded by its makers, and a closed word that is cut is another word.
 */
const HELD_BACK = /^OTEL_(?:LOG_LEVEL|\w+_LIMIT)$/;

/** Hides from NodeSDK what is not meant for it. */
function holdBack(): () => void {
  const held = Object.entries(process.env).filter(([name]) => HELD_BACK.test(name));
  for (const [name] of held) delete process.env[name];
  return () => Object.assign(process.env, Object.fromEntries(held));
}

/** OpenTelemetry's API holds one of each provider for the whole process. */
let isInUse = false;

/** @throws while another one is not closed. */
export function createSdk({ resource, produce }: SdkOptions): Sdk {
  if (isInUse) throw new Error('the SDK of OpenTelemetry is in use');
  isInUse = true;
  const producer = {
    async collect() {
      const scopeMetrics = [{ scope: SCOPE, metrics: produce() }];
      return { resourceMetrics: { resource: resources.emptyResource(), scopeMetrics }, errors: [] };
    },
  };
  const reader = new PulledReader({ metricProducers: [producer] });
  /** Set before a span is started: the ids are ours. */
  const ids = { traceId: '', spanId: '' };
  let ended: tracing.ReadableSpan[] = [];
  let emitted: logs.ReadableLogRecord[] = [];
  const done = async (): Promise<void> => {};
  const giveBack = holdBack();
  const sdk = new NodeSDK({
    resource: resources.defaultResource().merge(resources.resourceFromAttributes(resource)),
    resourceDetectors: [resources.hostDetector, resources.envDetector],
    // Our own context and headers are nobody's parent.
    contextManager: null as never,
    textMapPropagator: null,
    instrumentations: [],
    metricReaders: [reader],
    // What is kept was decided before (otel-trace.ts).
    sampler: new tracing.AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanProcessors: [{ onStart() {}, onEnd: (span) => void ended.push(span), forceFlush: done, shutdown: done }],
    logRecordProcessors: [{ onEmit: (record) => void emitted.push(record), forceFlush: done, shutdown: done }],
  });
  listenForPartialSuccess();
  sdk.start();
  giveBack();
  const tracer = trace.getTracerProvider().getTracer(SCOPE.name, SCOPE.version);
  const logger = logsApi.getLoggerProvider().getLogger(SCOPE.name, SCOPE.version);

  function make(span: PlainSpan): void {
    const { traceId, spanId, parent, name, attributes, events, startMs, endMs } = span;
    Object.assign(ids, { traceId, spanId });
    const at = parent === null ? ROOT_CONTEXT : remote({ traceId, spanId: parent.spanId }, parent.isRemote);
    const links = span.links.map(({ attributes: own, ...other }) => ({
      context: { ...other, traceFlags: 1 },
      attributes: own,
    }));
    const options = { kind: SpanKind.CLIENT, startTime: hrTime(startMs), attributes, links };
    const made = tracer.startSpan(name, options, at);
    for (const event of events) made.addEvent(event.name, event.attributes, hrTime(event.at));
    if (span.isError) made.setStatus({ code: SpanStatusCode.ERROR });
    made.end(hrTime(endMs));
  }

  /** Some detectors need a moment. */
  async function settled<T extends { readonly resource: resources.Resource }>(all: T[]): Promise<T[]> {
    if (all[0]?.resource.asyncAttributesPending === true) await all[0].resource.waitForAsyncAttributes?.();
    return all;
  }

  return {
    async collect() {
      const { resourceMetrics } = await reader.collect();
      await settled([resourceMetrics]);
      return resourceMetrics;
    },
    spans(plain) {
      ended = [];
      for (const span of plain) make(span);
      return settled(ended);
    },
    logs(plain) {
      emitted = [];
      for (const { atMs, severity, eventName, context: within, attributes, body } of plain)
        logger.emit({
          ...{ timestamp: hrTime(atMs), severityNumber: SEVERITIES[severity], severityText: severity, eventName },
          ...{ attributes, body: body as never, context: within === null ? ROOT_CONTEXT : remote(within) },
        });
      return settled(emitted);
    },
    async close() {
      await sdk.shutdown();
      for (const api of [trace, metricsApi, logsApi]) api.disable();
      isInUse = false;
    },
  };
}
