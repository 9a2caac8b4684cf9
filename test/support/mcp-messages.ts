/**
 * MCP messages as servers send them, of both revisions, as JSON text: the corpus of the scanner tests. The answers among them have
 * the id 7, unless their name says otherwise.
 */

export interface McpMessage {
  readonly name: string;
  readonly text: string;
}

const META = { 'io.modelcontextprotocol/serverInfo': { name: 'orders', version: '3.1.0' } };
const TOOL = {
  name: 'place_order',
  title: 'Place an order',
  description: 'Places an order.\n\n- `order`: number of the order\n- `quantity`: how many, 1…99',
  inputSchema: {
    type: 'object',
    properties: { order: { type: 'integer' }, quantity: { type: 'integer', minimum: 1, maximum: 99 } },
    required: ['order', 'quantity'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};
const RESOURCE = { uri: 'file:///var/log/app.log', name: 'app.log', mimeType: 'text/plain', size: 10_485_760 };
const rows = (n: number) =>
  Array.from({ length: n }, (_, i) => ({
    id: i,
    sku: `A-${i}`,
    price: i * 1.25,
    tags: [],
    gone: null,
    ok: i % 2 === 0,
  }));
const PROSE =
  'Der Bericht für Zürich: 12 “Artikel” fehlen.\tSiehe C:\\temp\\stock.csv\r\n日本語のテキスト 😀 — fin\u2028\u0000\u001f/';

const answer = (result: unknown, id: unknown = 7) => ({ jsonrpc: '2.0', id, result });
const failure = (code: number, message: string, data?: unknown, id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});
const note = (method: string, params?: unknown) => ({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
const text = (...parts: string[]) => ({ content: parts.map((part) => ({ type: 'text', text: part })) });

const OBJECTS: Readonly<Record<string, unknown>> = {
  // revisions up to 2025-11-25
  initialize: answer({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {}, completions: {} },
    serverInfo: { name: 'orders', title: 'Orders', version: '3.1.0' },
    instructions: PROSE,
  }),
  'initialize, oldest revision': answer({
    protocolVersion: '2024-11-05',
    capabilities: {},
    serverInfo: { name: 'x', version: '0' },
  }),
  ping: answer({}),
  'tools/list': answer({ tools: [TOOL, { ...TOOL, name: 'lookup', annotations: { readOnlyHint: true } }] }),
  'tools/list, first page': answer({ tools: [TOOL], nextCursor: 'eyJwYWdlIjoyfQ==' }),
  'tools/call': answer({ ...text(PROSE), isError: false }),
  'tools/call, tool error': answer({ ...text('no such order'), isError: true }),
  'tools/call, JSON as text': answer(text(JSON.stringify(rows(12)))),
  'tools/call, pretty JSON as text': answer(text(JSON.stringify({ rows: rows(3), note: PROSE }, null, 2))),
  'tools/call, cut JSON as text': answer(text(JSON.stringify(rows(5)).slice(0, -9), 'and prose')),
  'tools/call, structured': answer({ content: [], structuredContent: { rows: rows(20) } }),
  'tools/call, image and audio': answer({
    content: [
      {
        type: 'image',
        mimeType: 'image/png',
        data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
      {
        type: 'audio',
        mimeType: 'audio/wav',
        data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEA',
        annotations: { priority: 0.5 },
      },
    ],
  }),
  'tools/call, resource link': answer({ content: [{ type: 'resource_link', ...RESOURCE }] }),
  'tools/call, embedded resource': answer({
    content: [{ type: 'resource', resource: { uri: 'a://b', text: '{"a":1}' } }],
  }),
  'resources/list': answer({
    resources: [RESOURCE, { uri: 'db://orders', name: 'orders', annotations: { audience: ['user'] } }],
  }),
  'resources/templates/list': answer({ resourceTemplates: [{ uriTemplate: 'file:///{path}', name: 'files' }] }),
  'resources/read': answer({
    contents: [{ uri: RESOURCE.uri, mimeType: 'application/json', text: '{"level":"warn"}' }],
  }),
  'prompts/list': answer({ prompts: [{ name: 'review', arguments: [{ name: 'code', required: true }] }] }),
  'prompts/get': answer({
    messages: [{ role: 'user', content: { type: 'text', text: 'Review:\n```ts\nconst a = "\\"";\n```' } }],
  }),
  'completion/complete': answer({ completion: { values: ['py', 'pytorch'], total: 2, hasMore: false } }),
  'method not found': failure(-32601, 'Method not found'),
  'invalid params': failure(-32602, 'Unknown tool: "x"', { tool: 'x', at: [1, 2.5e-3, -0, 1e21] }),
  'session not found, null id': failure(-32001, 'Session not found', undefined, null),
  'parse error, null id': failure(-32700, 'Parse error', undefined, null),
  'answer with another id': answer({}, 8),
  'answer with the id as a string': answer({}, '7'),
  progress: note('notifications/progress', { progressToken: 7, progress: 50, total: 100, message: '50 %' }),
  'log message': note('notifications/message', { level: 'error', logger: 'db', data: { error: 'timeout', code: 5 } }),
  'tools changed': note('notifications/tools/list_changed'),
  cancelled: note('notifications/cancelled', { requestId: 7, reason: 'shutdown' }),
  'sampling request of the server': { ...note('sampling/createMessage', { messages: [], maxTokens: 100 }), id: 0 },
  'elicitation request of the server': {
    ...note('elicitation/create', { message: 'Name?', requestedSchema: {} }),
    id: 'e-1',
  },
  'batch of answers': [answer({ tools: [] }, 6), answer({}), failure(-32600, 'x', undefined, 9)],
  'batch with notes': [note('notifications/progress', { progressToken: 7, progress: 1 }), answer(text('done'))],
  // revision 2026-07-28
  discover: answer({
    resultType: 'complete',
    supportedVersions: ['2026-07-28', '2025-11-25'],
    capabilities: { tools: {}, extensions: { 'dev.tailfin/stream-completion': { terminal: 'required' } } },
    _meta: META,
  }),
  'tools/list with cache hints': answer({
    resultType: 'complete',
    tools: [TOOL],
    ttlMs: 60_000,
    cacheScope: 'session',
  }),
  'tools/call complete': answer({ resultType: 'complete', ...text('{"a": [1, 2]}'), _meta: META }),
  'input required': answer({
    resultType: 'input_required',
    inputRequests: { name: { method: 'elicitation/create', params: { message: 'Name?' } } },
    requestState: 'opaque\u00e9',
  }),
  'task created': answer({
    resultType: 'task',
    task: { taskId: 't1', status: 'working', ttl: null, pollInterval: 500 },
  }),
  'header mismatch': failure(-32020, 'Header mismatch', { header: 'Mcp-Name' }),
  'unsupported version': failure(-32022, 'Unsupported', { supported: ['2026-07-28'], requested: '1999-01-01' }),
  'subscription acknowledged': note('notifications/subscriptions/acknowledged', { _meta: { subscriptionId: 7 } }),
  'end of a subscription': answer({ resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } }),
  'large result': answer(text(PROSE.repeat(40), JSON.stringify(rows(60)))),
};

/** Texts that JSON.stringify does not write. */
const TEXTS: Readonly<Record<string, string>> = {
  'pretty printed, id last': JSON.stringify(
    { result: { ...text('a'), isError: false }, jsonrpc: '2.0', id: 7 },
    null,
    '\t',
  ),
  'spaces everywhere':
    ' \r\n\t{ "jsonrpc" : "2.0" , "id" : 7 , "result" : { "content" : [ ] , "isError" : false } } \n',
  'escaped keys': '{"jsonrpc":"2.0","\\u0069d":7,"re\\u0073ult":{"is\\u0045rror":true,"\\u0063ontent":[]}}',
  'keys twice': '{"id":1,"result":{"isError":true},"id":7,"result":{"resultType":"complete"},"jsonrpc":"2.0"}',
  'lone surrogates and escapes':
    '{"id":7,"result":{"content":[{"type":"text","text":"\\ud800 \\udc00\\uD83D\\ude00 \\/\\b\\f\\n\\r\\t\\"\\\\"}]}}',
  'numbers of all kinds': '{"id":7.0e0,"result":{"n":[0,-0,0.5,-1.5E+10,1e-7,123456789012345678901234567890,1E400]}}',
  'null error beside a result': '{"id":7,"result":{},"error":null}',
  'byte order mark': '\uFEFF{"jsonrpc":"2.0","id":7,"result":{}}',
};

export const MESSAGES: readonly McpMessage[] = [
  ...Object.entries(OBJECTS).map(([name, value]) => ({ name, text: JSON.stringify(value) })),
  ...Object.entries(TEXTS).map(([name, value]) => ({ name, text: value })),
];
