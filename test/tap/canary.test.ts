/**
 * Nothing that a host or a server says leaves the tap: marked text stands in every header, argument, result, error, part of a URL,
 * session id and event id, and no output may contain it, neither as it is nor in a plain encoding.
 */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAIN, stdoutOf, tempFolder } from '../support/cli.ts';
import { type Recorded, runHost } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';

const MARK = 'CANARY7f3aQ';
const FORMS = [
  MARK,
  Buffer.from(MARK).toString('base64').replace(/=+$/, ''),
  Buffer.from(MARK).toString('hex'),
  Buffer.from(` ${MARK}`).toString('base64').slice(4),
].map((form) => form.toLowerCase());

/** `asked`: a name that was asked for is the endpoint. It is recorded, and nothing else. */
async function assertSilent({ files, folder, ended }: Recorded, what: string, asked?: string): Promise<void> {
  assert.ok(files.length > 0 && files.every((text) => text.includes('"close"')), `${what}: recorded`);
  const events = readdirSync(folder).map((name) => join(folder, name));
  const outputs = [...files, ended.stderr, ended.stdout];
  for (const format of ['json', 'prom', 'text'])
    outputs.push(await stdoutOf(['replay', ...events, '--format', format]));
  assert.ok(outputs.at(-3)?.includes('verdict'), `${what}: replayed`);
  for (const text of outputs) {
    const rest = text.toLowerCase().replaceAll(asked ?? '\n', '');
    for (const form of FORMS) assert.ok(!rest.includes(form), `${what}: ${form}`);
  }
}

test('marked strings from SDK hosts reach no output', async (t) => {
  assert.ok(MAIN !== '');
  for (const sdk of ['S1', 'C2-2025', 'C2-2026']) {
    const server = await startFixture(t, MARK);
    const tools = ['LIST', 'json', 'sse', 'tool-error', 'rpc-error', 'html', 'cut', 'resume'];
    const plan = {
      sdk,
      url: `${server.origin}/mcp/${MARK}?key=${MARK}`,
      headers: {
        authorization: `Bearer ${MARK}`,
        cookie: MARK,
        'x-api-key': MARK,
        [`x-${MARK}`]: MARK,
        traceparent: MARK,
      },
      steps: [
        ...tools.map((tool) => ({ tool, args: { [MARK]: MARK, nested: [{ [MARK]: MARK }], id: `${MARK}` } })),
        { tool: 'silent', timeout: 30, args: { a: MARK } },
        { tool: 'progress', abort: MARK },
      ],
    };
    const host = await runHost(t, 'host.mjs', { env: { PLAN: JSON.stringify(plan), SECRET: MARK } });
    assert.equal(host.ended.code, 0, host.ended.stderr);
    await assertSilent(host, sdk);
  }
  const server = await startFixture(t, MARK);
  const plan = { sdk: 'S1', carrier: true, url: `${server.origin}/older/${MARK}`, steps: [{ tool: 'json' }] };
  await assertSilent(await runHost(t, 'host.cjs', { env: { PLAN: JSON.stringify(plan) } }), 'older transport');
});

test('marked strings in hand-made requests and errors reach no output', async (t) => {
  const server = await startFixture(t, MARK);
  const script = join(tempFolder(t), 'host.mjs');
  writeFileSync(
    script,
    `const mark = '${MARK}';
    const headers = { 'mcp-protocol-version': mark, 'mcp-session-id': mark, 'last-event-id': mark, 'mcp-name': mark,
      'mcp-method': mark, 'idempotency-key': mark, traceparent: mark, tracestate: mark, 'content-encoding': mark,
      'content-type': 'application/' + mark, 'accept-language': mark, 'user-agent': mark };
    const meta = { 'io.modelcontextprotocol/protocolVersion': mark, 'io.modelcontextprotocol/clientCapabilities': { mark },
      traceparent: mark, baggage: mark, [mark]: mark };
    const say = async (url, message, init = {}) => {
      try {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
        const response = await fetch(url, { method: 'POST', headers, body, ...init });
        await response.text();
      } catch {}
    };
    const base = '${server.origin}/' + mark + '?q=' + mark + '#' + mark;
    const params = { name: 'json', arguments: { idempotency_key: mark }, _meta: meta, inputResponses: { mark }, requestState: mark };
    await say(base, { method: 'tools/call', params });
    await say(base.replace('http://', 'http://' + mark + ':' + mark + '@'), { method: 'tools/call', params });
    await say('http://' + mark + '.invalid/' + mark, { method: 'not a word: ' + mark, params });
    await say(base, { method: mark + ' ' + mark, params: { uri: 'https://' + mark + '/' + mark } });
    await say(base, { method: 'resources/read', params: { uri: 'file:///' + mark, name: mark } });
    await say(base, { method: 'resources/subscribe', params: { uri: mark, name: mark } });
    await say(base, { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: mark }, name: mark, uri: mark } });
    await say(base, { method: 'tools/call', params: { ...params, uri: 'file:///' + mark } });
    await say(base, { method: 'acme/login', params: { name: mark, uri: mark } });
    const pairs = Object.entries(headers);
    const ways = [new Headers(pairs), new Map(pairs), pairs, new URLSearchParams(pairs), new Headers(pairs).entries(),
      new Map(pairs).entries(), (function* () { yield* pairs; })(), { ...headers, get cookie() { return mark; } },
      { ...headers, 'x-odd': { toString: () => mark } }];
    for (const way of ways) {
      await say(base, { method: 'tools/call', params }, { headers: way });
      await fetch(base, { headers: way[Symbol.iterator] && !way.entries ? [...pairs] : way }).then((response) => response.text(), () => {});
    }
    await say(base, { method: 'notifications/cancelled', id: undefined, params: { requestId: { mark }, reason: mark } });
    await say(base, { id: mark, method: undefined, result: { mark } });
    await say(base, { id: 2, method: 'tools/list', params: { cursor: mark } });
    const broken = Object.assign(new TypeError(mark), { code: mark, name: mark, cause: Object.assign(new Error(mark), { code: mark, name: mark }) });
    const { wrapFetch } = await import('${join(MAIN, '../tap.js')}');
    const failing = wrapFetch(async () => { throw broken; });
    await failing(base, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'ping' }) }).catch(() => {});
    const odd = { headers: { 'content-type': 'x/' + mark, 'content-encoding': 'br,' + mark, 'transfer-encoding': mark } };
    const answering = wrapFetch(async () => new Response(mark, odd));
    await (await answering(base, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'ping' }) })).text();
    await say(base, { method: 'tools/call', params }, { signal: AbortSignal.abort(broken) });
    await fetch(base, { headers }).then((response) => response.text());
    await fetch(base, { headers, method: 'DELETE' }).then((response) => response.text());`,
  );
  const host = await runHost(t, script);
  assert.deepEqual([host.ended.code, host.ended.stderr], [0, '']);
  assert.ok(host.of('open').length >= 30, `${host.of('open').length}`);
  await assertSilent(host, 'raw', `${MARK}.invalid:80`.toLowerCase());
});
