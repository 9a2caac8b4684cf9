/** A real host with a neighbour that wraps or watches fetch too, alone and with the tap loaded before or after it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runHost, seenBy } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';

const TOOLS = ['LIST', 'json', 'sse', 'rpc-error', 'html', 'cut'];
const pathOf = (name: string): string => fileURLToPath(new URL(`neighbours/${name}.cjs`, import.meta.url));

/** The host, the server and the neighbour see the same in both orders, and every exchange is recorded once. */
export async function besideNeighbour(t: TestContext, name: string, sdk: string): Promise<void> {
  const server = await startFixture(t);
  const env = { PLAN: JSON.stringify({ sdk, url: server.url, steps: TOOLS.map((tool) => ({ tool })) }) };
  const alone = await runHost(t, 'host.cjs', { env, load: null, before: pathOf(name) });
  const requests = server.requests.splice(0);
  assert.equal((seenBy(alone) as unknown[]).at(-1), requests.length, 'the neighbour works');
  for (const order of [{ before: pathOf(name) }, { after: pathOf(name) }]) {
    const host = await runHost(t, 'host.cjs', { env, ...order });
    assert.deepEqual(seenBy(host), seenBy(alone), JSON.stringify(order));
    assert.deepEqual(host.ended, alone.ended);
    assert.deepEqual(server.requests.splice(0), requests);
    const whole = host.of('close').map(({ exchange }) => exchange);
    assert.deepEqual([...new Set(whole)].length, requests.length, JSON.stringify(order));
    assert.deepEqual(
      host
        .of('open')
        .map(({ exchange }) => exchange)
        .sort(),
      whole.sort(),
    );
    const settles = host.of('settle').filter(({ method }) => method === 'tools/call');
    assert.deepEqual(
      settles.map(({ target, result }) => `${target} ${result}`),
      ['json ok', 'sse ok', 'rpc-error rpc_error', 'html error', 'cut error'],
      JSON.stringify(order),
    );
    assert.ok(settles.every(({ exchange }) => whole.includes(exchange)));
  }
}
