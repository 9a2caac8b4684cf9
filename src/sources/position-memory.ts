/**
 * Positions of files that are not here: those of an earlier run until their file is found, and those of files that were moved out
 * of sight, so that a file that comes back is not read twice. It must not grow with the number of rotations.
 */
import { type FileIdentity, inodeKey, sameFile, type UnstableBirth } from './file-identity.ts';
import type { FilePosition } from './file-state.ts';

const MAX_POSITIONS = 1024;

export interface PositionMemory {
  keep(position: FilePosition): void;
  /** Hands the position over; one of a dead file with the same inode is forgotten, and told. */
  take(identity: FileIdentity): FilePosition | undefined;
  /** Hands over the first that fits. */
  takeBy(fits: (position: FilePosition) => boolean): FilePosition | undefined;
  /** Forgets the oldest. While some folder cannot be listed its files may still be there: all restored positions have room. */
  trim(isAllListed: boolean): void;
  all(): Iterable<FilePosition>;
}

export function createPositionMemory(
  restored: readonly FilePosition[],
  unstable: UnstableBirth,
  onDead: (position: FilePosition) => void,
): PositionMemory {
  const positions = new Map(restored.map((position) => [inodeKey(position), position]));
  return {
    keep: (position) => void positions.set(inodeKey(position), position),
    take(identity) {
      const position = positions.get(inodeKey(identity));
      if (position === undefined) return undefined;
      positions.delete(inodeKey(identity));
      if (sameFile(position, identity, unstable)) return position;
      onDead(position);
      return undefined;
    },
    takeBy(fits) {
      for (const [key, position] of positions) {
        if (!fits(position)) continue;
        positions.delete(key);
        return position;
      }
      return undefined;
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
