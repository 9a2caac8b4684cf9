/**
 * One file, read from its position to its end in slices, whatever its name is at the moment. Decides when the file was rewritten
 * under the reader: it became shorter, or the last bytes read are no longer there. It must not decide which files are read, when,
 * or when one is given up; system errors are thrown to its caller.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Origin } from '../core/model/event.ts';
import type { Log } from './fault-list.ts';
import { type FileIdentity, identityOf, sameFile } from './file-identity.ts';
import { createLineSplitter, type LineReceiver } from './line-splitter.ts';
import { bytesBefore, lineStartBefore } from './read-back.ts';
import type { FilePosition, LineSink } from './source.ts';

/** So many bytes before the position are read again with each slice, to see that the file is still the one read so far. */
export const MARKER_BYTES = 64;
/** What one look adds to the time watched: after a pause of the whole machine the writer gets its time to say that it lives. */
const MAX_WATCH_MS = 10_000;
/** A slice ends after so many lines, however short they are: each has its own cost, and a broken one the highest. */
export const MAX_SLICE_LINES = 1024;
/** To read a short line takes about as long as to read so much of a long one. */
const LINE_COST_BYTES = 256;
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

export interface TailedFileOptions {
  readonly path: string;
  readonly identity: FileIdentity;
  readonly size: number;
  readonly modifiedNs: bigint;
  /** A line start, or `end`: the last line start before `size`; lines are then counted from there. */
  readonly start: { readonly offset: number; readonly line: number } | 'end';
  readonly origin: Origin;
  readonly maxLineBytes: number;
  readonly now: () => number;
  readonly log: Log;
}

export interface TailedFile {
  readonly identity: FileIdentity;
  readonly origin: Origin;
  /** Its present name. */
  path: string;
  /** Since when (process time) no pattern matches it; undefined while one does. */
  goneSince: number | undefined;
  /** The last attempt to open or read it failed. */
  isBlocked: boolean;
  readonly isOpen: boolean;
  /** Its last name was removed: nothing can lead to it again. */
  readonly isDeleted: boolean;
  /** The latest event time delivered, -Infinity before the first. */
  readonly newestTs: number;
  /** Wall time of the last accepted line, -Infinity before the first. */
  readonly deliveredAt: number;
  /** Process time of the last change of its size or content. */
  readonly changedAt: number;
  /** How long it was watched without a change. */
  readonly quietMs: number;
  /** That was reported. */
  isSilent: boolean;
  readonly unreadBytes: number;
  /** There is something to read or to verify. */
  readonly isDue: boolean;
  /** Not yet at the end that was seen first. */
  readonly isReplaying: boolean;
  /** False: the name leads to another file, or nowhere. */
  open(): boolean;
  /** Frees the descriptor, keeps the position. */
  close(): void;
  /** Looks at the open file. */
  check(): void;
  /** What a look by name found. */
  saw(size: number, modifiedNs: bigint): void;
  /** Reads one slice; returns what that cost, as a number of bytes in long lines. */
  read(buffer: Buffer, sink: LineSink): number;
  /** What is unfinished will stay so. */
  discard(sink: LineSink): void;
  /** undefined: `end` was asked for and not found yet. */
  position(): FilePosition | undefined;
}

/** Where a slice that starts at `from` ends, and how many lines that are. */
function sliceEnd(buffer: Buffer, from: number, to: number): { end: number; lines: number } {
  let end = from;
  for (let lines = 0; lines < MAX_SLICE_LINES; lines++) {
    const at = buffer.indexOf(LF, end);
    if (at === -1 || at >= to) return { end: to, lines };
    end = at + 1;
  }
  return { end, lines: MAX_SLICE_LINES };
}

