/** Real hosts with real SDKs under the tap: every way to load it, both module kinds, workers, children, and who is left alone. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tempFolder } from '../support/cli.ts';
import { runHost, seenBy } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';
import { assertFields, type Line } from './rig.ts';

const SDKS = ['S1', 'C2-2025', 'C2-2026'] as const;
const WAYS: readonly [script: string, load: '--require' | '--import'][] = [
  ['host.cjs', '--require'],
  ['host.mjs', '--require'],
  ['host.cjs', '--import'],
  ['host.mjs', '--import'],
];
const TOOLS = ['LIST', 'json', 'sse', 'tool-error', 'rpc-error', 'html', 'cut'];

/** Lines of one type whose call names that tool. */
const calls = (lines: readonly Line[], type: string) =>
  lines.filter((line) => line.type === type && line.method === 'tools/call');

describe('a host records its exchanges and what its callers received', () => {
  for (const sdk of SDKS) {
    for (const [script, load] of WAYS) {
      test(`${sdk}, ${script}, ${load}`, async (t) => {
        const server = await startFixture(t);
        const plan = { sdk, url: server.url, steps: TOOLS.map((tool) => ({ tool })) };
        const env = { PLAN: JSON.stringify(plan), TAILFIN_TAP_HOST: 'test-host' };
        const plain = seenBy(await runHost(t, script, { env, load: null }));
        const before = server.requests.splice(0);
        const host = await runHost(t, script, { env, load });
        assert.deepEqual(seenBy(host), plain, 'the host sees the same');
        assert.deepEqual(server.requests, before, 'the server too');
        assert.equal(host.ended.stderr, '');
        assert.equal(host.files.length, 1);
        assert.ok(host.lines.every(({ host: name }) => name === 'test-host'));

        assert.equal(host.of('open').length, server.requests.length);
        assert.equal(host.of('close').length, server.requests.length);
        const opens = calls(host.lines, 'open');
        const settles = calls(host.lines, 'settle');
        assert.deepEqual(
          settles.map(({ target, result }) => `${target} ${result}`),
          ['json ok', 'sse ok', 'tool-error tool_error', 'rpc-error rpc_error', 'html error', 'cut error'],
        );
        assert.deepEqual(
          settles.map(({ exchange }) => exchange),
          opens.map(({ exchange }) => exchange),
        );
        assert.deepEqual(opens[0]?.annotations, { read_only: true });
        const [, cut] = [opens[0], opens.at(-1)];
        const close = host.of('close').find(({ exchange }) => exchange === cut?.exchange);
        assertFields(close, { how: 'eof', json: 'cut', cut: 'mid', terminal: false, sent: 'body' }, 'cut');
        const parse = host.of('parse').find(({ exchange }) => exchange === cut?.exchange);
        assertFields(parse, { ok: false, at_end: true }, 'cut');

        const clients = new Set([...opens, ...settles].map(({ client }) => client));
        assert.equal(clients.size, 1);
        assert.deepEqual(
          host.of('client').map(({ client, event }) => [client, event]),
          ['created', 'closed'].map((event) => [[...clients][0], event]),
        );
        const reused = host.of('headers').filter(({ connection }) => (connection as { reused: boolean }).reused);
        assert.ok(reused.length > 0, 'a kept connection is seen');
        const version = sdk === 'C2-2026' ? '2026-07-28' : '2025-11-25';
        assertFields(host.of('discovery')[0], { protocol_version: version, sentinel: 'optional' }, 'discovery');
        assert.deepEqual(host.lines.at(0)?.type, 'segment');
        assert.deepEqual(host.lines.at(-1)?.type, 'end');
      });
    }
  }
});

test('main thread, workers from a file and from text, and children: each has a writer, and all share one key', async (t) => {
  const server = await startFixture(t);
  const host = await runHost(t, 'family.cjs', { env: { URL_OF_SERVER: server.url } });
  assert.deepEqual([host.ended.code, host.ended.stderr], [0, '']);
  const targets = host.of('open').map(({ target }) => target);
  assert.deepEqual(targets.sort(), ['child', 'eval-worker', 'file-worker', 'main']);
  assert.equal(new Set(host.of('open').map(({ writer }) => writer)).size, 4);
  const keys = host.of('segment').map(({ key_id }) => key_id);
  assert.equal(new Set(keys).size, 2, 'the child has a key of its own');
});

test('tools, hosts that do not speak MCP, and TAILFIN_TAP=off leave nothing behind', async (t) => {
  const server = await startFixture(t);
  const folder = tempFolder(t);
  const speak = `fetch('${server.url}', { method: 'POST', headers: { 'mcp-protocol-version': '2025-11-25' }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }).then((r) => r.text())`;
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const recorded = await runHost(t, write('host.cjs', speak));
  assert.equal(recorded.of('close').length, 1, 'the very same script as a host');
  for (const [script, options] of [
    [write('npm-cli.js', speak), {}],
    [write('npx', speak), {}],
    [write('yarn.cjs', speak), {}],
    [write('off.cjs', speak), { env: { TAILFIN_TAP: 'off' } }],
    [
      write('other.cjs', `fetch('${server.origin}/token', { method: 'POST', body: '{"a":1}' }).then((r) => r.text())`),
      {},
    ],
  ] as const) {
    const host = await runHost(t, script, options);
    assert.deepEqual([host.ended.code, host.ended.stderr, existsSync(host.folder)], [0, '', false], script);
  }
});

