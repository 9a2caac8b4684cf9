/**
 * A child process: one real, stateless MCP server on an ephemeral loopback port. Answers revision 2026-07-28 through the SDK's
 * own handler, and 2025-11-25 through one transport per request, because only that can choose JSON or an event stream per tool.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type NodeIncomingMessageLike, type NodeServerResponseLike, toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { followParent, report } from './child.ts';
import { createToolServer, STREAMING_TOOLS } from './tools.ts';

const modern = createMcpHandler(createToolServer, { legacy: 'reject' });
const legacyStream = legacyStatelessFallback(createToolServer);

async function legacyJson(request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createToolServer();
  await server.connect(transport);
  const response = await transport.handleRequest(request, { parsedBody });
  await server.close();
  return response;
}

async function answer(request: Request): Promise<Response> {
  const body: unknown = request.method === 'POST' ? await request.clone().json() : undefined;
  if (!(await isLegacyRequest(request, body))) return modern.fetch(request, { parsedBody: body });
  const tool = (body as { params?: { name?: string } } | undefined)?.params?.name;
  const streams = body === undefined || (tool !== undefined && STREAMING_TOOLS.has(tool));
  return streams ? legacyStream(request, { parsedBody: body }) : legacyJson(request, body);
}

const handle = toNodeHandler({ fetch: answer });
// The casts: the adapter's structural types and `exactOptionalPropertyTypes` disagree about `undefined`.
const http = createServer((req, res) => void handle(req as NodeIncomingMessageLike, res as NodeServerResponseLike));
http.keepAliveTimeout = 60_000;
http.listen(0, '127.0.0.1', () => report({ port: (http.address() as AddressInfo).port }));
followParent(() => process.exit(0));
