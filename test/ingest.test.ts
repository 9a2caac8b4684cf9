/** `tailfin run --ingest` as a process: both sources side by side, hostile senders, and a start that is refused. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { createGzip, gzipSync } from 'node:zlib';
import { ensureBuilt, linesOf, type Sidecar, startSidecar, tailfin, tempFolder } from './support/cli.ts';
import { send } from './support/ingest-rig.ts';
import { localUrl } from './support/local.ts';
import { until } from './support/until.ts';

before(ensureBuilt);

const PATIENT = { timeoutMs: 60_000, everyMs: 20 };
const MIB = 1024 * 1024;

const gapLine = (seq: number, writer = 'w'): string =>
  `{"v":1,"type":"gap","ts":${Date.now()},"writer":"${writer}","seq":${seq},"dropped":0,"reason":"test"}\n`;
const gaps = (count: number, from = 0, writer = 'w'): string =>
  Array.from({ length: count }, (_, i) => gapLine(from + i, writer)).join('');

interface Ingest extends Sidecar {
  readonly port: number;
  /** Of `POST /v1/events`. */
  readonly path: string;
}

async function startIngest(t: TestContext, args: readonly string[] = [], events?: string): Promise<Ingest> {
  const glob = events ?? join(tempFolder(t), '*.ndjson');
  const sidecar = await startSidecar(t, glob, { args: ['--ingest', '--local-listen', '127.0.0.1:0', ...args] });
  const address = () => /"for this pod alone: (http:\/\/127\.0\.0\.1:(\d+)\/)"/.exec(sidecar.stderr());
  await until(() => address() !== null, PATIENT);
  const [, url, port] = address()!;
  return { ...sidecar, port: Number(port), path: `${url}v1/events` };
}

const rssMib = ({ child }: Sidecar): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
const isReady = (sidecar: Sidecar) => async () => (await sidecar.ready()).status === 200;

describe('files and HTTP side by side', () => {
  test('each counts with its own label, both are up, both are in /readyz, a stop ends both', async (t) => {
    const folder = tempFolder(t);
    const sidecar = await startIngest(t, [], join(folder, '*.ndjson'));
    assert.deepEqual(await sidecar.ready(), { status: 503, reasons: ['files: waiting for files'] });
    writeFileSync(join(folder, 'a.ndjson'), gaps(3, 0, 'file-writer'));
    assert.equal((await send(sidecar.path, gaps(2))).json.accepted, 2);
    await until(isReady(sidecar), PATIENT);
    const { sum } = await sidecar.scrape();
    assert.equal(sum('tailfin_events_total', { source: 'files' }), 3);
    assert.equal(sum('tailfin_events_total', { source: 'http' }), 2);
    for (const source of ['files', 'http']) {
      assert.equal(sum('tailfin_source_up', { source }), 1);
      assert.equal(sum('tailfin_source_lag_bytes', { source }), 0);
      assert.equal(sum('tailfin_source_faults_total', { source }), 0);
    }
    appendFileSync(join(folder, 'a.ndjson'), gaps(1, 3, 'file-writer'));
    sidecar.child.kill('SIGTERM');
    const { code, stderr } = await sidecar.ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /"msg":"stopped","lag_bytes":0/);
  });

  test('without --ingest neither listener takes events', async (t) => {
    const sidecar = await startSidecar(t, join(tempFolder(t), '*.ndjson'));
    assert.equal((await fetch(`${localUrl(sidecar.logs())}/v1/events`, { method: 'POST', body: '' })).status, 404);
    assert.equal((await sidecar.get('/v1/events')).status, 404);
  });

  test('where the files are not asked for, their absence is no reason to be unready', async (t) => {
    await ensureBuilt();
    const sidecar = await startIngest(t, [], '');
    assert.deepEqual(await sidecar.ready(), { status: 200, reasons: [] });
  });
});

