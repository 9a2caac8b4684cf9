/** The JSON-RPC messages that the lab's server speaks, on both revisions. Texts only: how they travel is bytes.ts. */

export type Revision = '2025-11-25' | '2026-07-28';
export type Id = string | number | null;

export interface RpcRequest {
  readonly id?: Id;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly n?: number };
    readonly requestId?: Id;
    readonly _meta?: { readonly progressToken?: string | number };
  };
}

/** Long enough to be cut anywhere, with characters of two, three and four bytes. */
const TEXT = 'käse, 寿司, 🐟 '.repeat(20);

const SERVER = { name: 'tailfin-lab', version: '1.0.0' };
const CAPABILITIES = { tools: {} };

export const readMessage = (body: string): RpcRequest => JSON.parse(body) as RpcRequest;

const message = (id: Id, rest: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...rest });

/** Each revision has its own envelope of a result. */
const envelope = (revision: Revision): object => (revision === '2026-07-28' ? { resultType: 'complete' } : {});

export const toolResult = (id: Id, revision: Revision, isError = false): string =>
  message(id, {
    result: { content: [{ type: 'text', text: TEXT }], ...(isError ? { isError } : {}), ...envelope(revision) },
  });

export const rpcError = (id: Id, code: number, data?: object): string =>
  message(id, { error: { code, message: 'as the row asks for', ...(data && { data }) } });

export const progress = (request: RpcRequest, value: number): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: request.params?._meta?.progressToken ?? 0, progress: value },
  });

export const initializeResult = (id: Id): string =>
  message(id, { result: { protocolVersion: '2025-11-25', capabilities: CAPABILITIES, serverInfo: SERVER } });

export const discoverResult = (id: Id): string =>
  message(id, {
    result: {
      supportedVersions: ['2026-07-28'],
      capabilities: CAPABILITIES,
      ttlMs: 0,
      cacheScope: 'private',
      ...envelope('2026-07-28'),
      _meta: { 'io.modelcontextprotocol/serverInfo': SERVER },
    },
  });

export const toolsResult = (id: Id, revision: Revision, tool: string): string =>
  message(id, {
    result: {
      tools: [{ name: tool, description: 'breaks as its row says', inputSchema: { type: 'object' } }],
      ...(revision === '2026-07-28' ? { ttlMs: 0, cacheScope: 'private' } : {}),
      ...envelope(revision),
    },
  });
