/**
 * Keeps the number of open files under a cap: decides whose descriptor is taken away (the one used least recently) and what an
 * attempt to open means for the file. It must not decide which file is needed.
 */
import type { FaultList, Log } from './fault-list.ts';
import { reasonOf } from './system-error.ts';
import type { TailedFile } from './tailed-file.ts';

/** Anything else comes from behind the sink and is not the file's fault. */
const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  ['open', 'fstat', 'read'].includes((error as NodeJS.ErrnoException).syscall ?? '');

export interface DescriptorPool {
  /** False: not now. Then it is blocked by a fault, or astray, or has to wait for others to be read. */
  acquire(file: TailedFile): boolean;
  /** Runs an operation on an open file. undefined: a system error, and the file is blocked. */
  attempt<T>(file: TailedFile, operation: () => T): T | undefined;
  /** It was read: whatever blocked it is over. */
  unblock(file: TailedFile): void;
  close(file: TailedFile): void;
  open(): TailedFile[];
  size(): number;
}

export function createDescriptorPool(
  maxOpen: number,
  faults: FaultList,
  log: Log,
  elapsed: () => number,
): DescriptorPool {
  /** The one used least recently first. */
  const open = new Set<TailedFile>();

  function block(file: TailedFile, reason: string): false {
    file.isBlocked = true;
    faults.report(file.path, reason);
    return false;
  }

  function close(file: TailedFile): void {
    if (file.isOpen) log('debug', `closed ${file.path}, ${file.unreadBytes} bytes unread`, 'file_closed');
    file.close();
    open.delete(file);
  }

  /**
   * A file without a name cannot be opened again: its descriptor is taken away only where there is no other, and it is read to
   * its end.
   */
  function makeRoom(): boolean {
    if (open.size < maxOpen) return true;
    const files = [...open];
    const victim =
      files.find(({ goneSince }) => goneSince === undefined) ??
      files.find(({ isDue, isBlocked }) => !isDue && !isBlocked);
    if (victim) close(victim);
    return victim !== undefined;
  }

  return {
    acquire(file) {
      if (file.isOpen) {
        open.delete(file);
        open.add(file);
        return true;
      }
      if (!makeRoom()) {
        // Those that hold them are read first, which sets them free.
        if ([...open].some(({ isDue, isBlocked }) => isDue && !isBlocked)) return false;
        return block(file, `all ${maxOpen} descriptors are held by unreadable files that were renamed or removed`);
      }
      try {
        if (file.open()) {
          open.add(file);
          log('debug', `opened ${file.path}, ${file.unreadBytes} bytes to read`, 'file_opened');
          return true;
        }
      } catch (error) {
        if (!isFileError(error)) throw error;
        if (error.code !== 'ENOENT') return block(file, reasonOf(error));
      }
      file.goneSince ??= elapsed();
      file.isAstray = true;
      return false;
    },
    attempt(file, operation) {
      try {
        return operation();
      } catch (error) {
        if (!isFileError(error)) throw error;
        block(file, reasonOf(error));
        return undefined;
      }
    },
    unblock(file) {
      if (file.isBlocked) faults.clear(file.path);
      file.isBlocked = false;
    },
    close,
    open: () => [...open],
    size: () => open.size,
  };
}
