/** Exit codes and errors of the command line (design section 9). Only main.ts ends the process. */
export { reasonOf } from '../sources/system-error.ts';

export const EXIT = { ok: 0, findings: 1, usage: 2, failure: 3 } as const;

/** A failure with one clear line for the person at the terminal. */
export class RuntimeFailure extends Error {
  override readonly name = 'RuntimeFailure';
}
