/** A child process: a host on revision 2026-07-28, with the SDK's client package. Everything but the SDK is in host.ts. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { runHost } from './host.ts';

await runHost((url, fetch) => {
  const client = new Client(
    { name: 'tailfin-demo-host', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  return {
    connect: () => client.connect(new StreamableHTTPClientTransport(url, { fetch })),
    listTools: () => client.listTools(),
    call: (name, args, timeout) => client.callTool({ name, arguments: args }, { timeout, onprogress: () => {} }),
    close: () => client.close(),
  };
});
