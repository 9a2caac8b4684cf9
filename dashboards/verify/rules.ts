/** Rules in the story: recording rules as what they stand for, and when each alert would have fired. `for` is applied here, as Prometheus does. */

import type { Prometheus, Series } from '../../test/support/prometheus.ts';
import type { PlainRule } from '../rules/render.ts';

/** Names of recorded series as their expressions, however deep. */
export function inlined(expr: string, recordings: readonly PlainRule[]): string {
  const byName = new Map(recordings.map(({ record = '', expr: own }) => [record, own]));
  let text = expr;
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/\b[a-z_]+:[a-z0-9_]+:[a-z0-9_]+\b/g, (name) => {
      const own = byName.get(name);
      return own === undefined ? name : `(${own})`;
    });
  }
  return text;
}

export const seconds = (duration: string): number => {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  return Number(count) * { s: 1, m: 60, h: 3600, d: 86_400 }[unit as 's' | 'm' | 'h' | 'd'];
};

export interface Firing {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly times: readonly number[];
}

/** When the series of a condition has held without a hole for the time of the rule. */
function firingTimes({ values }: Series, step: number, hold: number): readonly number[] {
  let since = Number.NaN;
  let last = Number.NEGATIVE_INFINITY;
  return values.flatMap(([at]) => {
    if (at - last > step * 1.5) since = at;
    last = at;
    return at - since >= hold ? [at] : [];
  });
}

export async function firings(
  prometheus: Prometheus,
  alerts: readonly PlainRule[],
  recordings: readonly PlainRule[],
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
): Promise<readonly Firing[]> {
  const found: Firing[] = [];
  for (const { alert = '', expr, for: hold = '0s', labels = {} } of alerts)
    for (const series of await prometheus.range(inlined(expr, recordings), from, to, step)) {
      const times = firingTimes(series, step, seconds(hold));
      const { __name__, ...own } = series.metric;
      if (times.length > 0) found.push({ alert, labels: { ...own, ...labels }, times });
    }
  return found;
}

/** What Prometheus would have written while they fired. */
export const alertsAsOpenMetrics = (found: readonly Firing[]): string =>
  `${found
    .flatMap(({ alert, labels, times }) => {
      const all = { alertname: alert, alertstate: 'firing', ...labels };
      const text = Object.entries(all)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',');
      return times.map((at) => `ALERTS{${text}} 1 ${at}\n`);
    })
    .join('')}# EOF\n`;
