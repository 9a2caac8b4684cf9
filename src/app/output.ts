/** Buffered writing to stdout that respects a slow reader and a reader that leaves (`| head`). */
import { once } from 'node:events';

const FLUSH_CHARS = 64 * 1024;

export interface Output {
  write(text: string): void;
  /** Waits until the reader has caught up. */
  settle(): Promise<void>;
  /** The reader has gone: nothing more is needed. */
  readonly closed: boolean;
}

export function createOutput(stream: NodeJS.WriteStream): Output {
  let buffer = '';
  let blocked = false;
  let closed = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    closed = true;
  });
  const flush = (): void => {
    if (buffer !== '' && !closed) blocked = !stream.write(buffer);
    buffer = '';
  };
  return {
    write(text) {
      buffer += text;
      if (buffer.length >= FLUSH_CHARS) flush();
    },
    async settle() {
      flush();
      if (!blocked || closed) return;
      await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
      blocked = false;
    },
    get closed() {
      return closed;
    },
  };
}
