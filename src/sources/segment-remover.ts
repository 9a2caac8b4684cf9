/**
 * Removes segments of a tap of which nothing is needed any more: read to the end, durable, and ended; or without a sign of life for
 * so long that their writer is dead. Decides which ones, and gives up for a while where the folder does not allow it (a folder with the
 * sticky bit lets only the owner). It must never remove a file that has not both the name and the first line of a segment.
 */
import { lstatSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { identityOf, sameFile } from './file-identity.ts';
import type { FileReport } from './file-report.ts';
import { segmentName } from './segment-lines.ts';
import { reasonOf } from './system-error.ts';
import type { TailedFile } from './tailed-file.ts';

export interface SegmentRemoverOptions {
  /** A read segment stays so long after its last change, for whoever wants to look into it. */
  readonly keepMs: number;
  /** A writer without a sign of life for so long is dead; more than writers themselves wait (docs/decisions/0012-segments.md). */
  readonly deadMs: number;
  /** Somebody says what is durable; else what was read is. */
  readonly hasCommits: boolean;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly report: FileReport;
}

export interface SegmentRemover {
  /** Removes it if it may go. */
  tryRemove(file: TailedFile): boolean;
}

const RETRY_MS = 10 * 60_000;
const NO_BIRTH_CHECK: ReadonlySet<string> = new Set();

export function createSegmentRemover(options: SegmentRemoverOptions): SegmentRemover {
  const { keepMs, deadMs, hasCommits, now, elapsed, report } = options;
  /** Folders in which it was refused, and until when nothing is tried there. */
  const refused = new Map<string, number>();

  function isDone(file: TailedFile): boolean {
    if (file.isDue || file.isBlocked || file.isCopy || file.goneSince !== undefined) return false;
    if (file.segment === undefined || segmentName(file.path) !== file.segment.id) return false;
    if (hasCommits && file.committedTo < (file.position()?.offset ?? Number.POSITIVE_INFINITY)) return false;
    return file.isEnded ? now() - file.modifiedMs >= keepMs : file.quietMs >= deadMs;
  }

  function remove(file: TailedFile): boolean {
    try {
      const identity = identityOf(lstatSync(file.path, { bigint: true }));
      if (!sameFile(identity, file.identity, NO_BIRTH_CHECK)) return false;
      unlinkSync(file.path);
      report.count('segments_removed', 1);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      const folder = dirname(file.path);
      if (!refused.has(folder))
        report.log('info', `segments that were read stay in ${folder}: ${reasonOf(error)}`, 'segments_kept');
      refused.set(folder, elapsed() + RETRY_MS);
      return false;
    }
  }

  return {
    tryRemove: (file) => isDone(file) && (refused.get(dirname(file.path)) ?? 0) <= elapsed() && remove(file),
  };
}
