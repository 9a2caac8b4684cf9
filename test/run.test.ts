/** `tailfin run` as a process: what it serves, what it says about its sources, and how it ends. */
import assert from 'node:assert/strict';
import { appendFileSync, closeSync, mkdirSync, openSync, rmdirSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../src/app/config.ts';
import { run } from '../src/app/run.ts';
import {
  type Ended,
  type Exposition,
  ensureBuilt,
  linesOf,
  readExposition,
  type Sidecar,
  startSidecar,
  tailfin,
  tempFolder,
} from './support/cli.ts';
import { until } from './support/until.ts';

before(ensureBuilt);

/** For what a loaded machine may take long over. */
const PATIENT = { timeoutMs: 60_000, everyMs: 20 };

/** A stream that broke, whole in one line: one verdict, one operation that waits for a retry. */
const broken = (id: string, ts: number, more: Readonly<Record<string, unknown>> = {}): string =>
  `${JSON.stringify({
    v: 1,
    type: 'close',
    ts,
    open_ts: ts - 5,
    client: 'c',
    server: 'shop',
    exchange: id,
    method: 'tools/call',
    target: 'get',
    status: 200,
    content_type: 'text/event-stream',
    how: 'error',
    by: 'peer',
    bytes: 100,
    ...more,
  })}\n`;

const gaps = (count: number, ts = Date.now()): string =>
  `{"v":1,"type":"gap","ts":${ts},"dropped":0,"reason":"test"}\n`.repeat(count);

/** So many MB of events of the last minutes, each line as long as a real one. */
function writeBacklog(file: string, megabytes: number): number {
  const fd = openSync(file, 'w');
  const lineBytes = 550;
  const count = Math.floor((megabytes * 1e6) / lineBytes);
  const start = Date.now() - 2 * count - 60_000;
  for (let i = 0; i < count; ) {
    let text = '';
    for (const end = Math.min(count, i + 10_000); i < end; i++) {
      const line = broken(`x${i}`, start + 2 * i, { terminal: true, id_match: 'match', how: 'eof', trace: '' });
      text += line.replace('"trace":""', `"trace":"${'t'.repeat(lineBytes - line.length)}"`);
    }
    writeSync(fd, text);
  }
  closeSync(fd);
  return count;
}

const messages = ({ logs }: Pick<Sidecar, 'logs'>, pattern: RegExp) => logs().filter(({ msg }) => pattern.test(msg));
const events = async (sidecar: Sidecar, type: string) => (await sidecar.scrape()).sum('tailfin_events_total', { type });
const isReady = (sidecar: Sidecar) => async () => (await sidecar.ready()).status === 200;

/** Stops it as Kubernetes does; the whole stop must fit well into a pod's grace period. */
async function stop(sidecar: Sidecar, signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended & { readonly ms: number }> {
  const start = performance.now();
  sidecar.child.kill(signal);
  const ended = await sidecar.ended;
  const ms = performance.now() - start;
  assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: 0, signal: null }, ended.stderr);
  assert.ok(ms < 5000, `the stop took ${ms} ms`);
  return { ...ended, ms };
}

/** What moves at the same time must have moved by the same amount in one exposition. */
function assertOneMoment({ sum }: Exposition): void {
  const closes = sum('tailfin_stream_closes_total');
  assert.equal(sum('tailfin_stream_bytes_count'), closes);
  assert.equal(sum('tailfin_stream_bytes_bucket', { le: '+Inf' }), closes);
  assert.equal(sum('tailfin_endpoint_closes_total'), closes);
}

