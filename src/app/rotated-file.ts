/**
 * Lines to a file that is rotated by rename (FILE, FILE.1 ... FILE.N), off the event loop. The file is opened anew for each write, so
 * it may be moved, removed or unreadable at any time. Never waits and never grows: lines that find no room, or that cannot be written,
 * are dropped and counted. Whole lines only: what a failed write left of one is taken away.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { reasonOf } from './exit.ts';

/** What one write takes at most; the size of a file must allow for it. */
export const WRITE_BYTES = 64 * 1024;
const MAX_HELD_BYTES = 1024 * 1024;
const NEWLINE = 10;
/** Readable for a log shipper of the same group. */
const MODE = 0o640;

export interface RotatedFileOptions {
  readonly path: string;
  /** A file is rotated before it would become larger. */
  readonly maxBytes: number;
  /** Old files kept beside it; 0 starts it afresh instead. */
  readonly oldFiles: number;
  /** Lines that were lost, with one reason each. */
  readonly onDropped: (lines: number, reason: 'slow_reader' | 'write_failed') => void;
  /** Said once when writing begins to fail, and once (null) when it works again. */
  readonly onFault: (reason: string | null) => void;
}

export interface RotatedFile {
  write(line: string): void;
  /** Waits until everything is written or dropped, at most so many milliseconds. */
  close(budgetMs: number): Promise<void>;
}

export function createRotatedFile({ path, maxBytes, oldFiles, onDropped, onFault }: RotatedFileOptions): RotatedFile {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let fault: string | null = null;
  let pumping: Promise<void> | null = null;

  const say = (reason: string | null): void => {
    if (reason === fault) return;
    fault = reason;
    onFault(reason);
  };

  const openFile = async (): Promise<{ file: FileHandle; size: number }> => {
    // Without O_NONBLOCK a FIFO that nobody reads would hold a thread for ever.
    const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
    const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, MODE);
    const stat = await file.stat();
    if (stat.isFile()) return { file, size: stat.size };
    await file.close();
    throw new Error('it is not a regular file');
  };

  const rotate = async (file: FileHandle): Promise<void> => {
    if (oldFiles === 0) return file.truncate(0);
    for (let n = oldFiles - 1; n >= 1; n--)
      await rename(`${path}.${n}`, `${path}.${n + 1}`).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    await rename(path, `${path}.1`);
  };

  /** The end of a line that a crash cut off is no part of the next one. */
  const endsInLine = async (file: FileHandle, size: number): Promise<boolean> => {
    if (size === 0) return false;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] !== NEWLINE;
  };

  const append = async (file: FileHandle, size: number, bytes: Buffer): Promise<void> => {
    const isTorn = await endsInLine(file, size);
    try {
      await file.writeFile(isTorn ? Buffer.concat([Buffer.of(NEWLINE), bytes]) : bytes);
    } catch (error) {
      await file.truncate(size).catch(() => {});
      throw error;
    }
  };

  /** One byte of room is for the line end after a torn line. */
  const isFull = (size: number, bytes: Buffer): boolean => size > 0 && size + bytes.length + 1 > maxBytes;

  const writeOut = async (bytes: Buffer): Promise<void> => {
    let { file, size } = await openFile();
    try {
      if (isFull(size, bytes)) {
        await rotate(file);
        await file.close();
        ({ file, size } = await openFile());
      }
      if (bytes.length > 0) await append(file, size, bytes);
    } finally {
      await file.close().catch(() => {});
    }
  };

  const takeHeld = (): Buffer[] => {
    let bytes = 0;
    let count = 0;
    while (count < held.length && (count === 0 || bytes + held[count]!.length <= WRITE_BYTES)) {
      bytes += held[count]!.length;
      count++;
    }
    heldBytes -= bytes;
    return held.splice(0, count);
  };

  const pump = async (): Promise<void> => {
    do {
      const lines = takeHeld();
      try {
        await writeOut(Buffer.concat(lines));
        say(null);
      } catch (error) {
        if (lines.length > 0) onDropped(lines.length, 'write_failed');
        say(reasonOf(error));
      }
    } while (held.length > 0);
    pumping = null;
  };

  // A folder that is missing shows at start, not with the first failure of a host.
  pumping = pump();

  return {
    write(line) {
      const bytes = Buffer.from(line);
      if (heldBytes + bytes.length > MAX_HELD_BYTES) {
        onDropped(1, 'slow_reader');
        return;
      }
      held.push(bytes);
      heldBytes += bytes.length;
      pumping ??= pump();
    },
    async close(budgetMs) {
      let timer: NodeJS.Timeout | undefined;
      const timeUp = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, budgetMs);
      });
      await Promise.race([pumping, timeUp]);
      clearTimeout(timer);
      if (held.length > 0) onDropped(held.length, 'slow_reader');
      held = [];
      heldBytes = 0;
    },
  };
}
