/**
 * `tailfin run` as a process that exports by OTLP: the last figures of a short life arrive, a crash repeats the same spans, one that is
 * stopped repeats nothing, and what is wrong with OpenTelemetry's variables is said before anything starts.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { ensureBuilt, startSidecar, tailfin, tempFolder } from '../support/cli.ts';
import { broken } from '../support/local.ts';
import { type Received, type Responder, startReceiver } from '../support/otlp-receiver.ts';
import { until } from '../support/until.ts';
import { seriesOf } from './rig.ts';

before(ensureBuilt);

const PATIENT = { timeoutMs: 60_000, everyMs: 20 };
const HOUR = 3_600_000;
const AT_ONCE = ['--scrape-interval-seconds', '0'];

interface Place {
  readonly file: string;
  readonly events: string;
  readonly state: string;
}
function place(t: TestContext): Place {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'events'));
  return { file: join(folder, 'events/a.ndjson'), events: join(folder, 'events/*'), state: join(folder, 'state') };
}

/** An hour ago: the windows close as soon as the source is idle. */
const calls = (from: number, count: number): string =>
  Array.from({ length: count }, (_, i) => broken(`x${from + i}`, Date.now() - HOUR + i)).join('');

const lastMetrics = (received: readonly Received[]): Received =>
  received.findLast(({ signal }) => signal === 'metrics')!;
const totalOf = (received: Received, name: string): number =>
  [...seriesOf(received.points)]
    .filter(([key]) => key.startsWith(`["${name}"`))
    .reduce((sum, [, value]) => sum + value, 0);