describe('serving', () => {
  test('/metrics, /healthz, /readyz, and nothing else', async (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, 'a.ndjson'), broken('x', Date.now()));
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    await until(isReady(sidecar), PATIENT);
    assert.deepEqual(await sidecar.ready(), { status: 200, reasons: [] });

    const metrics = await sidecar.get('/metrics');
    assert.equal(metrics.status, 200);
    assert.equal(metrics.type, 'text/plain; version=0.0.4; charset=utf-8');
    const exposition = readExposition(metrics.body);
    assert.equal(exposition.sum('tailfin_events_total', { source: 'files', type: 'close' }), 1);
    assert.equal(exposition.sum('tailfin_stream_closes_total', { server: 'shop', outcome: 'abandoned' }), 1);
    assert.equal(exposition.sum('tailfin_source_up', { source: 'files' }), 1);
    assert.equal(exposition.sum('tailfin_source_lag_bytes', { source: 'files' }), 0);
    assert.equal(exposition.sum('tailfin_source_faults_total', { source: 'files' }), 0);
    assert.equal(exposition.sum('tailfin_build_info', { node: process.version }), 1);
    assert.ok(exposition.sum('process_resident_memory_bytes') > 1e7);
    for (const { name, value } of exposition.samples) {
      if (/^(tailfin|mcp)_/.test(name)) assert.ok(!Number.isNaN(value), `${name} is no number`);
    }

    const health = await sidecar.get('/healthz');
    assert.equal(health.status, 200);
    assert.equal(JSON.parse(health.body).status, 'ok');
    for (const path of ['/nope', '/metrics/x', '/metricsx', '/readyz/..%2fetc']) {
      assert.equal((await sidecar.get(path)).status, 404, path);
    }
    const nowhere = await sidecar.get('/nope');
    assert.deepEqual(
      [nowhere.type, nowhere.body],
      ['application/json; charset=utf-8', '{"error":"not found; / lists the paths"}'],
    );
    for (const path of ['/metrics', '/healthz', '/readyz', '/']) {
      for (const method of ['POST', 'DELETE', 'OPTIONS']) {
        const answer = await fetch(sidecar.url + path, { method });
        const said = [answer.status, answer.headers.get('allow'), await answer.text()];
        assert.deepEqual(said, [405, 'GET, HEAD', '{"error":"only GET"}'], `${method} ${path}`);
      }
    }
    const head = await fetch(`${sidecar.url}/metrics`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    for (const { ts, level } of sidecar.logs()) {
      assert.ok(Math.abs(Date.parse(ts) - Date.now()) < 120_000);
      assert.equal(level, 'info');
    }
    await stop(sidecar, 'SIGINT');
  });

  test('concurrent scrapes are equal, in what is ours', async (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, 'a.ndjson'), broken('x', Date.now()) + gaps(100));
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    await until(async () => (await events(sidecar, 'gap')) === 100, PATIENT);
    const ours = (text: string) => text.replace(/^(# (HELP|TYPE) )?(process|nodejs)_.*\n/gm, '');
    const bodies = await Promise.all(
      Array.from({ length: 20 }, async () => ours((await sidecar.get('/metrics')).body)),
    );
    assert.ok(bodies[0]!.length > 1000);
    for (const body of bodies) assert.equal(body, bodies[0]);
    assert.equal(ours((await sidecar.get('/metrics')).body), bodies[0], 'and the next one too');
  });

  test('lines that are appended, and files that appear, are counted', async (t) => {
    const folder = tempFolder(t);
    const first = join(folder, 'a.ndjson');
    writeFileSync(first, gaps(3));
    // From the environment and relative, as in a container's working directory.
    const sidecar = await startSidecar(t, '*.ndjson', { cwd: folder });
    await until(async () => (await events(sidecar, 'gap')) === 3, PATIENT);
    appendFileSync(first, gaps(1).trimEnd());
    writeFileSync(join(folder, 'b.ndjson'), gaps(10));
    await until(async () => (await events(sidecar, 'gap')) === 13, PATIENT);
    appendFileSync(first, '\n');
    await until(async () => (await events(sidecar, 'gap')) === 14, PATIENT);
    appendFileSync(join(folder, 'b.ndjson'), 'nonsense\n\n');
    const rejected = { reason: 'not_json' };
    await until(async () => (await sidecar.scrape()).sum('tailfin_events_rejected_total', rejected) === 1, PATIENT);
  });

  test('an event of the future is rejected, one within the tolerance is not', async (t) => {
    const folder = tempFolder(t);
    const minute = 60_000;
    const lines = [broken('late', Date.now() + 10 * minute), broken('soon', Date.now() + 2 * minute)];
    writeFileSync(join(folder, 'a.ndjson'), [...lines, broken('now', Date.now())].join(''));
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    await until(async () => (await events(sidecar, 'close')) === 2, PATIENT);
    const { sum } = await sidecar.scrape();
    assert.equal(sum('tailfin_events_rejected_total', { source: 'files', reason: 'future_ts' }), 1);
    assert.equal(sum('tailfin_stream_closes_total'), 2);
  });
});

