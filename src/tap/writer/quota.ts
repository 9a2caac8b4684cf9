/**
 * Keeps the folder of all writers under one quota: decides which segments are removed. The oldest of those that have their `end`
 * line go first, then the oldest whose writer has been silent too long to be alive. Several processes may do this at once, so a file
 * that is gone already is as good as removed. It must not touch a file that has not the name of a segment.
 */
import type { NamedFile, WriterFiles } from './files.ts';

export const SEGMENT_NAME = /^[0-9a-f]{32}-\d+\.ndjson$/;
/** Room enough for an `end` line. */
const TAIL_BYTES = 1024;
const END_LINE = '{"v":1,"type":"end",';
/** A file counts as this part of the quota at least: it bounds how many files there are. */
const SMALLEST_PART = 1024;

export interface RoomOptions {
  readonly files: WriterFiles;
  readonly folder: string;
  readonly quotaBytes: number;
  /** What shall fit. */
  readonly wantBytes: number;
  /** The name of the segment that the asking writer holds open. */
  readonly current: string | undefined;
  /** The disk is full below the quota: as much as is wanted shall go, of ended and silent segments. */
  readonly isTight?: boolean;
  /** Since when (Unix ms) a writer without a sign of life counts as dead. */
  readonly silentSince: number;
}

/** room: it fits. retire: the asking writer's own segment stands in the way too. full: nothing else may be removed. */
export type Room = 'room' | 'retire' | 'full';

/** One file call, to be made in either way: the last act of a process cannot wait. */
interface Call {
  later(): Promise<unknown>;
  now(): unknown;
}
function* ask<T>(later: () => Promise<T>, now: () => T): Generator<Call, T, unknown> {
  return (yield { later, now }) as T;
}

/** @throws where the folder cannot be listed. */
export async function makeRoom(options: RoomOptions): Promise<Room> {
  const search = findRoom(options);
  let step = search.next();
  while (!step.done) {
    const result = await step.value.later().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    step = 'value' in result ? search.next(result.value) : search.throw(result.error);
  }
  return step.value;
}

export function makeRoomNow(options: RoomOptions): Room {
  const search = findRoom(options);
  let step = search.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = step.value.now();
    } catch (error) {
      step = search.throw(error);
      continue;
    }
    step = search.next(value);
  }
  return step.value;
}

function* findRoom(options: RoomOptions): Generator<Call, Room, unknown> {
  const { files, folder, quotaBytes, wantBytes, current, isTight = false, silentSince } = options;
  const charge = (file: NamedFile): number => Math.max(file.size, quotaBytes / SMALLEST_PART);
  const segments: NamedFile[] = [];
  const names = yield* ask(
    () => files.list(folder),
    () => files.listNow(folder),
  );
  for (const name of names) {
    if (!SEGMENT_NAME.test(name)) continue;
    const file = yield* ask(
      () => files.look(folder, name),
      () => files.lookNow(folder, name),
    );
    if (file !== undefined) segments.push(file);
  }
  let total = segments.reduce((sum, file) => sum + charge(file), 0);
  const limit = isTight ? Math.min(quotaBytes, total) : quotaBytes;
  const fits = (): boolean => total + wantBytes <= limit;
  if (fits()) return 'room';

  segments.sort((a, b) => a.modifiedMs - b.modifiedMs);
  const kept: NamedFile[] = [];
  for (const file of segments) {
    if (fits()) return 'room';
    if (file.name === current) continue;
    if ((yield* hasEnded(files, folder, file)) && (yield* remove(files, folder, file))) total -= charge(file);
    else kept.push(file);
  }
  for (const file of kept) {
    if (fits()) return 'room';
    if (file.modifiedMs < silentSince && (yield* remove(files, folder, file))) total -= charge(file);
  }
  if (fits()) return 'room';
  // Also where that alone is not enough: of many small ones nobody would begin.
  return segments.some(({ name }) => name === current) ? 'retire' : 'full';
}

function* hasEnded(files: WriterFiles, folder: string, file: NamedFile): Generator<Call, boolean, unknown> {
  const path = `${folder}/${file.name}`;
  try {
    const tail = yield* ask(
      () => files.tail(path, file.size, TAIL_BYTES),
      () => files.tailNow(path, file.size, TAIL_BYTES),
    );
    return tail.endsWith('\n') && tail.startsWith(END_LINE, tail.lastIndexOf('\n', tail.length - 2) + 1);
  } catch {
    return false;
  }
}

/** Is it gone? In a sticky folder the files of another user stay. */
function* remove(files: WriterFiles, folder: string, { name }: NamedFile): Generator<Call, boolean, unknown> {
  const path = `${folder}/${name}`;
  try {
    yield* ask(
      () => files.remove(path),
      () => files.removeNow(path),
    );
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
