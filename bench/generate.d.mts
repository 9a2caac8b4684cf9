/** Types of what test/backlog.test.ts takes from the script. */
import type { Tally } from './exposition.mjs';

export interface GenerateOptions {
  readonly path: string;
  readonly bytes: number;
  /** Exchanges per second. */
  readonly rate?: number;
  readonly seed?: number;
  readonly writers?: number;
}
export function generateFile(options: GenerateOptions): Tally;
