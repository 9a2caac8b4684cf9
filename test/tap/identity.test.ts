/** A recorded response is like the one that fetch gave: everything that a caller can do with it, beside the same without the tap. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { collectGarbage } from '../support/live-heap.ts';
import { until } from '../support/until.ts';
import { startFixture } from './mcp-fixture.ts';
import { rig } from './rig.ts';

const body = (name: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
const headers = { 'mcp-protocol-version': '2025-11-25' };
const decode = (bytes: Uint8Array | ArrayBuffer): string => new TextDecoder().decode(bytes);

async function readByob(response: Response): Promise<string> {
  const reader = response.body!.getReader({ mode: 'byob' });
  let text = '';
  for (let view = new Uint8Array(16); ; ) {
    const { done, value } = await reader.read(view);
    if (done) return `${text} ${value?.byteLength}`;
    text += decode(value);
    view = new Uint8Array(value.buffer);
  }
}

async function errorOf(step: () => unknown): Promise<string> {
  try {
    await step();
    return 'no error';
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  }
}

/** Each uses up the response. */
const USES: Readonly<Record<string, (response: Response) => unknown>> = {
  text: (response) => response.text(),
  json: (response) => response.json(),
  arrayBuffer: async (response) => decode(await response.arrayBuffer()),
  blob: async (response) => {
    const blob = await response.blob();
    return [blob.type, blob.size, await blob.text()];
  },
  formData: (response) => errorOf(() => response.formData()),
  properties: ({ url, redirected, type, status, statusText, ok, bodyUsed, headers: h }) => [
    ...[url, redirected, type, status, statusText, ok, bodyUsed],
    ...[...h].filter(([name]) => name !== 'date'),
  ],
  kinds: (response) => [
    response instanceof Response,
    response.constructor === Response,
    response.body instanceof ReadableStream,
    response.headers instanceof Headers,
    Object.keys(response),
    Object.prototype.toString.call(response),
    JSON.stringify(response),
  ],
  clone: async (response) => {
    const copy = response.clone();
    const again = copy.clone();
    const texts = await Promise.all([response.text(), copy.text(), again.text()]);
    return [copy.url, copy.redirected, copy.type, copy.status, again.url, copy.bodyUsed, ...texts];
  },
  twice: async (response) => [await response.text(), response.bodyUsed, await errorOf(() => response.text())],
  'clone when used': async (response) => [await response.text(), await errorOf(() => response.clone())],
  locked: async (response) => {
    response.body!.getReader();
    return [response.body!.locked, response.bodyUsed, await errorOf(() => response.text())];
  },
  cancelled: async (response) => {
    await response.body!.cancel('enough');
    return [response.bodyUsed, await errorOf(() => response.text())];
  },
  byob: readByob,
  pipeThrough: async (response) => {
    let text = '';
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) text += part;
    return text;
  },
  iteration: async (response) => {
    let text = '';
    for await (const part of response.body!) text += decode(part);
    return text;
  },
  'left iteration': async (response) => {
    for await (const part of response.body!) return decode(part).slice(0, 5);
  },
  tee: async (response) => {
    const [a, b] = response.body!.tee();
    return [await new Response(a).text(), await new Response(b).text()];
  },
};

test('every use of a response gives the same, and every recorded one ends with one close', async (t) => {
  const server = await startFixture(t);
  for (const tool of ['json', 'sse', 'html', 'cut']) {
    const request: RequestInit = { method: 'POST', headers, body: body(tool) };
    for (const [name, use] of Object.entries(USES)) {
      const attempt = async (fetch: typeof globalThis.fetch): Promise<unknown> =>
        use(await fetch(server.url, request)) as unknown;
      const outcome = async (fetch: typeof globalThis.fetch): Promise<unknown> =>
        attempt(fetch).catch((error: Error) => `${error.name}: ${error.message}`);
      const plain = await outcome(fetch);
      const tap = rig();
      assert.deepEqual(await outcome(tap.fetch), plain, `${tool} ${name}`);
      const closes = tap.of('close').length;
      assert.equal(closes, ['properties', 'kinds', 'locked'].includes(name) ? 0 : 1, `${tool} ${name}`);
    }
  }
});