describe('hostile senders', () => {
  test('at level debug: each batch by its counts, each file that is opened', async (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, 'a.ndjson'), gaps(1, 0, 'file-writer'));
    const sidecar = await startIngest(t, ['--log-level', 'debug'], join(folder, '*.ndjson'));
    for (let i = 0; i < 12; i++) await send(sidecar.path, `${gapLine(i)}x\n`);
    await send(sidecar.path, `${gapLine(0)}`);
    const debug = (kind: string) => () => sidecar.logs().filter((line) => line.level === 'debug' && line.kind === kind);
    await until(() => debug('batch_taken')().length === 13 && debug('file_opened')().length === 1, PATIENT);
    assert.equal(debug('batch_taken')()[3]?.msg, 'http took a batch: 1 accepted, 1 rejected, 0 duplicates');
    assert.match(debug('file_opened')()[0]?.msg ?? '', /^opened \S+a\.ndjson, \d+ bytes to read$/);
    sidecar.child.kill('SIGTERM');
    await sidecar.ended;
    assert.match(debug('file_closed')()[0]?.msg ?? '', /^closed \S+a\.ndjson, 0 bytes unread$/);
  });

  test('a token: without it nothing is heard; it shows nowhere', async (t) => {
    const file = join(tempFolder(t), 'token');
    writeFileSync(file, ' s3cret-token-of-the-test\n');
    const sidecar = await startIngest(t, ['--ingest-token-file', file]);
    const by = (token: string) => send(sidecar.path, gaps(1), { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await send(sidecar.path, gaps(1))).status, 401);
    assert.equal((await by('s3cret-token-of-the-tesT')).status, 401);
    assert.equal((await by('s3cret-token-of-the-test')).json.accepted, 1);
    assert.ok(!(await sidecar.get('/metrics')).body.includes('s3cret'));
    assert.ok(!sidecar.stderr().includes('s3cret'));
  });

  test('a gzip bomb, and many at once: refused early, in bounded memory', async (t) => {
    const sidecar = await startIngest(t);
    await send(sidecar.path, gaps(1));
    const bomb = await pack(1024 * MIB);
    assert.ok(bomb.length < 2 * MIB, `${bomb.length} bytes on the wire`);
    const before = rssMib(sidecar);
    let highest = before;
    const watching = setInterval(() => {
      highest = Math.max(highest, rssMib(sidecar));
    }, 5);
    const headers = { 'content-encoding': 'gzip' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(sidecar.path, bomb, { headers })));
    clearInterval(watching);
    for (const { status } of answers) assert.ok(status === 413 || status === 429, `${status}`);
    assert.ok(answers.some(({ status }) => status === 413));
    t.diagnostic(`RSS ${before.toFixed(0)} MiB, at most ${highest.toFixed(0)} MiB under 12 bombs of 1 GiB`);
    assert.ok(highest - before < 128, `${before.toFixed(0)} to ${highest.toFixed(0)} MiB`);
    assert.equal((await send(sidecar.path, gaps(5, 1))).json.accepted, 5);
  });

  test('a body in pieces of one byte costs no more than any other', async (t) => {
    const sidecar = await startIngest(t);
    const before = rssMib(sidecar);
    const socket = connect(sidecar.port, '127.0.0.1');
    socket.write('POST /v1/events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    const pieces = Buffer.from('1\r\n \r\n'.repeat(200_000));
    for (let i = 0; i < 5; i++) if (!socket.write(pieces)) await once(socket, 'drain');
    await until(async () => (await sidecar.scrape()).sum('tailfin_source_up', { source: 'http' }) === 1);
    const grown = rssMib(sidecar) - before;
    t.diagnostic(`${grown.toFixed(0)} MiB more after a million pieces`);
    socket.write('0\r\n\r\n');
    const [heard] = (await once(socket, 'data')) as [Buffer];
    assert.match(heard.toString(), /^HTTP\/1\.1 200 /);
    socket.destroy();
    assert.ok(grown < 64, `${grown.toFixed(0)} MiB`);
  });

  test('who sends slowly, or nothing, is cut off in seconds; others are served meanwhile', async (t) => {
    const sidecar = await startIngest(t);
    const start = performance.now();
    const ends: Promise<number>[] = [];
    const openings = [
      '',
      'POST /v1/events HTTP/1.1\r\nHost: localhost\r\n',
      `POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${MIB}\r\n\r\n${gaps(10, 0, 'slow')}`,
    ];
    const sockets = Array.from({ length: 60 }, (_, i) => {
      const socket = connect(sidecar.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('data', () => {});
      ends.push(new Promise((resolve) => socket.on('close', () => resolve(performance.now() - start))));
      socket.write(openings[i % openings.length]!);
      return socket;
    });
    const dripping = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x');
    }, 200);
    t.after(() => clearInterval(dripping));
    assert.equal((await send(sidecar.path, gaps(1))).json.accepted, 1);
    const longest = Math.max(...(await Promise.all(ends)));
    t.diagnostic(`the last of 60 was cut off after ${(longest / 1000).toFixed(1)} s`);
    assert.ok(longest < 30_000, `${longest}`);
    assert.equal((await sidecar.scrape()).sum('tailfin_events_total', { source: 'http' }), 1, 'nothing of a part');
  });

  test('10,000 connections: those beyond the limit are refused, /metrics answers, then all is as before', async (t) => {
    const sidecar = await startIngest(t);
    const wanted = 10_000;
    const open = new Set<Socket>();
    let refused = 0;
    let tried = 0;
    for (; tried < wanted; tried += 100) {
      await Promise.all(
        Array.from(
          { length: 100 },
          () =>
            new Promise<void>((resolve) => {
              const socket = connect(sidecar.port, '127.0.0.1');
              // Who reads nothing never sees the end that follows an answer: on a slow machine the first ones get a 408.
              socket.resume();
              socket.on('connect', () => {
                open.add(socket);
                resolve();
              });
              socket.on('error', () => resolve());
              socket.on('close', () => {
                open.delete(socket);
                refused++;
                resolve();
              });
            }),
        ),
      );
      if (tried % 2000 === 0) assert.equal((await sidecar.get('/metrics')).status, 200, `after ${tried}`);
    }
    await until(() => open.size <= 256, { ...PATIENT, what: () => `${open.size} are open` });
    t.diagnostic(`${tried} connections, ${refused} closed by the sidecar, ${rssMib(sidecar).toFixed(0)} MiB`);
    assert.ok(refused >= wanted - 256 - 100, `${refused}`);
    assert.equal((await sidecar.get('/healthz')).status, 200);
    for (const socket of open) socket.destroy();
    await until(async () => (await send(sidecar.path, gaps(1)).catch(() => undefined))?.status === 200, PATIENT);
    assert.equal((await sidecar.scrape()).sum('tailfin_events_total', { source: 'http' }), 1);
  });

  test('senders that are killed in the middle and send all again: no line lost, none counted twice', async (t) => {
    const sidecar = await startIngest(t);
    const total = 5000;
    const bodies = Array.from({ length: total / 50 }, (_, i) => Buffer.from(gaps(50, 50 * i)));
    for (const [i, body] of bodies.entries()) {
      const packed = i % 2 === 0 ? body : gzipSync(body);
      const cut = Math.floor((packed.length * (i % 11)) / 10);
      const socket = connect(sidecar.port, '127.0.0.1');
      socket.on('error', () => {});
      const encoding = i % 2 === 0 ? '' : 'Content-Encoding: gzip\r\n';
      socket.write(
        `POST /v1/events HTTP/1.1\r\nHost: localhost\r\n${encoding}Content-Length: ${packed.length}\r\n\r\n`,
      );
      // Cut before, inside, at the end of the body: at the end the batch may have been taken, and nobody hears of it.
      await new Promise<void>((resolve) => socket.write(packed.subarray(0, cut), () => resolve()));
      socket.resetAndDestroy();
      const headers = { 'content-type': 'text/plain', ...(i % 2 === 1 && { 'content-encoding': 'gzip' }) };
      const { status, json } = await send(sidecar.path, packed, { headers });
      assert.equal(status, 200);
      assert.equal(json.accepted + json.duplicates, 50);
      assert.ok(json.accepted === 0 || json.duplicates === 0, 'a batch is taken whole');
    }
    const { sum } = await sidecar.scrape();
    assert.equal(sum('tailfin_events_total', { source: 'http' }), total);
    assert.equal(sum('tailfin_events_missing_total'), 0);
    assert.equal(sum('tailfin_events_rejected_total') % 50, 0);
  });
});

