import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decode, isRejection } from '../src/core/stages/decode.ts';
import { createEventLog } from '../src/demo/event-log.ts';
import { type Attempt, createRecordingFetch, type FetchLike, type RecordingOptions } from '../src/demo/recorder.ts';

type Line = Record<string, unknown> & { type: string };
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

const folder = mkdtempSync(join(tmpdir(), 'tailfin-recorder-'));
let base = '';
let release: () => void = () => {};
let files = 0;
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
  rmSync(folder, { recursive: true, force: true });
});

function recorder(options: Partial<RecordingOptions> = {}) {
  const file = join(folder, `${files++}.ndjson`);
  const log = createEventLog({ file, host: 'h', client: 'c', server: 's' });
  return {
    fetch: createRecordingFetch({ log, ...options }),
    log,
    lines: () => readLines(file),
    text: () => readFileSync(file, 'utf8'),
  };
}

/** Every line must be one that the sidecar takes. */
function readLines(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line, index) => {
    const origin = { source: 'test', writer: 'test', host: 'test' };
    assert.ok(!isRejection(decode(line, origin, index + 1, 0)), line);
    const parsed: Line = JSON.parse(line);
    assert.equal(parsed.seq, index);
    return parsed;
  });
}

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

function assertFields(line: Line | undefined, expected: object, what: string): void {
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(line?.[name], value, `${what} ${name}`);
}

for (const [row, { headers = {}, close, parse }] of Object.entries(EXPECTED)) {
  test(`row ${row}: facts on the lines, and nothing altered for the caller`, async () => {
    const plain = await outcome(fetch, row);
    const { fetch: recorded, lines, text } = recorder();
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
  const { fetch: recorded, lines } = recorder();
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
  const { fetch: recorded, lines } = recorder();
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
  const hung = recorder({ fetch: never });
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
  const { fetch: recorded, lines } = recorder({ fetch: upstream });
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
    const { fetch: recorded, lines } = recorder({ fetch: upstream });
    await (await recorded('http://h/mcp', call())).body?.cancel();
    assertFields(lines()[2], { type: 'close', how: 'eof', by: 'peer', json: undefined, bytes: undefined }, `${status}`);
  }
  const { fetch: recorded, lines } = recorder({ fetch: async () => new Response(null, { status: 204 }) });
  assert.equal((await recorded('http://h/mcp', call())).body, null);
  assertFields(lines()[2], { type: 'close', how: 'eof' }, '204');
});

test('requests that are not MCP pass unrecorded; GET and DELETE count where MCP was spoken', async () => {
  const { fetch: recorded, lines, log } = recorder({ fetch: async () => Response.json({}) });
  const headers = { 'mcp-session-id': 'CANARY', 'last-event-id': 'CANARY' };
  await recorded('http://h/mcp', { headers });
  await recorded('http://h/token', { method: 'POST', body: new URLSearchParams({ code: 'CANARY' }) });
  await recorded('http://h/token', { method: 'POST', body: '{"jsonrpc":"1.0"}' });
  await recorded('not a url', call()).catch(() => {});
  log.emit('client', { client: 'c', event: 'created' });
  assert.equal(lines().length, 1);
  await recorded('http://u:CANARY@h/mcp?key=CANARY', call());
  await recorded('http://h/mcp', { headers });
  const [get] = lines().filter(({ type, http_method }) => type === 'open' && http_method === 'GET');
  assertFields(get, { endpoint: 'http://h/mcp', rpc_kind: 'none', session: true, last_event_id: true }, 'GET');
  assert.ok(!JSON.stringify(lines()).includes('CANARY'));
});

test('what a request says: kinds, cancel, digests, metadata of the new revision', async () => {
  const { fetch: recorded, lines } = recorder({
    fetch: async () => Response.json({}),
    annotationsOf: (tool) => (tool === 'export' ? { read_only: true } : undefined),
  });
  const send = (message: object, version = '2025-11-25') =>
    recorded('http://h/mcp', {
      method: 'POST',
      headers: { 'mcp-protocol-version': version, authorization: 'Bearer CANARY' },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  await send({
    id: 1,
    method: 'tools/call',
    params: { name: 'export', arguments: { a: 'CANARY', b: { c: 1, d: 2 } }, _meta: { progressToken: 1 } },
  });
  await send({
    id: 2,
    method: 'tools/call',
    params: { arguments: { b: { d: 2, c: 1 }, a: 'CANARY' }, name: 'export' },
  });
  await send(
    { id: 3, method: 'tools/call', params: { name: 'order', arguments: { a: 'CANARY-2' }, _meta: meta } },
    '2026-07-28',
  );
  await send({ method: 'notifications/cancelled', params: { requestId: 3, reason: 'CANARY' } });
  await send({ id: 4, result: { roots: ['CANARY'] } });
  const opens = lines().filter(({ type }) => type === 'open');
  const [first, second, third, cancel, answer] = opens;
  assert.equal(first?.args_digest, second?.args_digest, 'order of keys and _meta do not matter');
  assert.notEqual(second?.args_digest, third?.args_digest);
  assertFields(first, { annotations: { read_only: true }, meta_protocol_version: undefined }, 'first');
  assertFields(
    third,
    { meta_protocol_version: '2026-07-28', meta_capabilities: null, annotations: undefined },
    'third',
  );
  assertFields(cancel, { rpc_kind: 'notification', cancel_of: '3', rpc_id: undefined }, 'cancel');
  assertFields(answer, { rpc_kind: 'response', method: undefined }, 'answer');
  assert.ok(!JSON.stringify(lines()).includes('CANARY'));
});

test('discovery: the contract that a server declares', async () => {
  const result = (capabilities: object) => ({
    jsonrpc: '2.0',
    id: 1,
    result: { protocolVersion: '2025-11-25', capabilities, instructions: 'CANARY' },
  });
  const required = { extensions: { 'dev.tailfin/stream-completion': { terminal: 'required' } } };
  const discovered = async (response: Response, method = 'initialize') => {
    const { fetch: recorded, lines } = recorder({ fetch: async () => response });
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

test('the host learns which exchange carried its attempt, and the extra header is sent only when asked for', async () => {
  const sent: Headers[] = [];
  const attempts = new AsyncLocalStorage<Attempt>();
  const upstream: FetchLike = async (_url, init) => {
    sent.push(new Headers(init?.headers));
    return Response.json({});
  };
  const { fetch: recorded, lines } = recorder({ attempts, fetch: upstream, exchangeHeader: 'x-exchange' });
  const attempt: Attempt = {};
  await attempts.run(attempt, () => recorded('http://h/mcp', call()));
  assert.equal(attempt.exchange, lines()[0]?.exchange);
  assert.equal(sent[0]?.get('x-exchange'), attempt.exchange);
  assert.equal(sent[0]?.get('mcp-protocol-version'), '2025-11-25');
  await recorder({ fetch: upstream }).fetch('http://h/mcp', call());
  assert.deepEqual([...(sent[1]?.keys() ?? [])], ['mcp-protocol-version']);
});

test('a log that cannot be written does not disturb the host', async () => {
  const log = { emit: () => assert.fail('disk full'), idle: async () => {} };
  const recorded = createRecordingFetch({
    log,
    fetch: async () => new Response(ANSWER, { headers: { 'content-type': 'application/json' } }),
  });
  assert.equal(await (await recorded('http://h/mcp', call())).text(), ANSWER);
});
