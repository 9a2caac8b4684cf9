/**
 * The server of one row: shakes hands on both revisions, hands each call of the row's tool to its script, and counts what came.
 * It answers by itself whatever is no part of the fault.
 */

import { type Headers, head, JSON_TYPE, withLength } from './bytes.ts';
import { type ClientName, revisionOf } from './clients.ts';
import type { HostSign } from './host-process.ts';
import { discoverResult, initializeResult, type RpcRequest, readMessage, toolResult, toolsResult } from './messages.ts';
import { createQueue } from './queue.ts';
import type { Row } from './rows.ts';
import { type Call, createCall, type Lab } from './script.ts';
import { listen, type WireRequest, write } from './wire.ts';

/** Tools beside the row's own, by which the host says where it stands. */
export const AFTER = 'after';
export const SETTLED = 'settled';
export const BARRIER = 'barrier';

export interface RowServer {
  readonly row: Row;
  readonly port: number;
  /** Where the calls of the row's tool go, when not to the server. */
  readonly callUrl: string | null;
  /** What the host's process reports by other means than requests. */
  sign(sign: HostSign): void;
  /** How often which request came, as one line of text. */
  requests(): string;
  /** What the script waits for, for a failure. */
  state(): string;
  close(): Promise<void>;
}

const ACCEPTED = head(202, { 'Content-Length': 0 });
const NOT_ALLOWED = withLength(405, { Allow: 'POST' }, '');
const NOWHERE = {
  /** Taken on one address of the loopback, the port is free on this one: nobody else can get it meanwhile. */
  refused: (port: number) => `http://127.0.0.99:${port}/mcp`,
  /** Too long for the domain name system: refused without asking anybody. */
  dns: () => `http://${'x'.repeat(70)}.invalid/mcp`,
} as const;

export async function createRowServer(row: Row, client: ClientName, expire: () => void): Promise<RowServer> {
  const revision = revisionOf(client);
  const counts = new Map<string, number>();
  const queues = {
    call: createQueue<Call>(),
    resume: createQueue<Call>(),
    after: createQueue<void>(),
    settled: createQueue<void>(),
    barrier: createQueue<Call>(),
    cancelled: createQueue<void>(),
    listened: createQueue<void>(),
    read: createQueue<void>(),
    progressed: createQueue<void>(),
  };
  let waitsFor = '';
  let ended = false;
  let timedOut = false;

  const awaited =
    <T>(name: string, next: () => Promise<T>) =>
    async (): Promise<T> => {
      waitsFor = name;
      const value = await next();
      waitsFor = '';
      return value;
    };
  const cancelled = awaited('cancelled', queues.cancelled.next);
  const lab: Lab = {
    client,
    revision,
    call: awaited('call', queues.call.next),
    async calls(count) {
      const calls: Call[] = [];
      while (calls.length < count) calls.push(await lab.call());
      return calls.sort((x, y) => x.n - y.n);
    },
    resume: awaited('resume', queues.resume.next),
    after: awaited('after', queues.after.next),
    settled: awaited('settled', queues.settled.next),
    barrier: awaited('barrier', queues.barrier.next),
    listened: awaited('listened', queues.listened.next),
    read: awaited('read', queues.read.next),
    progressed: awaited('progressed', queues.progressed.next),
    async timeOut() {
      if (timedOut) return;
      timedOut = true;
      expire();
      // Clients of 2026-07-28 break the connection off, or say nothing when the stream had ended.
      if (revision === '2025-11-25') await cancelled();
    },
  };

  const seen = (what: string): void => {
    counts.set(what, (counts.get(what) ?? 0) + 1);
  };

  const onCall = async (call: Call): Promise<void> => {
    const { id = null, params } = call.request;
    const ok = (): Promise<void> => call.write(withLength(200, JSON_TYPE, toolResult(id, revision)));
    seen(`tools/call ${params?.name}`);
    if (params?.name === SETTLED) {
      queues.settled.push();
      await ok();
    } else if (params?.name === AFTER) {
      queues.after.push();
      await done;
      await ok();
    } else if (params?.name === BARRIER) queues.barrier.push(call);
    else if (ended) await ok();
    else queues.call.push(call);
  };

  const handlers: Readonly<Record<string, (request: RpcRequest, headers: Headers) => Buffer>> = {
    initialize: ({ id = null }, headers) => withLength(200, headers, initializeResult(id)),
    'server/discover': ({ id = null }, headers) => withLength(200, headers, discoverResult(id)),
    'tools/list': ({ id = null }, headers) => withLength(200, headers, toolsResult(id, revision, row.id)),
  };

  const onRequest = async (wire: WireRequest): Promise<void> => {
    if (wire.method === 'GET' && wire.headers.has('last-event-id')) {
      seen('GET resume');
      queues.resume.push(createCall(wire, { method: '' }, revision));
    } else if (wire.method !== 'POST') {
      seen(wire.method);
      await write(wire.socket, NOT_ALLOWED);
      if (wire.method === 'GET') queues.listened.push();
    } else {
      const request = readMessage(wire.body);
      if (request.method === 'tools/call') return onCall(createCall(wire, request, revision));
      seen(request.method);
      const headers: Headers =
        row.session && request.method === 'initialize' ? { ...JSON_TYPE, 'Mcp-Session-Id': 'lab' } : JSON_TYPE;
      await write(wire.socket, handlers[request.method]?.(request, headers) ?? ACCEPTED);
      if (request.method === 'notifications/cancelled') queues.cancelled.push();
    }
  };

  const run = async (): Promise<void> => {
    await row.script(lab);
    if (row.hangs) await lab.timeOut();
    ended = true;
  };
  // A script that failed is reported once, as `done`.
  const server = await listen((wire) => void onRequest(wire).catch(() => {}));
  const done = run();
  done.catch((error: Error) => {
    waitsFor = `nothing, it failed: ${error.message}`;
  });
  return {
    row,
    port: server.port,
    callUrl: row.unreachable === null ? null : NOWHERE[row.unreachable](server.port),
    sign: (sign) => queues[sign].push(),
    requests: () =>
      [...counts]
        .sort(([x], [y]) => (x < y ? -1 : 1))
        .map(([what, times]) => `${what} x${times}`)
        .join(', '),
    state: () => (waitsFor === '' ? 'the script has ended' : `the script waits for: ${waitsFor}`),
    close: server.close,
  };
}
