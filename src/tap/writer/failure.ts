/** What a failed call means for a `gap` line (a closed word), and how long to wait before the next attempt. */

/** The folder is at its quota and nothing in it may be removed. */
export class QuotaError extends Error {
  readonly code = 'QUOTA';
}

export type Reason =
  | 'disk_full'
  | 'no_access'
  | 'no_folder'
  | 'no_descriptor'
  | 'quota'
  | 'io_error'
  | 'buffer_full'
  | 'bad_event';

const REASONS: Readonly<Record<string, Reason>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  EACCES: 'no_access',
  EPERM: 'no_access',
  EROFS: 'no_access',
  ERR_ACCESS_DENIED: 'no_access',
  ENOENT: 'no_folder',
  ENOTDIR: 'no_folder',
  EMFILE: 'no_descriptor',
  ENFILE: 'no_descriptor',
  QUOTA: 'quota',
};

export const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException)?.code ?? 'unknown');
export const reasonFor = (error: unknown): Reason => REASONS[codeOf(error)] ?? 'io_error';

const FIRST_DELAY_MS = 200;
const LAST_DELAY_MS = 30_000;

/** Each failure in a row doubles the wait. */
export const nextDelay = (before: number | undefined): number =>
  before === undefined ? FIRST_DELAY_MS : Math.min(LAST_DELAY_MS, 2 * before);
