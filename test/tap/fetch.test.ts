/** What the tap records of one exchange, and that the caller notices nothing: raw-socket faults and fakes beneath one fetch. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertFields, rig } from './rig.ts';

type FetchLike = typeof globalThis.fetch;
/** fin: the server closes the connection; reset: it drops it once the client has read the first bytes. */
type Ending = 'keep' | 'fin' | 'reset';
interface Fault {
  readonly head: string;
  readonly body: string | Buffer;
  readonly ending: Ending;
}

const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"CANARY-body"}],"isError":false}}';
const SIZE = ANSWER.length;
const CUT = ANSWER.slice(0, 60);
const NOTE = 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"CANARY-note"}}\n\n';
const ANSWER_EVENT = `data: ${ANSWER}\n\n`;
const JSON_TYPE = 'content-type: application/json; charset=utf-8\r\n';
const SSE_TYPE = 'content-type: text/event-stream\r\n';
const CHUNKED = 'transfer-encoding: chunked\r\n';
const length = (n: number) => `content-length: ${n}\r\n`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const END = '0\r\n\r\n';
const GZIPPED = gzipSync(ANSWER);

/** Rows of the fault matrix of research/mcp-clients.md. */
const FAULTS: Record<string, Fault> = {
  a: { head: JSON_TYPE + length(ANSWER.length), body: ANSWER, ending: 'keep' },
  c: { head: JSON_TYPE + CHUNKED, body: chunk(CUT) + END, ending: 'keep' },
  c3: { head: JSON_TYPE + CHUNKED, body: END, ending: 'keep' },
  c4: { head: JSON_TYPE + CHUNKED, body: chunk(ANSWER.replace('"id":1', '"id":"1"')) + END, ending: 'keep' },
  c6: {
    head: `${JSON_TYPE}content-encoding: gzip\r\n${length(GZIPPED.length)}`,
    body: GZIPPED,
    ending: 'keep',
  },
  d: { head: JSON_TYPE + length(ANSWER.length), body: CUT, ending: 'fin' },
  e2: { head: JSON_TYPE + CHUNKED, body: chunk(ANSWER), ending: 'fin' },
  f: { head: JSON_TYPE + CHUNKED, body: chunk(CUT), ending: 'reset' },
  g: { head: SSE_TYPE + CHUNKED, body: chunk(NOTE) + chunk(ANSWER_EVENT) + END, ending: 'keep' },
  g3: { head: SSE_TYPE + CHUNKED, body: chunk(NOTE) + chunk(ANSWER_EVENT.trimEnd()) + END, ending: 'keep' },
  h0: { head: SSE_TYPE + CHUNKED, body: END, ending: 'keep' },
  h: { head: SSE_TYPE + CHUNKED, body: chunk(NOTE + NOTE) + END, ending: 'keep' },
  i: { head: SSE_TYPE + CHUNKED, body: chunk(NOTE + ANSWER_EVENT.slice(0, 60)) + END, ending: 'keep' },
  i2: { head: SSE_TYPE + CHUNKED, body: chunk(`${NOTE}data: ${CUT}\n\n`) + END, ending: 'keep' },
  j: { head: SSE_TYPE + CHUNKED, body: chunk(NOTE), ending: 'reset' },
  k: { head: `${JSON_TYPE}connection: close\r\n`, body: ANSWER, ending: 'fin' },
  k2: { head: `${JSON_TYPE}connection: close\r\n`, body: CUT, ending: 'fin' },
  k3: { head: `${SSE_TYPE}connection: close\r\n`, body: NOTE, ending: 'fin' },
  bad: { head: JSON_TYPE + CHUNKED, body: chunk('<html>') + END, ending: 'keep' },
};

