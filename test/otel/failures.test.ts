/**
 * Backends that are down, slow, busy, that refuse, take a part, or cannot be trusted: what waits is bounded, what is dropped is counted,
 * `/metrics` and whoever makes facts notice nothing, and after it all each number is there once. The clock of the cycles is the test's.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Fact } from '../../src/core/model/facts.ts';
import { close, runLines } from '../support/build-event.ts';
import { tempFolder } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { liveHeap } from '../support/live-heap.ts';
import { partialSuccess, type Receiver, startReceiver } from '../support/otlp-receiver.ts';
import { until } from '../support/until.ts';
import { type Rig, type RigOptions, scrapedSeries, seriesOf, startRig } from './rig.ts';

/** The exporter reads these itself. */
function withEnv(t: TestContext, env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  Object.assign(process.env, env);
  t.after(() => {
    for (const name of Object.keys(env)) delete process.env[name];
  });
  return env;
}
/** So short that the exporter does not try again within one export. */
const IMPATIENT = { OTEL_EXPORTER_OTLP_TIMEOUT: '200' };

const ALL = { otelMetrics: 'auto', otelTraces: 'auto', otelLogs: 'auto', otelTracesQueue: '128', otelLogsQueue: '128' };

/** Calls `use` with operations and evidence of so many failed calls. */
function makeFacts(rig: Rig, from: number, count: number): void {
  const onFact = (fact: Fact): void => {
    rig.otel.onFact(fact);
    if (fact.is === 'operation') rig.otel.onRecord(fact, { record: 'operation', server: fact.server });
  };
  const lines = Array.from({ length: count }, (_, i) =>
    close(`x${from + i}`, from + i, { args_digest: `x${from + i}` }),
  );
  runLines(lines, { onFact });
  rig.cells.add('events', count, ['files', 'close']);
}

