/** Names and labels by OTLP, as Prometheus translates them, are those of `/metrics`: for every metric of the catalog. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CATALOG, type MetricKey, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { OTEL_NAMES } from '../../src/exporters/otel-names.ts';
import { prometheusLabel, prometheusName } from '../support/prometheus-otlp-names.ts';

const KEYS = Object.keys(CATALOG) as MetricKey[];

describe('by the translation of Prometheus', () => {
  for (const key of KEYS)
    test(CATALOG[key].name, () => {
      const { name, kind, labels } = CATALOG[key] as MetricSpec;
      const otel = OTEL_NAMES[key];
      assert.equal(prometheusName(otel.name, otel.unit, kind), name);
      assert.deepEqual(
        otel.attributes.map(prometheusLabel),
        labels.map(([label]) => label),
      );
    });
});

test('names follow the rules of OpenTelemetry: dots, no _total, one unit for a name', () => {
  const names = KEYS.map((key) => OTEL_NAMES[key].name);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^(?!.*total)[a-z][a-z0-9]*(\.[a-z0-9]+)+$/);
});

test('the convention has its own names', () => {
  assert.deepEqual(OTEL_NAMES.operation_duration, {
    name: 'mcp.client.operation.duration',
    unit: 's',
    attributes: ['mcp.method.name', 'mcp.protocol.version', 'error.type', 'server'],
  });
});

test('the translation itself, on what others use', () => {
  assert.equal(prometheusName('http.server.duration', 's', 'histogram'), 'http_server_duration_seconds');
  assert.equal(prometheusName('requests.count', '1', 'counter'), 'requests_count_total');
  assert.equal(prometheusName('memory.usage', 'By', 'gauge'), 'memory_usage_bytes');
  assert.equal(prometheusName('total.errors', '{error}', 'counter'), 'errors_total');
  assert.equal(prometheusName('cpu.ratio.used', '1', 'gauge'), 'cpu_used_ratio');
});
