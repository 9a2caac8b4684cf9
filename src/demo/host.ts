/**
 * A demo host, for any SDK: calls tools at a steady pace over one connection object, gives a silent call up after a timeout, and
 * retries a failed call once on the other endpoint, as real hosts do. It is the observed party: it knows nothing of faults, nor of
 * the tap, which comes with its environment.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { followParent, report } from './child.ts';
import { toolCall } from './workload.ts';

/** For streams that are still open when the last answer is in. */
const DRAIN_MS = 1000;

export interface HostConfig {
  readonly endpoints: readonly string[];
  readonly seed: number;
  /** How many calls to make; the host ends after them, or when it is told to stop. */
  readonly calls: number;
  readonly paceMs: number;
  /** No more calls at a time than this: on a slow machine the pace gives way, not the answers. */
  readonly maxInFlight: number;
  readonly timeoutMs: number;
}

export type FetchLike = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** What an SDK has to bring along. */
export interface SdkClient {
  connect(): Promise<void>;
  listTools(): Promise<unknown>;
  call(tool: string, args: Record<string, number>, timeoutMs: number): Promise<unknown>;
  close(): Promise<void>;
}

/** What a host with tracing sends along: here a trace for every request. */
function traced(init: RequestInit | undefined): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set('traceparent', `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`);
  return { ...init, headers };
}

export async function runHost(connect: (url: URL, fetch: FetchLike) => SdkClient): Promise<void> {
  const config: HostConfig = JSON.parse(process.argv[2] ?? '{}');
  const endpoints = new AsyncLocalStorage<number>();
  const endpoint = () => config.endpoints[endpoints.getStore() ?? 0] as string;
  // One connection object, endpoints rotated underneath it: the SDK never learns that a retry went elsewhere.
  const sdk = connect(new URL(endpoint()), (_url, init) => fetch(endpoint(), traced(init)));

  /** Did the caller get an answer, be it the tool's own failure? */
  async function attempt(n: number, at: number): Promise<boolean> {
    const { tool, args } = toolCall(config.seed, n);
    return endpoints
      .run(at, () => sdk.call(tool, args, config.timeoutMs))
      .then(
        () => true,
        () => false,
      );
  }

  async function callTool(n: number): Promise<void> {
    const first = n % config.endpoints.length;
    if (!(await attempt(n, first))) await attempt(n, (first + 1) % config.endpoints.length);
  }

  const stopped = new AbortController();
  followParent(() => stopped.abort());
  await sdk.connect();
  await sdk.listTools();
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
  await setTimeout(DRAIN_MS);
  await sdk.close();
  process.exit(0);
}
