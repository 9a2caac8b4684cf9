/**
 * The files being followed: which one a name stands for, where a file that is new here is to be read from, when one is given up, and
 * whose turn it is to be read. It must not list folders, sleep, or know about event time.
 *
 * A file is its device, inode and birth time (file-identity.ts) and, after a restart, what was read of it (marks.ts).
 */
import { createAdoption } from './adoption.ts';
import { createDescriptorPool } from './descriptor-pool.ts';
import { createFaultList } from './fault-list.ts';
import { findByInode } from './file-finder.ts';
import { identityOf, inodeKey, regularFileAt, sameFile } from './file-identity.ts';
import type { FileSet, FileSetOptions } from './file-set-types.ts';
import { createFileTable, type Found, isFinished } from './file-table.ts';
import type { Listing } from './glob-scan.ts';
import { TAIL_BYTES } from './marks.ts';
import { nextTurn } from './next-turn.ts';
import { roomFor } from './room.ts';
import type { LineSink } from './source.ts';
import { reasonOf } from './system-error.ts';
import type { TailedFile } from './tailed-file.ts';

/** A file that changed so lately is looked at each time; the others when an event or a scan tells. */
const HOT_MS = 10_000;
/** So many names are looked at between two turns of the event loop. */
const NAMES_PER_TURN = 256;