export function createTailedFile(options: TailedFileOptions): TailedFile {
  const { identity, origin, maxLineBytes, now, log } = options;
  const splitterAt = (offset: number, line: number) =>
    createLineSplitter({ maxLineBytes, origin, startOffset: offset, startLine: line });
  let { size, modifiedNs } = options;
  let isPlaced = options.start !== 'end';
  let offset = options.start === 'end' ? size : options.start.offset;
  let splitter = splitterAt(offset, options.start === 'end' ? 1 : options.start.line);
  let replayTo = size;
  let marker: Buffer = NOTHING;
  let isSuspect = false;
  let fd: number | undefined;
  let isDeleted = false;
  let changedAt = performance.now();
  let lookedAt = changedAt;
  let quietMs = 0;
  let accepted = 0;
  let newestTs = Number.NEGATIVE_INFINITY;
  let deliveredAt = Number.NEGATIVE_INFINITY;

  function receiverFor(sink: LineSink): LineReceiver {
    return {
      line(text, from, line, at) {
        const ts = sink.line(text, from, line, at);
        if (typeof ts !== 'number') return ts;
        accepted++;
        if (ts > newestTs) newestTs = ts;
        return ts;
      },
      reject: (reason, from, line, at) => sink.reject(reason, from, line, at),
      invalidUtf8: (from) => sink.invalidUtf8(from),
    };
  }

  function place(descriptor: number): void {
    offset = lineStartBefore(descriptor, offset, maxLineBytes);
    splitter = splitterAt(offset, 1);
    isPlaced = true;
  }

  function restart(sink: LineSink): number {
    log('info', `${file.path} was truncated or rewritten: reading it from its start`, 'file_rewritten');
    splitter.discard(receiverFor(sink));
    splitter = splitterAt(0, 1);
    offset = replayTo = 0;
    marker = NOTHING;
    return 0;
  }

  const file: TailedFile = {
    identity,
    origin,
    path: options.path,
    goneSince: undefined,
    isBlocked: false,
    isSilent: false,
    get isOpen() {
      return fd !== undefined;
    },
    get isDeleted() {
      return isDeleted;
    },
    get newestTs() {
      return newestTs;
    },
    get deliveredAt() {
      return deliveredAt;
    },
    get changedAt() {
      return changedAt;
    },
    get quietMs() {
      return quietMs;
    },
    get unreadBytes() {
      return Math.max(0, size - offset);
    },
    get isDue() {
      return size !== offset || isSuspect;
    },
    get isReplaying() {
      return offset < replayTo;
    },
    open() {
      // O_NONBLOCK: should the name lead to a FIFO by now, this returns at once and the identity below differs.
      const descriptor = openSync(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        if (!sameFile(identity, identityOf(fstatSync(descriptor, { bigint: true })))) return false;
        if (!isPlaced) place(descriptor);
        if (marker === NOTHING) marker = bytesBefore(descriptor, offset, MARKER_BYTES);
        fd = descriptor;
        return true;
      } finally {
        if (fd === undefined) closeSync(descriptor);
      }
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
    check() {
      const stats = fstatSync(fd!, { bigint: true });
      file.saw(Number(stats.size), stats.mtimeNs);
      isDeleted = stats.nlink === 0n;
    },
    saw(newSize, newModifiedNs) {
      const at = performance.now();
      const watched = Math.min(at - lookedAt, MAX_WATCH_MS);
      lookedAt = at;
      if (newSize === size && newModifiedNs === modifiedNs) {
        quietMs += watched;
        return;
      }
      quietMs = 0;
      file.isSilent = false;
      // A file that was truncated and grew back to where the reader stands shows it by its time only.
      isSuspect ||= newSize === offset && marker.length > 0;
      size = newSize;
      modifiedNs = newModifiedNs;
      changedAt = performance.now();
    },
    read(buffer, sink) {
      isSuspect = false;
      if (size < offset) return restart(sink);
      const got = readSync(fd!, buffer, 0, buffer.length, offset - marker.length);
      if (got < marker.length || marker.compare(buffer, 0, marker.length) !== 0) return restart(sink);
      const { end, lines } = sliceEnd(buffer, marker.length, got);
      const count = end - marker.length;
      const before = accepted;
      splitter.push(buffer.subarray(marker.length, end), receiverFor(sink));
      if (accepted > before) deliveredAt = now();
      offset += count;
      // Nothing behind the marker: the size seen last is out of date, the next look tells.
      if (count === 0 || offset > size) size = offset;
      marker = Buffer.from(buffer.subarray(Math.max(0, end - MARKER_BYTES), end));
      return Math.max(count, lines * LINE_COST_BYTES);
    },
    discard: (sink) => splitter.discard(receiverFor(sink)),
    position: () => (isPlaced ? { path: origin.writer, ...identity, ...splitter.position() } : undefined),
  };
  return file;
}
