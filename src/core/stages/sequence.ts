/**
 * Follows `seq` per writer: a hole that no late line fills within the hold is missing events; a lower number is late, 0 after
 * a higher one starts afresh. Counting a hole at once would call reordered lines missing, and a counter cannot take it back.
 */

import type { Due } from '../model/due.ts';
import { LIMITS } from '../model/limits.ts';
import { keepValues } from '../state.ts';
import { BoundedMap, countEviction, type StoreHealth, TimerQueue } from '../store.ts';

interface Hole extends Due {
  readonly source: string;
  /** Missing numbers, both ends inclusive. */
  from: number;
  to: number;
  readonly writer: Writer;
}
interface Writer {
  ts: number;
  last: number;
  readonly holes: Hole[];
  /** The lowest number that was read when it became known. */
  first: number;
}

export interface SequenceEvents {
  missing(source: string, count: number): void;
  /** The writer began a new life: what it left open will never close. */
  restarted(writer: string, ts: number): void;
}

export interface Sequence {
  push(writer: string, seq: number, ts: number, source: string): void;
  /** A writer that is new here has written before: its numbers count from 0. */
  expect(writer: string, ts: number): void;
  /** What it wrote before is not wanted. */
  forgive(writer: string): void;
  tick(now: number): void;
}

export function createSequence(events: SequenceEvents, health: StoreHealth): Sequence {
  const writers = new BoundedMap<Writer>('writers', LIMITS.writers, health, (writer) => settleAll(writer));
  const timers = new TimerQueue<Hole>('seq_holes', health);
  const own = keepValues(health.parts, 'sequence', { open: 0, nextSweep: 0 });
  health.sizes.set('seq_holes', () => own.open);

  const drop = (hole: Hole): void => {
    hole.writer.holes.splice(hole.writer.holes.indexOf(hole), 1);
    timers.cancel(hole);
    own.open--;
  };
  const settle = (hole: Hole): void => {
    if (!hole.writer.holes.includes(hole)) return;
    drop(hole);
    events.missing(hole.source, hole.to - hole.from + 1);
  };
  const settleAll = (writer: Writer): void => {
    for (const hole of [...writer.holes]) settle(hole);
  };

  const add = (writer: Writer, from: number, to: number, source: string, deadline: number): void => {
    if (own.open >= LIMITS.seqHoles) {
      // No room to wait: counted now, which is right unless a late line comes.
      countEviction(health, 'seq_holes');
      events.missing(source, to - from + 1);
      return;
    }
    const hole: Hole = { source, from, to, writer, deadline, place: null };
    writer.holes.push(hole);
    own.open++;
    timers.schedule(hole);
  };

  /** A late line: no longer missing. */
  const fill = (writer: Writer, seq: number, ts: number): void => {
    const hole = writer.holes.find((h) => h.from <= seq && seq <= h.to);
    if (hole === undefined) return;
    if (hole.deadline < ts) {
      settle(hole);
      return;
    }
    if (seq === hole.from) hole.from++;
    else if (seq === hole.to) hole.to--;
    else {
      const { to } = hole;
      hole.to = seq - 1;
      add(writer, seq + 1, to, hole.source, hole.deadline);
      return;
    }
    if (hole.from > hole.to) drop(hole);
  };

  return {
    push(name, seq, ts, source) {
      const writer = writers.get(name);
      if (writer === undefined) {
        writers.set(name, { ts, last: seq, holes: [], first: seq });
        return;
      }
      // The first line of a former life may come late or twice: a new life is not older than what was seen.
      const newest = writer.ts;
      writer.ts = Math.max(writer.ts, ts);
      if (writer.last < 0) writer.first = seq;
      if (seq === writer.last + 1) {
        writer.last = seq;
      } else if (seq > writer.last) {
        add(writer, writer.last + 1, seq - 1, source, ts + LIMITS.seqHoleMs);
        writer.last = seq;
      } else if (seq === 0 && ts > newest) {
        settleAll(writer);
        writer.last = 0;
        events.restarted(name, ts);
      } else fill(writer, seq, ts);
    },
    expect(name, ts) {
      if (!writers.has(name)) writers.set(name, { ts, last: -1, holes: [], first: 0 });
    },
    forgive(name) {
      const writer = writers.get(name);
      if (writer === undefined) return;
      if (writer.last < 0) writers.delete(name);
      for (const hole of writer.holes.filter(({ to }) => to < writer.first)) drop(hole);
    },
    tick(now) {
      timers.expire(now, settle);
      if (now < own.nextSweep) return;
      own.nextSweep = now + LIMITS.sweepMs;
      writers.expire(now - LIMITS.memoryMs);
    },
  };
}