describe('sources that are not there, or cannot be read', () => {
  test('a folder that does not exist yet: said once, 503 until there is something', async (t) => {
    const folder = join(tempFolder(t), 'later');
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    await until(() => messages(sidecar, /waiting/).length > 0, PATIENT);
    assert.deepEqual(await sidecar.ready(), { status: 503, reasons: ['files: waiting for files'] });
    assert.equal((await sidecar.get('/healthz')).status, 200);
    assert.equal((await sidecar.scrape()).sum('tailfin_source_faults_total'), 0);
    // Some looks at the folders later.
    await sleep(2500);
    const [waiting, ...again] = messages(sidecar, /waiting/);
    assert.equal(waiting?.msg, `files is waiting: ${folder} does not exist yet`);
    assert.equal(waiting.level, 'info');
    assert.deepEqual(again, []);
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.ndjson'), gaps(5));
    await until(isReady(sidecar), PATIENT);
    assert.equal(await events(sidecar, 'gap'), 5);
    assert.ok(messages(sidecar, /waiting: .* does not exist/).length === 1);
  });

  test('an unreadable path: one line, counted, in /readyz, tried again, and no reason for source_up 0', async (t) => {
    const folder = tempFolder(t);
    const bad = join(folder, 'bad.ndjson');
    mkdirSync(bad);
    writeFileSync(join(folder, 'good.ndjson'), gaps(3));
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    const fault = `cannot read ${bad}: it is a directory, not a regular file`;
    await until(async () => (await sidecar.ready()).reasons.join().startsWith('source fault'), PATIENT);
    assert.deepEqual(await sidecar.ready(), { status: 503, reasons: [`source fault: ${fault}`] });
    // Others are read all the same, and later tries say nothing new.
    await until(async () => (await events(sidecar, 'gap')) === 3, PATIENT);
    await sleep(2500);
    const faulty = await sidecar.scrape();
    assert.equal(faulty.sum('tailfin_source_faults_total', { source: 'files' }), 1);
    assert.equal(faulty.sum('tailfin_source_up', { source: 'files' }), 1);
    const lines = messages(sidecar, /bad\.ndjson/);
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [['warn', fault]],
    );

    rmdirSync(bad);
    writeFileSync(bad, gaps(4));
    await until(isReady(sidecar), PATIENT);
    await until(async () => (await events(sidecar, 'gap')) === 7, PATIENT);
    const recovered = await sidecar.scrape();
    assert.equal(recovered.sum('tailfin_source_up', { source: 'files' }), 1);
    assert.equal(recovered.sum('tailfin_source_faults_total', { source: 'files' }), 1);
    // A look in between, when there was nothing of that name, has nothing to say; else it says that it can be read again.
    const [, ...later] = messages(sidecar, /bad\.ndjson/);
    for (const { level, msg } of later) assert.deepEqual([level, msg], ['info', `can read ${bad} again`]);
  });
});

