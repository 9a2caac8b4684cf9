/** Types of what test/load.test.ts takes from the script. */
import type { Tally } from './exposition.mjs';

export interface PacedOptions {
  readonly folder: string;
  /** Exchanges per second. */
  readonly rate: number;
  readonly seconds: number;
  readonly files?: number;
  /** Event time of the start, Unix ms. */
  readonly startTs?: number;
  readonly seed?: number;
}
export function writePaced(options: PacedOptions): Promise<Tally>;
