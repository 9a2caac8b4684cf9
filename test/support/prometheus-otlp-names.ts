/**
 * What Prometheus calls an OTLP metric: its default translation (UnderscoreEscapingWithSuffixes), written after otlptranslator v1.0.0
 * (metric_namer.go, unit_namer.go; Apache-2.0), for the units that are used here. An unknown unit is an error. A nightly check asks a real
 * Prometheus (test/otel/prometheus.check.ts).
 */
import assert from 'node:assert/strict';

const UNITS: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', By: 'bytes', '1': '' };

export type OtlpKind = 'counter' | 'gauge' | 'histogram';

export function prometheusName(name: string, unit: string, kind: OtlpKind): string {
  let tokens = name.split(/[^a-zA-Z0-9:]+/).filter((token) => token !== '');
  const isCount = unit === '' || /[{}]/.test(unit);
  assert.ok(isCount || unit in UNITS, `unit ${unit} of ${name}`);
  const suffix = isCount ? '' : (UNITS[unit] as string);
  if (suffix !== '' && !tokens.includes(suffix)) tokens.push(suffix);
  if (kind === 'counter') tokens = [...tokens.filter((token) => token !== 'total'), 'total'];
  if (unit === '1' && kind === 'gauge') tokens = [...tokens.filter((token) => token !== 'ratio'), 'ratio'];
  const joined = tokens.join('_');
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

export const prometheusLabel = (attribute: string): string => attribute.replace(/[^a-zA-Z0-9_]/g, '_');
