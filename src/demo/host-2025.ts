/** A child process: a host on revision 2025-11-25, with the older SDK. Everything but the SDK is in host.ts. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { annotationFields, runHost } from './host.ts';

await runHost('host-2025', 'orders-2025', (url, fetch) => {
  const client = new Client({ name: 'tailfin-demo-host', version: '1.0.0' });
  return {
    connect: () => client.connect(new StreamableHTTPClientTransport(url, { fetch })),
    async listTools() {
      const { tools } = await client.listTools();
      return new Map(tools.map(({ name, annotations }) => [name, annotationFields(annotations)]));
    },
    async call(name, args, timeout) {
      const result = await client.callTool({ name, arguments: args }, undefined, { timeout, onprogress: () => {} });
      return result.isError === true ? 'tool_error' : 'ok';
    },
    failure(error) {
      if (!(error instanceof McpError))
        return { result: 'error', error: error instanceof Error ? error.name : 'Error' };
      // Servers use the number of RequestTimeout for other things; the SDK's own timeout carries its limit along.
      const timedOut =
        error.code === ErrorCode.RequestTimeout && typeof (error.data as { timeout?: unknown })?.timeout === 'number';
      if (timedOut) return { result: 'timeout', error: 'REQUEST_TIMEOUT' };
      if (error.code === ErrorCode.ConnectionClosed) return { result: 'error', error: 'CONNECTION_CLOSED' };
      return { result: 'rpc_error', error: 'McpError' };
    },
    close: () => client.close(),
  };
});
