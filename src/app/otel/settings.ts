/**
 * What is exported by OTLP, and where to: from our keys, then from the variables of the OpenTelemetry specification, each checked before
 * anything starts. undefined where nothing is: then nothing of OpenTelemetry is loaded. It must not import any of it.
 */
import { readFileSync } from 'node:fs';
import type { Config, KeySpec } from '../config-keys.ts';
import { OTEL_KEYS } from '../config-keys-otel.ts';
import { ConfigError } from '../config-merge.ts';
import { parseValue, rawFromText } from '../config-values.ts';
import { reasonOf } from '../exit.ts';

export const SIGNALS = ['metrics', 'traces', 'logs'] as const;
export type Signal = (typeof SIGNALS)[number];
type Env = Readonly<Record<string, string | undefined>>;

export interface Target {
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Contents of the files that the environment names. */
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
}

export interface OtelSettings {
  /** Absent: this signal is not exported. */
  readonly targets: Readonly<Partial<Record<Signal, Target>>>;
  readonly isDelta: boolean;
  readonly metricsIntervalMs: number;
  readonly tracesShare: number;
  readonly tracesQueue: number;
  readonly logsQueue: number;
  readonly tracesDelayMs: number;
  readonly logsDelayMs: number;
  /** Variables of the specification that go by their default, one line each: they may have been meant for others. */
  readonly ignored: readonly string[];
}

type OtelField = keyof typeof OTEL_KEYS;
type OtelConfig = Pick<Config, OtelField | 'origins'>;