const sum = async (rig: Rig, name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> =>
  (await rig.scrape()).sum(name, labels);

/** Until each cycle has had so many exports end. */
async function ended(rig: Rig, exports: number): Promise<void> {
  await until(async () => (await sum(rig, 'tailfin_otlp_exports_total')) >= exports, {
    timeoutMs: 60_000,
    everyMs: 2,
    what: `${exports} exports`,
  });
}

function rigOn(t: TestContext, receiver: Pick<Receiver, 'url' | 'received'>, options: RigOptions = {}): Rig {
  return startRig(t, receiver, { ...options, flags: { ...ALL, ...options.flags } });
}

test('down for 200 cycles: bounded, counted, /metrics goes on, and then everything is there once', async (t) => {
  const env = withEnv(t, IMPATIENT);
  const port = await freePort();
  const rig = rigOn(t, { url: `http://127.0.0.1:${port}`, received: [] }, { env });
  makeFacts(rig, 0, 60);
  let heapAfter100 = 0;
  for (let cycle = 1; cycle <= 200; cycle++) {
    makeFacts(rig, 60 * cycle, 60);
    rig.clock.pass(60_000);
    await ended(rig, 3 * cycle);
    assert.equal(await sum(rig, 'tailfin_events_total'), 60 * (cycle + 1));
    if (cycle === 100) heapAfter100 = liveHeap();
  }
  const read = await rig.scrape();
  assert.equal(read.sum('tailfin_otlp_exports_total', { result: 'failed' }), 600);
  assert.equal(read.sum('tailfin_otlp_exports_total'), 600);
  assert.deepEqual(
    ['traces', 'logs'].map((signal) => read.sum('tailfin_otlp_queue_entries', { signal })),
    [128, 128],
  );
  const made = 60 * 201;
  // Two spans each.
  assert.equal(read.sum('tailfin_otlp_dropped_total', { signal: 'traces', reason: 'queue_full' }), 2 * made - 128);
  assert.equal(read.sum('tailfin_otlp_dropped_total', { signal: 'logs', reason: 'queue_full' }), made - 128);
  assert.equal(read.sum('tailfin_otlp_dropped_total', { signal: 'metrics' }), 0);
  const grown = liveHeap() - heapAfter100;
  assert.ok(grown < 8, `the heap does not grow with the outage: ${grown.toFixed(1)} MiB`);
  assert.equal(rig.said.filter((line) => line.startsWith('warn')).length, 3, 'one line for each signal');

  const receiver = await startReceiver(t, { port });
  const scraped = scrapedSeries(await rig.scrape());
  rig.clock.pass(60_000);
  await ended(rig, 603);
  const metrics = receiver.received.filter(({ signal }) => signal === 'metrics');
  assert.equal(metrics.length, 1);
  assert.deepEqual(new Map([...seriesOf(metrics[0]!.points)].sort()), new Map([...scraped].sort()));
  assert.equal(receiver.spans().length, 128);
  assert.equal(new Set(receiver.spans().map(({ spanId }) => spanId)).size, 128);
  assert.equal(receiver.logs().length, 128);
  assert.equal(await sum(rig, 'tailfin_otlp_queue_entries'), 0);
  assert.equal(rig.said.filter((line) => line.startsWith('info')).length, 3);
});

test('slow: a backend that does not answer in time has not taken it; nobody waits for it', async (t) => {
  const receiver = await startReceiver(t);
  const rig = rigOn(t, receiver, { env: withEnv(t, IMPATIENT) });
  const held: (() => void)[] = [];
  receiver.respond = () => new Promise((resolve) => held.push(() => resolve(true)));
  makeFacts(rig, 0, 3);
  rig.clock.pass(60_000);
  await until(() => held.length >= 3);
  // In the middle of it.
  assert.equal(await sum(rig, 'tailfin_events_total'), 3);
  makeFacts(rig, 3, 3);
  await ended(rig, 3);
  assert.equal(await sum(rig, 'tailfin_otlp_exports_total', { result: 'failed' }), 3);
  receiver.respond = () => false;
  const before = receiver.received.length;
  rig.clock.pass(60_000);
  await ended(rig, 6);
  const after = receiver.received.slice(before);
  assert.equal(new Set(after.flatMap(({ spans }) => spans.map(({ spanId }) => spanId))).size, 12);
  for (const release of held) release();
});

describe('statuses', () => {
  test('429 with Retry-After: the exporter waits for it, within its time', async (t) => {
    const receiver = await startReceiver(t);
    const rig = rigOn(t, receiver, {
      env: withEnv(t, { OTEL_EXPORTER_OTLP_TIMEOUT: '30000' }),
      flags: { otelMetrics: 'none', otelLogs: 'none' },
    });
    const times: number[] = [];
    receiver.respond = (response) => {
      times.push(performance.now());
      return times.length === 1 && Boolean(response.writeHead(429, { 'retry-after': '1' }).end());
    };
    makeFacts(rig, 0, 3);
    rig.clock.pass(60_000);
    await ended(rig, 1);
    assert.equal(times.length, 2);
    assert.ok(times[1]! - times[0]! >= 900, `${times[1]! - times[0]!} ms`);
    assert.equal(await sum(rig, 'tailfin_otlp_retries_total', { signal: 'traces' }), 1);
    assert.equal(await sum(rig, 'tailfin_otlp_exports_total', { signal: 'traces', result: 'ok' }), 1);
  });

  test('429 with a longer Retry-After: the next turn is not before that', async (t) => {
    const receiver = await startReceiver(t);
    const rig = rigOn(t, receiver, { env: withEnv(t, IMPATIENT), flags: { otelMetrics: 'none', otelLogs: 'none' } });
    receiver.respond = (response) => Boolean(response.writeHead(429, { 'retry-after': '90' }).end());
    makeFacts(rig, 0, 1);
    rig.clock.pass(5000);
    await ended(rig, 1);
    rig.clock.pass(89_000);
    assert.equal(await sum(rig, 'tailfin_otlp_exports_total'), 1);
    receiver.respond = () => false;
    rig.clock.pass(1000);
    await ended(rig, 2);
    assert.equal(await sum(rig, 'tailfin_otlp_exports_total', { result: 'ok' }), 1);
    assert.equal(receiver.received.length, 2);
  });

  test('503: kept and sent again; 400: dropped and counted, for what is behind it goes on', async (t) => {
    const receiver = await startReceiver(t);
    const rig = rigOn(t, receiver, { env: withEnv(t, IMPATIENT) });
    receiver.respond = (response) => Boolean(response.writeHead(503).end());
    makeFacts(rig, 0, 2);
    rig.clock.pass(60_000);
    await ended(rig, 3);
    assert.equal(await sum(rig, 'tailfin_otlp_queue_entries'), 4 + 2);
    receiver.respond = (response) => Boolean(response.writeHead(400).end('canary.backend'));
    rig.clock.pass(60_000);
    await ended(rig, 6);
    const read = await rig.scrape();
    assert.equal(read.sum('tailfin_otlp_queue_entries'), 0);
    assert.equal(read.sum('tailfin_otlp_dropped_total', { signal: 'traces', reason: 'refused' }), 4);
    assert.equal(read.sum('tailfin_otlp_dropped_total', { signal: 'logs', reason: 'refused' }), 2);
    assert.equal(read.sum('tailfin_otlp_dropped_total', { signal: 'metrics' }), 0);
    assert.equal(read.sum('tailfin_otlp_exports_total', { result: 'refused' }), 3);
    receiver.respond = () => false;
    makeFacts(rig, 2, 1);
    const before = receiver.received.length;
    rig.clock.pass(60_000);
    await ended(rig, 9);
    const points = receiver.received.slice(before).flatMap((each) => each.points);
    assert.equal(points.find(({ metric }) => metric === 'tailfin.events')?.value, 3);
    assert.match(rig.said.join('\n'), /cannot export traces to http:\/\/127\.0\.0\.1:\d+: status 503/);
    assert.doesNotMatch(rig.said.join('\n'), /canary/);
  });

  for (const otelProtocol of ['http/protobuf', 'http/json'])
    test(`partial success by ${otelProtocol}: what it did not take is dropped, the rest is not sent again`, async (t) => {
      const receiver = await startReceiver(t);
      const rig = rigOn(t, receiver, { flags: { otelProtocol } });
      receiver.respond = (response, { signal }) => {
        const isJson = otelProtocol === 'http/json';
        response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' });
        return Boolean(response.end(partialSuccess(signal, { metrics: 7, traces: 2, logs: 1 }[signal], isJson)));
      };
      makeFacts(rig, 0, 3);
      rig.clock.pass(60_000);
      await ended(rig, 3);
      const read = await rig.scrape();
      assert.deepEqual(
        ['metrics', 'traces', 'logs'].map((signal) =>
          read.sum('tailfin_otlp_dropped_total', { signal, reason: 'partial' }),
        ),
        [7, 2, 1],
      );
      assert.equal(read.sum('tailfin_otlp_exports_total', { result: 'partial' }), 3);
      assert.equal(read.sum('tailfin_otlp_queue_entries'), 0);
      assert.deepEqual(rig.said, []);
    });
});

describe('TLS', () => {
  const missing = spawnSync('openssl', ['version']).error !== undefined;
  function certificate(t: TestContext): { readonly key: string; readonly cert: string; readonly path: string } {
    const folder = tempFolder(t);
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
    const names = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert];
    const made = spawnSync('openssl', [...request, ...names], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8'), path: cert };
  }

  test('a certificate that nobody vouches for: not sent, kept, said', async (t) => {
    if (missing) return t.skip('skipped: needs openssl');
    const receiver = await startReceiver(t, { tls: certificate(t) });
    const rig = rigOn(t, receiver, { env: withEnv(t, IMPATIENT) });
    makeFacts(rig, 0, 1);
    rig.clock.pass(60_000);
    await ended(rig, 3);
    assert.equal(receiver.received.length, 0);
    assert.equal(await sum(rig, 'tailfin_otlp_exports_total', { result: 'failed' }), 3);
    assert.equal(await sum(rig, 'tailfin_otlp_queue_entries'), 3);
    assert.match(rig.said.join('\n'), /cannot export metrics to https:.*: DEPTH_ZERO_SELF_SIGNED_CERT/);
  });

  test('one that the environment names; headers and gzip as it says', async (t) => {
    if (missing) return t.skip('skipped: needs openssl');
    const tls = certificate(t);
    const receiver = await startReceiver(t, { tls });
    const env = withEnv(t, {
      OTEL_EXPORTER_OTLP_CERTIFICATE: tls.path,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b,authorization=Bearer%20t',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    });
    const rig = rigOn(t, receiver, { env });
    makeFacts(rig, 0, 1);
    rig.clock.pass(60_000);
    await ended(rig, 3);
    assert.equal(receiver.received.length, 3);
    for (const { headers } of receiver.received)
      assert.deepEqual(
        [headers['x-team'], headers.authorization, headers['content-encoding']],
        ['a b', 'Bearer t', 'gzip'],
      );
    assert.equal(await sum(rig, 'tailfin_otlp_exports_total', { result: 'ok' }), 3);
  });
});
