/**
 * One signal's way to its backend: OpenTelemetry's own exporter, which writes, times out and retries, and what became of each export in
 * closed words. Nothing of an answer's text goes further than this file. It keeps nothing: what has failed is the caller's to send again.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtoLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtoMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import type { core, logs, metrics, tracing } from '@opentelemetry/sdk-node';
import { takePartial } from './partial-success.ts';
import type { Signal, Target } from './settings.ts';

/** ok: the backend has it, but for `rejected` of its entries. refused: it never will. failed: later, perhaps. */
export type SendResult = {
  /** Requests that repeated an earlier one of this export. */
  readonly retries: number;
} & (
  | { readonly status: 'ok'; readonly rejected: number }
  | { readonly status: 'refused'; readonly reason: string }
  | {
      readonly status: 'failed';
      readonly reason: string /** The backend asked for so long. */;
      readonly retryAfterMs: number;
    }
);

export interface Payloads {
  readonly metrics: metrics.ResourceMetrics;
  readonly traces: tracing.ReadableSpan[];
  readonly logs: logs.ReadableLogRecord[];
}

export interface Sender<S extends Signal> {
  /** One at a time. `withinMs`: instead of the configured time; no retry goes past it. */
  send(payload: Payloads[S], withinMs?: number): Promise<SendResult>;
  /** Ends what is under way. */
  close(): void;
}

/** Node's request, which knows its agent. */
interface Request {
  readonly agent: unknown;
  destroy(error: Error): void;
}

interface Exporter {
  export(payload: unknown, done: (result: core.ExportResult) => void): void;
  shutdown(): Promise<void>;
}

const EXPORTERS = {
  metrics: { 'http/protobuf': ProtoMetrics, 'http/json': JsonMetrics },
  traces: { 'http/protobuf': ProtoTraces, 'http/json': JsonTraces },
  logs: { 'http/protobuf': ProtoLogs, 'http/json': JsonLogs },
} as const;

const FINISH = 'http.client.response.finish';
const START = 'http.client.request.start';
/** Longest wait that a backend may ask for: its word is not worth more than that. */
const MAX_RETRY_AFTER_MS = 300_000;

function retryAfterMs(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms)) : 0;
}

/** Error codes of Node and OpenSSL are closed words; anything else could hold a text from outside. */
const codeWord = (code: unknown): string =>
  typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'error';

export function createSender<S extends Signal>(signal: S, { url, protocol, tls }: Target): Sender<S> {
  const agent = url.startsWith('https:')
    ? new HttpsAgent({ keepAlive: true, ...tls })
    : new HttpAgent({ keepAlive: true });
  const create = (withinMs?: number): Exporter => {
    const options = { url, httpAgentOptions: () => agent, ...(withinMs !== undefined && { timeoutMillis: withinMs }) };
    return new EXPORTERS[signal][protocol](options) as unknown as Exporter;
  };
  const exporter = create();
  let requests = 0;
  let last: { readonly status: number; readonly retryAfterMs: number } | undefined;
  let isClosed = false;
  let isSending = false;
  // The exporter tells neither how often it asked nor how long it was asked to wait.
  const onStart = (message: unknown): void => {
    const { request } = message as { readonly request: Request };
    if (request.agent !== agent) return;
    requests++;
    last = undefined;
    // A code that the exporter does not try again.
    if (isClosed) request.destroy(Object.assign(new Error('closed'), { code: 'ABORT_ERR' }));
  };
  const onFinish = (message: unknown): void => {
    const { request, response } = message as { readonly request: Request; readonly response: IncomingMessage };
    if (request.agent !== agent) return;
    last = { status: response.statusCode ?? 0, retryAfterMs: retryAfterMs(response.headers['retry-after']) };
  };
  subscribe(START, onStart);
  subscribe(FINISH, onFinish);

  function resultOf({ code, error }: core.ExportResult): SendResult {
    const retries = Math.max(0, requests - 1);
    if (code === 0) return { status: 'ok', rejected: takePartial(), retries };
    const failure = (error as { readonly code?: unknown } | undefined)?.code;
    // A status that asks for no repetition; the exporter gives it as the code of its error.
    if (typeof failure === 'number') return { status: 'refused', reason: `status ${failure}`, retries };
    const reason = last === undefined ? codeWord(failure) : `status ${last.status}`;
    return { status: 'failed', reason, retryAfterMs: last?.retryAfterMs ?? 0, retries };
  }

  const ignore = (): void => {
    unsubscribe(START, onStart);
    unsubscribe(FINISH, onFinish);
  };

  return {
    send: (payload, withinMs) =>
      new Promise((resolve) => {
        requests = 0;
        last = undefined;
        isSending = true;
        const done = (result: SendResult): void => {
          isSending = false;
          if (isClosed) ignore();
          resolve(result);
        };
        try {
          const used = withinMs === undefined ? exporter : create(withinMs);
          used.export(payload, (result) => done(resultOf(result)));
        } catch {
          // What cannot be written now cannot be written later.
          done({ status: 'refused', reason: 'internal', retries: 0 });
        }
      }),
    close() {
      isClosed = true;
      agent.destroy();
      if (!isSending) ignore();
    },
  };
}