test('redirects, answers without a body and unusual statuses pass as they are', async (t) => {
  const server = createServer((request, response) => {
    const [, status = '200', location] = (request.url as string).split('!');
    response.writeHead(Number(status), location === undefined ? {} : { location }).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  const other = `http://localhost:${port}`;
  for (const [path, redirect] of [
    ['/!204', 'follow'],
    ['/!304', 'follow'],
    ['/!307!/!200', 'follow'],
    [`/!307!${other}/!200`, 'follow'],
    ['/!307!/!200', 'manual'],
    ['/!307!/!200', 'error'],
    ['/!599', 'follow'],
  ] as const) {
    const look = async (fetch: typeof globalThis.fetch): Promise<unknown> => {
      const init = { method: 'POST', headers, body: body('json'), redirect };
      const response = await fetch(base + path, init).catch((error: Error) => error);
      if (response instanceof Error) return response.message;
      const { url, redirected, type, status } = response;
      return [url, redirected, type, status, response.body === null, await response.text()];
    };
    const tap = rig();
    assert.deepEqual(await look(tap.fetch), await look(fetch), path);
    const [close] = tap.of('close');
    assert.equal(close?.how, redirect === 'error' ? 'no_response' : 'eof', path);
    if (path.includes('localhost')) assert.equal(tap.of('headers')[0]?.endpoint, `localhost:${port}`);
  }
});

test('a response whose status the constructor refuses is handed on untouched', async () => {
  const odd = Response.error();
  const tap = rig({ fetch: async () => odd });
  const init = { method: 'POST', headers, body: body('json') };
  assert.equal(await tap.fetch('http://h/mcp', init), odd);
});

test('the wrapped function looks like the one it wraps, and wraps once', async () => {
  const { fetch } = rig();
  assert.deepEqual([fetch.name, fetch.length], [globalThis.fetch.name, globalThis.fetch.length]);
  assert.equal(String(fetch), String(globalThis.fetch));
  assert.deepEqual(Object.keys(fetch), Object.keys(globalThis.fetch));
  assert.equal(rig({ fetch }).fetch, fetch);
  await assert.rejects(Reflect.apply(fetch, undefined, []), TypeError);
});

test('dropped responses do not hold their connections, and their exchanges end', async (t) => {
  const server = await startFixture(t);
  const tap = rig();
  const init = { method: 'POST', headers, body: body('hang') };
  await (async () => {
    for (let n = 0; n < 50; n++) await tap.fetch(server.url, init);
  })();
  assert.ok(server.sockets() >= 50);
  await until(
    async () => {
      collectGarbage();
      await turn();
      return server.sockets() === 0;
    },
    { timeoutMs: 30_000, what: () => `${server.sockets()} sockets` },
  );
  await until(() => tap.of('close').length === 50, { what: () => `${tap.of('close').length} closes` });
  assert.ok(tap.of('close').every(({ how, by }) => how === 'cancel' && by === 'client'));
});

test('a text that is waited for ends by itself, also when its response is collected meanwhile', async () => {
  const [head, tail] = ['{"jsonrpc":"2.0","id":1,', '"result":{}}'].map((text) => new TextEncoder().encode(text));
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const source = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
      given.enqueue(head!);
    },
  });
  const tap = rig({ fetch: async () => new Response(source, { headers: { 'content-type': 'application/json' } }) });
  const [text, response] = await (async () => {
    const answer = await tap.fetch('http://h/mcp', { method: 'POST', headers, body: body('json') });
    return [answer.text(), new WeakRef(answer)] as const;
  })();
  await until(
    async () => {
      await turn();
      collectGarbage();
      return response.deref() === undefined;
    },
    { timeoutMs: 30_000, what: () => 'the response was not collected' },
  );
  // What hears of it is called in a turn of its own.
  for (let n = 0; n < 10; n++) await turn();
  controller?.enqueue(tail!);
  controller?.close();
  assert.equal(await text, '{"jsonrpc":"2.0","id":1,"result":{}}');
  assert.deepEqual(
    tap.of('close').map(({ how, terminal }) => [how, terminal]),
    [['eof', true]],
  );
});

