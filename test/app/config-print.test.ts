/** The printed configuration: a line per value with its origin, and nothing lost. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadConfig, printConfig } from '../../src/app/config.ts';
import { nameGlobFault } from '../../src/app/name-glob.ts';
import { DEFAULT_THRESHOLDS } from '../../src/core/model/thresholds.ts';
import { CONFIG_FILE, loadText as load, valuesOf as values } from './load-text.ts';

test('print: each value with its origin', () => {
  const text =
    'events: [a, "b c"]\nthresholds: {stall_ms: 9}\nservers:\n  web:\n    match: "*:8080"\n    sticky: true\n  "a.b:1": {}\n';
  const print = printConfig(load(text, { env: { TAILFIN_FROM: 'end' }, flags: { metricsListen: '[::]:1' } }));
  const thresholds = Object.entries(DEFAULT_THRESHOLDS)
    .map(([name, value]) => `  ${name}: ${name === 'stall_ms' ? '9 # file /tailfin.yaml:2' : `${value} # default`}\n`)
    .join('');
  assert.equal(
    print.replaceAll(dirname(CONFIG_FILE), ''),
    `events: [a, "b c"] # file /tailfin.yaml:1
from: end # environment TAILFIN_FROM
remove_read_segments: auto # default
state_dir: "" # default
scrape:
  interval_seconds: 30 # default
  last_seconds: 20 # default
host: "" # default
metrics_listen: "[::]:1" # flag --metrics-listen
local_listen: 127.0.0.1:19641 # default
ingest:
  enabled: false # default
  otlp: false # default
log_level: info # default
evidence:
  file: "" # default
  file_bytes: 16777216 # default
  old_files: 4 # default
  max_per_second: 50 # default
otel:
  endpoint: "" # default
  protocol: http/protobuf # default
  metrics: auto # default
  traces: auto # default
  logs: auto # default
  temporality: cumulative # default
  metrics_interval_ms: 60000 # default
  traces_share: 0.01 # default
  traces_queue: 2048 # default
  logs_queue: 2048 # default
policy:
  cut_mid: ambiguous # default
thresholds:
${thresholds}servers:
  web:
    match: "*:8080" # file /tailfin.yaml:5
    sticky: true # file /tailfin.yaml:6
    read_only_tools: [] # default
  a.b:1:
    read_only_tools: [] # default
`,
  );
  assert.match(printConfig(loadConfig({})), /^servers: \{\} # default$/m);
});

test('print: loads again to the same values, whatever the names and patterns are', () => {
  const hard = fc.constantFrom(
    'null',
    'true',
    '~',
    '1e3',
    '0x10',
    '-',
    '- a',
    'a: b',
    'a #b',
    '#',
    '"',
    "'",
    '[::1]:80',
    '__proto__',
    '\u0085\u2028\uFEFF',
    '/',
    'a:',
    '.inf',
    '\\n',
    '<<',
  );
  const textOf = fc.oneof(hard, fc.string({ minLength: 1, maxLength: 30, unit: 'binary' }));
  const name = textOf.filter((text) => Buffer.byteLength(text) <= 128);
  const glob = textOf.filter((text) => nameGlobFault(text) === undefined);
  const server = fc.record(
    { name, sticky: fc.boolean(), sentinel: fc.constantFrom('mandated', 'optional'), read_only_tools: fc.array(glob) },
    { requiredKeys: ['name'] },
  );
  const servers = fc.uniqueArray(server, { selector: ({ name }) => name, maxLength: 5 });
  const any = fc.record({ host: fc.oneof(name, fc.constant('')), servers });
  fc.assert(
    fc.property(any, ({ host, servers }) => {
      // JSON is YAML, so the input needs no printer of ours.
      const entries = servers.map(({ name, ...rest }) => `${JSON.stringify(name)}: ${JSON.stringify(rest)}`);
      const config = load(`host: ${JSON.stringify(host)}\nservers: {${entries.join(', ')}}\n`);
      assert.equal(config.host, host);
      assert.deepEqual(
        config.servers.map(({ name }) => name),
        servers.map(({ name }) => name),
      );
      const print = printConfig(config);
      assert.deepEqual(values(load(print)), values(config), print);
    }),
    { numRuns: 500, seed: 19640 },
  );
});
