/**
 * A byte stream that hands on what it reads from another one, and tells an observer. It pulls only when it is pulled. An observer that
 * throws is ignored.
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
export const whenDropped = new FinalizationRegistry<BodyObserver>((observer) => quietly(() => observer.dropped()));

export function watchedStream(
  upstream: ReadableStream<Uint8Array>,
  observer: BodyObserver,
  response: Response,
): ReadableStream<Uint8Array> {
  /** The response lives as long as this stream: fetch cancels the body of one that is collected. */
  const held: { readonly response: Response; reader?: ReadableStreamDefaultReader<Uint8Array> } = { response };
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      held.reader ??= upstream.getReader() as ReadableStreamDefaultReader<Uint8Array>;
      const { reader } = held;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            whenDropped.unregister(observer);
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
        whenDropped.unregister(observer);
        quietly(() => observer.error(reason));
        controller.error(reason);
      }
    },
    cancel(reason) {
      whenDropped.unregister(observer);
      quietly(() => observer.cancel());
      return held.reader === undefined ? upstream.cancel(reason) : held.reader.cancel(reason);
    },
  });
}

/** A view of a larger buffer would give that buffer away: others may own parts of it. Mocked bodies may hold text. */
function owned(value: unknown): Uint8Array<ArrayBuffer> {
  if (typeof value === 'string') return new TextEncoder().encode(value) as Uint8Array<ArrayBuffer>;
  const bytes = value as Uint8Array<ArrayBuffer>;
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
