/** What an operator has of a running sidecar beside its numbers: log lines, /healthz and /readyz. */
import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { startListener } from '../src/app/listener.ts';
import { createMetricsApp, type MetricsAppOptions } from '../src/app/metrics-app.ts';
import type { SourceStatus } from '../src/sources/source.ts';
import { ensureBuilt, type LogLine, linesOf, MAIN, start, startSidecar, tailfin, tempFolder } from './support/cli.ts';
import { freePort } from './support/free-port.ts';
import { ask, broken } from './support/local.ts';
import { until } from './support/until.ts';

before(ensureBuilt);

const PATIENT = { timeoutMs: 60_000, everyMs: 20 };
const logsOf = (stderr: string): LogLine[] => linesOf(stderr).map((line) => JSON.parse(line) as LogLine);

describe('log lines', () => {
  test('--log-level is the least severe level that is written', async (t) => {
    const folder = tempFolder(t);
    // A fault to warn of.
    mkdirSync(join(folder, 'bad.ndjson'));
    const levelsAt = async (level: string): Promise<string[]> => {
      // At `error` no line says where it listens.
      const listen = `127.0.0.1:${await freePort()}`;
      const args = ['run', '--events', join(folder, '*.ndjson'), '--metrics-listen', listen, '--log-level', level];
      const running = start(process.execPath, [MAIN, ...args, '--local-listen', '127.0.0.1:0']);
      const faults = async () => {
        const { body } = await ask(`http://${listen}/readyz`).catch(() => ({ body: '' }));
        return body.includes('source fault');
      };
      await until(faults, PATIENT);
      running.child.kill('SIGTERM');
      const { stderr, code } = await running.ended;
      assert.equal(code, 0, stderr);
      return [...new Set(logsOf(stderr).map((line) => line.level))].sort();
    };
    assert.deepEqual(await levelsAt('debug'), ['info', 'warn']);
    assert.deepEqual(await levelsAt('info'), ['info', 'warn']);
    assert.deepEqual(await levelsAt('warn'), ['warn']);
    assert.deepEqual(await levelsAt('error'), []);
    const refused = await tailfin(['run', '--log-level', 'loud']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /--log-level: expected "debug", "info", "warn" or "error", found "loud"/);
  });

  test('30 files that cannot be read: ten lines, then how many more; all are counted and in /readyz', async (t) => {
    const folder = tempFolder(t);
    for (let n = 0; n < 30; n++) mkdirSync(join(folder, `bad${n}.ndjson`));
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    const inReady = async () => (await sidecar.ready()).reasons.filter((reason) => reason.startsWith('source fault: '));
    await until(async () => (await inReady()).length === 30, PATIENT);
    assert.equal((await sidecar.scrape()).sum('tailfin_source_faults_total'), 30);
    sidecar.child.kill('SIGTERM');
    const { stderr } = await sidecar.ended;
    const faults = logsOf(stderr).filter(({ kind }) => kind === 'file_unreadable');
    assert.equal(faults.length, 11);
    for (const { level, msg } of faults.slice(0, 10)) {
      assert.equal(level, 'warn');
      assert.match(msg, /^cannot read \/\S+\/bad\d+\.ndjson: it is a directory, not a regular file$/);
    }
    assert.deepEqual(
      [faults[10]?.msg, faults[10]?.suppressed],
      ['20 more lines like "file_unreadable" were suppressed', 20],
    );
  });

  test('a reader of stderr that leaves ends nothing', async (t) => {
    const folder = tempFolder(t);
    const listen = `127.0.0.1:${await freePort()}`;
    const options = `--metrics-listen ${listen} --local-listen 127.0.0.1:0 --events '${folder}/*.ndjson'`;
    // Its stderr goes to a program that has ended; its stdout must not hold the pipe.
    const script = `'${process.execPath}' '${MAIN}' run ${options} 2>&1 >/dev/null | true`;
    const running = start('bash', ['-c', script], { group: true, timeoutMs: 120_000 });
    t.after(() => {
      process.kill(-running.child.pid!, 'SIGKILL');
      return running.ended;
    });
    const reasons = async () => (await ask(`http://${listen}/readyz`).catch(() => ({ body: '' }))).body;
    for (let n = 0; n < 5; n++) {
      mkdirSync(join(folder, `bad${n}.ndjson`));
      await until(async () => (await reasons()).includes(`bad${n}.ndjson`), PATIENT);
    }
    assert.equal((await ask(`http://${listen}/healthz`)).status, 200);
  });

  test('good events make no log line, bad ones one for each file and reason', async (t) => {
    const folder = tempFolder(t);
    const now = Date.now();
    const bad = `nonsense\n{"v":1}\n${JSON.stringify({ v: 1, type: 'close', ts: now, exchange: 'e', how: 1 })}\n`;
    const lines = Array.from({ length: 200 }, (_, n) => broken(`x${n}`, now) + bad).join('');
    writeFileSync(join(folder, 'a.ndjson'), lines);
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    await until(async () => (await sidecar.scrape()).sum('tailfin_events_rejected_total') === 600, PATIENT);
    assert.deepEqual(
      sidecar.logs().map(({ msg }) => msg.replace(/http\S+/, 'URL')),
      [
        ...['metrics on URL', 'for this pod alone: URL'],
        ...['not_json', 'missing_field', 'bad_field'].map((reason, i) => {
          const before =
            lines
              .split('\n')
              .slice(0, i + 1)
              .join('\n').length + 1;
          return `${join(folder, 'a.ndjson')}: line ${i + 2} at byte ${before} was not accepted (${reason})`;
        }),
      ],
    );
  });
});

