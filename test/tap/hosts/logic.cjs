/**
 * What the observed hosts of the tests do, with an SDK that is loaded by `load`. They know nothing of Tailfin. The plan comes in
 * PLAN; what a host saw is printed as one line of JSON.
 */
async function clientOf(load, { sdk, url, carrier, headers }) {
  const info = { name: 'test-host', version: '1.0.0' };
  const requestInit = headers && { headers };
  if (sdk === 'S1') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const client = new Client(info);
    if (carrier) {
      const { SSEClientTransport } = await load('@modelcontextprotocol/sdk/client/sse.js');
      return [client, new SSEClientTransport(new URL(url), { requestInit })];
    }
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return [client, new StreamableHTTPClientTransport(new URL(url), { requestInit })];
  }
  const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
  const options = sdk === 'C2-2026' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
  return [new Client(info, options), new StreamableHTTPClientTransport(new URL(url), { requestInit })];
}

async function run(load, plan = JSON.parse(process.env.PLAN)) {
  const seen = [];
  const [client, transport] = await clientOf(load, plan);
  await client.connect(transport);
  for (const step of plan.steps) {
    const { tool, args = {}, timeout = 60_000, abort } = step;
    const controller = new AbortController();
    const options = { timeout, signal: controller.signal };
    if (abort) options.onprogress = () => controller.abort(new Error(abort));
    const call =
      tool === 'LIST' ? client.listTools(undefined, options) : callTool(client, plan.sdk, tool, args, options);
    seen.push(
      await call.then(
        (result) => (result.isError ? 'tool_error' : 'ok'),
        (error) => `${error.constructor.name} ${error.code}`,
      ),
    );
  }
  await client.close();
  // How often a neighbour that wraps fetch too has seen it.
  if (globalThis.neighbour !== undefined) seen.push(globalThis.neighbour);
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

const callTool = (client, sdk, name, args, options) =>
  sdk === 'S1'
    ? client.callTool({ name, arguments: args }, undefined, options)
    : client.callTool({ name, arguments: args }, options);

module.exports = { run };
