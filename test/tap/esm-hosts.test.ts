/** ESM hosts and the modules of their SDK: the tap loads none that the host has not loaded, and finds the client that it has. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ROOT, tempFolder } from '../support/cli.ts';
import { runHost, seenBy } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';

/** A folder with a copy of the real SDK, which says which of its modules were loaded. */
function hostFolder(t: TestContext): string {
  const folder = tempFolder(t);
  const modules = join(ROOT, 'node_modules');
  const copies = join(folder, 'node_modules');
  mkdirSync(copies);
  for (const name of readdirSync(modules))
    if (!name.startsWith('.') && name !== '@modelcontextprotocol') symlinkSync(join(modules, name), join(copies, name));
  const sdk = join(copies, '@modelcontextprotocol/sdk');
  for (const part of ['package.json', 'dist/esm'])
    cpSync(join(modules, '@modelcontextprotocol/sdk', part), join(sdk, part), { recursive: true });
  for (const name of ['index', 'streamableHttp', 'sse']) {
    const file = join(sdk, 'dist/esm/client', `${name}.js`);
    writeFileSync(file, `(globalThis.loaded ??= []).push('${name}');\n${readFileSync(file, 'utf8')}`);
  }
  return folder;
}

const call = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'json' } });

test('a host that speaks through the transport alone: the client is not loaded, its exchanges are recorded', async (t) => {
  const server = await startFixture(t);
  const script = join(hostFolder(t), 'host.mjs');
  writeFileSync(
    script,
    `import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
    const transport = new StreamableHTTPClientTransport(new URL('${server.url}'));
    const ids = [];
    await transport.start();
    for (const message of [${[1, 2, 3].map(call)}]) {
      const answered = new Promise((done) => { transport.onmessage = done; });
      await transport.send(message);
      ids.push((await answered).id);
    }
    await transport.close();
    console.log(JSON.stringify([ids, globalThis.loaded]));`,
  );
  const host = await runHost(t, script);
  assert.deepEqual(seenBy(host), [[1, 2, 3], ['streamableHttp']]);
  assert.deepEqual([host.of('open').length, host.of('close').length, host.of('settle').length], [3, 3, 0]);
  assert.equal(host.ended.stderr, '');
});

test('a host that goes on with a session: its calls are followed once the client was seen among the callers', async (t) => {
  const server = await startFixture(t);
  const script = join(hostFolder(t), 'host.mjs');
  writeFileSync(
    script,
    `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
    import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
    const { send } = StreamableHTTPClientTransport.prototype;
    const client = new Client({ name: 'h', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('${server.url}'), { sessionId: 's' }));
    for (let n = 0; n < 5; n++) await client.callTool({ name: 'json' });
    await client.close();
    console.log(JSON.stringify([globalThis.loaded, StreamableHTTPClientTransport.prototype.send === send]));`,
  );
  const host = await runHost(t, script);
  assert.deepEqual(seenBy(host), [['index', 'streamableHttp'], true], 'what was put before send() is gone again');
  assert.equal(host.of('open').length, 5);
  assert.deepEqual(
    host.of('settle').map(({ result }) => result),
    ['ok', 'ok', 'ok'],
  );
});
