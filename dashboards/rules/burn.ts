/**
 * Burn rates of the budget of ambiguous closes: how many times faster than allowed it is spent, over a long window that makes it matter
 * and a short one that makes it current (SRE workbook, 30 days). One table; everything about burn rates derives from it.
 */
export interface Burn {
  readonly factor: number;
  readonly long: string;
  readonly short: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning';
}

export const BURNS: readonly Burn[] = [
  { factor: 14.4, long: '1h', short: '5m', for: '2m', severity: 'critical' },
  { factor: 6, long: '6h', short: '30m', for: '15m', severity: 'critical' },
  { factor: 3, long: '1d', short: '2h', for: '1h', severity: 'warning' },
  { factor: 1, long: '3d', short: '6h', for: '3h', severity: 'warning' },
];

export const BURN_WINDOWS: readonly string[] = [...new Set(BURNS.flatMap(({ short, long }) => [short, long]))];
