/**
 * Lines to stdout or stderr without waiting for a reader and without growing: what a slow or absent reader leaves unread is held up to
 * a limit, then dropped. For a process that must go on whatever becomes of its output; `output.ts` is for commands that wait.
 */
import type { Writable } from 'node:stream';

const MAX_HELD_BYTES = 1024 * 1024;

export interface BoundedWriter {
  /** Why the line was not taken, or null. */
  write(line: string): 'slow_reader' | 'write_failed' | null;
  /** What the stream failed with; it takes nothing any more. */
  failure(): NodeJS.ErrnoException | null;
}

export function createBoundedWriter(stream: Writable, maxHeldBytes: number = MAX_HELD_BYTES): BoundedWriter {
  let failure: NodeJS.ErrnoException | null = null;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= error;
  });
  return {
    write(line) {
      if (failure !== null || !stream.writable) return 'write_failed';
      if (stream.writableLength + line.length > maxHeldBytes) return 'slow_reader';
      try {
        stream.write(line);
      } catch (error) {
        // A stdout that is a file is written at once, and older Nodes throw what they find.
        failure = error as NodeJS.ErrnoException;
        return 'write_failed';
      }
      return null;
    },
    // Destroyed already, while its error event is still to come.
    failure: () => failure ?? stream.errored,
  };
}
