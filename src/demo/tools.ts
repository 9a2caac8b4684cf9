/**
 * The demo's tools. `export_rows` answers with one JSON body of a requested size; `place_order` is a write and reports progress
 * first, so that its stream can break before the answer; `lookup` only reads. They know nothing of faults.
 */
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

const READ_ONLY = { readOnlyHint: true };
const ORDER_MS = 15;

/** Tools whose answers are event streams. */
export const STREAMING_TOOLS: ReadonlySet<string> = new Set(['place_order']);

export function createToolServer(): McpServer {
  const server = new McpServer({ name: 'tailfin-demo', version: '1.0.0' }, { capabilities: { tools: {} } });

  server.registerTool(
    'export_rows',
    {
      description: 'Rows of a table as JSON text of about the requested size',
      inputSchema: fromJsonSchema<{ page: number; bytes: number }>({
        type: 'object',
        properties: { page: { type: 'integer' }, bytes: { type: 'integer', minimum: 64, maximum: 524_288 } },
        required: ['page', 'bytes'],
      }),
      annotations: READ_ONLY,
    },
    async ({ page, bytes }) => text(rows(page, bytes)),
  );

  server.registerTool(
    'place_order',
    {
      description: 'Places an order',
      inputSchema: fromJsonSchema<{ order: number; quantity: number }>({
        type: 'object',
        properties: { order: { type: 'integer' }, quantity: { type: 'integer' } },
        required: ['order', 'quantity'],
      }),
      annotations: { readOnlyHint: false, idempotentHint: false },
    },
    async ({ order, quantity }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      }
      await new Promise((done) => setTimeout(done, ORDER_MS));
      return text(JSON.stringify({ order, quantity, placed: true }));
    },
  );

  server.registerTool(
    'lookup',
    {
      description: 'Reads the stock of one article',
      inputSchema: fromJsonSchema<{ article: number }>({
        type: 'object',
        properties: { article: { type: 'integer' } },
        required: ['article'],
      }),
      annotations: READ_ONLY,
    },
    async ({ article }) => text(JSON.stringify({ article, stock: (article * 7919) % 100 })),
  );
  return server;
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

function rows(page: number, bytes: number): string {
  const row = (n: number) => ({
    id: page * 100_000 + n,
    sku: `A-${(n * 7919) % 10_000}`,
    quantity: n % 50,
    note: 'in stock',
  });
  const count = Math.max(1, Math.round(bytes / (JSON.stringify(row(1)).length + 1)));
  return JSON.stringify(Array.from({ length: count }, (_, n) => row(n)));
}
