/**
 * Reads lab-expected.tsv, the table of what Tailfin must say about each fault. The one reader of that file: it splits rows that
 * share a line (`k,k1`) and decides nothing.
 */
import { readFileSync } from 'node:fs';

export interface Expected {
  readonly row: string;
  readonly fault: string;
  readonly outcome: string;
  readonly cause: string;
  readonly cut: string;
  readonly stage: string;
}

/** As the file has it: one entry per line. */
export const EXPECTED: readonly Expected[] = readFileSync(new URL('../lab-expected.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [row = '', fault = '', outcome = '', cause = '', cut = '', stage = ''] = line.split('\t');
    return { row, fault, outcome, cause, cut, stage };
  });

export function expectedOf(row: string): Expected {
  const found = EXPECTED.find((each) => each.row === row || each.row.split(',').includes(row));
  if (found === undefined) throw new Error(`test/lab-expected.tsv has no row ${row}`);
  return found;
}

/** What a verdict is compared by. A dash in the table: no bytes to cut, or nothing that failed (for `p'` it leaves the stage open). */
export function verdictText(
  verdict: { outcome?: unknown; cause?: unknown; cut?: unknown; stage?: unknown },
  like: Expected,
): string {
  const { outcome, cause, cut, stage } = verdict;
  const shownStage = like.stage === '-' && outcome !== 'clean' ? '-' : (stage ?? '-');
  return `${outcome} ${cause} ${like.cut === '-' && cut === 'unknown' ? '-' : cut} ${shownStage}`;
}

export const expectedText = ({ outcome, cause, cut, stage }: Expected): string => `${outcome} ${cause} ${cut} ${stage}`;
