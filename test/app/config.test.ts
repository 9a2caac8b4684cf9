/** Configuration: defaults and precedence. Faults: config-invalid.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/app/config.ts';
import { EXAMPLE_CONFIG, renderConfigDoc } from '../../src/app/config-doc.ts';
import { KEYS, type KeySpec, SERVER_KEYS } from '../../src/app/config-keys.ts';
import { OTEL_KEYS } from '../../src/app/config-keys-otel.ts';
import { DEFAULT_THRESHOLDS } from '../../src/core/model/thresholds.ts';
import { CONFIG_FILE as file, loadText as load, valuesOf as values } from './load-text.ts';

const DEFAULTS = {
  events: ['/var/run/tailfin/events/*.ndjson'],
  from: 'beginning',
  removeReadSegments: 'auto',
  host: '',
  metricsListen: { host: '0.0.0.0', port: 19640 },
  localListen: { host: '127.0.0.1', port: 19641 },
  ingest: false,
  ingestOtlp: false,
  logLevel: 'info',
  evidenceFile: '',
  stateDir: '',
  scrapeIntervalSeconds: 30,
  scrapeLastSeconds: 20,
  evidenceFileBytes: 16_777_216,
  evidenceOldFiles: 4,
  evidenceMaxPerSecond: 50,
  otelEndpoint: '',
  otelProtocol: 'http/protobuf',
  otelMetrics: 'auto',
  otelTraces: 'auto',
  otelLogs: 'auto',
  otelTemporality: 'cumulative',
  otelMetricsIntervalMs: 60_000,
  otelTracesShare: 0.01,
  otelTracesQueue: 2048,
  otelLogsQueue: 2048,
  policyCutMid: 'ambiguous',
  ...Object.fromEntries(Object.entries(DEFAULT_THRESHOLDS).map(([name, value]) => [`thresholds.${name}`, value])),
  servers: [],
};
/** Those that a variable or a flag can set too: the thresholds of findings stand in the file alone. */
type Setting = Exclude<keyof typeof KEYS, `thresholds.${string}`>;
const SETTINGS = Object.entries<KeySpec>(KEYS).filter(([, { path }]) => !path.startsWith('thresholds.'));

test('defaults: without a file, with an empty one, with sections that hold nothing', () => {
  assert.deepEqual(values(loadConfig({})), DEFAULTS);
  for (const text of [
    '',
    '\uFEFF',
    '# nothing\n',
    '---\n',
    '---\n...\n',
    '{}',
    'policy:\nservers:\n',
    'servers: {}\r\n',
  ]) {
    const config = load(text);
    assert.deepEqual(values(config), DEFAULTS, JSON.stringify(text));
    assert.deepEqual([...new Set(Object.values(config.origins))], ['default']);
  }
  assert.deepEqual(values(load('servers: {a: , b: {}}')), {
    ...DEFAULTS,
    servers: ['a', 'b'].map((name) => ({
      name,
      match: undefined,
      endpoints: undefined,
      sentinel: undefined,
      selfDelimiting: undefined,
      sticky: undefined,
      readOnlyTools: [],
    })),
  });
});

test('the example of the documentation sets every key of a server, and loads', () => {
  const config = load(EXAMPLE_CONFIG);
  const merged: object = Object.assign({}, ...config.servers.map((server) => JSON.parse(JSON.stringify(server))));
  assert.deepEqual(Object.keys(merged).sort(), ['name', ...Object.keys(SERVER_KEYS)].sort());
  const doc = renderConfigDoc();
  const specs: readonly KeySpec[] = [...Object.values(KEYS), ...Object.values(SERVER_KEYS)];
  for (const spec of specs)
    for (const word of [spec.path, spec.env, spec.flag]) assert.ok(doc.includes(`\`${word ?? spec.path}\``));
});

test('names of variables and flags follow from the path, the field from the flag as commander does it', () => {
  for (const [field, spec] of SETTINGS) {
    // What switches a part on is called like the part.
    const name = spec.path.replace(/\.enabled$/, '');
    assert.equal(spec.env, `TAILFIN_${name.toUpperCase().replace('.', '_')}`);
    assert.equal(spec.flag, `--${name.replace(/[._]/g, '-')}`);
    assert.equal(
      field,
      spec.flag?.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    );
  }
});

