/** Files (or stdin, `-`) as decoded events, a chunk at a time: the input side of offline commands. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Origin, Rejection, WireEvent } from '../core/model/event.ts';
import { LIMITS } from '../core/model/limits.ts';
import { decode, isRejection } from '../core/stages/decode.ts';
import { createLineSplitter, type LineReceiver } from '../sources/line-splitter.ts';
import { RuntimeFailure, reasonOf } from './exit.ts';

const CHUNK_BYTES = 256 * 1024;

export interface ReplayHealth {
  rejected(reason: Rejection['rejected'], origin: Origin): void;
  invalidUtf8(origin: Origin): void;
}

export interface EventReader {
  /** Reads one chunk and delivers its events; false at the end of the input. */
  read(deliver: (event: WireEvent) => void): Promise<boolean>;
  readonly bytesRead: number;
  /** 0 where it is not known (stdin). */
  readonly totalBytes: number;
}

/** @throws RuntimeFailure when the file cannot be opened; `read` when it cannot be read. */
export function openEventReader(path: string, host: string, health: ReplayHealth): EventReader {
  const origin: Origin = { source: 'files', writer: `files:${path}`, host };
  const input = path === '-' ? openStdin() : openFile(path);
  const splitter = createLineSplitter({ maxLineBytes: LIMITS.maxLineBytes, origin });
  let bytesRead = 0;
  let deliver: (event: WireEvent) => void = () => {};
  const receiver: LineReceiver = {
    line(text, from, line, offset) {
      const event = decode(text, from, line, offset);
      if (isRejection(event)) {
        health.rejected(event.rejected, from);
        return undefined;
      }
      deliver(event);
      return event.ts;
    },
    reject: health.rejected,
    invalidUtf8: health.invalidUtf8,
  };
  return {
    async read(to) {
      deliver = to;
      const chunk = await input.read();
      if (chunk === null) {
        splitter.end(receiver);
        input.close();
        return false;
      }
      bytesRead += chunk.length;
      splitter.push(chunk, receiver);
      return true;
    },
    get bytesRead() {
      return bytesRead;
    },
    totalBytes: input.size,
  };
}

interface Input {
  readonly size: number;
  read(): Promise<Buffer | null>;
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
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  return {
    size: stat.size,
    async read() {
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
