/** What a caller could notice of the wrapped fetch, beside the same calls without it: throws, values, chunks, getters, copies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFixture } from './mcp-fixture.ts';
import { rig } from './rig.ts';

type Fetch = typeof globalThis.fetch;
const URL_OF_MCP = 'http://h/mcp';
const headers = { 'mcp-protocol-version': '2025-11-25' };
const message = (name = 'json') => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
const post: RequestInit = { method: 'POST', headers, body: message() };
const JSON_RESPONSE = { headers: { 'content-type': 'application/json' } };
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{}}';
const requestOf = () =>
  new Request(URL_OF_MCP, { ...post, headers: { ...headers, 'content-type': 'application/json' } });

test('what a fetch throws at once is thrown at once, what it gives is given', async () => {
  const oops = new Error('CANARY');
  for (const input of [URL_OF_MCP, requestOf()]) {
    const init = typeof input === 'string' ? post : undefined;
    const throwing = rig({
      fetch: () => {
        throw oops;
      },
    });
    assert.throws(() => throwing.fetch(input, init), oops);
    const response = new Response(ANSWER, JSON_RESPONSE);
    // biome-ignore lint/suspicious/noThenProperty: a thing that is awaited without being a promise.
    const lazy = { then: () => assert.fail("a lazy one is the caller's to start") };
    for (const value of [response, undefined, 7, lazy]) {
      const tap = rig({ fetch: () => value as unknown as Promise<Response> });
      assert.equal(tap.fetch(typeof input === 'string' ? input : requestOf(), init), value);
    }
  }
  const throwing = rig({
    fetch: () => {
      throw oops;
    },
  });
  assert.throws(() => throwing.fetch(URL_OF_MCP, post), oops);
  assert.deepEqual(
    throwing.of('close').map(({ how, error }) => [how, error]),
    [['no_response', 'Error']],
  );
  const atOnce = new Response(ANSWER, JSON_RESPONSE);
  const tap = rig({ fetch: () => atOnce as unknown as Promise<Response> });
  assert.equal(tap.fetch(URL_OF_MCP, post), atOnce);
  assert.equal(await atOnce.text(), ANSWER);
  assert.equal(tap.of('close')[0]?.terminal, true, 'it is recorded all the same');

  class Own extends Promise<Response> {
    readonly own = true;
  }
  const own = rig({ fetch: () => Own.resolve(new Response(ANSWER, JSON_RESPONSE)) });
  assert.ok(own.fetch(URL_OF_MCP, post) instanceof Own, 'a promise of its own class stays one');
});

const CHUNKS: Readonly<Record<string, () => unknown[]>> = {
  texts: () => ['{"jsonrpc":"2.0",', '"id":1,"result":{}}'],
  objects: () => [{ a: 1 }, null, 7],
  bytes: () => [new TextEncoder().encode(ANSWER)],
  empty: () => [new Uint8Array(0), new TextEncoder().encode(ANSWER), new Uint8Array(0)],
  view: () => [new TextEncoder().encode(`xx${ANSWER}xx`).subarray(2, -2)],
};

test('chunks of a mocked body are those that the mock put there', async () => {
  for (const [name, make] of Object.entries(CHUNKS)) {
    const mock = (chunks: unknown[]) => async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(chunk as Uint8Array);
            controller.close();
          },
        }),
        JSON_RESPONSE,
      );
    const chunks = make();
    const tap = rig({ fetch: mock(chunks) });
    const reader = (await tap.fetch(URL_OF_MCP, post)).body!.getReader();
    for (const chunk of chunks) assert.equal((await reader.read()).value, chunk, name);
    assert.equal((await reader.read()).done, true);
    const [close] = tap.of('close');
    assert.equal(close?.terminal, name !== 'objects', `${name} is looked at`);
    const uses: ((response: Response) => unknown)[] = [
      (response) => response.text(),
      (response) => response.json(),
      (response) => response.clone().text(),
      (response) => response.blob().then((blob) => blob.text()),
      (response) => response.body!.getReader({ mode: 'byob' }).read(new Uint8Array(8)) as Promise<unknown>,
      (response) => response.body!.cancel('x'),
    ];
    for (const use of uses) {
      const outcome = async (fetch: Fetch): Promise<unknown> => {
        try {
          return await use(await fetch(URL_OF_MCP, post));
        } catch (error) {
          return [(error as Error).name, (error as Error).message];
        }
      };
      const wrapped = rig({ fetch: mock(make()) }).fetch;
      assert.deepEqual(await outcome(wrapped), await outcome(mock(make()) as Fetch), `${name} ${use}`);
    }
  }
});

test('getters and toString of what is handed over run as often as without the tap', async () => {
  const noted: string[] = [];
  const note = <T>(name: string, value: T): T => {
    noted.push(name);
    return value;
  };
  const text = (name: string, value: string) => ({ toString: () => note(name, value) });
  const calls: [string, () => Parameters<Fetch>][] = [
    [
      'body',
      () => [
        URL_OF_MCP,
        Object.defineProperty({ method: 'POST', headers }, 'body', { get: () => note('body', message()) }),
      ],
    ],
    ['method', () => [URL_OF_MCP, { ...post, method: text('method', 'POST') as unknown as string }]],
    [
      'headers',
      () => [
        URL_OF_MCP,
        {
          ...post,
          get headers() {
            return note('headers', headers);
          },
        },
      ],
    ],
    [
      'a header',
      () => [
        URL_OF_MCP,
        {
          ...post,
          headers: {
            get 'mcp-session-id'() {
              return note('value', 's');
            },
          },
        },
      ],
    ],
    ['a value', () => [URL_OF_MCP, { ...post, headers: { 'mcp-session-id': text('text', 's') as unknown as string } }]],
    ['a pair', () => [URL_OF_MCP, { ...post, headers: [['mcp-session-id', text('pair', 's') as unknown as string]] }]],
    [
      'signal',
      () => [
        URL_OF_MCP,
        {
          ...post,
          get signal() {
            return note('signal', null);
          },
        },
      ],
    ],
    ['input', () => [text('input', URL_OF_MCP) as unknown as string, post]],
    ['proxy', () => [URL_OF_MCP, new Proxy(post, { get: (target, name) => note('get', Reflect.get(target, name)) })]],
    [
      'map',
      () => {
        const map = new Map(Object.entries(headers));
        Object.defineProperty(map, Symbol.iterator, { value: () => note('map', map.entries()) });
        return [URL_OF_MCP, { ...post, headers: map as unknown as Headers }];
      },
    ],
  ];
  const bare: Fetch = async (...args) => {
    const request = new Request(...args);
    return new Response(await request.text(), JSON_RESPONSE);
  };
  for (const [name, make] of calls) {
    const told: string[][] = [];
    for (const fetch of [bare, rig({ fetch: bare }).fetch]) {
      noted.length = 0;
      assert.equal(await (await fetch(...make())).text(), message(), name);
      told.push([...noted]);
    }
    assert.ok(told[0]!.length > 0, name);
    assert.deepEqual(told[1], told[0], name);
  }
  // Where a header is no text, it is still known to be there.
  const tap = rig({ fetch: bare });
  await tap.fetch(URL_OF_MCP, { ...post, headers: { 'mcp-session-id': text('text', 's') as unknown as string } });
  assert.equal(tap.of('open')[0]?.session, true);
});

const facts = (response: Response): unknown => {
  const change = (): string => {
    try {
      response.headers.set('x', 'y');
      return 'mutable';
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };
  return [
    Object.getPrototypeOf(response) === Response.prototype,
    Object.getOwnPropertyNames(response),
    Object.getOwnPropertySymbols(response).map(String),
    [response.type, response.redirected, response.url.replace(/\d+/g, 'N'), response.status, response.bodyUsed],
    change(),
    response.headers.get('content-type'),
  ];
};

test('a response and its clones have the prototype, the properties and the headers of bare ones', async (t) => {
  const server = await startFixture(t);
  const mocked: Fetch = async () => new Response(ANSWER, JSON_RESPONSE);
  for (const upstream of [globalThis.fetch, mocked]) {
    const look = async (fetch: Fetch): Promise<unknown[]> => {
      const response = await fetch(server.url, post);
      const copy = response.clone();
      const seen = [response, copy, copy.clone(), response.clone()].map(facts);
      await Promise.all([response.text(), copy.text()]);
      return seen;
    };
    const tap = rig({ fetch: upstream });
    assert.deepEqual(await look(tap.fetch), await look(upstream));
    assert.equal(tap.of('close').length, 1);
  }
});

test('the methods of Response look as before, and those called on it are observed', async () => {
  const names = ['text', 'json', 'arrayBuffer', 'blob', 'formData', 'clone', 'body', 'bodyUsed', 'url', 'headers'];
  const shape = () =>
    names.map((name) => {
      const { value, get, ...rest } = Object.getOwnPropertyDescriptor(Response.prototype, name)!;
      const own = value ?? get;
      return [name, rest, own.name, own.length, String(own), 'prototype' in own];
    });
  const before = JSON.stringify(shape());
  const tap = rig({ fetch: async () => new Response(ANSWER, JSON_RESPONSE) });
  const response = await tap.fetch(URL_OF_MCP, post);
  assert.equal(JSON.stringify(shape()), before);
  assert.equal(await Response.prototype.text.call(response), ANSWER);
  assert.equal(tap.of('close')[0]?.terminal, true);
  assert.equal(await new Response('other').text(), 'other');
  assert.throws(() => Reflect.get(Response.prototype, 'body'), TypeError);
});

test('a Request that was handed over is used up as without the tap', async (t) => {
  const server = await startFixture(t);
  const look = async (fetch: Fetch): Promise<unknown> => {
    const request = new Request(server.url, { ...post, headers: { ...headers, 'content-type': 'application/json' } });
    const before = [request.bodyUsed, request.body?.locked];
    const running = fetch(request);
    const during = [request.bodyUsed, request.body?.locked];
    const text = await (await running).text();
    return [before, during, request.bodyUsed, request.body?.locked, text];
  };
  const tap = rig();
  assert.deepEqual(await look(tap.fetch), await look(globalThis.fetch));
  assert.equal(tap.of('close').length, 1);
});