test('a short life: the first export is the last one, and it is whole', async (t) => {
  const receiver = await startReceiver(t);
  const { file, events } = place(t);
  writeFileSync(file, calls(0, 20));
  const sidecar = await startSidecar(t, events, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
  await until(async () => (await sidecar.scrape()).sum('tailfin_stream_closes_total') === 20, PATIENT);
  sidecar.child.kill('SIGTERM');
  const { code, stderr } = await sidecar.ended;
  assert.equal(code, 0, stderr);
  const last = lastMetrics(receiver.received);
  assert.equal(totalOf(last, 'tailfin_stream_closes_total'), 20);
  assert.equal(totalOf(last, 'tailfin_events_total'), 20);
  assert.equal(last.resource['service.name'], 'tailfin');
  assert.ok(receiver.logs().length >= 20, `${receiver.logs().length} log records`);
});

test('with a checkpoint: new series begin at 0, the last export holds nothing back', async (t) => {
  const receiver = await startReceiver(t);
  const { file, events, state } = place(t);
  writeFileSync(file, calls(0, 5));
  const args = ['--state-dir', state, '--otel-endpoint', receiver.url, '--otel-metrics-interval-ms', '1000'];
  const sidecar = await startSidecar(t, events, { args });
  await until(() => receiver.received.some((each) => each.signal === 'metrics' && each.points.length > 100), PATIENT);
  assert.equal(totalOf(lastMetrics(receiver.received), 'tailfin_stream_closes_total'), 0);
  sidecar.child.kill('SIGINT');
  const { code, stderr } = await sidecar.ended;
  assert.equal(code, 0, stderr);
  assert.equal(totalOf(lastMetrics(receiver.received), 'tailfin_stream_closes_total'), 5);
});

describe('a stop while new series are still shown as 0', () => {
  const lives = async (t: TestContext, temporality: string): Promise<number[]> => {
    const receiver = await startReceiver(t);
    const { file, events, state } = place(t);
    writeFileSync(file, calls(0, 5));
    const closes = (): number[] =>
      receiver.received
        .filter(({ signal }) => signal === 'metrics')
        .map((each) => totalOf(each, 'tailfin_stream_closes_total'));
    const args = ['--state-dir', state, '--otel-endpoint', receiver.url, '--otel-temporality', temporality];
    for (let life = 0; life < 2; life++) {
      const before = closes().length;
      const sidecar = await startSidecar(t, events, { args: [...args, '--otel-metrics-interval-ms', '1000'] });
      await until(() => closes().length >= before + 2, PATIENT);
      sidecar.child.kill('SIGINT');
      await sidecar.ended;
    }
    return closes();
  };

  test('cumulative: the next life goes on from what the last export showed, it does not begin again', async (t) => {
    const closes = await lives(t, 'cumulative');
    assert.equal(closes[0], 0);
    const shown = closes.indexOf(5);
    assert.ok(shown > 0 && shown < closes.length - 2, closes.join());
    assert.deepEqual(new Set(closes.slice(shown)), new Set([5]), closes.join());
  });

  test('delta: nothing twice', async (t) => {
    const closes = await lives(t, 'delta');
    assert.equal(
      closes.reduce((a, b) => a + b, 0),
      5,
      closes.join(),
    );
  });
});

describe('delta over lives', () => {
  test('stops and crashes: nothing twice after a stop, nothing lost after a crash; the start time stays', async (t) => {
    const receiver = await startReceiver(t);
    const { file, events, state } = place(t);
    const args = ['--state-dir', state, '--otel-endpoint', receiver.url, '--otel-temporality', 'delta'];
    const more = ['--otel-metrics-interval-ms', '1000', ...AT_ONCE];
    const begin = () => startSidecar(t, events, { args: [...args, ...more] });
    const closes = (): number =>
      receiver.received
        .filter(({ signal }) => signal === 'metrics')
        .reduce((sum, each) => sum + totalOf(each, 'tailfin_stream_closes_total'), 0);
    writeFileSync(file, calls(0, 10));
    for (const [life, end] of (['SIGTERM', 'SIGTERM', 'SIGKILL', 'SIGTERM'] as const).entries()) {
      const sidecar = await begin();
      await until(() => closes() >= 10 * (life + 1), { ...PATIENT, what: () => `${closes()} in life ${life}` });
      assert.equal(closes(), 10 * (life + 1));
      // What was acknowledged is in a checkpoint soon.
      const before = receiver.received.length;
      await until(() => receiver.received.length > before + 2, PATIENT);
      sidecar.child.kill(end);
      await sidecar.ended;
      appendFileSync(file, calls(10 * (life + 1), 10));
    }
    assert.equal(closes(), 40);
  });

  test('cumulative: the start time is that of the first life', async (t) => {
    const receiver = await startReceiver(t);
    const { file, events, state } = place(t);
    writeFileSync(file, calls(0, 3));
    const starts: number[] = [];
    for (let life = 0; life < 2; life++) {
      const sidecar = await startSidecar(t, events, { args: ['--state-dir', state, '--otel-endpoint', receiver.url] });
      sidecar.child.kill('SIGINT');
      await sidecar.ended;
      const point = lastMetrics(receiver.received).points.find(({ metric }) => metric === 'tailfin.events');
      starts.push(point!.startMs);
    }
    assert.equal(starts[1], starts[0]);
    assert.ok(Math.abs(starts[0]! - Date.now()) < 120_000);
  });
});

test('a crash before anything was exported: the checkpoint has it, and what is read again gives the same spans', async (t) => {
  const receiver = await startReceiver(t);
  receiver.respond = (response) => Boolean(response.writeHead(503).end());
  const { file, events, state } = place(t);
  const settle = (id: string): string =>
    `${JSON.stringify({ v: 1, type: 'settle', ts: Date.now() - HOUR + 1, exchange: id, client: 'c', result: 'cancelled' })}\n`;
  writeFileSync(file, `${broken('a', Date.now() - HOUR)}${settle('a')}`);
  const args = ['--state-dir', state, '--otel-endpoint', receiver.url, '--otel-metrics', 'none', ...AT_ONCE];
  const env = { OTEL_BSP_SCHEDULE_DELAY: '100', OTEL_BLRP_SCHEDULE_DELAY: '100', OTEL_EXPORTER_OTLP_TIMEOUT: '200' };
  const first = await startSidecar(t, events, { args, env });
  await until(async () => (await first.scrape()).sum('tailfin_operations_total') === 1, PATIENT);
  await until(() => receiver.spans().length > 0 && receiver.logs().length > 0, PATIENT);
  // The scrape had all of it in a checkpoint.
  await first.scrape();
  first.child.kill('SIGKILL');
  await first.ended;
  const tried = receiver.spans().slice(0, 2);
  receiver.received.length = 0;
  receiver.respond = () => false;
  const second = await startSidecar(t, events, { args, env });
  await until(() => receiver.spans().length > 0 && receiver.logs().length > 0, PATIENT);
  assert.deepEqual(receiver.spans(), tried);
  second.child.kill('SIGTERM');
  const { code } = await second.ended;
  assert.equal(code, 0);
  receiver.received.length = 0;
  const third = await startSidecar(t, events, { args, env });
  third.child.kill('SIGTERM');
  await third.ended;
  assert.deepEqual([receiver.spans(), receiver.logs()], [[], []], 'the backend has them');
});

test('a backend that is down does not hold up the start, the scrape or the stop', async (t) => {
  const { file, events } = place(t);
  writeFileSync(file, calls(0, 3));
  // Nobody listens on port 9 of the loopback.
  // Some backends have a token in the path of their endpoint.
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9/s3cret-path' };
  const sidecar = await startSidecar(t, events, { env });
  await until(async () => (await sidecar.scrape()).sum('tailfin_stream_closes_total') === 3, PATIENT);
  await until(() => /cannot export logs to http:\/\/127\.0\.0\.1:9: ECONNREFUSED/.test(sidecar.stderr()), PATIENT);
  const startedAt = performance.now();
  sidecar.child.kill('SIGINT');
  const { code, stderr } = await sidecar.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /spans and log records were not exported before the stop/);
  assert.doesNotMatch(stderr, /s3cret/);
  assert.ok(performance.now() - startedAt < 20_000);
});