describe('refusing to start', () => {
  test('a port in use: one line, exit 3', async (t) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    t.after(() => other.close());
    const listen = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const ended = await tailfin(['run', '--events', join(tempFolder(t), '*'), '--metrics-listen', listen]);
    assert.deepEqual(linesOf(ended.stderr), [
      `tailfin: cannot listen on ${listen}: address already in use (EADDRINUSE)`,
    ]);
    assert.equal(ended.code, 3);
  });

  test('an address of another machine: one line, exit 3', async (t) => {
    const ended = await tailfin(['run', '--events', join(tempFolder(t), '*'), '--metrics-listen', '192.0.2.1:0']);
    assert.match(ended.stderr, /^tailfin: cannot listen on 192\.0\.2\.1:0: address not available \(EADDRNOTAVAIL\)\n$/);
    assert.equal(ended.code, 3);
  });

  test('a broken configuration: exit 2, a line for each problem', async (t) => {
    const file = join(tempFolder(t), 'tailfin.yaml');
    writeFileSync(file, 'evnts: /x\nfrom: nowhere\n');
    const ended = await tailfin(['run', '--config', file]);
    assert.deepEqual(linesOf(ended.stderr), [
      `tailfin: ${file}:1: evnts: unknown key; did you mean "events"?`,
      `tailfin: ${file}:2: from: expected "beginning" or "end", found "nowhere"`,
    ]);
    assert.equal(ended.code, 2);
  });
});

describe('a large backlog', () => {
  test('200 MB: 503 while replaying, /metrics answers throughout; then SIGTERM ends it in 5 s', async (t) => {
    const folder = tempFolder(t);
    // A checkpoint of an earlier life: what it shows cannot go back.
    const flags = [
      '--state-dir',
      join(folder, 'state'),
      '--scrape-interval-seconds',
      '0',
      '--scrape-last-seconds',
      '0',
    ];
    const before = await startSidecar(t, join(folder, '*.ndjson'), { args: flags });
    await before.scrape();
    await stop(before);
    const count = writeBacklog(join(folder, 'big.ndjson'), 200);
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'), { args: flags });
    let seen = 0;
    let slowest = 0;
    while (seen === 0 || slowest === 0 || seen < count / 20) {
      const start = performance.now();
      const exposition = await sidecar.scrape();
      slowest = Math.max(slowest, performance.now() - start);
      assertOneMoment(exposition);
      const now = exposition.sum('tailfin_stream_closes_total');
      assert.ok(now >= seen, 'counters only grow');
      assert.ok(now < count, 'the backlog is long enough for the rest of this test');
      seen = now;
    }
    t.diagnostic(`slowest of the scrapes during the replay: ${Math.round(slowest)} ms`);
    const { status, reasons } = await sidecar.ready();
    assert.equal(status, 503);
    assert.match(reasons.join(), /^files: replaying, \d+ bytes behind$/);
    const lagging = await sidecar.scrape();
    assert.ok(lagging.sum('tailfin_source_lag_bytes') > 0);
    assert.ok(lagging.sum('tailfin_source_lag_seconds') > 60);

    const { ms, stderr } = await stop(sidecar);
    t.diagnostic(`the stop took ${Math.round(ms)} ms`);
    assert.match(stderr.trimEnd().split('\n').at(-1)!, /"msg":"stopped"/);
  });
});

describe('a stop', () => {
  test('SIGTERM right after an append: what was appended is read, exit 0', async (t) => {
    const folder = tempFolder(t);
    const file = join(folder, 'a.ndjson');
    writeFileSync(file, gaps(1));
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    await until(isReady(sidecar), PATIENT);
    // Held still, so that the lines and the signal arrive at one time; `big` keeps the stop busy while we look.
    sidecar.child.kill('SIGSTOP');
    writeBacklog(join(folder, 'big.ndjson'), 60);
    appendFileSync(file, gaps(500));
    const stopped = stop(sidecar);
    const scraped = scrapeUntilGone(sidecar.url);
    sidecar.child.kill('SIGCONT');
    const { stderr } = await stopped;
    assert.equal(Math.max(...(await scraped)), 501);
    assert.match(stderr, /"msg":"stopped","lag_bytes":\d+/);
  });

  test('with nothing left to read waits for no connection that is open', async (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, 'a.ndjson'), gaps(1));
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    await until(isReady(sidecar), PATIENT);
    // fetch keeps its connection alive.
    await sidecar.scrape();
    const { stderr } = await stop(sidecar);
    assert.match(stderr, /"msg":"stopped","lag_bytes":0/);
  });
});

