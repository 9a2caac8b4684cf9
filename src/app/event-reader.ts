/** Files (or stdin, `-`) as lines, a chunk at a time: the input side of offline commands. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Origin } from '../core/model/event.ts';
import { LIMITS } from '../core/model/limits.ts';
import { createLineSplitter, type LineReceiver } from '../sources/line-splitter.ts';
import { roomFor } from '../sources/room.ts';
import { RuntimeFailure, reasonOf } from './exit.ts';

const CHUNK_BYTES = 256 * 1024;

export interface EventReader {
  /** Reads one chunk and delivers its lines; false at the end of the input. */
  read(receiver: LineReceiver): Promise<boolean>;
  readonly bytesRead: number;
  close(): void;
  /** 0 where it is not known (stdin). */
  readonly totalBytes: number;
}

/** `copy`: what is read in its place. @throws RuntimeFailure when the file cannot be opened; `read` when it cannot be read. */
export function openEventReader(path: string, host: string, copy = path): EventReader {
  const origin: Origin = { source: 'files', writer: `files:${path}`, host, file: path };
  const input = copy === '-' ? openStdin() : openFile(copy);
  const splitter = createLineSplitter({ maxLineBytes: LIMITS.maxLineBytes, origin });
  let bytesRead = 0;
  return {
    async read(receiver) {
      const chunk = await input.read(receiver);
      if (chunk === null) {
        splitter.end(receiver);
        return false;
      }
      bytesRead += chunk.length;
      splitter.push(chunk, receiver);
      return true;
    },
    close: input.close,
    get bytesRead() {
      return bytesRead;
    },
    totalBytes: input.size,
  };
}

interface Input {
  readonly size: number;
  read(receiver: LineReceiver): Promise<Buffer | null>;
  close(): void;
}

function openFile(path: string): Input {
  const fail = (error: unknown): never => {
    throw new RuntimeFailure(`cannot read ${path}: ${reasonOf(error)}`);
  };
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    return fail(error);
  }
  const stat = fstatSync(fd);
  if (stat.isDirectory()) {
    closeSync(fd);
    throw new RuntimeFailure(`cannot read ${path}: it is a directory (name its files, e.g. ${path}/*.ndjson)`);
  }
  let buffer: Buffer | undefined;
  return {
    size: stat.size,
    async read(receiver) {
      buffer ??= roomFor(receiver, CHUNK_BYTES);
      try {
        const n = readSync(fd, buffer, 0, buffer.length, null);
        return n === 0 ? null : buffer.subarray(0, n);
      } catch (error) {
        return fail(error);
      }
    },
    close: () => closeSync(fd),
  };
}

function openStdin(): Input {
  const chunks = process.stdin[Symbol.asyncIterator]();
  return {
    size: 0,
    async read() {
      const { value, done } = await chunks.next();
      return done ? null : Buffer.from(value as Buffer);
    },
    close: () => process.stdin.destroy(),
  };
}