const SLOW: Readonly<Record<string, Responder>> = {
  'asks for patience': (response) => Boolean(response.writeHead(503, { 'retry-after': '50' }).end()),
  'never answers': () => new Promise(() => {}),
};
for (const [how, respond] of Object.entries(SLOW))
  test(`a backend that ${how}: the process ends in time, and nothing goes on after the stop`, async (t) => {
    const receiver = await startReceiver(t);
    receiver.respond = respond;
    const { file, events, state } = place(t);
    writeFileSync(file, calls(0, 3));
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '55000' };
    const more = { OTEL_METRIC_EXPORT_INTERVAL: '1000' };
    const sidecar = await startSidecar(t, events, { args: ['--state-dir', state], env: { ...env, ...more } });
    await until(() => receiver.logs().length > 0 && receiver.points().length > 0, PATIENT);
    const startedAt = performance.now();
    sidecar.child.kill('SIGTERM');
    const { code, stderr } = await sidecar.ended;
    assert.equal(code, 0, stderr);
    assert.ok(performance.now() - startedAt < 30_000, `${performance.now() - startedAt} ms`);
    assert.equal(sidecar.logs().at(-1)?.msg, 'stopped');
  });

describe('variables of OpenTelemetry', () => {
  const WRONG = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:secret@collector/v1/traces',
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'user:secret@collector:4318',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem',
    OTEL_EXPORTER_OTLP_HEADERS: 'api key',
    OTEL_METRICS_EXPORTER: 'otlp',
  };
  /** Of a host, which an environment for the whole pod gives to the sidecar too. */
  const OF_OTHERS = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'lowmemory',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_TRACES_SAMPLER_ARG: 'endpoint=http://jaeger:14250,pollingIntervalMs=5000',
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_LOGS_EXPORTER: 'console',
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
  };
  const HIDDEN = {
    OTEL_LOG_LEVEL: 'debug',
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '4',
    OTEL_ATTRIBUTE_COUNT_LIMIT: '1',
    OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '2',
    OTEL_SPAN_EVENT_COUNT_LIMIT: '0',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=s3cret-key',
    OTEL_SERVICE_NAME: 'host',
  };

  test('those of a host do not keep the sidecar from its work: a warning each, no word cut, no header shown', async (t) => {
    const receiver = await startReceiver(t);
    const { file, events } = place(t);
    writeFileSync(file, calls(0, 1));
    const env = { ...OF_OTHERS, ...HIDDEN, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const sidecar = await startSidecar(t, events, { env: { ...env, OTEL_BSP_SCHEDULE_DELAY: '100' } });
    await until(() => receiver.spans().length > 0 && receiver.logs().length > 0, PATIENT);
    const warned = sidecar.logs().filter(({ kind }) => kind === 'otel_variable_ignored');
    assert.deepEqual(warned.map(({ msg }) => msg.slice(0, msg.indexOf(':'))).sort(), Object.keys(OF_OTHERS).sort());
    const [operation, attempt] = receiver.spans();
    assert.equal(operation!.attributes['gen_ai.operation.name'], 'execute_tool');
    assert.equal(attempt!.attributes['error.type'], 'abandoned');
    assert.deepEqual(
      attempt!.events.map(({ name }) => name),
      ['tailfin.verdict'],
    );
    assert.equal(receiver.logs()[0]!.attributes['tailfin.outcome'], 'abandoned');
    assert.equal(receiver.received[0]!.headers['api-key'], 's3cret-key');
    sidecar.child.kill('SIGINT');
    const { code, stdout, stderr } = await sidecar.ended;
    assert.deepEqual([code, stdout], [0, '']);
    assert.doesNotMatch(stderr, /s3cret/);
  });

  test('all that is wrong is named, and no secret with it', async () => {
    const { code, stderr } = await tailfin(['run'], { env: WRONG });
    assert.equal(code, 2, stderr);
    for (const name of Object.keys(WRONG))
      assert.equal(stderr.includes(`${name}: `), name !== 'OTEL_METRICS_EXPORTER', name);
    assert.match(stderr, /OTEL_EXPORTER_OTLP_CERTIFICATE: cannot read the file: .*ENOENT/);
    assert.doesNotMatch(stderr, /secret|api key/);
  });

  test('they are no problem of other commands, nor where nothing is exported', async (t) => {
    const { file, events } = place(t);
    writeFileSync(file, calls(0, 1));
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_ENDPOINT: '::' };
    const replay = await tailfin(['replay', file], { env });
    assert.equal(replay.code, 0, replay.stderr);
    await startSidecar(t, events, { env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' } });
    await startSidecar(t, events, { env: { ...WRONG, OTEL_SDK_DISABLED: 'true' } });
  });
});
