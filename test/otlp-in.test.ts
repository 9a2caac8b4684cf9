/** `tailfin run --ingest-otlp` as a process: what an SDK exports outlives a kill and counts once; where it is off nothing of it is there. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { ensureBuilt, ROOT, type Sidecar, start, startSidecar, tailfin, tempFolder } from './support/cli.ts';
import { send } from './support/ingest-rig.ts';
import { localUrl } from './support/local.ts';
import { CODECS, capture, exportLogs, exportSpans, PYTHON_SPANS } from './support/otlp.ts';
import { until } from './support/until.ts';

before(ensureBuilt);

const PATIENT = { timeoutMs: 60_000, everyMs: 50 };
const SPANS = Object.values(PYTHON_SPANS).map((span, i) => ({ ...span, at: 1000 * i }));
/** Ended so long ago that every window closes as soon as the source has been idle for 10 s. */
const longAgo = () => Date.now() - 20 * 60_000;

const begin = (t: TestContext, ...args: string[]): Promise<Sidecar> =>
  startSidecar(t, '', { args: ['--ingest-otlp', ...args] });
const urlOf = (sidecar: Sidecar): string => `${localUrl(sidecar.logs())}/`;

describe('spans of an SDK', () => {
  test('acknowledged is stored: after a kill the same counts, and the batch that is sent again counts once', async (t) => {
    const state = ['--state-dir', join(tempFolder(t), 'state'), '--scrape-interval-seconds', '0'];
    const batches = (
      await Promise.all(
        CODECS.map((codec) => capture((url) => exportSpans(url, codec, SPANS, { startAt: longAgo(), gzip: true }))),
      )
    ).flat();
    const sendAll = async (sidecar: Sidecar) => {
      for (const { path, headers, body } of batches) {
        const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
        const answer = await send(urlOf(sidecar) + path.slice(1), body, {
          headers: { 'content-type': type, 'content-encoding': encoding },
        });
        assert.equal(answer.status, 200);
      }
    };
    const first = await begin(t, ...state);
    await sendAll(first);
    first.child.kill('SIGKILL');
    await first.ended;
    const second = await begin(t, ...state);
    const events = async () => (await second.scrape()).sum('tailfin_events_total', { source: 'otlp' });
    assert.equal(await events(), 20);
    await sendAll(second);
    await until(async () => (await second.scrape()).sum('tailfin_operations_total') === 20, PATIENT);
    const { sum } = await second.scrape();
    assert.equal(sum('tailfin_events_late_total', { source: 'otlp' }), 20);
    assert.deepEqual(
      ['first_try', 'surfaced', 'unresolved'].map((result) => sum('tailfin_operations_total', { result })),
      [2, 6, 12],
    );
    assert.equal(sum('tailfin_uncertain_writes_total'), 6);
    assert.equal(sum('tailfin_source_up', { source: 'otlp' }), 1);
  });

  test('with files absent it is ready; log records are lines; a key gives clients, and shows nowhere', async (t) => {
    const key = join(tempFolder(t), 'key');
    writeFileSync(key, 's3cret-key-of-the-test\n');
    const sidecar = await begin(t, '--ingest-key-file', key);
    assert.deepEqual(await sidecar.ready(), { status: 200, reasons: [] });
    await exportLogs(urlOf(sidecar), 'protobuf', [{ v: 1, type: 'gap', ts: Date.now(), dropped: 3, reason: 'test' }]);
    await exportSpans(
      urlOf(sidecar),
      'protobuf',
      [
        {
          name: 'ping',
          attributes: { 'mcp.method.name': 'ping', 'mcp.session.id': 's3cret-session' },
          exception: 's3cret',
        },
      ],
      { startAt: longAgo() },
    );
    const { sum } = await sidecar.scrape();
    assert.equal(sum('tailfin_events_missing_total', { source: 'otlp' }), 3);
    assert.equal(sum('tailfin_events_total', { source: 'otlp', type: 'close' }), 1);
    assert.ok(!(sidecar.stderr() + (await sidecar.get('/metrics')).body).includes('s3cret'));
  });
});

