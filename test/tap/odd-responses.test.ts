/** Responses that are not plainly those of fetch: subclasses, patched methods, other realms, other streams. Code of the host runs once. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { tempFolder } from '../support/cli.ts';
import { runHost, seenBy } from './host-rig.ts';
import { startFixture } from './mcp-fixture.ts';
import { type Rig, rig } from './rig.ts';

type Fetch = typeof globalThis.fetch;
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{}}';
const JSON_RESPONSE = { headers: { 'content-type': 'application/json' } };
const post: RequestInit = {
  method: 'POST',
  headers: { 'mcp-protocol-version': '2025-11-25' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }),
};
const NAMES = ['text', 'json', 'arrayBuffer', 'blob', 'formData', 'clone'] as const;
const GETTERS = ['body', 'bodyUsed', 'status', 'ok', 'headers', 'url', 'redirected', 'type'] as const;

const USES: Readonly<Record<string, (response: Response) => unknown>> = {
  text: (response) => response.text(),
  json: (response) => response.json(),
  blob: async (response) => (await response.blob()).size,
  form: (response) => response.formData(),
  clone: async (response) => [await response.clone().text(), await response.text()],
  stream: async (response) => (await response.body!.getReader().read()).value?.length,
  twice: async (response) => [await response.text(), await response.text()],
  locked: (response) => [response.body!.getReader(), response.text()][1],
};

async function outcome(use: () => unknown): Promise<unknown> {
  try {
    return await use();
  } catch (error) {
    return [(error as Error).name, (error as Error).message];
  }
}

/** Every use of what `make` gives, beside the same without the tap; `seen` is looked at after each. */
async function compare(make: () => unknown, seen: () => unknown, closes: readonly string[]): Promise<void> {
  for (const [name, use] of Object.entries(USES)) {
    const look = async (wrap: (fetch: Fetch) => Fetch): Promise<unknown> => {
      seen();
      const response = await wrap((async () => make()) as Fetch)('http://h/mcp', post);
      return [await outcome(() => use(response)), seen()];
    };
    let tap: Rig | undefined;
    const wrapped = await look((fetch) => {
      tap = rig({ fetch });
      return tap.fetch;
    });
    assert.deepEqual(wrapped, await look((fetch) => fetch), name);
    assert.equal(tap!.of('close').length, closes.includes(name) ? 1 : 0, name);
  }
}
const READ = ['text', 'json', 'blob', 'form', 'clone', 'twice'];

/** Counts calls; reading the counts clears them. */
function counter() {
  let counts = new Map<string, number>();
  return {
    count(name: string): void {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    take(): unknown {
      const taken = counts;
      counts = new Map();
      return taken;
    },
  };
}

test('the constructor, the methods and the getters of a subclass run as often as without the tap', async () => {
  const { count, take } = counter();
  class Own extends Response {
    constructor(...args: ConstructorParameters<typeof Response>) {
      super(...args);
      count('constructor');
    }
  }
  const native = Response.prototype as unknown as { text(): Promise<string> };
  Object.assign(Own.prototype, {
    async text(this: Response) {
      return `${await native.text.call(this)}!`;
    },
  });
  for (const name of GETTERS) {
    const { get } = Object.getOwnPropertyDescriptor(Response.prototype, name)!;
    Object.defineProperty(Own.prototype, name, {
      get() {
        count(name);
        return Reflect.apply(get!, this, []);
      },
    });
  }
  await compare(() => new Own(ANSWER, JSON_RESPONSE), take, READ);
});

test('methods that the host puts over those of Response after the first exchange run once', async (t) => {
  const { fetch } = rig({ fetch: async () => new Response(ANSWER, JSON_RESPONSE) });
  await (await fetch('http://h/mcp', post)).text();
  const { count, take } = counter();
  for (const name of NAMES) {
    const own = Object.getOwnPropertyDescriptor(Response.prototype, name)!;
    t.after(() => Object.defineProperty(Response.prototype, name, own));
    function value(this: Response, ...args: unknown[]): unknown {
      count(name);
      return Reflect.apply(own.value as () => unknown, this, args as []);
    }
    Object.defineProperty(Response.prototype, name, { ...own, value });
  }
  await compare(() => new Response(ANSWER, JSON_RESPONSE), take, READ);
});

test('bytes of another realm are bytes (a test runner has its own)', async () => {
  const context = createContext({ Response, ReadableStream, bytes: [...Buffer.from(ANSWER)] });
  const make = (): unknown =>
    runInContext(
      `new Response(new ReadableStream({
        start(controller) { controller.enqueue(new Uint8Array(bytes)); controller.close(); },
      }), { headers: { 'content-type': 'application/json' } })`,
      context,
    );
  await compare(make, () => undefined, READ);
  const tap = rig({ fetch: (async () => make()) as Fetch });
  await (await tap.fetch('http://h/mcp', post)).text();
  assert.equal(tap.of('close')[0]?.terminal, true);
  const request = runInContext(
    `new Uint8Array([...${JSON.stringify([...Buffer.from(String(post.body))])}]).buffer`,
    context,
  );
  await (await tap.fetch('http://h/mcp', { ...post, body: request as ArrayBuffer })).text();
  assert.equal(tap.of('open')[1]?.request_bytes, String(post.body).length);
});

test('a body that is a stream of Node stays one', async () => {
  class Older {
    readonly headers = new Headers(JSON_RESPONSE.headers);
    readonly status = 200;
    readonly #body = Readable.from([ANSWER]);
    readonly ok = true;
    get bodyUsed(): boolean {
      return false;
    }
    get body(): Readable {
      return this.#body;
    }
    async text(): Promise<string> {
      return (await this.#body.toArray()).join('');
    }
  }
  const older = new Older();
  const tap = rig({ fetch: (async () => older) as unknown as Fetch });
  const response = (await tap.fetch('http://h/mcp', post)) as unknown as Older;
  assert.equal(response.body, older.body);
  assert.ok(response.body instanceof Readable);
  assert.equal(await response.text(), ANSWER);
});

test('a class of responses that is frozen stays as it is: the head is recorded, and nothing breaks', async (t) => {
  const server = await startFixture(t);
  const script = join(tempFolder(t), 'host.cjs');
  writeFileSync(
    script,
    `Object.freeze(Response.prototype);
    (async () => {
      const response = await fetch('${server.url}', ${JSON.stringify(post)});
      console.log(JSON.stringify(await response.text()));
    })();`,
  );
  const host = await runHost(t, script);
  assert.match(seenBy(host) as string, /"id":1/);
  assert.equal(host.of('headers')[0]?.status, 200);
});
