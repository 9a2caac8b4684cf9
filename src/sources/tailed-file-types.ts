/** What a file that is followed is made from, and what it shows of itself; what it does is in tailed-file.ts. */
import type { Origin } from '../core/model/event.ts';
import type { FileIdentity, UnstableBirth } from './file-identity.ts';
import type { FileReport } from './file-report.ts';
import type { FilePosition } from './file-state.ts';
import type { SegmentId } from './segment-lines.ts';
import type { LineSink } from './source.ts';

export interface TailedFileOptions {
  readonly path: string;
  readonly identity: FileIdentity;
  readonly size: number;
  readonly modifiedNs: bigint;
  /**
   * `beginning`; `end`: the last line start before `size`, lines are counted from there; `resume`: where this file was left, and if
   * it is not what it was, it was rewritten; `continue`: where another file was left, if this one begins with what was read of that.
   */
  readonly start:
    | { readonly at: 'beginning' | 'end' }
    | { readonly at: 'resume'; readonly position: FilePosition }
    | { readonly at: 'continue'; readonly position: FilePosition; readonly refused: () => void };
  readonly origin: Origin;
  readonly maxLineBytes: number;
  readonly unstable: UnstableBirth;
  readonly claim: (segment: SegmentId) => boolean;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly report: FileReport;
}

export interface TailedFile {
  readonly identity: FileIdentity;
  readonly origin: Origin;
  /** Its present name. */
  path: string;
  /** Since when no pattern matches it; undefined while one does. */
  goneSince: number | undefined;
  /** The last attempt to read it failed. */
  isBlocked: boolean;
  /** It is not open, and its name leads elsewhere: only a scan can find it. */
  isAstray: boolean;
  /** Up to where what was read of it is durable. */
  committedTo: number;
  readonly isOpen: boolean;
  /** Its last name was removed: nothing can lead to it again. */
  readonly isDeleted: boolean;
  /** It goes on where another file was left. */
  readonly isContinuation: boolean;
  readonly isCopy: boolean;
  /** Its writer said that nothing will follow. */
  readonly isEnded: boolean;
  readonly segment: SegmentId | undefined;
  /** The latest event time delivered, -Infinity before the first. */
  readonly newestTs: number;
  /** Wall time of the last accepted line, -Infinity before the first. */
  readonly deliveredAt: number;
  /** Process time of the last change of its size or content. */
  readonly changedAt: number;
  /** Its modification time, Unix ms. */
  readonly modifiedMs: number;
  /** How long it was watched without a change. */
  readonly quietMs: number;
  /** That was reported. */
  isSilent: boolean;
  readonly offset: number;
  readonly unreadBytes: number;
  /** As many and those of the unfinished line before them; 0 where nothing is unread. */
  readonly lossBytes: number;
  /** There is something to read or to verify. */
  readonly isDue: boolean;
  /** Bytes of the end that was seen first that are not read yet. */
  readonly replayBytes: number;
  /** False: the name leads to another file, or nowhere. */
  open(): boolean;
  /** Frees the descriptor, keeps the position. */
  close(): void;
  /** Looks at the open file. */
  check(): void;
  /** What a look by name found. */
  saw(size: number, modifiedNs: bigint): void;
  /** Reads one slice; returns its cost, as a number of bytes in long lines. */
  read(buffer: Buffer, sink: LineSink): number;
  /** What is unfinished will stay so. */
  discard(sink: LineSink): void;
  /** undefined: `end` was asked for and not found yet. */
  position(): FilePosition | undefined;
}