/** Counts of gap events, from scrape after scrape until nobody answers any more. */
async function scrapeUntilGone(url: string): Promise<number[]> {
  const counts: number[] = [];
  for (;;) {
    try {
      const response = await fetch(`${url}/metrics`);
      counts.push(readExposition(await response.text()).sum('tailfin_events_total', { type: 'gap' }));
    } catch {
      return counts;
    }
  }
}

describe('in this process, on a clock of our own', () => {
  async function startHere(t: TestContext, folder: string, now: () => number) {
    const controller = new AbortController();
    const said: string[] = [];
    const config = loadConfig({
      flags: { events: [join(folder, '*.ndjson')], metricsListen: '127.0.0.1:0', localListen: '127.0.0.1:0' },
    });
    const ended = run({ config, log: (_, msg) => void said.push(msg), signal: controller.signal, now });
    t.after(async () => {
      controller.abort();
      await ended;
    });
    const listening = () => said.map((msg) => /metrics on (.*)\/metrics/.exec(msg)?.[1]).find(Boolean);
    await until(() => listening() !== undefined, PATIENT);
    const url = listening()!;
    await until(async () => (await fetch(`${url}/metrics`)).status === 200, PATIENT);
    const scrape = async () => readExposition(await (await fetch(`${url}/metrics`)).text());
    return { url, scrape, ended, stop: () => controller.abort() };
  }

  test('an idle source follows the wall clock: windows close without another event', async (t) => {
    const folder = tempFolder(t);
    let ahead = 0;
    const now = () => Date.now() + ahead;
    writeFileSync(join(folder, 'a.ndjson'), broken('x', Date.now()));
    const { scrape } = await startHere(t, folder, now);
    await until(async () => (await scrape()).sum('tailfin_stream_closes_total') === 1, PATIENT);
    const surfaced = async () => (await scrape()).sum('tailfin_operations_total', { result: 'surfaced' });
    assert.equal(await surfaced(), 0);
    // The retry window has passed, the time for late parse and settle lines has not.
    ahead = 400_000;
    await sleep(1000);
    assert.equal(await surfaced(), 0);
    ahead = 700_000;
    await until(async () => (await surfaced()) === 1, PATIENT);
    assert.equal((await scrape()).sum('tailfin_operations_total'), 1);
    // What is too far in the future follows the same clock.
    appendFileSync(join(folder, 'a.ndjson'), broken('y', now() + 240_000) + broken('z', now() + 360_000));
    await until(async () => (await scrape()).sum('tailfin_events_total') === 2, PATIENT);
    assert.equal((await scrape()).sum('tailfin_events_rejected_total', { reason: 'future_ts' }), 1);
  });

  test('the stop itself reads what is left: nobody else had a turn to', async (t) => {
    const folder = tempFolder(t);
    const file = join(folder, 'a.ndjson');
    writeFileSync(file, gaps(1));
    const sidecar = await startHere(t, folder, Date.now);
    await until(async () => (await sidecar.scrape()).sum('tailfin_events_total') === 1, PATIENT);
    writeBacklog(join(folder, 'big.ndjson'), 60);
    appendFileSync(file, gaps(500));
    sidecar.stop();
    const start = performance.now();
    const counts = await scrapeUntilGone(sidecar.url);
    assert.equal(Math.max(...counts), 501);
    assert.equal(await sidecar.ended, 0);
    assert.ok(performance.now() - start < 5000);
  });
});
