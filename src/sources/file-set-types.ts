/** What the set of followed files is made from, and what it can be asked to do; how it does it is in file-set.ts. */
import type { UnstableBirth } from './file-identity.ts';
import type { FileReport } from './file-report.ts';
import type { FilePosition } from './file-state.ts';
import type { Listing } from './glob-scan.ts';
import type { SegmentRemover } from './segment-remover.ts';
import type { LineSink } from './source.ts';
import type { TailedFile } from './tailed-file.ts';

export interface FileSetOptions {
  readonly name: string;
  readonly host: string;
  readonly maxLineBytes: number;
  readonly sliceBytes: number;
  /** A removed file is read until it is quiet for this long; one that has another name now for `renamedGraceMs`. */
  readonly graceMs: number;
  readonly renamedGraceMs: number;
  readonly maxOpenFiles: number;
  readonly retryMs: number;
  /** A file that was watched for so long without a change is silent. */
  readonly silentMs: number;
  /** A file that delivered nothing for so long has no say in event time. */
  readonly idleMs: number;
  /** Where an earlier run stood. */
  readonly positions: readonly FilePosition[];
  readonly unstable: UnstableBirth;
  readonly remover: SegmentRemover | undefined;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly report: FileReport;
}

export interface FileSet {
  /** Takes over what a scan found. `fromEnd`: files not known yet are read from their end. Gives others a turn in between. */
  reconcile(listing: Listing, fromEnd: boolean, sink: LineSink): Promise<void>;
  /** Something happened to what this name leads to. */
  glance(path: string): void;
  /** Looks at the files that change, or at `all` that are open; gives up what is finished, and queues what is to be read. */
  check(sink: LineSink, all: boolean): void;
  /** Reads one slice, `most` bytes at the most, of the file whose turn it is. Returns its cost in bytes, undefined when no file is queued. */
  readNext(sink: LineSink, most: number): number | undefined;
  /** Those that may still change. */
  live(): Iterable<TailedFile>;
  liveCount(): number;
  /** Some file can be found by a scan only. */
  hasAstray(): boolean;
  count(): number;
  openCount(): number;
  faults(): string[];
  positions(): FilePosition[];
  committed(positions: readonly FilePosition[]): void;
  closeAll(): void;
}
