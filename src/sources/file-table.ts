/**
 * The files that are known, by inode and by segment, and how one enters and leaves: what of a file that goes away was never read is
 * counted here. It must not decide which file is added, or when one is given up.
 */
import type { BigIntStats } from 'node:fs';
import type { Adoption } from './adoption.ts';
import type { DescriptorPool } from './descriptor-pool.ts';
import { identityOf, inodeKey, type UnstableBirth } from './file-identity.ts';
import type { FileReport } from './file-report.ts';
import type { SegmentId } from './segment-lines.ts';
import type { LineSink } from './source.ts';
import { createTailedFile, type TailedFile, type TailedFileOptions } from './tailed-file.ts';

/** What a name leads to. */
export type Found = readonly [path: string, stats: BigIntStats];

export interface FileTableOptions {
  readonly name: string;
  readonly host: string;
  readonly maxLineBytes: number;
  readonly unstable: UnstableBirth;
  readonly adoption: Adoption;
  readonly descriptors: DescriptorPool;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly report: FileReport;
}

export interface FileTable {
  /** By inode. */
  readonly files: ReadonlyMap<string, TailedFile>;
  /** Those that may still change. */
  readonly live: Set<TailedFile>;
  has(file: TailedFile): boolean;
  add(found: Found, start: TailedFileOptions['start']): TailedFile;
  /** It is gone; what is unread of it is lost. */
  giveUp(file: TailedFile, sink: LineSink): void;
  /** Without a word. */
  forget(file: TailedFile): void;
}

/** Nothing more is expected of it. */
export const isFinished = (file: TailedFile): boolean =>
  file.isCopy || (file.isEnded && !file.isDue && !file.isBlocked);

export function createFileTable(options: FileTableOptions): FileTable {
  const { name, host, maxLineBytes, unstable, adoption, descriptors, now, elapsed, report } = options;
  const files = new Map<string, TailedFile>();
  const live = new Set<TailedFile>();
  const segments = new Map<string, TailedFile>();

  function claim(file: TailedFile, { id }: SegmentId): boolean {
    const owner = segments.get(id);
    if (owner === undefined || owner === file) {
      segments.set(id, file);
      return true;
    }
    report.count('copies', 1);
    report.log('info', `${file.path} is a copy of ${owner.path} and is not read`, 'file_is_copy');
    return false;
  }

  function forget(file: TailedFile): void {
    descriptors.close(file);
    live.delete(file);
    files.delete(inodeKey(file.identity));
    if (file.segment !== undefined && segments.get(file.segment.id) === file) segments.delete(file.segment.id);
  }

  return {
    files,
    live,
    has: (file) => files.get(inodeKey(file.identity)) === file,
    add([path, stats], start) {
      const identity = identityOf(stats);
      const position = start.at === 'resume' || start.at === 'continue' ? start.position : undefined;
      const file: TailedFile = createTailedFile({
        ...{ path, identity, start, maxLineBytes, unstable, now, elapsed, report },
        ...{ size: Number(stats.size), modifiedNs: stats.mtimeNs },
        // The first name, also after a rename: what a rotating writer goes on with is one series of lines.
        origin: { source: name, writer: position?.path ?? path, host, file: path },
        claim: (segment) => claim(file, segment),
      });
      files.set(inodeKey(identity), file);
      live.add(file);
      if (position?.segment !== undefined && !position.copy) segments.set(position.segment.id, file);
      // What an earlier run read to its end needs no descriptor; everything else could be removed the next moment.
      if (!isFinished(file)) descriptors.acquire(file);
      return file;
    },
    giveUp(file, sink) {
      const lost = file.lossBytes;
      if (lost > 0) {
        report.log('warn', `${file.path} went away with ${lost} bytes unread`, 'file_lost_unread');
        report.count('lost_rotated_bytes', lost);
      }
      const position = file.position();
      if (position && !file.isDeleted) adoption.keep(position);
      file.discard(sink);
      forget(file);
    },
    forget,
  };
}
