/**
 * Text from outside (ids, names, paths) as one visible piece of a line: what a terminal would obey, what would start a new line and
 * what XML cannot hold is written out. It does not escape for any markup; each format does that itself.
 */

/** Controls, invisible format characters, halves of surrogate pairs, line separators and the two that are no characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffe\uffff]/gu;

export const plain = (text: string): string =>
  text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);

/** Event time as people write it; a file may hold times that no calendar has. */
export const timeText = (ts: number): string => (Number.isFinite(ts) ? new Date(ts).toISOString() : 'unknown time');

export const plural = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;
