// A host for pod.test.ts that knows nothing of Tailfin: it calls a tool over MCP's HTTP, again and again, and prints one line per
// answer: its text, or the error. What it prints must not depend on anything beside it.
const [url, calls] = process.argv.slice(2);
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
};
for (let id = 1; id <= Number(calls); id += 1) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'echo', arguments: { id } },
  });
  try {
    const response = await fetch(url, { method: 'POST', headers, body });
    const text = await response.text();
    console.log(`${id} ${response.status} ${text.length} ${text.slice(0, 60).replaceAll('\n', '|')}`);
  } catch (error) {
    console.log(`${id} ${error.name}`);
  }
}
