/**
 * The files of one source: decides which file a name stands for, whose turn it is, and when a file that lost its name is given up.
 * It must not wait, watch, or know event time.
 *
 * A file is its inode. While its descriptor is open the kernel cannot hand that inode to another file, so the inode alone is proof;
 * otherwise the birth time must agree too. Positions of files that are not here any more are kept for when they come back: those
 * of a checkpoint, and those of files that were moved out of the globs' sight.
 */
import { type BigIntStats, lstatSync, statSync } from 'node:fs';
import { createDescriptorPool } from './descriptor-pool.ts';
import { createFaultList, type Log, reasonOf } from './fault-list.ts';
import { identityOf, inodeKey, kindOf } from './file-identity.ts';
import type { Listing } from './glob-scan.ts';
import type { FilePosition, LineSink } from './source.ts';
import { createTailedFile, MARKER_BYTES, type TailedFile } from './tailed-file.ts';

const MAX_REMEMBERED = 1024;

export interface FileSetOptions {
  readonly name: string;
  readonly host: string;
  readonly maxLineBytes: number;
  readonly sliceBytes: number;
  /** A file without a name is read until it is quiet for this long. */
  readonly graceMs: number;
  readonly maxOpenFiles: number;
  readonly retryMs: number;
  readonly restore: readonly FilePosition[];
  readonly now: () => number;
  readonly log: Log;
}

export interface FileSet {
  /** Takes over what a scan found. `fromEnd`: files not known yet are read from their end. */
  reconcile(listing: Listing, fromEnd: boolean, sink: LineSink): void;
  /** Looks at every open file, and gives up what is finished. */
  check(sink: LineSink): void;
  /** The file whose turn it is. */
  next(): TailedFile | undefined;
  /** Reads one slice of it. */
  read(file: TailedFile, sink: LineSink): void;
  all(): Iterable<TailedFile>;
  count(): number;
  /** Files without a descriptor: their growth shows only to `reconcile`. */
  closedCount(): number;
  faults(): string[];
  positions(): FilePosition[];
  closeAll(): void;
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

export function createFileSet(options: FileSetOptions): FileSet {
  const { name, host, maxLineBytes, graceMs, now, log } = options;
  // One buffer for all files: a slice is consumed before the next one is read.
  const buffer = Buffer.allocUnsafe(options.sliceBytes + MARKER_BYTES);
  const faults = createFaultList(log, options.retryMs);
  const descriptors = createDescriptorPool(options.maxOpenFiles, faults);
  /** By inode, the one read least recently first. */
  const files = new Map<string, TailedFile>();
  const remembered = new Map<string, FilePosition>();
  for (const position of options.restore) remember(position);

  function remember(position: FilePosition): void {
    remembered.set(inodeKey(position), position);
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  }

  function giveUp(file: TailedFile, sink: LineSink): void {
    if (file.unreadBytes > 0) log('warn', `${file.path} went away with ${file.unreadBytes} bytes unread`);
    const position = file.position();
    if (position && !file.isDeleted) remember(position);
    file.discard(sink);
    descriptors.close(file);
    files.delete(inodeKey(file.identity));
  }

  function add(path: string, stats: BigIntStats, fromEnd: boolean): TailedFile {
    const identity = identityOf(stats);
    const key = inodeKey(identity);
    const size = Number(stats.size);
    const found = remembered.get(key);
    remembered.delete(key);
    const known = found?.birthtimeNs === identity.birthtimeNs ? found : undefined;
    const file = createTailedFile({
      path,
      identity,
      size,
      modifiedNs: stats.mtimeNs,
      start: known && known.offset <= size ? known : !known && fromEnd ? 'end' : { offset: 0, line: 1 },
      // The first name, also after a rename: what a rotating writer goes on with is one series of lines.
      origin: { source: name, writer: known?.path ?? path, host },
      maxLineBytes,
      now,
      log,
    });
    files.set(key, file);
    descriptors.acquire(file);
    return file;
  }

  function look(path: string): BigIntStats | undefined {
    try {
      const stats = statSync(path, { bigint: true });
      if (stats.isFile()) return stats;
      faults.report(path, `it is ${kindOf(stats)}, not a regular file`);
    } catch (error) {
      // Gone since the listing, unless it is a link that leads nowhere.
      if (!isMissing(error) || lstatSync(path, { throwIfNoEntry: false })) faults.report(path, reasonOf(error));
    }
    return undefined;
  }

  /** The file that a name stands for now. */
  function fileAt(path: string, fromEnd: boolean, sink: LineSink): TailedFile | undefined {
    const stats = look(path);
    if (!stats) return undefined;
    const identity = identityOf(stats);
    const known = files.get(inodeKey(identity));
    if (known?.isOpen) return known;
    if (known?.identity.birthtimeNs === identity.birthtimeNs) {
      known.saw(Number(stats.size), stats.mtimeNs);
      return known;
    }
    if (known) giveUp(known, sink);
    return add(path, stats, fromEnd);
  }

  function reportFolders(listing: Listing): void {
    for (const [folder, error] of listing.errors) if (!isMissing(error)) faults.report(folder, reasonOf(error));
    const wanted = new Set([...listing.paths, ...listing.errors.keys()]);
    for (const file of files.values()) if (file.isBlocked) wanted.add(file.path);
    faults.retain((path) => wanted.has(path));
  }

  return {
    reconcile(listing, fromEnd, sink) {
      const names = new Map<TailedFile, string[]>();
      for (const path of listing.paths) {
        const file = fileAt(path, fromEnd, sink);
        if (!file) continue;
        if (!file.isBlocked) faults.clear(path);
        names.set(file, [...(names.get(file) ?? []), path]);
      }
      // A folder that cannot be listed says nothing about the files in it.
      const isUnseen = (path: string) => [...listing.errors.keys()].some((folder) => path.startsWith(`${folder}/`));
      for (const file of [...files.values()]) {
        const paths = names.get(file);
        if (paths) {
          file.goneSince = undefined;
          if (!paths.includes(file.path)) file.path = paths[0]!;
        } else if (file.isDeleted || !isUnseen(file.path)) {
          file.goneSince ??= performance.now();
          if (!file.isOpen) giveUp(file, sink);
        }
      }
      reportFolders(listing);
    },
    check(sink) {
      for (const file of descriptors.open()) {
        descriptors.attempt(file, () => file.check());
        if (file.goneSince === undefined || (file.isDue && !file.isBlocked)) continue;
        if (performance.now() - Math.max(file.goneSince, file.changedAt) >= graceMs) giveUp(file, sink);
      }
    },
    next() {
      for (const file of files.values()) {
        if (!file.isOpen && file.goneSince !== undefined) continue;
        if (file.isBlocked ? faults.isDue(file.path) : file.isDue) return file;
      }
      return undefined;
    },
    read(file, sink) {
      // To the end of the line: this order is the round robin.
      files.delete(inodeKey(file.identity));
      files.set(inodeKey(file.identity), file);
      if (descriptors.acquire(file) && descriptors.attempt(file, () => file.read(buffer, sink)))
        descriptors.unblock(file);
    },
    all: () => files.values(),
    count: () => files.size,
    closedCount: () => files.size - descriptors.size(),
    faults: () => faults.messages(),
    positions: () => [
      ...remembered.values(),
      ...Array.from(files.values(), (file) => file.position()).filter((position) => position !== undefined),
    ],
    closeAll() {
      for (const file of descriptors.open()) descriptors.close(file);
    },
  };
}