export function createFileSet(options: FileSetOptions): FileSet {
  const { graceMs, renamedGraceMs, silentMs, idleMs, unstable, now, elapsed, report } = options;
  /** One for all files: a slice is consumed before the next one is read. */
  let buffer: Buffer | undefined;
  const faults = createFaultList(report.log, options.retryMs, elapsed);
  const descriptors = createDescriptorPool(options.maxOpenFiles, faults, report.log, elapsed);
  /** Round robin: the next in turn first. */
  const queue = new Set<TailedFile>();
  const adoption = createAdoption({ positions: options.positions, unstable, report });
  const table = createFileTable({ ...options, adoption, descriptors });
  const { files, live, add, giveUp, forget } = table;

  function isReady(file: TailedFile): boolean {
    if (file.isAstray || (!file.isOpen && file.isDeleted)) return false;
    return file.isBlocked ? faults.isDue(file.path) : file.isDue;
  }

  /** Read to its end, and not known to be so yet. A file without a name tells nothing: its writer has begun another one. */
  function isStill(file: TailedFile): boolean {
    return !file.isSilent && !file.isDue && !file.isBlocked && file.goneSince === undefined;
  }

  /** The file that is known and found again; else what is new here, or undefined. */
  function known(path: string, sink: LineSink): TailedFile | Found | undefined {
    const stats = regularFileAt(path);
    if (typeof stats === 'string') faults.report(path, stats);
    if (typeof stats !== 'object') return undefined;
    const identity = identityOf(stats);
    const file = files.get(inodeKey(identity));
    if (file === undefined) return [path, stats];
    if (file.isOpen || sameFile(file.identity, identity, unstable)) {
      file.saw(Number(stats.size), stats.mtimeNs);
      if (file.isDue) live.add(file);
      return file;
    }
    giveUp(file, sink); // another file has its inode now
    return [path, stats];
  }

  /** Where files that were not known are read from. */
  async function addNew(found: readonly Found[], fromEnd: boolean, names: Map<TailedFile, string[]>): Promise<void> {
    const fresh: Found[] = [];
    const put = (file: TailedFile, path: string) => names.set(file, [...(names.get(file) ?? []), path]);
    for (const [i, entry] of found.entries()) {
      if (i % NAMES_PER_TURN === NAMES_PER_TURN - 1) await nextTurn();
      const [path, stats] = entry;
      const twin = files.get(inodeKey(identityOf(stats)));
      const position = twin ? undefined : adoption.take(identityOf(stats));
      if (twin) put(twin, path);
      else if (position) put(add(entry, { at: 'resume', position }), path);
      else fresh.push(entry);
    }
    for (const { path, position } of adoption.rescue()) {
      const stats = regularFileAt(path);
      if (typeof stats !== 'object') continue;
      const file = add([path, stats], { at: 'resume', position });
      file.goneSince = elapsed();
    }
    const nameless = new Map<string, TailedFile>();
    if (fresh.length > 0) for (const file of files.values()) if (!names.has(file)) nameless.set(file.path, file);
    for (const [i, entry] of fresh.entries()) {
      if (i % NAMES_PER_TURN === NAMES_PER_TURN - 1) await nextTurn();
      const [path, stats] = entry;
      const twin = files.get(inodeKey(identityOf(stats)));
      if (twin) {
        put(twin, path);
        continue;
      }
      const before = nameless.get(path);
      const replaced = before && isReplaced(before) ? before : undefined;
      const position = replaced?.position() ?? adoption.takeReplaced(path);
      let isTaken = false;
      const refused = () => void (isTaken && position && adoption.lose(position));
      const canContinue = position !== undefined && position.head.bytes > 0;
      const file = add(
        entry,
        canContinue ? { at: 'continue', position, refused } : { at: fromEnd ? 'end' : 'beginning' },
      );
      isTaken = file.isContinuation;
      if (position && !replaced) adoption.settle(position, isTaken);
      if (replaced && isTaken) forget(replaced);
      put(file, path);
    }
  }

  /** Somebody renamed another file over its name: it has none any more. */
  function isReplaced(file: TailedFile): boolean {
    if (file.isCopy) return false;
    if (file.isOpen) descriptors.attempt(file, () => file.check());
    if (file.isOpen) return file.isDeleted;
    return findByInode([{ identity: file.identity, name: file.path }], unstable).size === 0;
  }

  function glance(path: string): void {
    const stats = regularFileAt(path);
    if (typeof stats !== 'object') return; // the next scan says so if it matters
    const identity = identityOf(stats);
    const file = files.get(inodeKey(identity));
    if (!file || !(file.isOpen || sameFile(file.identity, identity, unstable))) return;
    file.saw(Number(stats.size), stats.mtimeNs);
    if (file.isDue) live.add(file);
  }

  function updateNames(names: ReadonlyMap<TailedFile, readonly string[]>, listing: Listing, sink: LineSink): void {
    // A folder that cannot be listed says nothing about the files in it.
    const isUnseen = (path: string) => [...listing.errors.keys()].some((folder) => path.startsWith(`${folder}/`));
    const missing: TailedFile[] = [];
    for (const file of files.values()) {
      const paths = names.get(file);
      if (paths) {
        file.goneSince = undefined;
        file.isAstray = false;
        if (!paths.includes(file.path)) file.path = paths[0]!;
      } else if (file.isDeleted || !isUnseen(file.path)) {
        file.goneSince ??= elapsed();
        if (!file.isOpen) missing.push(file);
      }
    }
    if (missing.length === 0) return;
    const found = findByInode(
      missing.filter(({ isDeleted }) => !isDeleted).map(({ identity, path }) => ({ identity, name: path })),
      unstable,
    );
    for (const file of missing) {
      const path = found.get(inodeKey(file.identity));
      if (path !== undefined) {
        file.path = path;
        file.isAstray = false;
        glance(path);
      }
      if (path === undefined || isOver(file)) giveUp(file, sink);
    }
  }

  function updateFaults(listing: Listing): void {
    for (const [folder, error] of listing.errors) if (error.code !== 'ENOENT') faults.report(folder, reasonOf(error));
    const wanted = new Set([...listing.paths, ...listing.errors.keys()]);
    for (const file of files.values()) if (file.isBlocked) wanted.add(file.path);
    faults.retain((path) => wanted.has(path));
  }

  /** Nothing will be known of it until it changes, which a scan or an event tells. */
  function isCold(file: TailedFile, hotSince: number): boolean {
    if (file.isDue || file.isBlocked || file.goneSince !== undefined) return false;
    return file.changedAt < hotSince && now() - file.deliveredAt >= idleMs;
  }

  function isOver(file: TailedFile): boolean {
    if (file.goneSince === undefined || (file.isDue && !file.isBlocked)) return false;
    const quiet = elapsed() - Math.max(file.goneSince, file.changedAt);
    return isFinished(file) || quiet >= (file.isDeleted ? graceMs : renamedGraceMs);
  }

  return {
    async reconcile(listing, fromEnd, sink) {
      const names = new Map<TailedFile, string[]>();
      const found: Found[] = [];
      let seen = 0;
      for (const path of listing.paths) {
        if (++seen % NAMES_PER_TURN === 0) await nextTurn();
        while (sink.pause?.() !== undefined) await sink.pause?.();
        const file = known(path, sink);
        if (!file) continue;
        if ('identity' in file) {
          if (!file.isBlocked) faults.clear(path);
          names.set(file, [...(names.get(file) ?? []), path]);
        } else {
          faults.clear(path);
          found.push(file);
        }
      }
      await addNew(found, fromEnd, names);
      updateNames(names, listing, sink);
      updateFaults(listing);
      adoption.trim(listing.errors.size === 0);
      if (options.remover === undefined) return;
      for (const file of [...files.values()]) {
        if (++seen % NAMES_PER_TURN === 0) await nextTurn();
        while (sink.pause?.() !== undefined) await sink.pause?.();
        if (!options.remover.tryRemove(file)) continue;
        file.discard(sink);
        forget(file);
      }
    },
    glance,
    check(sink, all) {
      const hotSince = elapsed() - HOT_MS;
      for (const file of descriptors.open()) {
        if (all || file.isDue || file.goneSince !== undefined || file.changedAt >= hotSince)
          descriptors.attempt(file, () => file.check());
        if (file.isDue) live.add(file);
        if (isOver(file)) giveUp(file, sink);
      }
      for (const file of live) {
        if (isReady(file)) queue.add(file);
        else if (isFinished(file) || isCold(file, hotSince)) live.delete(file);
      }
      if (!all) return;
      for (const file of files.values()) {
        if (file.quietMs < silentMs || !isStill(file) || isFinished(file)) continue;
        file.isSilent = true;
        sink.silent?.(file.origin);
      }
    },
    readNext(sink, most) {
      if (queue.size === 0) return undefined;
      buffer ??= roomFor(sink, options.sliceBytes + TAIL_BYTES);
      const room = most < options.sliceBytes ? buffer.subarray(0, most + TAIL_BYTES) : buffer;
      for (const file of queue) {
        queue.delete(file);
        if (!table.has(file) || !isReady(file)) continue;
        const isOpen = descriptors.acquire(file);
        const cost = isOpen ? descriptors.attempt(file, () => file.read(room, sink)) : undefined;
        if (cost !== undefined) descriptors.unblock(file);
        if (isReady(file)) queue.add(file);
        return cost ?? 0;
      }
      return undefined;
    },
    live: () => live,
    liveCount: () => live.size,
    hasAstray: () => [...live].some(({ isAstray }) => isAstray),
    count: () => files.size,
    openCount: () => descriptors.size(),
    faults: () => faults.messages(),
    positions: () => [
      ...adoption.all(),
      ...Array.from(files.values(), (file) => file.position()).filter((position) => position !== undefined),
    ],
    committed(positions) {
      for (const position of positions) {
        const file = files.get(inodeKey(position));
        if (file && sameFile(file.identity, position, unstable)) file.committedTo = position.offset;
      }
    },
    closeAll() {
      for (const file of descriptors.open()) descriptors.close(file);
    },
  };
}
