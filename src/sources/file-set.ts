/**
 * The files of one source: decides which file a name stands for, whose turn it is, and when a file that lost its name is given up.
 * It must not wait, watch, or know event time.
 *
 * A file is its inode. While its descriptor is open the kernel cannot hand that inode to another file, so the inode alone is proof;
 * otherwise the birth time must agree too.
 */
import type { BigIntStats } from 'node:fs';
import { createDescriptorPool } from './descriptor-pool.ts';
import { createFaultList, type Log } from './fault-list.ts';
import { identityOf, inodeKey, regularFileAt } from './file-identity.ts';
import type { Listing } from './glob-scan.ts';
import { createPositionMemory } from './position-memory.ts';
import type { FilePosition, LineSink } from './source.ts';
import { reasonOf } from './system-error.ts';
import { createTailedFile, MARKER_BYTES, type TailedFile } from './tailed-file.ts';

export interface FileSetOptions {
  readonly name: string;
  readonly host: string;
  readonly maxLineBytes: number;
  readonly sliceBytes: number;
  /** A file without a name is read until it is quiet for this long. */
  readonly graceMs: number;
  readonly maxOpenFiles: number;
  readonly retryMs: number;
  /** A file that was watched for so long without a change is silent. */
  readonly silentMs: number;
  readonly restore: readonly FilePosition[];
  readonly now: () => number;
  readonly log: Log;
}

export interface FileSet {
  /** Takes over what a scan found. `fromEnd`: files not known yet are read from their end. */
  reconcile(listing: Listing, fromEnd: boolean, sink: LineSink): void;
  /** There are files without a descriptor: `check` does not see them grow, but `glance` and `reconcile` do. */
  hasClosed(): boolean;
  glance(path: string): void;
  /** Looks at every open file, gives up what is finished, and queues what is to be read. */
  check(sink: LineSink): void;
  /** Reads one slice of the file whose turn it is. Returns its cost in bytes, undefined when no file is queued. */
  readNext(sink: LineSink): number | undefined;
  all(): Iterable<TailedFile>;
  count(): number;
  faults(): string[];
  positions(): FilePosition[];
  closeAll(): void;
}

export function createFileSet(options: FileSetOptions): FileSet {
  const { name, host, maxLineBytes, graceMs, silentMs, now, log } = options;
  // One buffer for all files: a slice is consumed before the next one is read.
  const buffer = Buffer.allocUnsafe(options.sliceBytes + MARKER_BYTES);
  const faults = createFaultList(log, options.retryMs);
  const descriptors = createDescriptorPool(options.maxOpenFiles, faults, log);
  const absent = createPositionMemory(options.restore);
  /** By inode. */
  const files = new Map<string, TailedFile>();
  /** Round robin: the next in turn first. */
  const queue = new Set<TailedFile>();

  function isReady(file: TailedFile): boolean {
    if (!file.isOpen && file.goneSince !== undefined) return false;
    return file.isBlocked ? faults.isDue(file.path) : file.isDue;
  }

  /** Read to its end, and not known to be so yet. A file without a name tells nothing: its writer has begun another one. */
  function isStill(file: TailedFile): boolean {
    return !file.isSilent && !file.isDue && !file.isBlocked && file.goneSince === undefined;
  }

  function giveUp(file: TailedFile, sink: LineSink): void {
    if (file.unreadBytes > 0)
      log('warn', `${file.path} went away with ${file.unreadBytes} bytes unread`, 'file_lost_unread');
    const position = file.position();
    if (position && !file.isDeleted) absent.keep(position);
    file.discard(sink);
    descriptors.close(file);
    queue.delete(file);
    files.delete(inodeKey(file.identity));
  }

  function add(path: string, stats: BigIntStats, fromEnd: boolean): TailedFile {
    const identity = identityOf(stats);
    const size = Number(stats.size);
    const known = absent.take(identity);
    const file = createTailedFile({
      path,
      identity,
      size,
      modifiedNs: stats.mtimeNs,
      start: known && known.offset <= size ? known : !known && fromEnd ? 'end' : { offset: 0, line: 1 },
      // The first name, also after a rename: what a rotating writer goes on with is one series of lines.
      origin: { source: name, writer: known?.path ?? path, host, file: path },
      maxLineBytes,
      now,
      log,
    });
    files.set(inodeKey(identity), file);
    descriptors.acquire(file);
    return file;
  }

  /** The file that a name stands for now. */
  function fileAt(path: string, fromEnd: boolean, sink: LineSink): TailedFile | undefined {
    const stats = regularFileAt(path);
    if (typeof stats === 'string') faults.report(path, stats);
    if (typeof stats !== 'object') return undefined;
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

  function updateFaults(listing: Listing): void {
    for (const [folder, error] of listing.errors) if (error.code !== 'ENOENT') faults.report(folder, reasonOf(error));
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
      updateFaults(listing);
      absent.trim(listing.errors.size === 0);
    },
    hasClosed: () => files.size > descriptors.size(),
    glance(path) {
      const stats = regularFileAt(path);
      if (typeof stats !== 'object') return; // the next scan says so if it matters
      const file = files.get(inodeKey(identityOf(stats)));
      if (file && !file.isOpen) file.saw(Number(stats.size), stats.mtimeNs);
    },
    check(sink) {
      for (const file of descriptors.open()) {
        descriptors.attempt(file, () => file.check());
        if (file.goneSince === undefined || (file.isDue && !file.isBlocked)) continue;
        if (performance.now() - Math.max(file.goneSince, file.changedAt) >= graceMs) giveUp(file, sink);
      }
      for (const file of files.values()) {
        if (isReady(file)) queue.add(file);
        else if (file.quietMs >= silentMs && isStill(file)) {
          file.isSilent = true;
          sink.silent?.(file.origin);
        }
      }
    },
    readNext(sink) {
      for (const file of queue) {
        queue.delete(file);
        if (!isReady(file)) continue;
        const isOpen = descriptors.acquire(file);
        const cost = isOpen ? descriptors.attempt(file, () => file.read(buffer, sink)) : undefined;
        if (cost !== undefined) descriptors.unblock(file);
        if (isReady(file)) queue.add(file);
        return cost ?? 0;
      }
      return undefined;
    },
    all: () => files.values(),
    count: () => files.size,
    faults: () => faults.messages(),
    positions: () => [
      ...absent.all(),
      ...Array.from(files.values(), (file) => file.position()).filter((position) => position !== undefined),
    ],
    closeAll() {
      for (const file of descriptors.open()) descriptors.close(file);
    },
  };
}
