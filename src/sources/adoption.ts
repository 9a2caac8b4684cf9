/**
 * Where files that appear were left by an earlier run, or before they were out of sight: decides which stored position belongs to
 * which file, and when the file of a position is gone for good with bytes that were never read. It must not look into a file: whether
 * its content still fits the position is seen when it is opened.
 */
import { findByInode } from './file-finder.ts';
import { type FileIdentity, inodeKey, type UnstableBirth } from './file-identity.ts';
import type { FileReport } from './file-report.ts';
import type { FilePosition } from './file-state.ts';
import { createPositionMemory } from './position-memory.ts';
import { segmentName } from './segment-lines.ts';

export interface AdoptionOptions {
  readonly positions: readonly FilePosition[];
  readonly unstable: UnstableBirth;
  readonly report: FileReport;
}

export interface Adoption {
  /** The position of this very file. */
  take(identity: FileIdentity): FilePosition | undefined;
  /** Those files of the earlier run that are still in their folder, but have a name now which no pattern matches. */
  rescue(): { path: string; position: FilePosition }[];
  /** The position of the file that had this name, or was this segment, and is gone. */
  takeReplaced(path: string): FilePosition | undefined;
  /** Whether the file goes on at that position. */
  settle(position: FilePosition, isContinued: boolean): void;
  /** What was unread is lost. */
  lose(position: FilePosition): void;
  keep(position: FilePosition): void;
  /** Once every folder could be listed, what was not found is lost. */
  trim(isAllListed: boolean): void;
  all(): Iterable<FilePosition>;
}

/** What was unread of it is counted, and is not to be counted again by a later run. */
const settled = (position: FilePosition): FilePosition => ({ ...position, size: position.offset });

export function createAdoption({ positions, unstable, report }: AdoptionOptions): Adoption {
  /** Of the earlier run, not found so far. */
  const awaited = new Set(positions);
  const memory = createPositionMemory(positions, unstable, lost);

  function lose({ name, size, offset, copy }: FilePosition): void {
    const unread = size - offset;
    if (unread <= 0 || copy) return;
    report.log('warn', `${name} went away with ${unread} bytes unread`, 'file_lost_unread');
    report.count('lost_rotated_bytes', unread);
  }

  function lost(position: FilePosition): void {
    if (awaited.delete(position)) lose(position);
  }

  function found(position: FilePosition | undefined): FilePosition | undefined {
    if (position !== undefined) awaited.delete(position);
    return position;
  }

  return {
    take: (identity) => found(memory.take(identity)),
    rescue() {
      if (awaited.size === 0) return [];
      const paths = findByInode(
        Array.from(awaited, (position) => ({ identity: position, name: position.name })),
        unstable,
      );
      const rescued: { path: string; position: FilePosition }[] = [];
      for (const position of [...awaited]) {
        const path = paths.get(inodeKey(position));
        if (path === undefined) continue;
        found(memory.takeBy((each) => each === position));
        rescued.push({ path, position });
      }
      return rescued;
    },
    takeReplaced(path) {
      const id = segmentName(path);
      const isIt = ({ name, segment }: FilePosition) => name === path || (id !== undefined && segment?.id === id);
      return memory.takeBy((position) => isIt(position) && !position.copy);
    },
    settle(position, isContinued) {
      if (isContinued) found(position);
      else lost(position);
    },
    lose,
    keep: (position) => memory.keep(settled(position)),
    trim(isAllListed) {
      if (isAllListed)
        for (const position of [...awaited]) {
          lost(position);
          memory.keep(settled(position));
        }
      memory.trim(isAllListed);
    },
    all: () => memory.all(),
  };
}
