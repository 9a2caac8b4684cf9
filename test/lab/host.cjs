/**
 * A child process: the observed host. Runs its rows at the same time, one client each, and prints what it saw of every call: the
 * class of the result, classes and codes of errors, the order in which calls settled. Never a message: SDKs put bodies in there.
 * It knows nothing of Tailfin; NODE_OPTIONS decides whether the tap is there. Its SDK comes by `require` or by `import`.
 */
const { createHash } = require('node:crypto');
const { subscribe } = require('node:diagnostics_channel');
const { setImmediate: nextTurn } = require('node:timers/promises');

const plan = JSON.parse(process.env.LAB_PLAN);
const load = plan.modules === 'esm' ? (name) => import(name) : async (name) => require(name);
const INFO = { name: 'tailfin-lab', version: '1.0.0' };
const LONG_MS = 120_000;

const SDKS = {
  async 'C2-2026'() {
    return newer({ versionNegotiation: { mode: { pin: '2026-07-28' } } });
  },
  async 'C2-2025'() {
    return newer({});
  },
  async S1() {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport: Transport } = await load(
      '@modelcontextprotocol/sdk/client/streamableHttp.js',
    );
    return {
      create: () => new Client(INFO),
      Transport,
      call: (client, params, options) => client.callTool(params, undefined, options),
    };
  },
};

async function newer(options) {
  const { Client, StreamableHTTPClientTransport: Transport } = await load('@modelcontextprotocol/client');
  return {
    create: () => new Client(INFO, options),
    Transport,
    call: (client, params, callOptions) => client.callTool(params, callOptions),
  };
}

/**
 * The client's own timeouts are the lab's to let pass: a row's calls have a span of their own, and the timer of that span fires
 * when the server says so. Nothing of a row depends on how fast the machine is.
 */
const held = new Map();
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;
globalThis.setTimeout = (callback, ms, ...args) => {
  const timer = startTimer(callback, ms, ...args);
  const row = plan.rows.find(({ timeoutMs }) => timeoutMs === ms);
  if (row !== undefined) held.set(timer, { row: row.id, fire: () => callback(...args) });
  return timer;
};
globalThis.clearTimeout = (timer) => {
  held.delete(timer);
  stopTimer(timer);
};
process.on('message', ({ row, expire }) => {
  if (!expire) return;
  // A caller that waited for less than a second after the stream's end is not reported as one who was left waiting.
  startTimer(async () => {
    await turns();
    for (const [timer, { row: its, fire }] of held) {
      if (its !== row) continue;
      clearTimeout(timer);
      fire();
    }
  }, plan.waitMs);
});

const word = (value) => (/^[\w.-]{1,64}$/.test(String(value)) ? value : undefined);
const errorWords = (error) => ({
  class: word(error?.constructor?.name),
  name: word(error?.name),
  code: word(error?.code),
  status: word(error?.status),
  cause: word(error?.cause?.code),
});
const digest = (value) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);

/** Which row a URL belongs to: each has its own port. */
const rowAt = new Map(plan.rows.map((row) => [new URL(row.url).origin, row.id]));
const sign = (row, what) => process.send?.({ row, sign: what });

subscribe('undici:request:headers', ({ request, response }) => {
  const marked = response.headers.some((header) => String(header).toLowerCase() === plan.mark);
  // One turn later everything that came with the head has been handed on to its reader.
  if (marked) setImmediate(sign, rowAt.get(String(request.origin)), 'read');
});

/** What has reached this process by now gets its turn, however long the process was held up. */
async function turns() {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}

async function runRow(row, sdk) {
  const settled = [];
  const onerror = new Set();
  const client = sdk.create();
  client.onerror = (error) => onerror.add(JSON.stringify(errorWords(error)));
  const named = `"name":"${row.id}"`;
  const elsewhere = (url, init) => fetch(String(init?.body).includes(named) ? row.callUrl : url, init);
  await client.connect(new sdk.Transport(new URL(row.url), row.callUrl === null ? undefined : { fetch: elsewhere }));

  const call = (name, n, timeout = LONG_MS) =>
    sdk.call(client, { name, arguments: { n } }, { timeout, onprogress: () => sign(row.id, 'progressed') }).then(
      (result) => settled.push({ call: name, n, result: result.isError ? 'tool_error' : 'ok', digest: digest(result) }),
      (error) => settled.push({ call: name, n, error: errorWords(error) }),
    );
  const calls = Array.from({ length: row.calls }, (_, n) => {
    const made = call(row.id, n, n === 0 ? row.timeoutMs : LONG_MS);
    return row.host === 'four' ? made.then(() => call('settled', n)) : made;
  });
  if (row.host === 'closes') {
    await call('barrier', 0);
    await turns();
    await client.close();
  }
  await Promise.all(calls);
  if (row.host !== 'closes') {
    await call('after', 0);
    await turns();
    await client.close();
  }
  await turns();
  return { row: row.id, settled, onerror: [...onerror].sort() };
}

async function main() {
  const sdk = await SDKS[plan.client]();
  await Promise.all(
    plan.rows.map(async (row) => {
      const seen = await runRow(row, sdk).catch((error) => ({ row: row.id, failed: errorWords(error) }));
      process.send?.({ row: row.id, seen });
    }),
  );
  // From here on nothing but the tap could keep the process alive.
  process.disconnect?.();
}

main();
