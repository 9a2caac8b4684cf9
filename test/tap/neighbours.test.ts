/** The tap beside others that wrap or watch the same fetch, loaded before or after it; and copies of undici, which it cannot see. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ROOT, tempFolder } from '../support/cli.ts';
import { besideNeighbour } from './beside-rig.ts';
import { runHost, seenBy } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';

const NEIGHBOURS = ['msw', 'otel', 'request-maker', 'cloner'];

describe('the host, the server and the neighbour see the same, and every exchange is recorded', () => {
  for (const name of NEIGHBOURS)
    for (const sdk of ['S1', 'C2-2026']) test(`${name}, ${sdk}`, (t) => besideNeighbour(t, name, sdk));
});

test('a copy of undici is not seen: said once, and closed by wrapFetch, which records nothing twice', async (t) => {
  const server = await startFixture(t);
  const script = join(tempFolder(t), 'host.mjs');
  writeFileSync(
    script,
    `import { fetch as copy } from '${join(ROOT, 'node_modules/undici/index.js')}';
    import { wrapFetch } from '${join(ROOT, 'dist/tap.js')}';
    const init = (name) => ({ method: 'POST', headers: { 'mcp-protocol-version': '2025-11-25' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }) });
    const say = async (fetch, name) => (await fetch('${server.url}', init(name))).text();
    await say(copy, 'json');
    await say(copy, 'json');
    await say(wrapFetch(copy), 'sse');
    await say(wrapFetch((...args) => globalThis.fetch(...args)), 'json');
    await say(wrapFetch(globalThis.fetch), 'json');
    console.log(JSON.stringify(globalThis[Symbol.for('tailfin.tap')].stats()));`,
  );
  const host = await runHost(t, script);
  const stats = seenBy(host) as { unseen: number; dropped: number };
  assert.deepEqual([stats.unseen, stats.dropped], [2, 0]);
  assert.deepEqual(
    host.of('open').map(({ target }) => target),
    ['sse', 'json', 'json'],
  );
  const [sse] = host.of('close');
  assert.deepEqual([sse?.terminal, sse?.events], [true, 2]);
  assert.match(host.ended.stderr, /^tailfin-tap: [^\n]*undici[^\n]*wrapFetch[^\n]*\n$/);
});

test('wrapFetch alone, without the preload', async (t) => {
  const server = await startFixture(t);
  const script = join(tempFolder(t), 'host.mjs');
  writeFileSync(
    script,
    `import { wrapFetch } from '${join(ROOT, 'dist/tap.js')}';
    import { Client } from '${join(ROOT, 'node_modules/@modelcontextprotocol/client/dist/index.mjs')}';
    import { StreamableHTTPClientTransport } from '${join(ROOT, 'node_modules/@modelcontextprotocol/client/dist/index.mjs')}';
    const client = new Client({ name: 'h', version: '1' });
    const plain = globalThis.fetch;
    const fetch = wrapFetch(plain, { host: 'by-option' });
    await client.connect(new StreamableHTTPClientTransport(new URL('${server.url}'), { fetch }));
    const { isError } = await client.callTool({ name: 'tool-error' });
    await client.close();
    console.log(JSON.stringify([isError, globalThis.fetch === plain]));`,
  );
  const host = await runHost(t, script, { load: null });
  assert.deepEqual(seenBy(host), [true, true]);
  assert.ok(host.of('open').length > 0 && host.of('open').every(({ host: name }) => name === 'by-option'));
  assert.deepEqual(
    host.of('settle').map(({ result }) => result),
    ['tool_error'],
  );
});
