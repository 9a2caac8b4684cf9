/**
 * The segments of one writer, one after the other: decides when a segment is begun, ended for its size, or given up because its file
 * was removed. Lines leave in the order in which they came, each whole in one file. It must not decide when to write, or what to do
 * about a failure: errors go to the caller, and nothing that was taken is lost by one.
 */
import { QuotaError, reasonFor } from './failure.ts';
import type { WriterFiles } from './files.ts';
import type { LineMaker } from './lines.ts';
import { makeRoom, makeRoomNow, type RoomOptions } from './quota.ts';
import { createSegment, type Segment } from './segment.ts';

export interface SegmentLogOptions {
  readonly files: WriterFiles;
  readonly folder: string;
  readonly writer: string;
  readonly keyId: string | undefined;
  readonly line: LineMaker;
  readonly segmentBytes: number;
  readonly quotaBytes: number;
  readonly silentMs: number;
  readonly now: () => number;
  /** Events that never got a number, for the `end` line. */
  readonly dropped: () => number;
}

export interface SegmentLog {
  /** Bytes that were taken and are not written yet. */
  readonly unwritten: number;
  /** Segments begun. */
  readonly count: number;
  /** Writes what is left of before, then what `take` gives. @throws where it cannot go on. */
  write(take: () => Buffer): Promise<void>;
  /** A sign of life; begins a new segment where the old one was removed, and ends it where others have no room beside it. */
  beat(): Promise<void>;
  /** The last act, without waiting: these lines, and the end. @throws */
  finish(lines: Buffer): void;
  /** Frees the descriptor; not while a call of `write` or `beat` is under way. */
  release(): void;
}

/** Between two looks at the quota a writer adds this part of it at most. */
const QUOTA_STEPS = 64;
const NOTHING = Buffer.alloc(0);
/** Unwinds a call that the last act has overtaken. */
const FINISHED = new Error('finished');

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

