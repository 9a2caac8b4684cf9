/**
 * Follows the segment files of writers: which one is a writer's newest, and whether it got its `end` line. Decides when a writer
 * ended without one (its host was killed), and when a writer is known from the middle only. A live writer must never be
 * counted: the sign of death is a file that its source has watched for long without a sign of life, or a new life of the same writer.
 */
import type { Origin, WireEvent } from '../model/event.ts';
import { LIMITS } from '../model/limits.ts';
import { keepMap, keepValues } from '../state.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';

interface Segment {
  readonly ts: number;
  readonly writer: string;
  readonly source: string;
  /** The file it stands in (the default writer of its lines). */
  readonly file: string;
  readonly id: string | null;
  readonly n: number;
  /** The segment before, while nothing of it was read. */
  unseen: string | null;
  state: 'open' | 'ended' | 'counted';
}

export interface SegmentEvents {
  /** A writer of this source ended without its `end` line. */
  unclean(source: string): void;
  /** Its earlier segments were not read: numbers from 0 on are missing, unless they come. */
  headless(writer: string, ts: number, source: string): void;
  /** They were there, and the source was told to begin behind them. */
  joinedMidway(writer: string): void;
}

export interface Segments {
  /** A `segment` or `end` line. */
  push(writer: string, event: WireEvent): void;
  /** The file has been watched for long and shows no sign of life. */
  silent(origin: Origin): void;
  tick(now: number): void;
}

export function createSegments(events: SegmentEvents, health: StoreHealth): Segments {
  /** The newest segment of each writer. */
  const newest = new BoundedMap<Segment>('segments', LIMITS.segments, health, (segment) => forgetFile(segment));
  const byFile = keepMap<string, Segment>(health.parts, 'segments_by_file');
  const own = keepValues(health.parts, 'segments.sweep', { nextSweep: 0 });

  const forgetFile = (segment: Segment): void => {
    if (byFile.get(segment.file) === segment) byFile.delete(segment.file);
  };
  const remember = (segment: Segment): void => {
    const before = newest.get(segment.writer);
    if (before !== undefined) forgetFile(before);
    newest.set(segment.writer, segment);
    byFile.set(segment.file, segment);
  };
  const count = (segment: Segment): void => {
    if (segment.state !== 'open') return;
    segment.state = 'counted';
    events.unclean(segment.source);
  };

  const begun = (writer: string, { fields, ts, origin }: WireEvent): void => {
    const { id = null, n, prev = null } = fields;
    const segment: Segment = {
      ...{ ts, writer, source: origin.source, file: origin.writer },
      ...{ id, n: n ?? 0, unseen: prev, state: 'open' },
    };
    const known = newest.get(writer);
    if (known === undefined) {
      remember(segment);
      if (segment.n > 0) events.headless(writer, ts, origin.source);
    } else if (id === known.id) {
      // Read a second time, from a file that was rewritten or under another name.
    } else if (segment.n > known.n) {
      // It lives: the one before was ended, or given up because somebody removed it.
      if (segment.unseen === known.id) segment.unseen = null;
      remember(segment);
    } else if (segment.n === 0 && ts > known.ts) {
      count(known);
      remember(segment);
    } else if (id === known.unseen) known.unseen = null;
  };

  const ended = (writer: string, { fields, ts, origin }: WireEvent): void => {
    const { id = null } = fields;
    const known = newest.get(writer);
    if (known === undefined) {
      const segment = { ts, writer, source: origin.source, file: origin.writer, id, n: -1 } as const;
      remember({ ...segment, unseen: null, state: 'ended' });
    } else if (id === null || id === known.id) {
      if (known.state === 'open') known.state = 'ended';
    } else if (id === known.unseen) {
      known.unseen = null;
      events.joinedMidway(writer);
    }
  };

  return {
    push: (writer, event) => (event.type === 'segment' ? begun(writer, event) : ended(writer, event)),
    silent({ writer: file }) {
      const segment = byFile.get(file);
      if (segment !== undefined) count(segment);
    },
    tick(now) {
      if (now < own.nextSweep) return;
      own.nextSweep = now + LIMITS.sweepMs;
      for (const segment of newest.values()) {
        if (segment.ts >= now - LIMITS.segmentMemoryMs) return;
        newest.delete(segment.writer);
        forgetFile(segment);
      }
    },
  };
}
