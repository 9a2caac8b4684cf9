/**
 * What cannot be read and why: one line for each path, logged when it changes, with a back-off for the next attempt. A fault is
 * never final: whoever reads tries again for ever. It must not decide what is a fault.
 */
import type { Refusal } from './ingest-answer.ts';

export type Log = (level: 'debug' | 'info' | 'warn', message: string, kind: SourceMessage) => void;

/** What a source has to say, as closed words: whoever writes it down limits each kind by itself. */
export type SourceMessage =
  | 'source_waiting'
  | 'file_unreadable'
  | 'file_readable_again'
  | 'file_rewritten'
  | 'file_lost_unread'
  | 'file_opened'
  | 'file_closed'
  | 'file_is_copy'
  | 'line_rejected'
  | 'line_cleaned'
  | 'segments_kept'
  | 'batch_taken'
  | `batch_${Refusal['error']}`;

const MAX_DELAY_MS = 5000;

export interface FaultList {
  report(path: string, reason: string): void;
  clear(path: string): void;
  /** Whether the next attempt is due. */
  isDue(path: string): boolean;
  /** Drops the faults of paths that nobody asks for any more. */
  retain(isWanted: (path: string) => boolean): void;
  messages(): string[];
}

export function createFaultList(log: Log, minDelayMs: number, elapsed = () => performance.now()): FaultList {
  const faults = new Map<string, { message: string; delayMs: number; dueAt: number }>();
  return {
    report(path, reason) {
      const message = `cannot read ${path}: ${reason}`;
      const known = faults.get(path);
      const isNew = known?.message !== message;
      if (isNew) log('warn', message, 'file_unreadable');
      const delayMs = isNew ? minDelayMs : Math.min(MAX_DELAY_MS, 2 * known.delayMs);
      faults.set(path, { message, delayMs, dueAt: elapsed() + delayMs });
    },
    clear(path) {
      if (faults.delete(path)) log('info', `can read ${path} again`, 'file_readable_again');
    },
    isDue: (path) => (faults.get(path)?.dueAt ?? 0) <= elapsed(),
    retain(isWanted) {
      for (const path of faults.keys()) if (!isWanted(path)) faults.delete(path);
    },
    messages: () => Array.from(faults.values(), (fault) => fault.message),
  };
}