const EXPECTED: Record<string, { headers?: object; close: object; parse: object | null }> = {
  a: {
    headers: { status: 200, content_type: 'application/json', framing: 'content_length', content_length: SIZE },
    close: {
      how: 'eof',
      by: 'peer',
      json: 'complete',
      terminal: true,
      terminal_kind: 'result',
      is_error: false,
      bytes: SIZE,
    },
    parse: { ok: true, bytes: SIZE, expected_bytes: SIZE },
  },
  c: {
    headers: { framing: 'chunked', content_length: undefined },
    close: { how: 'eof', json: 'cut', cut: 'mid', terminal: false, bytes: 60 },
    parse: { ok: false, at_end: true, bytes: 60 },
  },
  c3: {
    close: { how: 'eof', json: 'empty', cut: 'none', terminal: false, bytes: 0 },
    parse: { ok: false, at_end: true, bytes: 0 },
  },
  c4: { close: { how: 'eof', json: 'complete', terminal: false, id_match: 'mismatch' }, parse: { ok: true } },
  c6: {
    headers: { content_encoding: 'gzip', content_length: GZIPPED.length },
    close: { json: 'complete', terminal: true, bytes: ANSWER.length },
    parse: { ok: true, expected_bytes: undefined },
  },
  d: {
    close: { how: 'error', by: 'peer', error: 'UND_ERR_SOCKET', json: 'cut', cut: 'mid', terminal: false, bytes: 60 },
    parse: { ok: false, at_end: true, expected_bytes: SIZE },
  },
  e2: {
    close: { how: 'error', error: 'UND_ERR_SOCKET', json: 'complete', terminal: true, id_match: 'match' },
    parse: { ok: true },
  },
  f: { close: { how: 'error', error: 'ECONNRESET', json: 'cut', terminal: false }, parse: { ok: false, at_end: true } },
  g: {
    close: {
      how: 'eof',
      events: 2,
      notifications: 1,
      event_ids: 0,
      cut: 'boundary',
      terminal: true,
      terminal_kind: 'result',
    },
    parse: { ok: true, bytes: SIZE },
  },
  g3: {
    close: { how: 'eof', events: 1, cut: 'mid', terminal: false, id_match: undefined },
    parse: { ok: false, at_end: true, bytes: SIZE },
  },
  h0: { close: { how: 'eof', events: 0, cut: 'none', terminal: false, bytes: 0, json: undefined }, parse: null },
  h: { close: { how: 'eof', events: 2, notifications: 2, cut: 'boundary', terminal: false }, parse: null },
  i: { close: { how: 'eof', events: 1, cut: 'mid', terminal: false }, parse: { ok: false, at_end: true, bytes: 54 } },
  i2: {
    close: { how: 'eof', events: 2, notifications: 1, cut: 'mid', terminal: false },
    parse: { ok: false, bytes: 60 },
  },
  j: { close: { how: 'error', error: 'ECONNRESET', events: 1, cut: 'boundary', terminal: false }, parse: null },
  k: {
    headers: { framing: 'close_delimited' },
    close: { how: 'eof', json: 'complete', terminal: true },
    parse: { ok: true },
  },
  k2: { close: { how: 'eof', json: 'cut', cut: 'mid', terminal: false }, parse: { ok: false, at_end: true } },
  k3: {
    headers: { framing: 'close_delimited', content_type: 'text/event-stream' },
    close: { how: 'eof', events: 1, cut: 'boundary', terminal: false },
    parse: null,
  },
  bad: { close: { how: 'eof', json: 'malformed', terminal: false }, parse: { ok: false, at_end: false, at: 0 } },
};

let base = '';
let release: () => void = () => {};
const sockets = new Set<Socket>();

