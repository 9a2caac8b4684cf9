/**
 * A host process for bench/tap.mjs, with or without the tap (NODE_OPTIONS decides). Does what its parent asks for, one task at a
 * time, and answers with what it used. It measures its own CPU and nothing else.
 */
const { setTimeout: sleep } = require('node:timers/promises');

/** The tap writes every 100 ms: what a phase recorded is written within its own measure. */
const FLUSH_MS = 150;
const IN_FLIGHT = 4;
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'search',
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
let id = 0;

/** Raw fetch, as an SDK calls it. */
function post(url) {
  const params = {
    name: 'search',
    arguments: { query: `where is ${id}`, limit: 20, fields: ['name', 'place'] },
    _meta: META,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: id++, method: 'tools/call', params });
  return fetch(url, { method: 'POST', headers: HEADERS, body, signal: new AbortController().signal });
}

async function exchange(url) {
  const response = await post(url);
  if (response.status !== 200 || (await response.text()).length === 0) throw new Error('no answer');
}

async function connect(url) {
  const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
  const options = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
  const client = new Client({ name: 'bench', version: '1.0.0' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

let connected;
async function sdkCall(url) {
  connected ??= connect(url);
  const client = await connected;
  await client.callTool({ name: 'search', arguments: { query: `where is ${id++}`, limit: 20 } });
}

async function repeat(count, work) {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** Microseconds of CPU of the whole process, per exchange. */
async function cpuPerExchange(count, work) {
  await repeat(Math.ceil(count / 10), work);
  await sleep(FLUSH_MS);
  globalThis.gc();
  const before = process.cpuUsage();
  await repeat(count, work);
  await sleep(FLUSH_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/** Reads a large body a piece at a time, with other work between the pieces. */
async function slowReader(url) {
  const response = await post(url);
  let consumed = 0;
  let peakRss = 0;
  for await (const piece of response.body) {
    consumed += piece.length;
    await new Promise((resolve) => setImmediate(resolve));
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }
  return { consumed, peakRssMib: peakRss / 2 ** 20 };
}

/** The same over a source that counts: how far does what was taken from it run ahead of what the host has read? */
async function ahead({ bytes, chunk, tap }) {
  const head = Buffer.from('{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"');
  const tail = Buffer.from('"}]}}');
  let pulled = 0;
  const source = () =>
    new ReadableStream(
      {
        type: 'bytes',
        pull(controller) {
          if (pulled === bytes) return controller.close();
          const piece = new Uint8Array(Math.min(chunk, bytes - pulled)).fill(0x78);
          if (pulled === 0) piece.set(head);
          if (pulled + piece.length === bytes) piece.set(tail, piece.length - tail.length);
          pulled += piece.length;
          controller.enqueue(piece);
        },
      },
      { highWaterMark: 0 },
    );
  globalThis.fetch = async () => new Response(source(), { headers: { 'content-type': 'application/json' } });
  if (tap !== null) require(tap);
  const response = await post('http://127.0.0.1/mcp');
  let consumed = 0;
  let most = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    most = Math.max(most, pulled - consumed);
    consumed += value.length;
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, pulled - consumed);
  }
  return { most, consumed };
}

/** Answers whose bodies nobody reads, and nothing holds any more. */
async function unread(url, count) {
  for (let n = 0; n < count; n++) {
    const { status } = await post(url);
    if (status !== 200) throw new Error(`status ${status}`);
  }
}

const TASKS = {
  fetch: ({ url, count }) => cpuPerExchange(count, () => exchange(url)),
  sdk: ({ url, count }) => cpuPerExchange(count, () => sdkCall(url)),
  slow: ({ url }) => slowReader(url),
  ahead,
  unread: ({ url, count }) => unread(url, count),
  gc: () => globalThis.gc(),
};

process.on('message', ({ task, ...options }) => {
  Promise.resolve(TASKS[task](options)).then(
    (result) => process.send({ result: result ?? null }),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
