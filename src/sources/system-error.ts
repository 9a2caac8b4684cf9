/** Errors of the system in the words of this program's messages: the reason alone, without the call and the path. */
import { getSystemErrorMap } from 'node:util';

/** `EACCES: permission denied, open '/x'` reads better without the part that the message around it says already. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, errno } = error as NodeJS.ErrnoException;
  if (code === undefined) return error.message;
  const text = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return text === undefined ? code : `${text} (${code})`;
}
