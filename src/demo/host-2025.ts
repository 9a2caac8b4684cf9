/** A child process: a host on revision 2025-11-25, with the older SDK. Everything but the SDK is in host.ts. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { runHost } from './host.ts';

await runHost((url, fetch) => {
  const client = new Client({ name: 'tailfin-demo-host', version: '1.0.0' });
  return {
    connect: () => client.connect(new StreamableHTTPClientTransport(url, { fetch })),
    listTools: () => client.listTools(),
    call: (name, args, timeout) =>
      client.callTool({ name, arguments: args }, undefined, { timeout, onprogress: () => {} }),
    close: () => client.close(),
  };
});