test('an SDK timeout is told from a cancellation, on the stream and to its caller', async (t) => {
  const server = await startFixture(t);
  for (const sdk of SDKS) {
    const steps = [
      { tool: 'silent', timeout: 50 },
      // Long enough for the head and the first event on a busy machine.
      { tool: 'hang', timeout: 2000 },
      { tool: 'progress', abort: 'CANARY' },
    ];
    const env = { PLAN: JSON.stringify({ sdk, url: server.url, steps }) };
    const host = await runHost(t, 'host.mjs', { env });
    seenBy(host);
    const settles = calls(host.lines, 'settle');
    assert.deepEqual(
      settles.map(({ target, result, on_wire }) => [target, result, on_wire]),
      [
        ['silent', 'timeout', undefined],
        ['hang', 'timeout', undefined],
        ['progress', 'cancelled', undefined],
      ],
      sdk,
    );
    const closeOf = (n: number) => host.of('close').find(({ exchange }) => exchange === settles[n]?.exchange);
    assertFields(closeOf(0), { how: 'no_response', by: 'client', error: 'TimeoutError' }, sdk);
    assertFields(closeOf(1), { how: 'cancel', by: 'client', error: 'TimeoutError', events: 1 }, sdk);
    assertFields(closeOf(2), { how: 'cancel', by: 'client', error: 'AbortError', events: 1 }, sdk);
    const order = host.lines.filter(({ exchange, type }) => exchange === settles[0]?.exchange && type !== 'headers');
    assert.deepEqual(
      order.map(({ type }) => type),
      ['open', 'settle', 'close'],
      sdk,
    );
    // 2025: the SDK leaves the POST open and says so in a message.
    const cancels = host.of('open').filter(({ cancel_of }) => cancel_of !== undefined);
    assert.equal(cancels.length, sdk === 'C2-2026' ? 0 : 3, sdk);
    assert.ok(!host.files.join().includes('CANARY'));
  }
});

test('an answer that comes on a resumed stream belongs to its request', async (t) => {
  const server = await startFixture(t);
  const plan = { sdk: 'S1', url: server.url, steps: [{ tool: 'resume' }] };
  const host = await runHost(t, 'host.mjs', { env: { PLAN: JSON.stringify(plan) } });
  assert.deepEqual(seenBy(host), ['ok']);
  const [call] = calls(host.lines, 'open');
  const post = host.of('close').find(({ exchange }) => exchange === call?.exchange);
  assertFields(post, { how: 'eof', terminal: false, event_ids: 1 }, 'POST');
  const get = host.of('open').find(({ last_event_id }) => last_event_id);
  assertFields(get, { client: call?.client, event_id_digest: post?.event_id_digest, rpc_kind: 'none' }, 'GET');
  const leg = host.of('close').find(({ exchange }) => exchange === get?.exchange);
  assertFields(leg, { terminal: true, id_match: 'match', terminal_kind: 'result' }, 'GET');
  const parses = host.of('parse').filter(({ exchange }) => exchange === call?.exchange || exchange === get?.exchange);
  assert.deepEqual(
    parses.map(({ exchange, ok }) => [exchange, ok]),
    [[call?.exchange, true]],
  );
});

test('the older HTTP+SSE transport: a POST ends when its answer comes on its carrier, or the carrier ends', async (t) => {
  const server = await startFixture(t);
  const steps = [{ tool: 'json' }, { tool: 'lost', timeout: 300 }];
  const plan = { sdk: 'S1', carrier: true, url: `${server.origin}/older`, steps };
  const host = await runHost(t, 'host.mjs', { env: { PLAN: JSON.stringify(plan) } });
  assert.deepEqual(seenBy(host), ['ok', 'McpError -32001']);
  const get = host.of('open').find(({ http_method }) => http_method === 'GET');
  const [first, lost] = calls(host.lines, 'open');
  assertFields(first, { carrier: get?.exchange }, 'open');
  const closeOf = (line: Line | undefined) => host.of('close').find(({ exchange }) => exchange === line?.exchange);
  assertFields(closeOf(first), { how: 'eof', terminal: true, id_match: 'match', terminal_kind: 'result' }, 'answered');
  assertFields(closeOf(lost), { how: 'eof', terminal: false, terminal_kind: undefined }, 'lost');
  assert.ok(!host.files.join().includes('stream-'), 'the session in the URL stays in memory');
});
