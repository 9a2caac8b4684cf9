/** A child process: a host on revision 2026-07-28, with the SDK's client package. Everything but the SDK is in host.ts. */
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { annotationFields, runHost } from './host.ts';

await runHost('host-2026', 'orders', (url, fetch) => {
  const client = new Client(
    { name: 'tailfin-demo-host', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  return {
    connect: () => client.connect(new StreamableHTTPClientTransport(url, { fetch })),
    async listTools() {
      const { tools } = await client.listTools();
      return new Map(tools.map(({ name, annotations }) => [name, annotationFields(annotations)]));
    },
    async call(name, args, timeout) {
      const result = await client.callTool({ name, arguments: args }, { timeout, onprogress: () => {} });
      return result.isError === true ? 'tool_error' : 'ok';
    },
    failure(error) {
      if (error instanceof ProtocolError) return { result: 'rpc_error', error: 'ProtocolError' };
      if (!(error instanceof SdkError))
        return { result: 'error', error: error instanceof Error ? error.name : 'Error' };
      return { result: error.code === SdkErrorCode.RequestTimeout ? 'timeout' : 'error', error: error.code };
    },
    close: () => client.close(),
  };
});
