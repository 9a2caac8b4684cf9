/** A slow reader of 128 MiB: what the tap takes from the source is never far ahead of what the host has read, however it reads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { rig } from './rig.ts';

const CHUNK = 64 * 1024;
const BYTES = 128 * 1024 * 1024;
const MOST_AHEAD = 128 * 1024;

/** An event stream of one long event, made as it is pulled. */
function source(type: 'bytes' | undefined) {
  const counted = { pulled: 0 };
  const filler = new Uint8Array(CHUNK).fill(120);
  const body = new ReadableStream<Uint8Array>(
    {
      ...(type === undefined ? {} : { type }),
      pull(controller: ReadableStreamDefaultController<Uint8Array> | ReadableByteStreamController) {
        if (counted.pulled >= BYTES) {
          controller.close();
          (controller as ReadableByteStreamController).byobRequest?.respond(0);
          return;
        }
        const chunk = filler.slice();
        if (counted.pulled === 0) chunk.set(Buffer.from('data: "'));
        counted.pulled += CHUNK;
        controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
      },
    } as object,
    { highWaterMark: 0 },
  );
  return { counted, response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }) };
}

/** Chunks of the body as a host takes them. */
const WAYS: Readonly<Record<string, (body: ReadableStream<Uint8Array>) => AsyncIterable<Uint8Array>>> = {
  iteration: (body) => body as unknown as AsyncIterable<Uint8Array>,
  async *reader(body) {
    const reader = body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  },
  pipe: (body) => body.pipeThrough(new TransformStream()) as unknown as AsyncIterable<Uint8Array>,
};

for (const type of ['bytes', undefined] as const)
  for (const [way, read] of Object.entries(WAYS))
    test(`${type ?? 'anything'}, by ${way}`, async () => {
      const { counted, response } = source(type);
      const tap = rig({ fetch: async () => response });
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } });
      const answer = await tap.fetch('http://h/mcp', { method: 'POST', body });
      let consumed = 0;
      let most = 0;
      for await (const chunk of read(answer.body as ReadableStream<Uint8Array>)) {
        // The reader is slow: whoever wants to run ahead has the time for it.
        if (consumed % (16 * CHUNK) === 0) for (let n = 0; n < 3; n++) await turn();
        consumed += chunk.byteLength;
        most = Math.max(most, counted.pulled - consumed);
      }
      assert.equal(consumed, BYTES);
      assert.ok(most <= MOST_AHEAD, `${most} bytes ahead`);
      const [close] = tap.of('close');
      assert.deepEqual([close?.bytes, close?.oversize], [BYTES, true]);
    });
