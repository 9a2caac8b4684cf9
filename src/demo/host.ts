/**
 * A demo host, for any SDK: calls tools at a steady pace over one connection object, gives a silent call up after a timeout, and
 * retries a failed call once on the other endpoint, as real hosts do. It is the observed party: it knows nothing of faults,
 * and its only part in the recording is to say what each caller received (`settle` lines).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { followParent, report } from './child.ts';
import { createEventLog, type LineFields } from './event-log.ts';
import { type Attempt, createRecordingFetch, type FetchLike } from './recorder.ts';
import { toolCall } from './workload.ts';

const DRAIN_MS = 1000;

export interface HostConfig {
  readonly endpoints: readonly string[];
  readonly file: string;
  readonly seed: number;
  /** How many calls to make; the host ends after them, or when it is told to stop. */
  readonly calls: number;
  readonly paceMs: number;
  /** No more calls at a time than this: on a slow machine the pace gives way, not the answers. */
  readonly maxInFlight: number;
  readonly timeoutMs: number;
  /** Name of the header that carries the exchange id to the gateway. */
  readonly exchangeHeader: string;
}

/** What an SDK has to bring along. */
export interface SdkClient {
  connect(): Promise<void>;
  /** Declared annotations by tool name. */
  listTools(): Promise<Map<string, Annotations>>;
  call(tool: string, args: Record<string, number>, timeoutMs: number): Promise<'ok' | 'tool_error'>;
  /** A code word for a failed call. */
  failure(error: unknown): { result: 'rpc_error' | 'error' | 'timeout'; error: string };
  close(): Promise<void>;
}

type Annotations = NonNullable<LineFields['annotations']>;

/** Tool annotations in the words of the event schema. */
export function annotationFields(hints: Record<string, unknown> | undefined): Annotations {
  const { readOnlyHint, idempotentHint, destructiveHint } = hints ?? {};
  return {
    ...(typeof readOnlyHint === 'boolean' ? { read_only: readOnlyHint } : {}),
    ...(typeof idempotentHint === 'boolean' ? { idempotent: idempotentHint } : {}),
    ...(typeof destructiveHint === 'boolean' ? { destructive: destructiveHint } : {}),
  };
}

interface HostAttempt extends Attempt {
  readonly endpoint: number;
}

export async function runHost(
  name: string,
  server: string,
  connect: (url: URL, fetch: FetchLike) => SdkClient,
): Promise<void> {
  const config: HostConfig = JSON.parse(process.argv[2] ?? '{}');
  const client = `${name}/${process.pid}`;
  const log = createEventLog({ file: config.file, host: name, client, server });
  const attempts = new AsyncLocalStorage<HostAttempt>();
  let annotations = new Map<string, Annotations>();
  const recording = createRecordingFetch({
    log,
    attempts,
    exchangeHeader: config.exchangeHeader,
    annotationsOf: (tool) => annotations.get(tool),
  });
  const endpointOf = (attempt: HostAttempt | undefined) => config.endpoints[attempt?.endpoint ?? 0] as string;
  // One connection object, endpoints rotated underneath it: the SDK never learns that a retry went elsewhere.
  const sdk = connect(new URL(endpointOf(undefined)), (_url, init) => recording(endpointOf(attempts.getStore()), init));

  async function attempt(n: number, endpoint: number): Promise<boolean> {
    const { tool, args } = toolCall(config.seed, n);
    const current: HostAttempt = { endpoint };
    const started = performance.now();
    const outcome = await attempts
      .run(current, () => sdk.call(tool, args, config.timeoutMs))
      .then(
        (result) => ({ result }),
        (error: unknown) => sdk.failure(error),
      );
    const { exchange } = current;
    const carried = exchange === undefined ? { on_wire: false } : { exchange };
    log.emit('settle', {
      ...carried,
      method: 'tools/call',
      target: tool,
      ...outcome,
      waited_ms: Math.round(performance.now() - started),
    });
    return outcome.result === 'ok' || outcome.result === 'tool_error';
  }

  async function callTool(n: number): Promise<void> {
    const first = n % config.endpoints.length;
    if (!(await attempt(n, first))) await attempt(n, (first + 1) % config.endpoints.length);
  }

  const stopped = new AbortController();
  followParent(() => stopped.abort());
  log.emit('client', { client, event: 'created' });
  await sdk.connect();
  annotations = await sdk.listTools();
  report({ ready: true });

  const inFlight = new Set<Promise<void>>();
  const started = performance.now();
  for (let n = 0; n < config.calls && !stopped.signal.aborted; n++) {
    const call: Promise<void> = callTool(n).finally(() => inFlight.delete(call));
    inFlight.add(call);
    if (inFlight.size >= config.maxInFlight) await Promise.race(inFlight);
    const untilNext = started + (n + 1) * config.paceMs - performance.now();
    await setTimeout(Math.max(0, untilNext), undefined, { signal: stopped.signal }).catch(() => {});
  }
  await Promise.all(inFlight);
  // The last answers are in, but their streams may still be open: closing now would say that the host hung up.
  await log.idle(DRAIN_MS);
  await sdk.close();
  await log.idle(DRAIN_MS);
  log.emit('client', { client, event: 'closed' });
  process.exit(0);
}
