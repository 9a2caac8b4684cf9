/**
 * What the file source counts, and how it speaks of single lines: one log line a minute for each file and kind, naming the file, the
 * line and the byte. It must not repeat what a line says, and must not decide what is counted where.
 */
import type { Origin } from '../core/model/event.ts';
import type { Log } from './fault-list.ts';
import { CLEANINGS, type Cleaning } from './line-splitter.ts';

export const FILE_COUNTS = [
  'read_bytes',
  'truncations',
  /** Bytes that were seen, and are known to be gone before they were read: a lower bound. */
  'lost_truncated_bytes',
  'lost_rotated_bytes',
  'copies',
  'segments_removed',
  ...CLEANINGS,
] as const;
export type FileCount = (typeof FILE_COUNTS)[number];

export type Count = (what: FileCount, amount: number) => void;

export interface FileReport {
  readonly count: Count;
  readonly log: Log;
  /** A line that was not accepted, or not taken as it stood. */
  line(kind: 'line_rejected' | 'line_cleaned', what: string, origin: Origin, line: number, offset: number): void;
}

const SAY_AGAIN_MS = 60_000;
const MAX_REMEMBERED = 1000;

const WORDS: Readonly<Record<Cleaning, string>> = {
  blank: 'is blank',
  bom: 'begins with a byte order mark, which was dropped',
  crlf: 'ends with CR LF',
  nul_run: 'had a run of NUL bytes around it, which was dropped',
};

export const cleaningWords = (what: Cleaning): string => WORDS[what];

export function createFileReport(log: Log, count: Count, elapsed: () => number): FileReport {
  const said = new Map<string, number>();
  return {
    count,
    log,
    line(kind, what, origin, line, offset) {
      const key = `${what}:${origin.writer}`;
      const at = said.get(key);
      const now = elapsed();
      if (at !== undefined && now - at < SAY_AGAIN_MS) return;
      said.delete(key);
      said.set(key, now);
      if (said.size > MAX_REMEMBERED) said.delete(said.keys().next().value as string);
      const level = kind === 'line_rejected' ? 'warn' : 'info';
      log(level, `${origin.file ?? origin.writer}: line ${line} at byte ${offset} ${what}`, kind);
    },
  };
}