describe('/healthz and /readyz', () => {
  const idle: SourceStatus = {
    name: 'files',
    state: 'following',
    faults: [],
    isUp: true,
    files: 1,
    lagBytes: 0,
    lagSeconds: 0,
  };

  async function serve(t: TestContext, options: Partial<MetricsAppOptions>): Promise<string> {
    const app = createMetricsApp({
      ...{ contentType: 'text/plain', metrics: async () => ({ text: 'x 1\n', answered() {} }), statuses: () => [idle] },
      ...options,
    });
    const server = await startListener({ host: '127.0.0.1', port: 0 }, app);
    t.after(server.close);
    return `http://${server.address}`;
  }

  test('/healthz asks nobody: neither the metrics nor the sources', async (t) => {
    const url = await serve(t, {
      metrics: () => new Promise(() => {}),
      statuses: () => {
        throw new Error('statuses');
      },
    });
    const { status, body } = await ask(`${url}/healthz`);
    assert.deepEqual([status, (JSON.parse(body) as { status: string }).status], [200, 'ok']);
  });

  test('what fails inside is a 500 in one line, without a stack', async (t) => {
    const url = await serve(t, {
      async metrics() {
        throw new Error('secret detail');
      },
    });
    const { status, body } = await ask(`${url}/metrics`);
    assert.deepEqual([status, body], [500, '{"error":"internal error"}']);
    const bad = await ask(`${url}/%`);
    assert.ok(bad.status === 400 || bad.status === 404, String(bad.status));
    assert.ok(!bad.body.includes('    at '), bad.body);
  });

  test('/readyz says why, each reason by itself', async (t) => {
    let statuses: readonly SourceStatus[] = [idle];
    const url = await serve(t, { statuses: () => statuses });
    const answer = async () => {
      const { status, body } = await ask(`${url}/readyz`);
      return [status, JSON.parse(body) as unknown];
    };
    assert.deepEqual(await answer(), [200, { ready: true, reasons: [] }]);
    for (const [changes, reason] of [
      [{ state: 'waiting', files: 0 }, 'files: waiting for files'],
      [{ state: 'replaying', lagBytes: 42 }, 'files: replaying, 42 bytes behind'],
      [{ faults: ['cannot read /x: EACCES'] }, 'source fault: cannot read /x: EACCES'],
    ] as const) {
      statuses = [{ ...idle, ...changes }];
      assert.deepEqual(await answer(), [503, { ready: false, reasons: [reason] }]);
    }
    statuses = [
      { ...idle, state: 'waiting', faults: ['a', 'b'] },
      { ...idle, name: 'other', state: 'replaying' },
    ];
    assert.deepEqual(await answer(), [
      503,
      {
        ready: false,
        reasons: ['source fault: a', 'source fault: b', 'files: waiting for files', 'other: replaying, 0 bytes behind'],
      },
    ]);
  });

  test('it follows what happens: waiting, a fault, ready', async (t) => {
    const folder = tempFolder(t);
    const sidecar = await startSidecar(t, join(folder, '*.ndjson'));
    const becomes = (reasons: RegExp) =>
      until(async () => reasons.test((await sidecar.ready()).reasons.join('; ')), PATIENT);
    await becomes(/^files: waiting for files$/);
    mkdirSync(join(folder, 'a.ndjson'));
    await becomes(/source fault: cannot read .*a\.ndjson/);
    rmdirSync(join(folder, 'a.ndjson'));
    writeFileSync(join(folder, 'a.ndjson'), broken('x', Date.now()));
    await becomes(/^$/);
    assert.equal((await sidecar.get('/healthz')).status, 200);
  });
});