const DEFAULT_ENDPOINT = 'http://localhost:4318';
/** Of the specification: how long spans and log records are collected before they go. */
const DELAYS: Readonly<Record<'traces' | 'logs', { readonly name: string; readonly ms: number }>> = {
  traces: { name: 'OTEL_BSP_SCHEDULE_DELAY', ms: 5000 },
  logs: { name: 'OTEL_BLRP_SCHEDULE_DELAY', ms: 1000 },
};
const FILES = { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' } as const;
const COUNT: KeySpec = { path: '', type: 'count', range: [1, 3_600_000], doc: '' };
const COMPRESSION: KeySpec = { path: '', type: 'enum', values: ['gzip', 'none'], doc: '' };

/** `OTEL_EXPORTER_OTLP_x` and its forms for one signal. */
const general = (what: string): string => `OTEL_EXPORTER_OTLP_${what}`;
const specific = (signal: Signal, what: string): string => `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${what}`;

class Reader {
  /** Where data would go elsewhere, or unprotected, if one went on. */
  readonly problems: string[] = [];
  /** By the specification a word or number that cannot be used is warned about and ignored. */
  readonly ignored: string[] = [];
  readonly #env: Env;

  constructor(env: Env) {
    this.#env = env;
  }

  /** A variable by the rules of a key; undefined where it is not set, or wrong (which is noted). */
  value<T>(name: string, spec: KeySpec): T | undefined {
    const text = this.#env[name]?.trim();
    if (text === undefined || text === '') return undefined;
    const faults = spec.type === 'url' ? this.problems : this.ignored;
    return parseValue(spec, rawFromText(spec, text), (fault) => faults.push(`${name}: ${fault}`)) as T;
  }

  isSet(name: string): boolean {
    return (this.#env[name] ?? '').trim() !== '';
  }

  file(name: string): Buffer | undefined {
    const path = this.#env[name]?.trim();
    if (path === undefined || path === '') return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      this.problems.push(`${name}: cannot read the file: ${reasonOf(error)}`);
      return undefined;
    }
  }

  /** `a=1,b=2`. The value is a secret: no message shows it. */
  headers(name: string): void {
    const text = this.#env[name]?.trim() ?? '';
    const isPair = (pair: string): boolean => /^\s*[!#$%&'*+.^`|~\w-]+\s*=/.test(pair);
    if (text !== '' && !text.split(',').every(isPair)) this.problems.push(`${name}: expected NAME=VALUE,NAME=VALUE`);
  }
}

/** Our own keys with the specification's variables where nothing else sets them. */
function withStandard(config: OtelConfig, reader: Reader): Record<string, unknown> & Pick<Config, OtelField> {
  const merged: Record<string, unknown> = { ...config };
  for (const [field, spec] of Object.entries<KeySpec>(OTEL_KEYS)) {
    if (spec.standardEnv === undefined || config.origins[spec.path] !== 'default') continue;
    merged[field] = reader.value(spec.standardEnv, spec) ?? merged[field];
  }
  return merged as Record<string, unknown> & Pick<Config, OtelField>;
}

function targetOf(signal: Signal, wanted: string, merged: Pick<Config, OtelField>, reader: Reader): Target | undefined {
  const own = reader.value<string>(specific(signal, 'ENDPOINT'), OTEL_KEYS.otelEndpoint);
  const isOn = wanted === 'otlp' || (wanted === 'auto' && (own !== undefined || merged.otelEndpoint !== ''));
  if (!isOn) return undefined;
  const base = merged.otelEndpoint === '' ? DEFAULT_ENDPOINT : merged.otelEndpoint;
  const protocol = reader.value<Target['protocol']>(specific(signal, 'PROTOCOL'), OTEL_KEYS.otelProtocol);
  for (const name of [general, (what: string) => specific(signal, what)]) {
    reader.headers(name('HEADERS'));
    reader.value(name('TIMEOUT'), COUNT);
    reader.value(name('COMPRESSION'), COMPRESSION);
  }
  const tls = Object.entries(FILES).flatMap(([option, what]) => {
    const content = reader.file(reader.isSet(specific(signal, what)) ? specific(signal, what) : general(what));
    return content === undefined ? [] : [[option, content] as const];
  });
  return {
    // An endpoint of one signal is used as it is; the general one is a base.
    url: own === undefined ? `${base.replace(/\/+$/, '')}/v1/${signal}` : new URL(own).href,
    protocol: protocol ?? merged.otelProtocol,
    tls: Object.fromEntries(tls),
  };
}

/** @throws ConfigError with all problems, one line each. */
export function otelSettings(config: OtelConfig, env: Env): OtelSettings | undefined {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined;
  const reader = new Reader(env);
  const merged = withStandard(config, reader);
  const wanted: Readonly<Record<Signal, string>> = {
    metrics: merged.otelMetrics,
    traces: merged.otelTraces,
    logs: merged.otelLogs,
  };
  const targets: Partial<Record<Signal, Target>> = {};
  for (const signal of SIGNALS) {
    const target = targetOf(signal, wanted[signal], merged, reader);
    if (target !== undefined) targets[signal] = target;
  }
  const delay = (signal: 'traces' | 'logs'): number =>
    reader.value<number>(DELAYS[signal].name, COUNT) ?? DELAYS[signal].ms;
  const settings: OtelSettings = {
    targets,
    isDelta: merged.otelTemporality === 'delta',
    metricsIntervalMs: merged.otelMetricsIntervalMs,
    tracesShare: merged.otelTracesShare,
    tracesQueue: merged.otelTracesQueue,
    logsQueue: merged.otelLogsQueue,
    tracesDelayMs: delay('traces'),
    logsDelayMs: delay('logs'),
    ignored: [...new Set(reader.ignored)],
  };
  // Variables that were meant for others are no problem while nothing is exported.
  const names = [general('ENDPOINT'), ...SIGNALS.map((signal) => specific(signal, 'ENDPOINT'))];
  if (Object.keys(targets).length === 0 && !names.some((name) => reader.isSet(name))) return undefined;
  if (reader.problems.length > 0) throw new ConfigError([...new Set(reader.problems)]);
  return Object.keys(targets).length > 0 ? settings : undefined;
}
