/** Exit codes and errors of the command line (design section 9). Only main.ts ends the process. */
import { getSystemErrorMap } from 'node:util';

export const EXIT = { ok: 0, findings: 1, usage: 2, failure: 3 } as const;

/** A failure with one clear line for the person at the terminal. */
export class RuntimeFailure extends Error {
  override readonly name = 'RuntimeFailure';
}

/** `EACCES: permission denied, open '/x'` reads better without the part that the message around it says already. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, errno } = error as NodeJS.ErrnoException;
  if (code === undefined) return error.message;
  const text = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return text === undefined ? code : `${text} (${code})`;
}