/** Answers `/ROW` with the raw bytes of that row. */
const server = createServer((socket: Socket) => {
  let received = '';
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('data', (data) => {
    received += data;
    const [, row, size] = /^\w+ \/(\w+)[\s\S]*?content-length: (\d+)[\s\S]*?\r\n\r\n/i.exec(received) ?? [];
    if (row === undefined || received.length < received.indexOf('\r\n\r\n') + 4 + Number(size)) return;
    received = '';
    const { head, body, ending } = FAULTS[row] as Fault;
    socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n`);
    socket.write(body);
    if (ending === 'fin') socket.end();
    else if (ending === 'reset') release = () => socket.resetAndDestroy();
  });
});

before(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.close();
  for (const socket of sockets) socket.destroy();
});

const call = (id: number | string = 1, params: object = { name: 'export', arguments: { a: 1 } }): RequestInit => ({
  method: 'POST',
  headers: { 'mcp-protocol-version': '2025-11-25' },
  body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
});

/** What a caller gets: the body, or the error. */
async function outcome(fetch: FetchLike, row: string): Promise<string> {
  try {
    const response = await fetch(`${base}/${row}`, call());
    const reader = response.body!.getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += Buffer.from(part.value);
      release();
      release = () => {};
    }
    return `${response.status} ${response.url} ${text}`;
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string } };
    return `${name} ${message} ${cause?.code}`;
  }
}

for (const [row, { headers = {}, close, parse }] of Object.entries(EXPECTED)) {
  test(`row ${row}: facts on the lines, and nothing altered for the caller`, async () => {
    const plain = await outcome(fetch, row);
    const { fetch: recorded, lines, text } = rig();
    assert.equal(await outcome(recorded, row), plain);
    const [open, head, closed, parsed] = lines();
    assertFields(
      open,
      { type: 'open', rpc_kind: 'request', method: 'tools/call', target: 'export', rpc_id: '1' },
      'open',
    );
    assertFields(head, { type: 'headers', status: 200, ...headers }, 'headers');
    assertFields(closed, { type: 'close', ...close }, 'close');
    if (parse === null) assert.equal(parsed, undefined);
    else assertFields(parsed, { type: 'parse', of: 'message', exchange: open?.exchange, ...parse }, 'parse');
    assert.ok(!text().includes('CANARY'));
  });
}

test('row l: refused, and nothing was sent', async () => {
  const { fetch: recorded, lines } = rig();
  const spare = createServer().listen(0, '127.0.0.1');
  await new Promise((ready) => spare.once('listening', ready));
  const { port } = spare.address() as AddressInfo;
  await new Promise((closed) => spare.close(closed));
  await assert.rejects(recorded(`http://127.0.0.1:${port}/mcp`, call()), TypeError);
  assertFields(
    lines()[1],
    { type: 'close', how: 'no_response', by: 'peer', error: 'ECONNREFUSED', sent: 'none' },
    'close',
  );
});

test('a caller that gives up is told apart from a peer that breaks', async () => {
  const { fetch: recorded, lines } = rig();
  const abort = new AbortController();
  const response = await recorded(`${base}/j`, { ...call(), signal: abort.signal });
  const reader = response.body!.getReader();
  await reader.read();
  abort.abort();
  await assert.rejects(reader.read(), { name: 'AbortError' });
  assertFields(lines()[2], { type: 'close', how: 'cancel', by: 'client', error: 'AbortError', events: 1 }, 'close');
  assert.equal(lines().length, 3, 'giving up is no parse failure');
  const never: FetchLike = (_url, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const hung = rig({ fetch: never });
  await assert.rejects(hung.fetch(`${base}/a`, { ...call(), signal: AbortSignal.timeout(5) }), {
    name: 'TimeoutError',
  });
  assertFields(hung.lines()[1], { how: 'no_response', by: 'client', error: 'TimeoutError' }, 'close');
});

/** An upstream that counts what is asked of it. */
function counting(init: ResponseInit) {
  const seen = { pulls: 0, cancelled: undefined as unknown, response: undefined as Response | undefined };
  const body = new ReadableStream(
    {
      pull(controller) {
        seen.pulls++;
        controller.enqueue(new Uint8Array(1024));
      },
      cancel(reason) {
        seen.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  seen.response = new Response(body, init);
  return { seen, fetch: async () => seen.response as Response };
}

test('back-pressure passes through, and a response that nobody reads stays untouched', async () => {
  const { seen, fetch: upstream } = counting({ headers: { 'content-type': 'text/event-stream' } });
  const { fetch: recorded, lines } = rig({ fetch: upstream });
  const response = await recorded('http://h/mcp', call());
  assert.equal(seen.response?.body?.locked, false);
  assert.equal(seen.pulls, 0);
  const reader = response.body!.getReader();
  for (let reads = 1; reads <= 3; reads++) {
    await reader.read();
    assert.equal(seen.pulls, reads);
  }
  const reason = new Error('CANARY');
  await reader.cancel(reason);
  assert.equal(seen.cancelled, reason);
  assertFields(lines()[2], { type: 'close', how: 'cancel', by: 'client', bytes: 3072, error: undefined }, 'close');
});

test('a body that an SDK throws away because it holds no answer has ended, nobody hung up', async () => {
  for (const [status, type] of [
    [202, null],
    [405, 'application/json'],
    [200, 'text/html'],
  ] as const) {
    const { fetch: upstream } = counting({ status, headers: type === null ? {} : { 'content-type': type } });
    const { fetch: recorded, lines } = rig({ fetch: upstream });
    await (await recorded('http://h/mcp', call())).body?.cancel();
    assertFields(lines()[2], { type: 'close', how: 'eof', by: 'peer', json: undefined, bytes: undefined }, `${status}`);
  }
  const { fetch: recorded, lines } = rig({ fetch: async () => new Response(null, { status: 204 }) });
  assert.equal((await recorded('http://h/mcp', call())).body, null);
  assertFields(lines()[2], { type: 'close', how: 'eof' }, '204');
});

test('requests that are not MCP pass unrecorded, and nothing is started for them', async () => {
  const passed: unknown[] = [];
  const tap = rig({
    fetch: async (...args) => {
      passed.push(args);
      return Response.json({});
    },
  });
  const rpc = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message });
  const others: [string, RequestInit?][] = [
    ['http://h/mcp'],
    ['http://h/mcp', { headers: { 'mcp-protocol-version': '2025-11-25' } }],
    ['http://h/token', { method: 'POST', body: new URLSearchParams({ code: 'CANARY' }) }],
    ['http://h/token', { method: 'POST', body: '{"jsonrpc":"1.0","method":"initialize"}' }],
    ['http://h/chain', { method: 'POST', body: rpc({ id: 1, method: 'eth_call', params: [] }) }],
    ['http://h/agent', { method: 'POST', body: rpc({ id: 1, method: 'tasks/get', params: { id: 'x' } }) }],
    ['http://h/mcp', { method: 'PUT', body: rpc({ id: 1, method: 'initialize' }) }],
    ['data:,x', { method: 'POST', body: rpc({ id: 1, method: 'initialize' }) }],
    ['not a url', { method: 'POST', body: rpc({ id: 1, method: 'initialize' }) }],
  ];
  for (const args of others) {
    const response = await tap.fetch(...args);
    assert.equal(passed.at(-1) !== undefined && response.status, 200);
    assert.deepEqual(passed.at(-1), args, 'the very arguments');
  }
  assert.deepEqual([tap.lines(), tap.starts()], [[], 0]);
});

test('where MCP was spoken, a GET, a DELETE and a response count too', async () => {
  const tap = rig({ fetch: async () => Response.json({}) });
  const headers = { 'mcp-session-id': 'CANARY', 'Last-Event-ID': 'CANARY' };
  await tap.fetch('http://u:CANARY@h/mcp/CANARY?key=CANARY', call());
  await tap.fetch('http://h/mcp/CANARY', { headers });
  await tap.fetch('https://h/other', { headers: [['MCP-Session-Id', 'CANARY']], method: 'delete' });
  await tap.fetch('http://h/mcp/CANARY', { method: 'POST', body: '{"jsonrpc":"2.0","id":"CANARY","result":{}}' });
  const [post, get, del, answer] = tap.of('open');
  assertFields(post, { endpoint: 'h:80', server: 'h:80', http_method: 'POST' }, 'POST');
  assertFields(get, { http_method: 'GET', rpc_kind: 'none', session: true, last_event_id: true }, 'GET');
  assertFields(del, { endpoint: 'h:443', http_method: 'DELETE', session: true, last_event_id: false }, 'DELETE');
  assertFields(answer, { rpc_kind: 'response', rpc_id: undefined, method: undefined }, 'answer');
  assert.ok(!tap.text().includes('CANARY'));
});

test('a message is found in text, in bytes and in a Request, however it is given', async () => {
  const text = call().body as string;
  const bytes = new TextEncoder().encode(`  ${text}`);
  const within = new Uint8Array([1, 2, ...bytes, 3]).subarray(2, -1);
  const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const forms: [string | URL | Request, RequestInit?][] = [
    [new URL('http://h/mcp'), { method: 'POST', body: text }],
    ['http://h/mcp', { method: 'POST', body: Buffer.from(text) }],
    ['http://h/mcp', { method: 'POST', body: bytes.buffer }],
    ['http://h/mcp', { method: 'POST', body: within }],
    [new Request('http://h/mcp', { method: 'POST' }), { body: text }],
    [new Request('http://h/mcp', { method: 'POST', headers: accept, body: text })],
    ['http://h/mcp', { method: 'POST', body: `[{"jsonrpc":"2.0","method":"notifications/x"},${text}]` }],
  ];
  for (const [input, init] of forms) {
    let received = '';
    const tap = rig({
      fetch: async (into, given) => {
        received = await new Request(into, given).text();
        return Response.json({});
      },
    });
    await (await tap.fetch(input, init)).text();
    const [open] = tap.of('open');
    assertFields(open, { rpc_kind: 'request', method: 'tools/call', target: 'export', rpc_id: '1' }, received);
    assert.ok(received.includes(text), 'the request arrives whole');
    assert.equal(tap.of('close').length, 1);
  }
});

test('a Request with a long body is copied in part only, and arrives whole', async () => {
  const long = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { x: 'y'.repeat(3 << 20) } });
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  let received = '';
  const tap = rig({
    fetch: async (input) => {
      received = await (input as Request).text();
      return Response.json({});
    },
  });
  const response = await tap.fetch(new Request('http://h/mcp', { method: 'POST', headers, body: long }));
  assert.deepEqual([await response.text(), received === long, tap.lines()], ['{}', true, []]);
  const broken = rig({ fetch: async () => Promise.reject(new TypeError('fetch failed')) });
  const request = new Request('http://h/mcp', { method: 'POST', headers, body: call().body as string });
  await assert.rejects(broken.fetch(request), { message: 'fetch failed' });
  assertFields(broken.of('close')[0], { how: 'no_response', by: 'peer', error: 'TypeError' }, 'close');
});

test('what a request says: kinds, cancel, digests, metadata of the new revision', async () => {
  const tap = rig({ fetch: async () => Response.json({}) });
  const send = (message: object, version = '2025-11-25', headers = {}) =>
    tap.fetch('http://h/mcp', {
      method: 'POST',
      headers: { 'mcp-protocol-version': version, authorization: 'Bearer CANARY', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const trace = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', traceparent: trace };
  await send({
    id: 1,
    method: 'tools/call',
    params: { name: 'export', arguments: { a: 'CANARY', b: { c: 1, d: 2 } }, _meta: { progressToken: 1 } },
  });
  await send({
    id: 2,
    method: 'tools/call',
    params: {
      arguments: { b: { d: 2, c: 1 }, a: 'CANARY' },
      name: 'export',
      inputResponses: {},
      requestState: 'CANARY',
    },
  });
  await send(
    {
      id: 3,
      method: 'tools/call',
      params: { name: 'order', arguments: { a: 'CANARY-2', idempotencyKey: 'CANARY' }, _meta: meta },
    },
    '2026-07-28',
  );
  await send({ method: 'notifications/cancelled', params: { requestId: 3, reason: 'CANARY' } });
  await send({ id: 4, result: { roots: ['CANARY'] } });
  await send({ id: 'x'.repeat(200), method: 'resources/read', params: { uri: 'file:///CANARY' } }, 'CANARY', {
    traceparent: 'CANARY',
    'idempotency-key': 'CANARY',
  });
  const [first, second, third, cancel, answer, last] = tap.of('open');
  assert.equal(
    first?.args_digest,
    second?.args_digest,
    'order of keys, _meta and the rounds of one call do not matter',
  );
  assert.notEqual(second?.args_digest, third?.args_digest);
  assertFields(first, { meta_protocol_version: undefined, input_responses: false, request_bytes: 146 }, 'first');
  assertFields(second, { input_responses: true, idempotency_key: undefined }, 'second');
  assertFields(
    third,
    { meta_protocol_version: '2026-07-28', meta_capabilities: null, trace, idempotency_key: true },
    'third',
  );
  assertFields(cancel, { rpc_kind: 'notification', cancel_of: '3', rpc_id: undefined }, 'cancel');
  assertFields(answer, { rpc_kind: 'response', method: undefined }, 'answer');
  assertFields(last, { protocol_version: 'other', target: undefined, trace: undefined, idempotency_key: true }, 'last');
  assert.match(String(last?.rpc_id), /^[\w-]{11}$/);
  assert.ok(!tap.text().includes('CANARY'));
});

test('the hints of a tool stand on its calls, once its server has listed it', async () => {
  const tools = [{ name: 'read', annotations: { readOnlyHint: true } }, { name: 'write' }];
  const tap = rig({ fetch: async () => Response.json({ jsonrpc: '2.0', id: 1, result: { tools } }) });
  const send = async (url: string, method: string, params = {}) =>
    (await tap.fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })).text();
  await send('http://h/a', 'tools/call', { name: 'read' });
  await send('http://h/a', 'tools/list');
  await send('http://h/a', 'tools/call', { name: 'read' });
  await send('http://h/a', 'tools/call', { name: 'write' });
  await send('http://h/b', 'tools/call', { name: 'read' });
  assert.deepEqual(
    tap.of('open').map(({ annotations }) => annotations),
    [undefined, undefined, { read_only: true }, undefined, undefined],
  );
  assert.equal((tap.of('close')[1] as { list?: { count: number } }).list?.count, 2);
});

test('discovery: the contract that a server declares', async () => {
  const result = (capabilities: object) => ({
    jsonrpc: '2.0',
    id: 1,
    result: { protocolVersion: '2025-11-25', capabilities, instructions: 'CANARY' },
  });
  const required = { extensions: { 'dev.tailfin/stream-completion': { terminal: 'required' } } };
  const discovered = async (response: Response, method = 'initialize') => {
    const { fetch: recorded, lines } = rig({ fetch: async () => response });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
    await (
      await recorded('http://h/mcp', { method: 'POST', headers: { 'mcp-protocol-version': '2026-07-28' }, body })
    ).text();
    assert.ok(!JSON.stringify(lines()).includes('CANARY'));
    return lines().find(({ type }) => type === 'discovery');
  };
  const stateful = Response.json(result({}), { headers: { 'mcp-session-id': 'CANARY' } });
  assertFields(
    await discovered(stateful),
    { protocol_version: '2025-11-25', sentinel: 'optional', sessions: 'stateful' },
    'initialize',
  );
  const events = new Response(`event: message\ndata: ${JSON.stringify(result(required))}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  });
  assertFields(await discovered(events), { sentinel: 'mandated', sessions: 'stateless' }, 'event stream');
  const discover = Response.json({
    jsonrpc: '2.0',
    id: 1,
    result: { supportedVersions: ['2026-07-28'], capabilities: {} },
  });
  assertFields(await discovered(discover, 'server/discover'), { protocol_version: '2026-07-28' }, 'discover');
  assert.equal(await discovered(Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32601 } })), undefined);
});

test('a log that cannot be written does not disturb the host', async () => {
  const lines = { emit: () => assert.fail('disk full') };
  const answer = async () => new Response(ANSWER, { headers: { 'content-type': 'application/json' } });
  const tap = rig({ lines, fetch: answer });
  assert.equal(await (await tap.fetch('http://h/mcp', call())).text(), ANSWER);
});

test('the name of a tool or prompt leaves, a name in any other method does not', async () => {
  const tap = rig({ fetch: async () => Response.json({}) });
  for (const method of ['tools/call', 'prompts/get', 'resources/read', 'acme/login'])
    await tap.fetch('http://h/mcp', {
      method: 'POST',
      headers: { 'mcp-protocol-version': '2025-11-25' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: `CANARY-${method}` } }),
    });
  assert.deepEqual(
    tap.of('open').map(({ target }) => target),
    ['CANARY-tools/call', 'CANARY-prompts/get', undefined, undefined],
  );
});

test('what is passed over for a reason is not taken for a fetch that is not seen', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const tap = rig();
  const init = { method: 'POST', headers: { 'mcp-protocol-version': '2025-11-25' }, body: 'no message' };
  await (await tap.fetch(url, init)).text();
  assert.deepEqual([tap.unseen(), tap.lines().length], [0, 0]);
  // The very same request by the fetch beneath.
  await (await fetch(url, init)).text();
  assert.equal(tap.unseen(), 1);
});
