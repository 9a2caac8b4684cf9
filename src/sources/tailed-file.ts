/**
 * One file, read from its position to its end in slices, whatever its name is at the moment. Decides when the file was rewritten
 * under the reader: it became shorter, or the last bytes read are no longer there. It must not decide which files are read, when,
 * or when one is given up; system errors are thrown to its caller.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { identityOf, sameFile } from './file-identity.ts';
import { createFileLines } from './file-lines.ts';
import type { FilePosition } from './file-state.ts';
import { createLineSplitter } from './line-splitter.ts';
import { createPlaceMarks } from './marks.ts';
import { lineStartBefore } from './read-back.ts';
import type { TailedFile, TailedFileOptions } from './tailed-file-types.ts';

export type { TailedFile, TailedFileOptions };

/** A turn ends after so many lines, however short they are: each has its own cost, and a broken one the highest. */
const MAX_TURN_LINES = 1024;
/** To read a short line takes about as long as to read so much of a long one. */
const LINE_COST_BYTES = 256;
/** What one look adds to the time watched: after a pause of the machine the writer gets its time to say that it lives. */
const MAX_WATCH_MS = 10_000;

export function createTailedFile(options: TailedFileOptions): TailedFile {
  const { identity, origin, maxLineBytes, unstable, now, elapsed, report, start } = options;
  const splitterAt = (startOffset: number, startLine: number) =>
    createLineSplitter({ maxLineBytes, origin, startOffset, startLine });
  const known = start.at === 'resume' || start.at === 'continue' ? start.position : undefined;
  const lines = createFileLines({ origin, report, claim: options.claim, known });
  let { size, modifiedNs } = options;
  let isPlaced = start.at !== 'end';
  /** A position that is still to be proved by the bytes before it. */
  let unproved = known;
  let isRewritten = false;
  let isContinuation = start.at === 'continue';
  let offset = known?.offset ?? (start.at === 'end' ? size : 0);
  let splitter = splitterAt(offset, known?.line ?? 1);
  let replayTo = size;
  /** The largest size seen of what is read now; and the largest that was seen before bytes proved that it is still this content. */
  let peak = Math.max(size, start.at === 'resume' ? start.position.size : 0);
  let proved = start.at === 'resume' ? start.position.proved : 0;
  const marks = createPlaceMarks();
  let fd: number | undefined;
  let isDeleted = false;
  let changedAt = elapsed();
  let lookedAt = changedAt;
  let quietMs = 0;
  let isSuspect = false;
  let deliveredAt = Number.NEGATIVE_INFINITY;
  let saved: FilePosition | undefined;

  /** What was read to its end by an earlier run needs no proof while nothing was added. */
  const isUnproved = (): boolean => unproved !== undefined && !(lines.isEnded && size === offset);

  function place(descriptor: number): void {
    if (!isPlaced) {
      offset = lineStartBefore(descriptor, offset, maxLineBytes);
      splitter = splitterAt(offset, 1);
      isPlaced = true;
      marks.place(descriptor, offset);
    } else if (offset === 0) marks.place(descriptor, 0);
    if (unproved === undefined) return;
    if (!marks.prove(descriptor, offset, unproved.head, unproved.tail)) {
      if (start.at === 'continue') {
        isContinuation = false;
        start.refused();
        begin();
        marks.place(descriptor, 0);
        replayTo = size;
      } else isRewritten = true;
    }
    unproved = undefined;
  }

  function begin(): void {
    lines.restart();
    splitter = splitterAt(0, 1);
    offset = replayTo = proved = 0;
    marks.reset();
    saved = undefined;
  }

  /** `least`: so much of it was there. */
  function restart(least: number): 0 {
    report.log('info', `${file.path} was truncated or rewritten: read from its start`, 'file_rewritten');
    report.count('truncations', 1);
    if (least > offset) report.count('lost_truncated_bytes', least - splitter.position().offset);
    splitter.discard(lines.receiver);
    isRewritten = false;
    peak = size;
    begin();
    return 0;
  }

  const file: TailedFile = {
    identity,
    origin,
    path: options.path,
    goneSince: undefined,
    isBlocked: false,
    isAstray: false,
    isSilent: false,
    committedTo: known?.offset ?? 0,
    get isOpen() {
      return fd !== undefined;
    },
    get isDeleted() {
      return isDeleted;
    },
    get isContinuation() {
      return isContinuation;
    },
    get isCopy() {
      return lines.isCopy;
    },
    get isEnded() {
      return lines.isEnded;
    },
    get segment() {
      return lines.segment;
    },
    get newestTs() {
      return lines.newestTs;
    },
    get deliveredAt() {
      return deliveredAt;
    },
    get changedAt() {
      return changedAt;
    },
    get modifiedMs() {
      return Number(modifiedNs / 1_000_000n);
    },
    get quietMs() {
      return quietMs;
    },
    get offset() {
      return offset;
    },
    get unreadBytes() {
      return lines.isCopy ? 0 : Math.max(0, size - offset);
    },
    get lossBytes() {
      return file.unreadBytes === 0 ? 0 : file.unreadBytes + splitter.pendingBytes();
    },
    get isDue() {
      return !lines.isCopy && (size !== offset || isSuspect || isRewritten || isUnproved());
    },
    get replayBytes() {
      return Math.max(0, replayTo - offset);
    },
    open() {
      // O_NONBLOCK: should the name lead to a FIFO by now, this returns at once and the identity below differs.
      const descriptor = openSync(file.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
      try {
        if (!sameFile(identity, identityOf(fstatSync(descriptor, { bigint: true })), unstable)) return false;
        place(descriptor);
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
      if (String(stats.birthtimeNs) !== identity.birthtimeNs) unstable.add(identity.dev);
      file.saw(Number(stats.size), stats.mtimeNs);
      isDeleted = stats.nlink === 0n;
    },
    saw(newSize, newModifiedNs) {
      const at = elapsed();
      const watched = Math.min(at - lookedAt, MAX_WATCH_MS);
      lookedAt = at;
      if (newSize === size && newModifiedNs === modifiedNs) {
        quietMs += watched;
        return;
      }
      quietMs = 0;
      file.isSilent = false;
      // A file that was truncated and grew back to where the reader stands shows it by its time only.
      isSuspect ||= newSize === offset && offset > 0;
      size = newSize;
      if (size >= offset) peak = Math.max(peak, size);
      modifiedNs = newModifiedNs;
      changedAt = at;
      saved = undefined;
    },
    read(buffer, sink) {
      isSuspect = false;
      lines.sink = sink;
      if (size < offset) return restart(peak);
      if (isRewritten) return restart(proved);
      const { tail } = marks;
      const got = readSync(fd!, buffer, 0, buffer.length, offset - tail.length);
      if (got < tail.length || tail.compare(buffer, 0, tail.length) !== 0) return restart(proved);
      proved = Math.max(proved, size);
      const before = lines.accepted;
      const firstLine = splitter.position().line;
      const count = splitter.push(buffer.subarray(tail.length, got), lines.receiver, MAX_TURN_LINES);
      const taken = splitter.position().line - firstLine;
      if (lines.accepted > before) deliveredAt = now();
      marks.advance(buffer, offset, tail.length + count, splitter.pendingBytes());
      saved = undefined;
      offset += count;
      if (count > 0) report.count('read_bytes', count);
      // Nothing behind the marker: the size seen last is out of date, the next look tells.
      if (count === 0 || offset > size) size = offset;
      return Math.max(count, taken * LINE_COST_BYTES);
    },
    discard(sink) {
      lines.sink = sink;
      splitter.discard(lines.receiver);
    },
    position() {
      // As long as it is not known what the file holds, what was known of it stays true.
      if (known !== undefined && (unproved !== undefined || isRewritten)) return { ...known, name: file.path };
      if (!isPlaced) return undefined;
      saved ??= {
        ...{
          path: origin.writer,
          name: file.path,
          ...identity,
          ...splitter.position(),
          size: Math.max(size, offset),
          proved,
        },
        ...marks.marks(),
        newestTs: lines.newestTs === Number.NEGATIVE_INFINITY ? null : lines.newestTs,
        ...(lines.segment !== undefined && { segment: lines.segment }),
        ...{ ...(lines.isEnded && { ended: true }), ...(lines.isCopy && { copy: true }) },
      };
      return saved;
    },
  };
  return file;
}
