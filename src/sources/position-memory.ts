/**
 * Positions of files that are not here: those of a checkpoint until their file is found, and those of files that were moved out of
 * sight, so that a file that comes back is not read twice. It must not grow with the number of rotations.
 */
import { type FileIdentity, inodeKey } from './file-identity.ts';
import type { FilePosition } from './source.ts';

const MAX_POSITIONS = 1024;

export interface PositionMemory {
  keep(position: FilePosition): void;
  /** Hands the position over; one of a dead file with the same inode is forgotten. */
  take(identity: FileIdentity): FilePosition | undefined;
  /** Forgets the oldest. While some folder cannot be listed its files may still be there: all restored positions have room. */
  trim(isAllListed: boolean): void;
  all(): Iterable<FilePosition>;
}

export function createPositionMemory(restored: readonly FilePosition[]): PositionMemory {
  const positions = new Map(restored.map((position) => [inodeKey(position), position]));
  return {
    keep: (position) => void positions.set(inodeKey(position), position),
    take(identity) {
      const position = positions.get(inodeKey(identity));
      positions.delete(inodeKey(identity));
      return position?.birthtimeNs === identity.birthtimeNs ? position : undefined;
    },
    trim(isAllListed) {
      const room = isAllListed ? MAX_POSITIONS : Math.max(MAX_POSITIONS, restored.length);
      for (const key of positions.keys()) {
        if (positions.size <= room) return;
        positions.delete(key);
      }
    },
    all: () => positions.values(),
  };
}
