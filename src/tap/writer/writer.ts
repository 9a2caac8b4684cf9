/**
 * The writer of one process or worker thread: numbers each event, keeps the lines in a bounded buffer and has one write in flight.
 * It decides when to write, what to drop while it cannot, and how a loss is told. It must never throw, wait or keep the process
 * alive: whatever happens to the folder, the host does not notice. No file before the first event.
 */
import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import * as timers from 'node:timers';
import type { EventType } from '../../core/model/fields.ts';
import { offExit, onExit } from '../exit-listener.ts';
import { sayOnce } from '../one-line.ts';
import { codeOf, nextDelay, type Reason, reasonFor } from './failure.ts';
import { nodeFiles, type WriterFiles } from './files.ts';
import { createLineMaker, type LineFields, type Lines } from './lines.ts';
import { createSegmentLog } from './segment-log.ts';

// As they are when the tap is loaded: a test of the host may set its own clock later.
const { setTimeout, clearTimeout, setInterval, clearInterval } = timers;
const wallClock = Date.now;
// What is started inside a request must not hold that request's context.
const outside = new AsyncResource('TAILFIN_WRITER');

const MIB = 1024 * 1024;

export interface WriterOptions {
  readonly folder: string;
  /** The `host` field. */
  readonly host: string;
  readonly keyId?: string | undefined;
  /** Of the whole folder, all writers together. */
  readonly quotaBytes?: number | undefined;
  readonly segmentBytes?: number | undefined;
  /** Lines that may wait, in characters. */
  readonly bufferBytes?: number | undefined;
  readonly flushBytes?: number | undefined;
  readonly flushMs?: number | undefined;
  /** An idle writer gives a sign of life this often. */
  readonly beatMs?: number | undefined;
  /** Without one for so long it counts as dead. */
  readonly silentMs?: number | undefined;
  readonly files?: WriterFiles | undefined;
  readonly now?: (() => number) | undefined;
  readonly complain?: ((text: string) => void) | undefined;
}

export interface WriterStats {
  readonly writer: string;
  /** Lines that got a number. */
  readonly events: number;
  /** Events that got none. */
  readonly dropped: number;
  /** What waits, in bytes or characters. */
  readonly buffered: number;
  readonly segments: number;
  /** Why it cannot write at the moment. */
  readonly failure: Reason | undefined;
}

export interface Writer extends Lines {
  /** Writes what is left, and the end. Without waiting: it is what happens at `exit`. */
  close(): void;
  stats(): WriterStats;
}

export const WRITER_DEFAULTS = {
  quotaBytes: 64 * MIB,
  segmentBytes: 8 * MIB,
  bufferBytes: MIB,
  flushBytes: MIB / 4,
  flushMs: 100,
  beatMs: 60_000,
  /** More than the sidecar waits before it calls a writer dead (docs/decisions/0012-segments.md). */
  silentMs: 15 * 60_000,
} as const;

export function createWriter(options: WriterOptions): Writer {
  const given = <K extends keyof typeof WRITER_DEFAULTS>(key: K): number => options[key] ?? WRITER_DEFAULTS[key];
  const { folder, files = nodeFiles, now = wallClock, complain = sayOnce } = options;
  const quotaBytes = given('quotaBytes');
  const bufferBytes = Math.min(given('bufferBytes'), quotaBytes / 8);
  const flushBytes = Math.min(given('flushBytes'), bufferBytes / 2);
  const flushMs = given('flushMs');
  const writer = randomBytes(16).toString('hex');
  const line = createLineMaker(writer, options.host);
  let pending = '';
  let seq = 0;
  let dropped = 0;
  /** Dropped and not told yet. */
  let untold = 0;
  let untoldReason: Reason = 'buffer_full';
  let failure: Reason | undefined;
  let delay: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let beats: NodeJS.Timeout | undefined;
  let isBusy = false;
  let isClosed = false;
  let isWatching = false;
  const log = createSegmentLog({
    ...{ files, folder, writer, keyId: options.keyId, line, quotaBytes, now },
    segmentBytes: Math.min(given('segmentBytes'), quotaBytes / 8),
    silentMs: given('silentMs'),
    dropped: () => dropped,
  });

  function drop(reason: Reason): void {
    dropped++;
    untold++;
    untoldReason = reason;
  }

  /** A loss takes its place in the sequence when writing works again. */
  function tell(): void {
    if (untold === 0) return;
    pending += line('gap', seq, now(), { dropped: untold, reason: untoldReason });
    seq++;
    untold = 0;
  }

  function take(): Buffer {
    const lines = Buffer.from(pending);
    pending = '';
    return lines;
  }

  function arm(ms: number): void {
    if (timer !== undefined || isBusy || isClosed) return;
    timer = setTimeout(flush, ms);
    timer.unref();
  }

  function works(): void {
    failure = delay = undefined;
    tell();
    if (beats !== undefined || log.count === 0) return;
    beats = setInterval(beat, given('beatMs'));
    beats.unref();
  }

  function fails(error: unknown): void {
    failure = reasonFor(error);
    // Now it is known why the buffer was full.
    untoldReason = failure;
    delay = nextDelay(delay);
    try {
      complain(`cannot write to ${folder} (${codeOf(error)}); events are dropped, the host is not affected`);
    } catch {
      // Whoever listens must not harm the host either.
    }
  }

  /** One at a time; what comes meanwhile waits in the buffer. */
  async function alone(work: () => Promise<void>): Promise<void> {
    if (isBusy || isClosed) return;
    isBusy = true;
    try {
      await work();
    } catch (error) {
      if (!isClosed) fails(error);
    }
    isBusy = false;
    if (isClosed) release();
    else if (pending !== '' || log.unwritten > 0) arm(delay ?? flushMs);
  }

  function flush(): void {
    timer = undefined;
    void alone(async () => {
      do {
        await log.write(take);
        if (!isClosed) works();
      } while (pending.length >= flushBytes && !isClosed);
    });
  }

  /** Also while writing fails: a full disk does not make a writer dead. */
  const beat = (): void => void alone(log.beat);

  function release(): void {
    try {
      log.release();
    } catch {
      // It was closed by somebody else.
    }
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    clearInterval(beats);
    if (!isWatching) return;
    offExit(close);
    try {
      tell();
      log.finish(take());
    } catch {
      // What cannot be written now is lost with the process; the missing end says so.
    }
    if (!isBusy) release();
  }

  /** From the first event on: a process that has none is left as it is. */
  function watchExit(): void {
    isWatching = true;
    onExit(close);
  }

  function emit(type: EventType, fields: LineFields): void {
    if (isClosed) return;
    if (!isWatching) watchExit();
    let text: string;
    try {
      text = line(type, seq, now(), fields);
    } catch {
      drop('bad_event');
      return;
    }
    if (pending.length + log.unwritten + text.length > bufferBytes) {
      drop(failure ?? 'buffer_full');
      return;
    }
    pending += text;
    seq++;
    if (timer === undefined && !isBusy) outside.runInAsyncScope(arm, undefined, flushMs);
    if (pending.length >= flushBytes && !isBusy && failure === undefined) {
      clearTimeout(timer);
      outside.runInAsyncScope(flush);
    }
  }

  return {
    emit,
    close,
    stats: () => ({
      ...{ writer, events: seq, dropped, failure, segments: log.count },
      buffered: pending.length + log.unwritten,
    }),
  };
}
