/** Buffered writing to stdout that respects a slow reader and a reader that leaves (`| head`). */
import { RuntimeFailure, reasonOf } from './exit.ts';

const FLUSH_CHARS = 64 * 1024;

/** Nobody reads the output any more: the work is over, and that is no failure. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

export interface Output {
  write(text: string): void;
  /** Waits until the reader has caught up. @throws ReaderGone; RuntimeFailure when nothing can be written (a full disk). */
  settle(): Promise<void>;
}

export function createOutput(stream: NodeJS.WriteStream): Output {
  let buffer = '';
  let blocked = false;
  let failure: NodeJS.ErrnoException | undefined;
  let wake = (): void => {};
  stream.on('drain', () => {
    blocked = false;
    wake();
  });
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= error;
    wake();
  });
  const flush = (): void => {
    if (buffer !== '' && failure === undefined) blocked = !stream.write(buffer);
    buffer = '';
  };
  return {
    write(text) {
      buffer += text;
      if (buffer.length >= FLUSH_CHARS) flush();
    },
    async settle() {
      flush();
      if (blocked && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure === undefined) return;
      if (failure.code === 'EPIPE') throw new ReaderGone();
      throw new RuntimeFailure(`cannot write the output: ${reasonOf(failure)}`);
    },
  };
}