test('a token holds for it too', async (t) => {
  const file = join(tempFolder(t), 'token');
  writeFileSync(file, 'token-of-the-test');
  const sidecar = await begin(t, '--ingest-token-file', file);
  const post = (headers: Record<string, string>) =>
    send(`${urlOf(sidecar)}v1/traces`, '{}', { headers: { 'content-type': 'application/json', ...headers } });
  assert.equal((await post({})).status, 401);
  assert.equal((await post({ authorization: 'Bearer token-of-the-test' })).status, 200);
});

test('a key that cannot be had, or an open address without a token: exit 2', async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'short'), 'short');
  const run = async (...args: string[]) => {
    const { code, stderr } = await tailfin(['run', '--ingest-otlp', ...args]);
    assert.equal(code, 2, stderr);
    return stderr;
  };
  assert.match(await run('--ingest-key-file', join(folder, 'none')), /ingest\.key_file: cannot read \S+none: /);
  assert.match(await run('--ingest-key-file', join(folder, 'short')), /ingest\.key_file: .*shorter than 16 bytes/);
  assert.match(
    await run('--local-listen', '0.0.0.0:1'),
    /with ingest\.otlp \(flag --ingest-otlp\) ingest\.token_file is required/,
  );
});

describe('where it is off', () => {
  test('neither path is there, with or without --ingest', async (t) => {
    for (const args of [[], ['--ingest']]) {
      const sidecar = await startSidecar(t, join(tempFolder(t), '*'), { args });
      for (const path of ['v1/traces', 'v1/logs'])
        assert.equal((await fetch(urlOf(sidecar) + path, { method: 'POST', body: '{}' })).status, 404);
    }
  });

  test('its code is a part of the bundle that nothing else loads', () => {
    const chunks = join(ROOT, 'dist/chunks');
    const files = readdirSync(chunks).filter((name) => name.endsWith('.js'));
    const textOf = (name: string) => readFileSync(join(chunks, name), 'utf8');
    // A sentence of the library, which no tool changes.
    const holders = files.filter((name) => textOf(name).includes('varint overflows uint32'));
    assert.equal(holders.length, 1);
    const [holder] = holders as [string];
    const users = [
      ...files.map((name) => [name, textOf(name)] as const),
      ['main.js', readFileSync(join(ROOT, 'dist/main.js'), 'utf8')] as const,
    ];
    const loaders = users.filter(([name, text]) => name !== holder && text.includes(holder));
    assert.ok(holder.startsWith('otlp-in'), holder);
    for (const [name, text] of loaders) {
      assert.ok(text.includes(`import("./${holder}")`) || text.includes(`import("./chunks/${holder}")`), name);
      assert.ok(!new RegExp(`from\\s*"[^"]*${holder}"`).test(text), name);
    }
    assert.ok(loaders.length > 0);
  });
});

test('dist alone is enough', async (t) => {
  const folder = tempFolder(t);
  cpSync(join(ROOT, 'dist'), folder, { recursive: true });
  const args = [
    'run',
    '--ingest-otlp',
    '--events',
    join(folder, '*.ndjson'),
    '--metrics-listen',
    '127.0.0.1:0',
    '--local-listen',
    '127.0.0.1:0',
  ];
  const running = start(process.execPath, [join(folder, 'main.js'), ...args], { cwd: folder, timeoutMs: 60_000 });
  t.after(() => running.child.kill('SIGKILL'));
  const url = () => /"for this pod alone: (http:\S+)"/.exec(running.stderr())?.[1];
  await until(() => url() !== undefined || running.child.exitCode !== null, PATIENT);
  await exportSpans(url() as string, 'protobuf', SPANS, { startAt: longAgo() });
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0, running.stderr());
  assert.doesNotMatch(running.stderr(), /refused/);
});
