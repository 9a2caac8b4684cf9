/** What goes on around the calls: sessions of a client, notifications on long streams, callers that give up, what is too long. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDigester } from '../../src/tap/digest.ts';
import { openExchange } from '../../src/tap/fetch/exchange.ts';
import { describeRequest } from '../../src/tap/fetch/request-facts.ts';
import { createFetchState } from '../../src/tap/fetch/state.ts';
import { MAX_EVENT_BYTES } from '../../src/tap/scan/sse-scan.ts';
import { createFollow, type Settling } from '../../src/tap/settle/follow.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';
import { runHost, seenBy } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';
import { assertFields, checked, type Line, rig } from './rig.ts';

const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 's' };
const rpc = (method: string, params: object = {}, id?: number) =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params });
const streamOf = (...messages: string[]) =>
  new Response(messages.map((text) => `data: ${text}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });
const listen = { method: 'POST', headers, body: rpc('subscriptions/listen', {}, 1) };

test('the old SDK: a deleted session and a new one of the same client are told', async (t) => {
  const sdk = join(ROOT, 'node_modules/@modelcontextprotocol/sdk/dist');
  for (const [kind, load] of [
    ['esm', 'mjs'],
    ['cjs', 'cjs'],
  ] as const) {
    const server = await startFixture(t);
    const script = join(tempFolder(t), `host.${load}`);
    const get = (name: string) =>
      load === 'mjs'
        ? `await import('${sdk}/${kind}/client/${name}.js')`
        : `require('${sdk}/${kind}/client/${name}.js')`;
    writeFileSync(
      script,
      `(async () => {
      const { Client } = ${get('index')};
      const { StreamableHTTPClientTransport } = ${get('streamableHttp')};
      const client = new Client({ name: 'h', version: '1' });
      for (let n = 0; n < 2; n++) {
        const transport = new StreamableHTTPClientTransport(new URL('${server.url}'));
        await client.connect(transport);
        await client.callTool({ name: 'json' });
        await transport.terminateSession();
        await client.close();
      }
      console.log('[]');
      })();`,
    );
    const host = await runHost(t, script);
    assert.deepEqual(seenBy(host), []);
    const clients = host.of('client');
    assert.equal(new Set(clients.map(({ client }) => client)).size, 1);
    const round = ['session_deleted', 'closed'];
    const expected = ['created', ...round, 'reconnected', 'reinitialized', ...round];
    assert.deepEqual(
      clients.map(({ event }) => event),
      expected,
      kind,
    );
    const deletes = host.of('open').filter(({ http_method }) => http_method === 'DELETE');
    assert.deepEqual([deletes.length, deletes.every(({ client }) => client === clients[0]?.client)], [2, true]);
  }
});

test('a DELETE that was refused, or without a session, deletes none', async () => {
  for (const [status, given, expected] of [
    [200, headers, 1],
    [405, headers, 0],
    [404, headers, 0],
    [200, { 'mcp-protocol-version': '2025-11-25' }, 0],
  ] as const) {
    const lines: Line[] = [];
    const state = createFetchState({
      lines: { emit: (type, fields) => lines.push(checked(JSON.stringify({ v: 1, type, ts: 1, ...fields }))) },
      ...{ digester: createDigester(Buffer.alloc(32)), now: Date.now, newId: randomUUID },
    });
    const url = new URL('http://h/mcp');
    const header = (name: string) => (given as Record<string, string>)[name] ?? null;
    const facts = describeRequest({ url, httpMethod: 'DELETE', header, sent: undefined }, state.digester);
    const client = state.clients.of({ instance: {}, signal: undefined, endpoint: 'h:80', handshake: false });
    const input = { url, facts, signal: undefined, client, settling: undefined, transport: {} };
    openExchange(state, input).answered(new Response(null, { status }));
    assert.equal(lines.filter(({ event }) => event === 'session_deleted').length, expected, `${status}`);
  }
});

test('a changed list is told at once on streams that no call waits on, and only there', async () => {
  const changes = ['tools', 'prompts', 'resources'].map((list) => rpc(`notifications/${list}/list_changed`));
  const other = rpc('notifications/progress', { progressToken: 1, progress: 1 });
  const calls: [RequestInit, number][] = [
    [{ headers }, 3],
    [listen, 3],
    [{ ...listen, body: rpc('tools/call', { name: 'x' }, 1) }, 0],
  ];
  for (const [init, expected] of calls) {
    const tap = rig({ fetch: async () => streamOf(other, ...changes) });
    const reader = (await tap.fetch('http://h/mcp', init)).body!.getReader();
    await reader.read();
    const told = tap.of('message');
    assert.deepEqual([told.length, tap.of('close').length], [expected, 0]);
    const [open] = tap.of('open');
    for (const [n, line] of told.entries())
      assertFields(line, { rpc: 'notification', exchange: open?.exchange, bytes: changes[n]?.length }, 'message');
    await reader.read();
    assert.equal(tap.of('close')[0]?.notifications, 4);
  }
});

test("a server's notifications/cancelled reaches the line of the listen that it ends", async () => {
  for (const [body, cancelled] of [
    [rpc('notifications/cancelled', { requestId: 1 }), true],
    [rpc('notifications/cancelled', { requestId: 2 }), undefined],
  ] as const) {
    const tap = rig({ fetch: async () => streamOf(body) });
    await (await tap.fetch('http://h/mcp', listen)).text();
    assertFields(tap.of('close')[0], { cancelled, terminal: false, how: 'eof' }, body);
  }
});

test('an event longer than what is followed is marked on the line', async () => {
  const part = new Uint8Array(1024 * 1024).fill(120);
  for (const [parts, oversize] of [
    [MAX_EVENT_BYTES / part.length, true],
    [1, undefined],
  ] as const) {
    const pieces = [
      Buffer.from('data: {"jsonrpc":"2.0","id":1,"result":{"a":"'),
      ...Array(parts).fill(part),
      Buffer.from('"}}\n\n'),
    ];
    const response = new Response(new Blob(pieces), { headers: { 'content-type': 'text/event-stream' } });
    const tap = rig({ fetch: async () => response });
    const answer = await tap.fetch('http://h/mcp', { ...listen, body: rpc('tools/call', { name: 'x' }, 1) });
    await answer.arrayBuffer();
    assertFields(tap.of('close')[0], { oversize, terminal: true }, `${parts}`);
  }
});

test('a body that is cancelled while it is read was ended by its caller, also while its call goes on', async () => {
  const lines: Line[] = [];
  const state = createFetchState({
    lines: { emit: (type, fields) => lines.push(checked(JSON.stringify({ v: 1, type, ts: 1, ...fields }))) },
    ...{ digester: createDigester(Buffer.alloc(32)), now: Date.now, newId: randomUUID },
  });
  const url = new URL('http://h/mcp');
  const sent = { message: JSON.parse(rpc('tools/call', { name: 'x' }, 1)), bytes: 9 };
  const facts = describeRequest({ url, httpMethod: 'POST', header: () => null, sent }, state.digester);
  const settling: Settling = { method: 'tools/call', target: 'x' };
  const response = new Response(new ReadableStream({ type: 'bytes' }), {
    headers: { 'content-type': 'text/event-stream' },
  });
  openExchange(state, { url, facts, signal: undefined, client: undefined, settling, transport: {} }).answered(response);
  const reader = response.body!.getReader();
  const pending = reader.read();
  await reader.cancel('enough');
  assert.deepEqual(await pending, { done: true, value: undefined });
  await until(() => lines.some(({ type }) => type === 'close'), { what: 'the close line' });
  assertFields(
    lines.find(({ type }) => type === 'close'),
    { how: 'cancel', by: 'client', terminal: false },
    'close',
  );
  assert.equal(lines.filter(({ type }) => type === 'close').length, 1);
});

test('names and codes of the host are no words: only known ones leave', async () => {
  const secret = 'sk_live_CANARY';
  class sk_live_CANARY extends Error {}
  const named = Object.assign(new Error('x'), { name: secret });
  const errors: [unknown, string][] = [
    [Object.assign(new Error('x'), { code: secret }), 'Error'],
    [Object.assign(new TypeError('x'), { cause: { code: secret } }), 'TypeError'],
    [Object.assign(new TypeError('x'), { cause: { code: 'ECONNRESET' } }), 'ECONNRESET'],
    [named, 'other'],
    [Object.assign(new sk_live_CANARY('x'), { name: secret }), 'other'],
    [secret, 'other'],
    [undefined, 'other'],
  ];
  for (const [error, word] of errors) {
    const tap = rig({ fetch: () => Promise.reject(error) });
    await tap.fetch('http://h/mcp', listen).catch(() => {});
    assert.equal(tap.of('close')[0]?.error, word, String(error));
    assert.ok(!tap.text().includes('CANARY'));
  }
  // The same of what callers of an SDK received.
  const lines: string[] = [];
  const tap = {
    emit: (type: string, fields: object) => void lines.push(JSON.stringify({ v: 1, type, ts: 1, ...fields })),
  };
  const clients = createFetchState({
    lines: tap,
    ...{ digester: createDigester(Buffer.alloc(32)), now: Date.now, newId: randomUUID },
  }).clients;
  const follow = createFollow({ clients, lines: () => tap, clock: () => 1 });
  class Client {
    callTool(_params: object, error: unknown) {
      return Promise.reject(error);
    }
    request() {}
    connect() {}
    close() {}
  }
  follow.patch(Client as never);
  const instance = new Client();
  clients.of({ instance, signal: undefined, endpoint: 'h:80', handshake: false });
  for (const [error] of errors) await instance.callTool({ name: 'x' }, error).catch(() => {});
  assert.equal(lines.filter((line) => line.includes('"settle"')).length, errors.length);
  assert.ok(!lines.join().includes('CANARY'), lines.join('\n'));
});
