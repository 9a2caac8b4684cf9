/**
 * An MCP server for the tests of the tap, by hand, so that every byte of an answer is known: both revisions, and the older HTTP+SSE
 * transport. A tool's name says how its call is answered. With a mark, everything that a tap must not repeat carries it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export interface Fixture {
  readonly url: string;
  readonly origin: string;
  /** `METHOD path rpc-method` of every request, in the order of arrival. */
  readonly requests: string[];
  /** Sockets that are open now. */
  sockets(): number;
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { name?: string; _meta?: { progressToken?: unknown } };
}

const TOOLS = [
  { name: 'json', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'sse', inputSchema: { type: 'object' } },
];

function resultOf({ method, params }: Message, mark: string): object | undefined {
  const serverInfo = { name: `fixture${mark}`, version: '1' };
  const capabilities = { tools: {}, experimental: { [`x${mark}`]: {} } };
  if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities, serverInfo, instructions: mark };
  if (method === 'server/discover')
    return { supportedVersions: ['2026-07-28'], capabilities, serverInfo, resultType: 'complete' };
  if (method === 'tools/list') return { tools: TOOLS, resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  if (params?.name === 'rpc-error') return undefined;
  const text = `{"text":"${mark}"}`;
  return { content: [{ type: 'text', text }], isError: params?.name === 'tool-error', resultType: 'complete' };
}

export async function startFixture(t: TestContext, mark = ''): Promise<Fixture> {
  const requests: string[] = [];
  const streams = new Map<string, ServerResponse>();
  const resumes = new Map<string, string>();
  const marked = mark === '' ? {} : { 'x-mark': mark, 'set-cookie': `s=${mark}`, etag: `"${mark}"` };
  let streamCount = 0;

  const answer = (message: Message): string => {
    const { id } = message;
    const result = resultOf(message, mark);
    const error = { code: -32602, message: `bad ${mark}`, data: { mark } };
    return JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) });
  };
  const event = (data: string, id = '') => `${id && `id: ${id}\n`}event: message\ndata: ${data}\n\n`;

  function respond(message: Message, response: ServerResponse): void {
    const name = message.params?.name;
    const sse = { ...marked, 'content-type': 'text/event-stream' };
    if (name === 'silent') return;
    if (name === 'html') {
      response.writeHead(502, { ...marked, 'content-type': `text/html; x=${mark || 'y'}` }).end(`<p>${mark}</p>`);
    } else if (name === 'cut') {
      response.writeHead(200, { ...marked, 'content-type': 'application/json' }).end(answer(message).slice(0, -9));
    } else if (name === 'resume') {
      const eventId = `${mark}event-${resumes.size}`;
      resumes.set(eventId, answer(message));
      response.writeHead(200, sse).end(`id: ${eventId}\nretry: 1\ndata: \n\n`);
    } else if (name === 'sse' || name === 'hang' || name === 'progress') {
      const { progressToken } = message.params?._meta ?? {};
      const params = { progressToken: progressToken ?? 'none', progress: 1, message: mark };
      response.writeHead(200, sse);
      response.write(event(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })));
      if (name === 'sse') response.end(event(answer(message)));
    } else {
      const session = message.method === 'initialize' ? { 'mcp-session-id': `${mark}session` } : {};
      response
        .writeHead(200, { ...marked, ...session, 'content-type': `application/json; x=${mark || 'y'}` })
        .end(answer(message));
    }
  }

  function get(request: IncomingMessage, response: ServerResponse): void {
    const resumed = resumes.get(String(request.headers['last-event-id']));
    if (request.url?.startsWith('/older')) {
      const stream = `${mark}stream-${++streamCount}`;
      streams.set(stream, response);
      response.writeHead(200, { ...marked, 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: /messages?session=${stream}\n\n`);
    } else if (resumed !== undefined) {
      response.writeHead(200, { ...marked, 'content-type': 'text/event-stream' }).end(event(resumed, 'last'));
    } else response.writeHead(405, marked).end();
  }

  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    const message: Message = body.startsWith('{') ? JSON.parse(body) : {};
    requests.push(`${request.method} ${request.url} ${message.method ?? ''}`.trimEnd());
    if (request.method === 'GET') {
      get(request, response);
      return;
    }
    const stream = streams.get(String(new URL(request.url as string, 'http://h').searchParams.get('session')));
    if (request.method === 'DELETE') response.writeHead(200, marked).end();
    else if (message.id === undefined || message.method === undefined) response.writeHead(202, marked).end();
    else if (stream !== undefined) {
      response.writeHead(202, marked).end('Accepted');
      if (message.params?.name === 'lost') stream.end();
      else stream.write(event(answer(message)));
    } else respond(message, response);
  });
  const sockets = new Set<object>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${origin}/mcp`, origin, requests, sockets: () => sockets.size };
}
