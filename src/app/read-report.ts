/**
 * What offline commands say about input that they could not use: the numbers that make a result short of the truth, as warnings for
 * people. Whether that fails a command is the command's own decision.
 */
import type { MetricKey } from '../core/measures/catalog.ts';
import type { Cells } from '../core/measures/cells.ts';
import type { FileTally } from './replay.ts';

function cellsOf(
  cells: Cells,
  key: MetricKey,
): readonly { readonly values: readonly string[]; readonly value: number }[] {
  for (const family of cells.families()) if (family.key === key) return family.cells;
  return [];
}

/** The sum of a metric over all its labels. */
export const totalOf = (cells: Cells, key: MetricKey): number =>
  cellsOf(cells, key).reduce((sum, { value }) => sum + value, 0);

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** Call after `refresh()`. */
export function warningsOf(cells: Cells, files: readonly FileTally[]): string[] {
  const warnings: string[] = [];
  const rejected = cellsOf(cells, 'events_rejected').filter(({ value }) => value > 0);
  if (rejected.length > 0) {
    const reasons = rejected.map(({ values, value }) => `${values.at(-1)} ${value}`).join(', ');
    warnings.push(`${count(totalOf(cells, 'events_rejected'), 'line')} not accepted (${reasons})`);
  }
  const missing = totalOf(cells, 'events_missing');
  if (missing > 0) warnings.push(`${count(missing, 'event')} written but never arrived: findings may be missing`);
  const evicted = totalOf(cells, 'state_evictions');
  if (evicted > 0) warnings.push(`${count(evicted, 'entry')} given up by full stores: findings may be missing`);
  for (const { file, accepted } of files)
    if (accepted === 0) warnings.push(`${file}: no line was accepted, so nothing in it was checked`);
  return warnings;
}
