/** What goes into the pipeline and what may be asked of it. */
import type { Cells } from './measures/cells.ts';
import type { Origin, Rejection, RejectionReason, WireEvent } from './model/event.ts';
import type { Fact } from './model/facts.ts';
import type { Policy } from './model/policy.ts';
import type { TextBytes } from './scan/text-bytes.ts';
import type { Saved } from './state.ts';

export interface PipelineOptions {
  readonly policy?: Policy;
  readonly cells?: Cells;
  /** Host of most lines: the default of the sources. */
  readonly home?: string;
  /** Time follows the newest event by itself (a replay) instead of `tick` alone (live: time is the sources' watermark). */
  readonly ownClock?: boolean;
  /**
   * Called with every fact, after it was measured; with a finding comes the fact that it was found in. Whoever asks an operation fact for
   * its `operation` does so now: it is built from what goes when this returns, and only for who asks.
   */
  readonly onFact?: ((fact: Fact, cause: Fact | null) => void) | undefined;
  /** false: not with clean verdicts, nor with operations that delivered at the first try. */
  readonly plainFacts?: boolean | undefined;
  /** Called with every event before it is judged; valid while it is delivered. */
  readonly onEvent?: ((event: WireEvent) => void) | undefined;
  /** Unix ms: lines of more than `LIMITS.maxFutureMs` after it are `future_ts`. A replay has none. */
  readonly wallClock?: (() => number) | undefined;
}

export interface Pipeline {
  readonly cells: Cells;
  /** One line of text. Returns the event time of an accepted one, or why it was rejected (which is counted). */
  line(text: string, origin: Origin, line: number, offset: number): number | Rejection;
  /**
   * The same for a line that is still bytes, if it is written as most are: null leaves everything as it was, and the line is to be
   * given as text.
   */
  bytes(
    ...line: [bytes: TextBytes, start: number, end: number, origin: Origin, line: number, offset: number]
  ): number | Rejection | null;
  /**
   * Memory for so many bytes of lines, of which there is little: lines that stand there are read the fastest. Undefined: none is left,
   * any other memory will do. Null: this host has no scanner, and every line takes the long way.
   */
  room(bytes: number): Uint8Array | null | undefined;
  /** An event that was decoded elsewhere (a replay merges files by time first). */
  accept(event: WireEvent): void;
  reject(reason: RejectionReason, origin: Origin): void;
  /** A line that decode did not accept, in its place among the others. */
  refuse(rejection: Rejection, origin: Origin): void;
  invalidUtf8(origin: Origin): void;
  /** The file of this origin was watched for long and showed no sign of life of its writer. */
  silent(origin: Origin): void;
  /** Everything up to `now` (Unix ms) was delivered: closes what is due. Never goes back. */
  tick(now: number): void;
  /** No more input: closes every window. */
  finish(): void;
  /** Brings gauges of state up to date; call before the cells are read. */
  refresh(): void;
  /** All that outlives one event, cells included (state.ts): to be taken whole before anything else is called. */
  save(): Saved;
  /** Goes on from what another pipeline saved. Before the first line. Returns the names of parts that nothing knows any more. */
  load(saved: Saved): string[];
}
