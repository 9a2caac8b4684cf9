/** The contract between a source of lines and the application. A source knows nothing of the pipeline behind the sink. */
import type { Origin, Rejection, RejectionReason } from '../core/model/event.ts';

/** What `toString` calls behind its argument checks, which cost a tenth of a whole split (on Buffer in every Node, untyped). */
export type Slicer = Buffer & Record<'latin1Slice' | 'utf8Slice', (start: number, end: number) => string>;

export interface LineSink {
  /**
   * One whole line: decoded text without its line end, not blank, no NUL run around it, no BOM.
   * Returns the event time (Unix ms) of an accepted line, or why it was rejected (which is counted by then).
   */
  line(text: string, origin: Origin, line: number, offset: number): number | Rejection;
  /** The same for an ASCII line before it becomes text; null: it is to be delivered as text. */
  bytes?(
    bytes: Slicer,
    start: number,
    end: number,
    origin: Origin,
    line: number,
    offset: number,
  ): number | Rejection | null;
  /** Memory for so many bytes in which it reads lines the fastest; undefined or null: there is none. */
  room?(bytes: number): Uint8Array | null | undefined;
  /** A line that never became text: longer than the limit, unfinished when its file ended for good, or a record that is no event. */
  reject(reason: RejectionReason, origin: Origin, line: number, offset: number): void;
  /** The line about to be delivered held bytes that are no UTF-8 (they became U+FFFD). */
  invalidUtf8(origin: Origin, line: number, offset: number): void;
  /**
   * A file that is read to its end was watched for `LIMITS.writerSilentMs` and did not change, not even its time. Once, until it
   * changes again.
   */
  silent?(origin: Origin): void;
  /**
   * Set while what was delivered is written down: until it has resolved nothing may be delivered. Asked before each stretch of
   * deliveries that nothing interrupts.
   */
  pause?(): Promise<void> | undefined;
  /**
   * Called after each slice of work: everything of this source up to `watermark` (Unix ms of event time) was delivered.
   * -Infinity while nothing is known.
   */
  advance(source: string, watermark: number): void;
}

export interface SourceStatus {
  readonly name: string;
  /** waiting: nothing to read yet; replaying: behind the end seen at start; following: caught up once. */
  readonly state: 'waiting' | 'replaying' | 'following';
  /** One clear line each: what cannot be read and why. Empty: no fault. */
  readonly faults: readonly string[];
  /** It is where its input can come from: for files, every folder of the globs is there and can be listed. */
  readonly isUp: boolean;
  readonly files: number;
  readonly lagBytes: number;
  /** Wall time minus the time of the newest delivered event while bytes are unread, else 0. */
  readonly lagSeconds: number;
  /** Of a source that reads files. */
  readonly tail?: {
    readonly openFiles: number;
    /** The part of `lagBytes` in files that have no name of their own any more. */
    readonly unreadRotatedBytes: number;
    /** What was read of the bytes that were there at start: 0 to 1. */
    readonly backlogRatio: number;
  };
}

export interface Source {
  readonly name: string;
  /** Reads until the signal aborts; rejects only on a programming error, never for a bad file. */
  run(sink: LineSink, signal: AbortSignal): Promise<void>;
  /** Reads what is there now, to the end of every file (shutdown). Stops at the deadline (ms of budget). */
  drain(sink: LineSink, budgetMs: number): Promise<void>;
  status(): SourceStatus;
  /** What it needs to go on after a restart, as JSON; agrees with what the sink was given. Unset: nothing can be read again. */
  state?(): SourceState;
  /** This state, and what was made of the lines before it, is durable now. */
  committed?(state: SourceState): void;
}

/** Its form is the source's own (file-state.ts is the contract of the file source's). */
export interface SourceState {
  readonly version: number;
}
