/** What a process shows of the tap that was loaded into it, before it has made any exchange: next to nothing. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ROOT, tempFolder } from '../support/cli.ts';
import { runHost, seenBy } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';

/** What a host that is this text says, without the tap and with it. */
async function beside(
  t: TestContext,
  text: string,
  loads: readonly ('--require' | '--import')[] = ['--require', '--import'],
) {
  const script = join(tempFolder(t), 'host.cjs');
  writeFileSync(script, text);
  const bare = seenBy(await runHost(t, script, { load: null }));
  for (const load of loads) {
    const host = await runHost(t, script, { load });
    assert.deepEqual(seenBy(host), bare, String(load));
    assert.equal(host.ended.stderr, '');
  }
  return bare;
}

test('loading it does not load the undici of Node, which would set a dispatcher for all copies', async (t) => {
  await beside(
    t,
    `const symbols = () => Object.getOwnPropertySymbols(globalThis).map(String).filter((name) => !name.includes('tailfin'));
    console.log(JSON.stringify([process.moduleLoadList.filter((name) => name.includes('deps/undici')), symbols()]));`,
  );
});

test('a copy of undici has the dispatcher that it would have', async (t) => {
  const server = await startFixture(t);
  const said = await beside(
    t,
    `const { request, interceptors, Agent, getGlobalDispatcher } = require('${join(ROOT, 'node_modules/undici')}');
    const dispatcher = getGlobalDispatcher().compose(interceptors.retry());
    request('${server.url}', { method: 'DELETE', dispatcher }).then(
      ({ statusCode }) => console.log(JSON.stringify([getGlobalDispatcher() instanceof Agent, statusCode])),
      ({ message }) => console.log(JSON.stringify(message)));`,
  );
  assert.deepEqual(said, [true, 200]);
});

test('a method of Response that the host replaced before its first fetch is called', async (t) => {
  const server = await startFixture(t);
  const said = await beside(
    t,
    `const { json, text } = Response.prototype;
    let calls = 0;
    Response.prototype.json = function () { calls++; return json.call(this); };
    Response.prototype.text = async function () { return (await text.call(this)).toUpperCase(); };
    const call = () => fetch('${server.url}', { method: 'POST', headers: { 'mcp-protocol-version': '2025-11-25' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'json' } }) });
    (async () => {
      const texts = [await (await call()).text(), await (await call()).json(), calls];
      console.log(JSON.stringify(texts));
    })();`,
  );
  assert.match((said as string[])[0] as string, /"JSONRPC"/);
  assert.equal((said as unknown[])[2], 1);
});

test('stack traces of the host are as before, and what it has put on Error is not called', async (t) => {
  const server = await startFixture(t);
  await beside(
    t,
    `const call = () => fetch('${server.url}', { method: 'POST', headers: { 'mcp-protocol-version': '2025-11-25' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'json' } }) });
    const own = () => Object.getOwnPropertyNames(Error).sort();
    (async () => {
      await (await call()).text();
      const seen = [own()];
      let calls = 0;
      Object.defineProperty(Error, 'prepareStackTrace', { configurable: true, get() {}, set() { calls++; } });
      await (await call()).text();
      console.log(JSON.stringify([...seen, own(), calls]));
    })();`,
  );
});
