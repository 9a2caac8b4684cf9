/**
 * Lets an observer see the bytes of a response without altering what the caller gets: pull-based, so that back-pressure and
 * cancellation pass through; never tee() or clone(), which buffer. The upstream reader is taken on the first pull: taken earlier,
 * a response that nobody reads would never be released. An observer that throws is ignored.
 */
import type { ReadableStreamDefaultReader } from 'node:stream/web';

export interface BodyObserver {
  chunk(bytes: Uint8Array): void;
  end(): void;
  /** The body broke: the very error that the caller gets. */
  error(reason: unknown): void;
  /** The caller stopped reading. */
  cancel(): void;
}

const quietly = (report: () => void): void => {
  try {
    report();
  } catch {
    // The host must not notice that it is watched.
  }
};

export function observeBody(response: Response, observer: BodyObserver): Response {
  const upstream = response.body;
  if (upstream === null) {
    quietly(() => observer.end());
    return response;
  }
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const body = new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      reader ??= upstream.getReader();
      try {
        const { done, value } = await reader.read();
        if (done) {
          quietly(() => observer.end());
          controller.close();
          controller.byobRequest?.respond(0);
        } else {
          // Before enqueue: it transfers the buffer.
          quietly(() => observer.chunk(value));
          controller.enqueue(value);
        }
      } catch (reason) {
        quietly(() => observer.error(reason));
        controller.error(reason);
      }
    },
    cancel(reason) {
      quietly(() => observer.cancel());
      return reader === undefined ? upstream.cancel(reason) : reader.cancel(reason);
    },
  });
  const { status, statusText, headers, url, redirected, type } = response;
  const seen = new Response(body, { status, statusText, headers });
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(seen, name, { value });
  return seen;
}