const answering = (text = '{"jsonrpc":"2.0","id":1,"result":{}}') =>
  new Response(text, { headers: { 'content-type': 'application/json' } });
const post = { method: 'POST', headers, body: body('json') };

test('headers that can be walked through only once reach fetch, of MCP and of anything else', async () => {
  const sent: unknown[] = [];
  const tap = rig({
    async fetch(_input, init) {
      sent.push([...new Headers(init?.headers)]);
      return answering();
    },
  });
  const once = function* () {
    yield ['authorization', 'Bearer k'] as [string, string];
    yield ['mcp-protocol-version', '2025-11-25'] as [string, string];
  };
  const given = [
    () => once(),
    () => new Headers([...once()]).entries(),
    () => new Map(once()).entries(),
    () => [...once()],
  ];
  for (const make of given)
    for (const init of [{ method: 'GET' }, { method: 'DELETE' }, post])
      await (await tap.fetch('http://h/mcp', { ...init, headers: make() as unknown as Headers })).text();
  assert.equal(sent.length, 12);
  for (const each of sent) assert.deepEqual(each, [...once()]);
  // What was not read is not said to be absent.
  const open = tap.of('open').map(({ session, protocol_version }) => [session, protocol_version]);
  assert.ok(open.some((each) => each[0] === undefined && each[1] === undefined));
  assert.ok(open.some((each) => each[0] === false && each[1] === '2025-11-25'));
});

test('one response for two calls: both may use it as if nobody watched', async () => {
  const shared = answering();
  const tap = rig({ fetch: async () => shared });
  const [one, two] = await Promise.all([tap.fetch('http://h/mcp', post), tap.fetch('http://h/mcp', post)]);
  assert.equal(one, two);
  assert.equal(one.bodyUsed, false);
  assert.deepEqual(await one.json(), { jsonrpc: '2.0', id: 1, result: {} });
  assert.equal(two.bodyUsed, true);
  await assert.rejects(two.text(), TypeError);
});

test('methods that the host put in place of those of Response are called', async (t) => {
  // The types have read-only properties where classes have methods.
  const native = Response.prototype as unknown as { text(): Promise<string>; json(): Promise<unknown> };
  class Loud extends Response {}
  Object.assign(Loud.prototype, {
    async text(this: Response) {
      return (await native.text.call(this)).toUpperCase();
    },
  });
  const tap = rig({ fetch: async () => new Loud('{"a":1}', { headers: { 'content-type': 'application/json' } }) });
  assert.equal(await (await tap.fetch('http://h/mcp', post)).text(), '{"A":1}');

  const { json } = native;
  t.after(() => {
    native.json = json;
  });
  let calls = 0;
  native.json = function (this: object) {
    calls++;
    return json.call(this as typeof native);
  };
  const plain = rig({ fetch: async () => answering() });
  assert.deepEqual(await (await plain.fetch('http://h/mcp', post)).json(), { jsonrpc: '2.0', id: 1, result: {} });
  assert.equal(calls, 1);
  assert.equal(plain.of('close')[0]?.how, 'eof');
});

test('who copies a response by its names finds all of them', async () => {
  const namesOf = (response: Response): string[] => {
    const names = [];
    for (const name in response) names.push(name);
    return names.sort();
  };
  const tap = rig({ fetch: async () => answering() });
  assert.deepEqual(namesOf(await tap.fetch('http://h/mcp', post)), namesOf(answering()));
});

test('what hangs on a fetch function hangs on the wrapped one', () => {
  const mock = Object.assign(async () => answering(), { mock: { calls: [] }, preconnect() {} });
  const { fetch } = rig({ fetch: mock });
  assert.equal((fetch as unknown as typeof mock).mock, mock.mock);
  assert.equal((fetch as unknown as typeof mock).preconnect, mock.preconnect);
});
