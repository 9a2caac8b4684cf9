/**
 * The fault gateway: one loopback listener per upstream server, plain HTTP in and out. It breaks answers of `tools/call` by the
 * seeded plan of faults.ts and keeps its own log of what it did, by the trace header that each request of a host carries. It shares
 * no code with the tap, so that its log is independent evidence.
 */
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { drawFault } from './faults.ts';
import { type Delivery, relay } from './relay.ts';

export const TRACE_HEADER = 'traceparent';

/** Headers that belong to one connection, and the length, which a cut would belie. */
const NOT_FORWARDED = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];

/** A demo left running must not grow without bound; the first, compared part is far below this. */
const MAX_LOG = 100_000;

export interface GatewayEntry extends Delivery {
  /** Of one request: the hosts start a trace for each. */
  readonly trace: string;
  readonly endpoint: string;
  readonly method: string;
  readonly tool: string | undefined;
  /** Equal for the attempts of one logical call. */
  readonly call: string;
}

export interface Gateway {
  /** URLs for the hosts, one per upstream. */
  readonly endpoints: readonly string[];
  /** Every JSON-RPC request, in the order of arrival. */
  readonly log: GatewayEntry[];
  close(): void;
}

export async function startGateway(upstreamPorts: readonly number[], seed: number): Promise<Gateway> {
  const log: GatewayEntry[] = [];
  const agent = new Agent({ keepAlive: true });
  const servers = await Promise.all(
    upstreamPorts.map((port, index) =>
      listen(async (req, res) => {
        const started = performance.now();
        const body = await buffer(req);
        const entry = readEntry(req, body);
        if (entry !== undefined && log.length < MAX_LOG) log.push(entry);
        const plan = entry?.method === 'tools/call' ? drawFault(seed, `${index} ${entry.call}`) : undefined;
        const delivery = entry ?? newDelivery();
        const upstream = request(
          { host: '127.0.0.1', port, agent, method: req.method, path: req.url, headers: forwarded(req.headers) },
          (answer) => {
            res.writeHead(answer.statusCode ?? 502, forwarded(answer.headers));
            res.flushHeaders();
            relay(answer, res, plan, delivery);
          },
        );
        upstream.on('error', () => res.destroy());
        res.on('close', () => {
          delivery.elapsedMs = performance.now() - started;
          if (delivery.answered || delivery.fault !== 'pass') return;
          delivery.fault = 'client_left';
          upstream.destroy();
        });
        upstream.end(body);
      }),
    ),
  );
  return {
    endpoints: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    log,
    close() {
      agent.destroy();
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

async function listen(handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>): Promise<Server> {
  const server = createServer((req, res) => {
    handle(req, res).catch(() => res.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return server;
}

const newDelivery = (): Delivery => ({
  json: false,
  fault: 'pass',
  answered: false,
  bytes: 0,
  fullBytes: 0,
  elapsedMs: 0,
});

const forwarded = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.includes(name)));

/** The log entry of a JSON-RPC request; undefined for everything that expects no answer. */
function readEntry(req: IncomingMessage, body: Buffer): GatewayEntry | undefined {
  const trace = req.headers[TRACE_HEADER];
  if (typeof trace !== 'string' || body.length === 0) return undefined;
  const { id, method, params } = JSON.parse(body.toString()) as {
    id?: unknown;
    method?: string;
    params?: { name?: string; arguments?: unknown };
  };
  if (id === undefined || method === undefined) return undefined;
  const endpoint = `http://${req.headers.host}${req.url}`;
  const call = [req.headers['mcp-protocol-version'], method, params?.name, JSON.stringify(params?.arguments)].join(' ');
  return { trace, endpoint, method, tool: params?.name, call, ...newDelivery() };
}
