/**
 * The file source without its timers: the test says when it looks and how much it reads, and can take its state, drop it at any
 * time and go on from that state with what had been delivered then, as a sidecar does that stores both together.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileReader, type FileReaderOptions } from '../../src/sources/file-reader.ts';
import type { FileCount } from '../../src/sources/file-report.ts';
import { readFileTailState } from '../../src/sources/file-state.ts';
import { TAIL_DEFAULTS } from '../../src/sources/file-tail.ts';
import type { LineSink } from '../../src/sources/source.ts';

/** More than the time between two scans. */
const STEP_MS = 6000;

/** What a sidecar keeps: the state as text, and what was counted by then. */
interface Kept {
  readonly state: string;
  readonly delivered: number;
  readonly rejects: number;
  readonly invalid: number;
  readonly counts: ReadonlyMap<FileCount, number>;
}

export interface DrivenOptions extends Partial<Omit<FileReaderOptions, 'globs'>> {
  readonly folder: string;
  readonly globs?: readonly string[];
  readonly onAdvance?: (watermark: number) => void;
}

export function createDrivenRig({ folder, globs = ['*.ndjson'], onAdvance, ...options }: DrivenOptions) {
  const clock = { now: 1_700_000_000_000, elapsed: 0 };
  const delivered: string[] = [];
  const places: string[] = [];
  const rejects: string[] = [];
  const silent: string[] = [];
  const logs: string[] = [];
  let invalid = 0;
  let counts = new Map<FileCount, number>();
  const sink: LineSink = {
    line(text, origin, line, offset) {
      delivered.push(text);
      places.push(`${origin.file?.slice(folder.length + 1)}:${line}:${offset}`);
      const ts = /"ts":(\d+)/.exec(text);
      return ts === null ? { rejected: 'missing_field' } : Number(ts[1]);
    },
    reject: (reason, _, line, offset) => void rejects.push(`${reason} ${line} ${offset}`),
    invalidUtf8: () => void invalid++,
    silent: ({ writer }) => void silent.push(writer),
    advance: (_, watermark) => onAdvance?.(watermark),
  };
  const create = (resume?: string) => {
    const state = resume === undefined ? undefined : readFileTailState(JSON.parse(resume));
    if (typeof state === 'string') throw new Error(state);
    return createFileReader({
      ...TAIL_DEFAULTS,
      ...{ name: 'events', host: 'app', from: 'beginning', maxLineBytes: 1024 * 1024, resume: state },
      globs: globs.map((glob) => join(folder, glob)),
      log: (level, message) => void (level !== 'debug' && logs.push(message)),
      count: (what, amount) => void counts.set(what, (counts.get(what) ?? 0) + amount),
      now: () => clock.now,
      elapsed: () => clock.elapsed,
      ...options,
    });
  };
  let reader = create();

  const rig = {
    folder,
    clock,
    sink,
    delivered,
    places,
    rejects,
    silent,
    logs,
    path: (name: string) => join(folder, name),
    invalid: () => invalid,
    counted: (what: FileCount) => counts.get(what) ?? 0,
    status: () => reader.status(),
    state: () => reader.state(),
    committed: () => reader.committed(reader.state()),
    pass(ms: number) {
      clock.now += ms;
      clock.elapsed += ms;
    },
    async look(ms = STEP_MS) {
      rig.pass(ms);
      await reader.look(sink);
    },
    turn: () => reader.turn(sink),
    /** Looks until nothing more happens: what is there is read. */
    async settle() {
      for (let i = 0; i < 2; i++) {
        await rig.look();
        while (reader.turn(sink));
      }
    },
    keep: (): Kept => ({
      state: JSON.stringify(reader.state()),
      delivered: delivered.length,
      rejects: rejects.length,
      invalid,
      counts: new Map(counts),
    }),
    stop: () => reader.closeAll(),
    /** Goes on from what was kept: all that came later is forgotten. */
    resume(kept: Kept) {
      reader.closeAll();
      delivered.length = places.length = kept.delivered;
      rejects.length = kept.rejects;
      invalid = kept.invalid;
      counts = new Map(kept.counts);
      reader = create(kept.state);
    },
  };
  return rig;
}

export type DrivenRig = ReturnType<typeof createDrivenRig>;

/** A line that says its number and its time. */
export const lineOf = (n: number, ts: number): string => `{"n":${n},"ts":${ts}}\n`;
export const numberOf = (text: string): number => Number(/"n":(\d+)/.exec(text)?.[1]);

/** Appends numbered lines, the next number first. */
export function createNumbers(rig: DrivenRig) {
  let next = 0;
  return {
    count: () => next,
    text: (count: number): string => Array.from({ length: count }, () => lineOf(next++, rig.clock.now)).join(''),
    append(name: string, count: number) {
      appendFileSync(rig.path(name), this.text(count));
    },
  };
}
