/**
 * The file source as `run` uses it: its settings from the configuration, and its counts and status as metrics. It must not decide what
 * the source does.
 */
import type { Cells } from '../core/measures/cells.ts';
import { LIMITS } from '../core/model/limits.ts';
import type { Log } from '../sources/fault-list.ts';
import type { FileCount } from '../sources/file-report.ts';
import type { FileTailState } from '../sources/file-state.ts';
import type { FileTail } from '../sources/file-tail.ts';
import { SOURCES } from '../sources/index.ts';
import type { Source } from '../sources/source.ts';
import type { Config } from './config-keys.ts';

/** Name of the file source: the `source` label, and the host of events that name none. */
export const FILES = 'files';

export interface FileSourceOptions {
  readonly config: Config;
  readonly cells: Cells;
  readonly log: Log;
  readonly now: () => number;
  /** Where an earlier life stood. */
  readonly resume: FileTailState | undefined;
  readonly hasCommits: boolean;
}

/** Which cell each count of the source moves. */
function counterOf(cells: Cells): Readonly<Record<FileCount, (amount: number) => void>> {
  const lost = (reason: 'rotated' | 'truncated') => (bytes: number) =>
    cells.add('source_lost_bytes', bytes, [FILES, reason]);
  const cleaned = (what: 'blank' | 'bom' | 'crlf' | 'nul_run') => (lines: number) =>
    cells.add('source_cleaned_lines', lines, [FILES, what]);
  return {
    read_bytes: (bytes) => cells.add('source_read_bytes', bytes, [FILES]),
    truncations: (times) => cells.add('source_truncations', times, [FILES]),
    lost_rotated_bytes: lost('rotated'),
    lost_truncated_bytes: lost('truncated'),
    copies: (files) => cells.add('source_copies', files, [FILES]),
    segments_removed: (files) => cells.add('source_removed_segments', files, [FILES]),
    blank: cleaned('blank'),
    bom: cleaned('bom'),
    crlf: cleaned('crlf'),
    nul_run: cleaned('nul_run'),
  };
}

export function createFileSource({ config, cells, log, now, resume, hasCommits }: FileSourceOptions): FileTail {
  const counters = counterOf(cells);
  // At 0 from the start: an alert on their increase must see the first one.
  for (const counter of Object.values(counters)) counter(0);
  const { removeReadSegments: remove } = config;
  return SOURCES.file.create({
    name: FILES,
    host: config.host || FILES,
    globs: config.events,
    from: config.from,
    resume,
    hasCommits,
    maxLineBytes: LIMITS.maxLineBytes,
    removesSegments: remove === 'always' || (remove === 'auto' && config.origins.events === 'default'),
    log(level, message, kind) {
      if (level === 'warn' && kind !== 'line_rejected') cells.add('source_faults', 1, [FILES]);
      log(level, message, kind);
    },
    count: (what, amount) => counters[what](amount),
    now,
  });
}

export function showSources(cells: Cells, sources: readonly Source[]): void {
  for (const source of sources) {
    const { name, isUp, lagBytes, lagSeconds, files, tail } = source.status();
    cells.set('source_up', isUp ? 1 : 0, [name]);
    cells.set('source_lag_bytes', lagBytes, [name]);
    cells.set('source_lag_seconds', lagSeconds, [name]);
    if (tail === undefined) continue;
    cells.set('source_files', files, [name]);
    cells.set('source_open_files', tail.openFiles, [name]);
    cells.set('source_unread_rotated_bytes', tail.unreadRotatedBytes, [name]);
    cells.set('source_backlog_ratio', tail.backlogRatio, [name]);
  }
}
