/**
 * What the file source has to know to go on after a restart, as plain JSON: the seam between it and whoever keeps it. It decides
 * the form, its version, and which stored value can be used; it must not decide where or when a state is stored.
 *
 * The contract. `state()` may be called between two turns of the event loop, never from inside the sink. It then agrees with what the
 * sink and `count` were given so far: every line before an `offset` was delivered, none behind it, and every loss that was counted is no
 * longer in it. So a state that is stored together with all that was made of those lines can be read on from without a line lost or
 * doubled: `create({ ..., resume: state })`. After it is durable, `committed(state)` with the very same value lets the source remove
 * segments of which nothing is needed any more. Not in it: the unfinished line behind `offset` (it is read again), faults, descriptors.
 */
import type { FileIdentity } from './file-identity.ts';
import type { Mark } from './marks.ts';
import type { SegmentId } from './segment-lines.ts';

export const STATE_VERSION = 1;

export interface FilePosition extends FileIdentity {
  /** Its first name: the default writer of its lines. */
  readonly path: string;
  /** Its last name. */
  readonly name: string;
  /** The start of the first line that was not delivered; `line` is its number. */
  readonly offset: number;
  readonly line: number;
  /** Size seen last. What lies between `offset` and here is lost if the file cannot be found again. */
  readonly size: number;
  /** So many bytes were there when something of them was last read: if it is rewritten, at least those behind `offset` are lost. */
  readonly proved: number;
  /** The first bytes, as far as they were read. */
  readonly head: Mark;
  /** The bytes just before `offset`. */
  readonly tail: Mark;
  /** The latest event time delivered of it. */
  readonly newestTs: number | null;
  readonly segment?: SegmentId;
  /** Its last line so far was the `end` line of a tap. */
  readonly ended?: true;
  /** It has the segment id of another file: its lines are those of that one. */
  readonly copy?: true;
}

export interface FileTailState {
  readonly version: typeof STATE_VERSION;
  /** Event time up to which everything was delivered; null: not known yet. */
  readonly watermark: number | null;
  readonly newestTs: number | null;
  /** Devices on which the birth time of a file was seen to change: there only its content tells a file from another. */
  readonly unstableBirth: readonly string[];
  readonly files: readonly FilePosition[];
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown): boolean => value === null || Number.isFinite(value);
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isMark = (value: unknown): boolean => isRecord(value) && isCount(value.bytes) && isText(value.hash);
const isSegment = (value: unknown): boolean =>
  value === undefined || (isRecord(value) && isText(value.writer) && isText(value.id) && isCount(value.n));

function isPosition(value: unknown): value is FilePosition {
  if (!isRecord(value)) return false;
  const { path, name, dev, ino, birthtimeNs, offset, line, size, proved, head, tail, newestTs, segment } = value;
  return (
    [path, name, dev, ino, birthtimeNs].every(isText) &&
    [offset, line, size, proved].every(isCount) &&
    isMark(head) &&
    isMark(tail) &&
    isTime(newestTs) &&
    isSegment(segment)
  );
}

/** A stored value as a state; a text says why it cannot be used. A later version of the form is read, or refused, here. */
export function readFileTailState(value: unknown): FileTailState | string {
  if (!isRecord(value)) return 'it is no object';
  if (value.version !== STATE_VERSION) return `version ${String(value.version)} is not ${STATE_VERSION}`;
  const { watermark, newestTs, unstableBirth, files } = value;
  if (!isTime(watermark) || !isTime(newestTs)) return 'a time is no number';
  if (!Array.isArray(unstableBirth) || !unstableBirth.every(isText)) return 'unstableBirth is no list of devices';
  if (!Array.isArray(files)) return 'files is no list';
  const bad = files.findIndex((each) => !isPosition(each));
  return bad === -1 ? (value as unknown as FileTailState) : `files[${bad}] is no position`;
}
