/**
 * Lets an observer see the bytes of a response without altering what the caller gets: pull-based, so that back-pressure and
 * cancellation pass through; never tee() or clone(), which buffer. The upstream reader is taken on the first pull: taken earlier,
 * a response that nobody reads would never be released. An observer that throws is ignored.
 */
import type { ReadableStreamDefaultReader } from 'node:stream/web';
import { quietly } from '../quietly.ts';

export interface BodyObserver {
  chunk(bytes: Uint8Array): void;
  end(): void;
  /** The body broke: the very error that the caller gets. */
  error(reason: unknown): void;
  /** The caller stopped reading. */
  cancel(): void;
  /** The body was collected before its end: nobody will ever read on. */
  dropped(): void;
}

/** Tells of bodies that nobody can read any more. Their observers must not hold them. */
const dropped = new FinalizationRegistry<BodyObserver>((observer) => quietly(() => observer.dropped()));

export function observeBody(response: Response, observer: BodyObserver): Response {
  const upstream = response.body;
  if (upstream === null) {
    quietly(() => observer.end());
    return response;
  }
  // A response of an odd kind (an opaque redirect, a status outside of the constructor's range) cannot be built again.
  if (response.status < 200 || response.status > 599 || response.bodyUsed || upstream.locked) return response;
  const body = watched(upstream as ReadableStream<Uint8Array>, observer);
  const seen = new Response(body, response);
  dropped.register(body, observer, observer);
  return likeness(seen, response);
}

function watched(upstream: ReadableStream<Uint8Array>, observer: BodyObserver): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      reader ??= upstream.getReader() as ReadableStreamDefaultReader<Uint8Array>;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            dropped.unregister(observer);
            quietly(() => observer.end());
            controller.close();
            controller.byobRequest?.respond(0);
            return;
          }
          const bytes = owned(value);
          // A byte stream takes no empty chunk; there is nothing to hand on, so the next one is asked for.
          if (bytes.byteLength === 0) continue;
          // Before enqueue: it transfers the buffer.
          quietly(() => observer.chunk(bytes));
          controller.enqueue(bytes);
          return;
        }
      } catch (reason) {
        dropped.unregister(observer);
        quietly(() => observer.error(reason));
        controller.error(reason);
      }
    },
    cancel(reason) {
      dropped.unregister(observer);
      quietly(() => observer.cancel());
      return reader === undefined ? upstream.cancel(reason) : reader.cancel(reason);
    },
  });
}

/** A view of a larger buffer would give that buffer away: others may own parts of it. Mocked bodies may hold text. */
function owned(value: unknown): Uint8Array<ArrayBuffer> {
  if (typeof value === 'string') return new TextEncoder().encode(value) as Uint8Array<ArrayBuffer>;
  const bytes = value as Uint8Array<ArrayBuffer>;
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** What the constructor cannot set. A clone is another response: it gets the same. */
function likeness(
  seen: Response,
  { url, redirected, type }: { url: string; redirected: boolean; type: string },
): Response {
  const own = (name: string, value: unknown) =>
    Object.defineProperty(seen, name, { value, configurable: true, enumerable: false, writable: true });
  own('url', url);
  own('redirected', redirected);
  own('type', type);
  own('clone', () => likeness(Response.prototype.clone.call(seen), { url, redirected, type }));
  return seen;
}
