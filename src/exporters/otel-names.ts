/**
 * The catalog in OpenTelemetry's words: name, unit and attribute keys of each metric, such that Prometheus' translation of OTLP gives
 * the names and labels that `/metrics` has (tested over the whole catalog). One rule for all: dots for underscores and no `_total`; the
 * one metric that the MCP conventions define has their name. It knows no values.
 */
import { CATALOG, type MetricKey, type MetricSpec } from '../core/measures/catalog.ts';

export interface OtelName {
  readonly name: string;
  /** UCUM; in braces what is counted. Never `1`: a gauge of that unit would become `..._ratio`. */
  readonly unit: string;
  /** Attribute keys in the order of the catalog's labels. */
  readonly attributes: readonly string[];
}

const UNITS: Readonly<Record<MetricSpec['unit'], string>> = {
  exchanges: '{exchange}',
  operations: '{operation}',
  events: '{event}',
  entries: '{entry}',
  samples: '{sample}',
  bytes: 'By',
  seconds: 's',
  none: '',
};

/** Names and attributes of the OpenTelemetry MCP conventions. */
const CONVENTIONS: Readonly<Record<string, string>> = {
  mcp_client_operation_duration_seconds: 'mcp.client.operation.duration',
  mcp_method_name: 'mcp.method.name',
  mcp_protocol_version: 'mcp.protocol.version',
  error_type: 'error.type',
};

function otelName({ name, unit, labels }: MetricSpec): OtelName {
  return {
    name: CONVENTIONS[name] ?? name.replace(/_total$/, '').replaceAll('_', '.'),
    unit: UNITS[unit],
    attributes: labels.map(([label]) => CONVENTIONS[label] ?? label),
  };
}

export const OTEL_NAMES = Object.fromEntries(
  Object.entries<MetricSpec>(CATALOG).map(([key, spec]) => [key, otelName(spec)]),
) as Readonly<Record<MetricKey, OtelName>>;