test('defaults < file < environment < flags, key by key', () => {
  const text = 'from: end\nlog_level: warn\nhost: of-file\npolicy: {cut_mid: abandoned}\n';
  const env = {
    TAILFIN_LOG_LEVEL: 'error',
    TAILFIN_HOST: 'of-env',
    TAILFIN_FROM: '',
    TAILFIN_PORT: 'tcp://10.0.0.1:80',
  };
  const config = load(text, { env, flags: { host: 'of-flag', logLevel: undefined, once: true, config: file } });
  assert.deepEqual(values(config), {
    ...DEFAULTS,
    from: 'end',
    logLevel: 'error',
    host: 'of-flag',
    policyCutMid: 'abandoned',
  });
  assert.deepEqual(config.origins, {
    events: 'default',
    from: `file ${file}:1`,
    remove_read_segments: 'default',
    state_dir: 'default',
    'scrape.interval_seconds': 'default',
    'scrape.last_seconds': 'default',
    host: 'flag --host',
    metrics_listen: 'default',
    local_listen: 'default',
    'ingest.enabled': 'default',
    'ingest.otlp': 'default',
    log_level: 'environment TAILFIN_LOG_LEVEL',
    'evidence.file': 'default',
    'evidence.file_bytes': 'default',
    'evidence.old_files': 'default',
    'evidence.max_per_second': 'default',
    ...Object.fromEntries(Object.values(OTEL_KEYS).map(({ path }) => [path, 'default'])),
    'policy.cut_mid': `file ${file}:4`,
    ...Object.fromEntries(Object.keys(DEFAULT_THRESHOLDS).map((name) => [`thresholds.${name}`, 'default'])),
  });
});

test('every variable and flag sets its key', () => {
  const texts = {
    events: '/a/{b,c}.ndjson, /d/*',
    from: 'end',
    removeReadSegments: 'never',
    stateDir: '/state',
    scrapeIntervalSeconds: '60',
    scrapeLastSeconds: '0',
    host: 'agent',
    metricsListen: '[::1]:0',
    localListen: '127.0.0.2:1',
    ingest: 'true',
    ingestTokenFile: '/run/secrets/token',
    ingestOtlp: 'true',
    ingestKeyFile: '/run/secrets/key',
    logLevel: 'debug',
    evidenceFile: '/var/log/e.ndjson',
    evidenceFileBytes: '1000000',
    evidenceOldFiles: '0',
    evidenceMaxPerSecond: '7',
    otelEndpoint: 'https://collector.example:4318',
    otelProtocol: 'http/json',
    otelMetrics: 'none',
    otelTraces: 'otlp',
    otelLogs: 'none',
    otelTemporality: 'delta',
    otelMetricsIntervalMs: '30000',
    otelTracesShare: '0.5',
    otelTracesQueue: '512',
    otelLogsQueue: '1024',
    policyCutMid: 'abandoned',
  } satisfies Record<Setting, string>;
  const expected = {
    ...DEFAULTS,
    ...texts,
    events: ['/a/{b,c}.ndjson', '/d/*'],
    metricsListen: { host: '::1', port: 0 },
    localListen: { host: '127.0.0.2', port: 1 },
    scrapeIntervalSeconds: 60,
    scrapeLastSeconds: 0,
    evidenceFileBytes: 1_000_000,
    evidenceOldFiles: 0,
    evidenceMaxPerSecond: 7,
    otelMetricsIntervalMs: 30_000,
    otelTracesShare: 0.5,
    otelTracesQueue: 512,
    otelLogsQueue: 1024,
    ingest: true,
    ingestOtlp: true,
    servers: [],
  };
  const env = Object.fromEntries(SETTINGS.map(([field, { env }]) => [env, texts[field as Setting]]));
  assert.deepEqual(values(loadConfig({ env })), expected);
  assert.deepEqual(values(loadConfig({ flags: texts })), expected);
  // a flag without a value, as commander gives it
  assert.equal(loadConfig({ flags: { ingest: true } }).ingest, true);
  // a flag given several times: the list grows, of the others the last one counts
  const flags = { events: ['/a', '/b,/c'], from: ['beginning', 'end'] };
  assert.deepEqual(values(loadConfig({ flags })), { ...DEFAULTS, events: ['/a', '/b', '/c'], from: 'end' });
});

test('a single glob is a list of one; YAML 1.2 has no `no`, and no dates', () => {
  assert.deepEqual(load('events: /tmp/*').events, ['/tmp/*']);
  assert.deepEqual(load('servers: {a: {read_only_tools: get_*}}').servers[0]?.readOnlyTools, ['get_*']);
  assert.equal(load('host: no').host, 'no');
  assert.equal(load('%YAML 1.1\n---\nhost: 2026-07-28').host, '2026-07-28');
  assert.deepEqual(
    load('servers: {8080: {}, 0x10: {}, ~: {}, __proto__: {}}').servers.map(({ name }) => name),
    ['8080', '0x10', '~', '__proto__'],
  );
});