describe('a start that is refused', () => {
  const start = (args: readonly string[]) =>
    tailfin(['run', '--ingest', '--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0', ...args]);

  test('a token file that is missing, empty, long or odd: one line that names it, exit 2', async (t) => {
    const folder = tempFolder(t);
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    mkdirSync(join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    for (const [file, why] of [
      [join(folder, 'missing'), /^cannot read .*missing: no such file or directory \(ENOENT\)$/],
      [join(folder, 'folder'), /^cannot read .*folder: it is a directory, not a regular file$/],
      [join(folder, 'fifo'), /^cannot read .*fifo: it is a FIFO, not a regular file$/],
      [write('empty', ' \n'), /empty is empty$/],
      [write('long', 'x'.repeat(5000)), /long is longer than 4096 bytes$/],
      [write('two', 'one\ntwo\n'), /two must hold one token/],
    ] as const) {
      const { code, stderr } = await start(['--ingest-token-file', file]);
      const [line, ...more] = linesOf(stderr);
      assert.deepEqual([code, more], [2, []], stderr);
      assert.match(line!.replace(/^tailfin: ingest\.token_file: /, ''), why);
    }
    if (process.getuid?.() !== 0) {
      const secret = write('secret', 'x');
      chmodSync(secret, 0);
      assert.equal((await start(['--ingest-token-file', secret])).code, 2);
    }
  });

  test('open to others without a token: exit 2, both keys named', async () => {
    const { code, stderr } = await tailfin(['run', '--ingest', '--local-listen', '0.0.0.0:0']);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^tailfin: local_listen 0\.0\.0\.0:0 \(flag --local-listen\) .* ingest\.token_file is required\n$/,
    );
  });

  test('its port is taken: exit 3, since it was asked for', async (t) => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    t.after(() => other.close());
    const listen = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, stderr } = await start(['--local-listen', listen]);
    assert.equal(code, 3, stderr);
    assert.match(stderr, new RegExp(`tailfin: cannot listen on ${listen}: address already in use`));
  });
});

/** So many zero bytes, packed. */
async function pack(bytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const pieces: Buffer[] = [];
  gzip.on('data', (piece: Buffer) => pieces.push(piece));
  const zeros = Buffer.alloc(MIB);
  for (let done = 0; done < bytes; done += MIB) if (!gzip.write(zeros)) await once(gzip, 'drain');
  gzip.end();
  await once(gzip, 'end');
  return Buffer.concat(pieces);
}
