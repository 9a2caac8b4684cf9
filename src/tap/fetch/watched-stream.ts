/**
 * A stream that hands on what it reads from another one, and tells an observer. It is of the same kind, bytes or anything, and pulls
 * only when it is pulled. An observer that throws is ignored.
 */
import * as streams from 'node:stream';
import type { ReadableStreamDefaultReader } from 'node:stream/web';
import { types } from 'node:util';
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

export interface BodySource {
  readonly response: Response;
  /** What fetch itself made is a stream of bytes; to find that out costs as much as reading a chunk. */
  readonly isFetched: boolean;
}

/** What becomes of a stream when the one beneath it ends. */
interface Fate {
  close(): void;
  fail(reason: unknown): void;
}

// As they are when the tap is loaded.
const { finished, isErrored } = streams;

type Controller = ReadableStreamDefaultController<unknown> | ReadableByteStreamController;

/** Tells of bodies that nobody can read any more. Their observers must not hold them. */
export const whenDropped = new FinalizationRegistry<BodyObserver>((observer) => quietly(() => observer.dropped()));

export function watchedStream(
  upstream: ReadableStream<unknown>,
  observer: BodyObserver,
  { response, isFetched }: BodySource,
): ReadableStream<Uint8Array> {
  /** The response lives as long as this stream: fetch cancels the body of one that is collected. */
  const held: { readonly response: Response; reader?: ReadableStreamDefaultReader<unknown> } = { response };
  const isBytes = isFetched || isByteStream(upstream);
  let isOver = false;
  let controller: Controller;
  /** The first end is the end: a read that is pending when the caller gives up ends too, and is no end of the body. */
  const end = (tell: () => void): boolean => {
    if (isOver) return false;
    isOver = true;
    whenDropped.unregister(observer);
    quietly(tell);
    return true;
  };
  const close = (): void => {
    if (end(() => observer.end())) controller.close();
  };
  const fail = (reason: unknown): void => {
    if (end(() => observer.error(reason))) controller.error(reason);
  };
  const fate: Fate = { close, fail };

  function start(given: Controller): void {
    controller = given;
    follow(upstream, new WeakRef(fate));
  }

  async function pull(): Promise<void> {
    held.reader ??= upstream.getReader() as ReadableStreamDefaultReader<unknown>;
    const { reader } = held;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (isOver) return;
        if (done) {
          close();
          (controller as ReadableByteStreamController).byobRequest?.respond(0);
          return;
        }
        if (!isBytes) {
          quietly(() => observer.chunk(bytesOf(value)));
          (controller as ReadableStreamDefaultController).enqueue(value);
          return;
        }
        const bytes = owned(value as Uint8Array<ArrayBuffer>);
        // A byte stream takes no empty chunk; there is nothing to hand on, so the next one is asked for.
        if (bytes.byteLength === 0) continue;
        // Before enqueue: it transfers the buffer.
        quietly(() => observer.chunk(bytes));
        (controller as ReadableByteStreamController).enqueue(bytes);
        return;
      }
    } catch (reason) {
      fail(reason);
    }
  }

  function cancel(reason: unknown): Promise<void> {
    end(() => observer.cancel());
    return held.reader === undefined ? upstream.cancel(reason) : held.reader.cancel(reason);
  }

  return isBytes
    ? new ReadableStream({ type: 'bytes', start, pull, cancel })
    : new ReadableStream<Uint8Array>({ start, pull, cancel }, { highWaterMark: 0 });
}

/**
 * Who waits for the end of a stream without reading hears of it at once. No lock is taken for that, and nothing held: a connection
 * that is still open must not keep what the host has dropped.
 */
function follow(upstream: ReadableStream<unknown>, fate: WeakRef<Fate>): void {
  quietly(() =>
    finished(upstream as unknown as NodeJS.ReadableStream, (reason) => {
      if (isErrored(upstream as never)) fate.deref()?.fail(reason);
      else fate.deref()?.close();
    }),
  );
}

/** Only the reader for one tells; it is given back at once. */
function isByteStream(stream: ReadableStream<unknown>): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** A view of a larger buffer would give that buffer away: others may own parts of it. */
const owned = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);

/** Mocked bodies hold what a mock put there: text is looked at, anything else is handed on unseen. */
function bytesOf(value: unknown): Uint8Array {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  if (types.isUint8Array(value)) return value;
  throw new TypeError('no bytes');
}
