/** Bodies that break or end while nobody reads them: every use of them afterwards is as without the tap, and the exchange is closed. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as streams from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { rig } from './rig.ts';

type Fetch = typeof globalThis.fetch;

const post: RequestInit = {
  method: 'POST',
  headers: { 'mcp-protocol-version': '2025-11-25', 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }),
};
/** Of the types, which do not know it. */
const { isErrored } = streams as unknown as { isErrored(stream: unknown): boolean };

const told = (error: unknown): unknown => {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  return [name, message, cause?.code];
};
const outcome = async (use: () => unknown): Promise<unknown> => {
  try {
    return await use();
  } catch (error) {
    return told(error);
  }
};

interface Server {
  readonly url: string;
  /** The response of the last request. Its first event was written. */
  last(): ServerResponse;
}

async function startServer(t: TestContext): Promise<Server> {
  let last: ServerResponse | undefined;
  const server = createServer((request, response) => {
    request.resume();
    last = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"jsonrpc":"2.0","method":"x"}\n\n');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, last: () => last as ServerResponse };
}

const USES: Readonly<Record<string, (response: Response) => unknown>> = {
  text: (response) => response.text(),
  json: (response) => response.json(),
  arrayBuffer: (response) => response.arrayBuffer(),
  blob: (response) => response.blob(),
  formData: (response) => response.formData(),
  clone: (response) => response.clone().text(),
  read: (response) => response.body!.getReader().read(),
  cancel: (response) => response.body!.cancel(),
  'text of a body that was looked at': (response) => {
    assert.equal(response.body?.locked, false);
    return response.text();
  },
};

test('an aborted body that nobody has read fails in every use as without the tap', async (t) => {
  const server = await startServer(t);
  for (const [name, use] of Object.entries(USES)) {
    const look = async (fetch: Fetch, early: boolean): Promise<unknown> => {
      const controller = new AbortController();
      const response = await fetch(server.url, { ...post, signal: controller.signal });
      const stream = early ? response.body : undefined;
      controller.abort();
      await turn();
      const seen = [await outcome(() => use(response)), response.bodyUsed, response.body?.locked];
      return [...seen, stream == null ? undefined : [stream.locked, isErrored(stream), stream === response.body]];
    };
    for (const early of [false, true]) {
      // Node 20 and 22 take the stream of a cloned response away when it is aborted: which stream that is can be seen (docs/tap.md).
      if (name === 'clone' && early) continue;
      const tap = rig();
      assert.deepEqual(await look(tap.fetch, early), await look(fetch, early), `${name} ${early}`);
      await until(() => tap.of('close').length === 1, { what: () => `the close of ${name}` });
      const [close] = tap.of('close');
      assert.deepEqual([close?.how, close?.by, close?.error], ['cancel', 'client', 'AbortError'], name);
    }
  }
});

test('who waits for the end of a body without reading hears of it', async (t) => {
  const server = await startServer(t);
  const ends: Record<string, (controller: AbortController) => unknown> = {
    abort: (controller) => controller.abort(new RangeError('mine')),
    death: () => server.last().socket?.destroy(),
  };
  for (const [name, end] of Object.entries(ends)) {
    for (const chunks of [0, 1]) {
      const look = async (fetch: Fetch): Promise<unknown> => {
        const controller = new AbortController();
        const response = await fetch(server.url, { ...post, signal: controller.signal });
        const reader = response.body!.getReader();
        for (let n = 0; n < chunks; n++) await reader.read();
        const closed = reader.closed.then(() => 'closed', told);
        end(controller);
        return [await closed, await outcome(() => reader.read())];
      };
      const tap = rig();
      assert.deepEqual(await look(tap.fetch), await look(fetch), `${name} ${chunks}`);
      assert.equal(tap.of('close').length, 1);
    }
  }
  // A pipe whose far side is slow is given up at once.
  const look = async (fetch: Fetch): Promise<unknown> => {
    const response = await fetch(server.url, post);
    let aborted: unknown;
    const slow = new WritableStream({
      write: () => new Promise<void>((done) => void controllerOf.push(done)),
      abort(reason) {
        aborted = told(reason);
      },
    });
    const controllerOf: (() => void)[] = [];
    const piped = response.body!.pipeTo(slow).then(() => 'piped', told);
    await until(() => controllerOf.length === 1);
    server.last().socket?.destroy();
    await until(() => isErrored(response.body), { what: 'the body breaks' });
    controllerOf[0]?.();
    return [await piped, aborted];
  };
  assert.deepEqual(await look(rig().fetch), await look(fetch));
});

test('a mocked body that ends unread is over', async () => {
  const look = async (wrap: (fetch: Fetch) => Fetch): Promise<unknown> => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const source = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given;
      },
    });
    const response = await wrap(async () => new Response(source))('http://h/mcp', post);
    const reader = response.body!.getReader();
    controller!.close();
    return [await reader.closed, (await reader.read()).done, response.bodyUsed];
  };
  const taps: ReturnType<typeof rig>[] = [];
  const wrapped = (fetch: Fetch): Fetch => {
    taps.push(rig({ fetch }));
    return taps[0]!.fetch;
  };
  assert.deepEqual(await look(wrapped), await look((fetch) => fetch));
  assert.equal(taps[0]!.of('close')[0]?.how, 'eof');
});
