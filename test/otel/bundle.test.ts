/** What the build has to keep: OpenTelemetry in a chunk of its own that no start loads, whole without node_modules, and a page that names all. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { ensureBuilt, MAIN, ROOT, start, tempFolder } from '../support/cli.ts';
import { startReceiver } from '../support/otlp-receiver.ts';
import { until } from '../support/until.ts';

before(ensureBuilt);

const STATIC = /(?:^|\n)(?:import|export)\s*(?:[^'"();]*?\sfrom\s*)?["'](\.[^"']+)["']/g;
const DYNAMIC = /import\(["'](\.[^"']+)["']\)/g;
/** But for the API, which prom-client brings along. */
const OTEL = /\/\/ node_modules\/@opentelemetry\/(?!api\/)/;

/** A file and all that it imports statically. */
function closure(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, to = ''] of readFileSync(file, 'utf8').matchAll(STATIC)) closure(join(dirname(file), to), found);
  return found;
}
const dynamic = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(DYNAMIC)].map(([, to = '']) => join(dirname(file), to));

test('no start loads it; run can', () => {
  const main = closure(MAIN);
  const run = dynamic(MAIN).find((file) => /\/run-[^/]+\.js$/.test(file));
  assert.ok(run !== undefined, 'main.js imports run');
  const started = new Set([...main, ...closure(run)]);
  for (const file of started) assert.doesNotMatch(readFileSync(file, 'utf8'), OTEL, file);
  const otel = [...started].flatMap(dynamic).find((file) => /\/otel-[^/]+\.js$/.test(file));
  assert.ok(otel !== undefined, 'run imports otel');
  const loaded = [...closure(otel)].map((file) => readFileSync(file, 'utf8')).join('\n');
  assert.match(loaded, OTEL);
  for (const unused of ['exporter-zipkin', 'otlp-grpc-exporter-base', 'exporter-prometheus'])
    assert.ok(!loaded.includes(`node_modules/@opentelemetry/${unused}`), unused);
});

test('it runs from dist alone', async (t) => {
  const folder = tempFolder(t);
  cpSync(dirname(MAIN), join(folder, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  const receiver = await startReceiver(t);
  const listen = ['--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0'];
  const export_ = ['--otel-endpoint', receiver.url, '--otel-metrics-interval-ms', '1000'];
  const args = [join(folder, 'dist/main.js'), 'run', '--events', join(folder, '*.ndjson'), ...listen, ...export_];
  const running = start(process.execPath, args, { cwd: folder });
  t.after(() => {
    running.child.kill('SIGKILL');
    return running.ended;
  });
  await until(() => receiver.points().length > 0, { timeoutMs: 60_000, what: () => running.stderr() });
});

test('the page names every attribute that a span or a log record can have', () => {
  const page = readFileSync(join(ROOT, 'docs/opentelemetry.md'), 'utf8');
  const code = ['otel-trace', 'otel-log'].map((name) => readFileSync(join(ROOT, `src/exporters/${name}.ts`), 'utf8'));
  const names = new Set([...code.join('\n').matchAll(/'([a-z_]+(?:\.[a-z_]+)+)'/g)].map(([, name]) => name as string));
  assert.ok(names.size > 30, `${names.size} names`);
  for (const name of names) assert.ok(page.includes(`\`${name}\``) || page.includes(`\`${name}:`), name);
});
