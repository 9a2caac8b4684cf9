/** Requests at the edges of what the tap can read or digest: they are recorded as far as is known, and never taken for something else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFixture } from './mcp-fixture.ts';
import { rig } from './rig.ts';

const headers = { 'mcp-protocol-version': '2025-11-25' };
const message = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;

test('arguments nested deeper than can be digested: an exchange all the same', async (t) => {
  const server = await startFixture(t);
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const tap = rig();
  const body = message(`{"name":"json","arguments":${deep}}`);
  assert.equal((await tap.fetch(server.url, { method: 'POST', headers, body })).status, 200);
  const [open] = tap.of('open');
  assert.deepEqual([open?.target, open?.args_digest, tap.unseen()], ['json', undefined, 0]);
});

test('a fault while recording begins is no copy of undici', async (t) => {
  const server = await startFixture(t);
  const lines = { emit: () => assert.fail('a fault') };
  const tap = rig({ lines });
  const init = { method: 'POST', headers, body: message('{"name":"json"}') };
  assert.equal((await tap.fetch(server.url, init)).status, 200);
  assert.equal(tap.unseen(), 0);
});

test('a call that was aborted before it was made was not sent', async (t) => {
  const server = await startFixture(t);
  const tap = rig();
  const init = { method: 'POST', headers, body: message('{"name":"json"}') };
  await assert.rejects(tap.fetch(server.url, { ...init, signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(tap.fetch(new Request(server.url, { ...init, signal: AbortSignal.abort() })));
  assert.deepEqual(
    tap.of('close').map(({ how, by, error, sent }) => [how, by, error, sent]),
    [['no_response', 'client', 'AbortError', 'none']],
  );
  assert.deepEqual(server.requests, []);
});