export function createSegmentLog(options: SegmentLogOptions): SegmentLog {
  const { files, folder, writer, keyId, line, segmentBytes, quotaBytes, silentMs, now } = options;
  const step = quotaBytes / QUOTA_STEPS;
  let current: Segment | undefined;
  let queued: Buffer = NOTHING;
  /** Done with, and perhaps still written to: closed by `release`. */
  const spent: Segment[] = [];
  let next = 0;
  let count = 0;
  let previous: string | undefined;
  /** Size of the current segment at the last look at the quota. */
  let checked = 0;
  let isFinished = false;

  /** Everything behind an `await` may come after the last act. */
  async function unlessFinished<T>(work: Promise<T>): Promise<T> {
    const value = await work;
    if (isFinished) throw FINISHED;
    return value;
  }

  const join = (before: Buffer, after: Buffer): Buffer =>
    before.length === 0 ? after : after.length === 0 ? before : Buffer.concat([before, after]);

  function begin(fd: number, facts: Parameters<typeof createSegment>[0]['facts'], n: number): Segment {
    const id = `${writer}-${n}`;
    const segment = createSegment({ files, fd, facts, id, name: `${id}.ndjson` });
    const head = {
      id,
      n,
      ...(previous !== undefined && { prev: previous }),
      ...(keyId !== undefined && { key_id: keyId }),
    };
    segment.put(Buffer.from(line('segment', null, now(), head)), 'head');
    previous = id;
    count++;
    checked = 0;
    return segment;
  }
  const pathOf = (n: number): string => `${folder}/${writer}-${n}.ndjson`;

  async function open(): Promise<Segment> {
    // A number that was tried is used up: the file may be there, whatever the call said.
    const n = next++;
    const fd = await files.create(pathOf(n));
    try {
      return begin(fd, await unlessFinished(files.facts(fd)), n);
    } catch (error) {
      void files.close(fd).catch(() => {});
      void files.remove(pathOf(n)).catch(() => {});
      throw error;
    }
  }

  function openNow(): Segment {
    try {
      if (makeRoomNow(wanted()) === 'full') throw new QuotaError();
    } catch (error) {
      if (!isMissing(error)) throw error;
      files.makeFolderNow(folder);
    }
    const n = next++;
    const fd = files.createNow(pathOf(n));
    return begin(fd, files.factsNow(fd), n);
  }

  const endLine = (segment: Segment): Buffer => {
    const fields = { id: segment.id, events: segment.events, dropped: options.dropped() };
    return Buffer.from(line('end', null, now(), fields));
  };

  async function end(segment: Segment): Promise<void> {
    if (!segment.isEnded) segment.put(endLine(segment), 'end');
    await unlessFinished(segment.flush());
    current = undefined;
    await unlessFinished(segment.close().catch(() => {}));
  }

  /** Its lines that are not whole in the file go to the next one; those that are will be missed by their numbers, if at all. */
  function giveUp(segment: Segment, state: 'gone' | 'stolen'): void {
    queued = join(segment.unsent(), queued);
    current = undefined;
    if (state === 'gone') spent.push(segment);
  }

  async function check(): Promise<void> {
    if (current === undefined) return;
    const segment = current;
    const state = await unlessFinished(segment.state());
    if (state === 'fine') return;
    giveUp(segment, state);
    await unlessFinished(Promise.all(spent.splice(0).map((each) => each.close().catch(() => {}))));
  }

  async function makeSpace(): Promise<void> {
    if (current !== undefined && current.size - checked < step) return;
    for (;;) {
      const room = await unlessFinished(findRoom());
      checked = current?.size ?? 0;
      if (room === 'room') return;
      if (room === 'full' || current === undefined || current.events === 0) throw new QuotaError();
      await end(current);
    }
  }

  const wanted = (): RoomOptions => {
    const wantBytes = Math.max(step, queued.length + (current?.rest ?? 0));
    return { files, folder, quotaBytes, wantBytes, current: current?.name, silentSince: now() - silentMs };
  };

  async function findRoom(): ReturnType<typeof makeRoom> {
    try {
      return await makeRoom(wanted());
    } catch (error) {
      if (!isMissing(error) || isFinished) throw error;
      // Somebody removed the folder. Where the one above is missing too, there is no volume: nobody would read it.
      await files.makeFolder(folder);
      return 'room';
    }
  }

  async function ready(): Promise<Segment> {
    if (
      current !== undefined &&
      (current.isEnded || (current.events > 0 && current.size + queued.length > segmentBytes))
    )
      await end(current);
    await makeSpace();
    if (current === undefined) current = await open();
    await unlessFinished(current.flush());
    return current;
  }

  async function attempt(take: () => Buffer): Promise<void> {
    await check();
    if (current !== undefined) await unlessFinished(current.flush());
    queued = join(queued, take());
    if (queued.length === 0) return;
    const segment = await ready();
    segment.put(queued, 'events');
    queued = NOTHING;
    await unlessFinished(segment.flush());
  }

  /** Without waiting; where it stopped at an error it goes on when called again. */
  function last(): void {
    const state = current?.stateNow() ?? 'fine';
    if (state !== 'fine') giveUp(current as Segment, state);
    // Whatever a write in flight does, it writes the same bytes to the same place.
    current?.flushNow();
    if (current?.isEnded) {
      spent.push(current);
      current = undefined;
    }
    if (queued.length > 0) {
      current ??= openNow();
      current.flushNow();
      current.put(queued, 'events');
      queued = NOTHING;
      current.flushNow();
    }
    if (current === undefined) return;
    current.put(endLine(current), 'end');
    current.flushNow();
  }

  return {
    get unwritten() {
      return queued.length + (current?.rest ?? 0);
    },
    get count() {
      return count;
    },
    async write(take) {
      try {
        await attempt(take);
      } catch (error) {
        // A volume smaller than the quota: the oldest goes there too.
        if (isFinished || reasonFor(error) !== 'disk_full') throw error;
        if ((await unlessFinished(makeRoom({ ...wanted(), isTight: true }))) !== 'room') throw error;
        await attempt(take);
      }
    },
    async beat() {
      const was = current;
      if (was === undefined) return;
      await check();
      if (current === undefined) await ready();
      else await unlessFinished(was.touch());
      // What writes little looks at the quota here alone: else a writer that comes later would find no room for ever.
      if (current?.rest !== 0 || (await unlessFinished(findRoom())) !== 'retire') return;
      await end(current);
    },
    finish(lines) {
      isFinished = true;
      queued = join(queued, lines);
      try {
        last();
      } catch (error) {
        if (reasonFor(error) !== 'disk_full' || makeRoomNow({ ...wanted(), isTight: true }) !== 'room') throw error;
        last();
      }
    },
    release() {
      if (current !== undefined) spent.push(current);
      current = undefined;
      for (const segment of spent.splice(0)) if (segment.stateNow() !== 'stolen') segment.closeNow();
    },
  };
}
