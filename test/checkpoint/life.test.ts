/** `tailfin run` with a state folder, as whoever scrapes it sees its lives: crashes, broken folders, rotation in between, the last scrape. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HEAD_BYTES, SLOT_FILES } from '../../src/app/checkpoint/slots.ts';
import { ensureBuilt, type Sidecar, startSidecar, tailfin, tempFolder } from '../support/cli.ts';
import { localUrl } from '../support/local.ts';
import { until } from '../support/until.ts';

before(ensureBuilt);

const PATIENT = { timeoutMs: 60_000, everyMs: 30 };
const HOUR = 3_600_000;
const AT_ONCE = ['--scrape-interval-seconds', '0'];

/** An hour ago, so that the windows close as soon as the source is idle. */
const line = (id: string, more: Readonly<Record<string, unknown>> = {}): string =>
  `${JSON.stringify({
    ...{ v: 1, type: 'close', ts: Date.now() - HOUR, exchange: id, client: 'c', server: 'shop', method: 'tools/call' },
    ...{
      target: 'get',
      status: 200,
      content_type: 'text/event-stream',
      how: 'eof',
      by: 'peer',
      bytes: 100,
      cut: 'mid',
    },
    ...more,
  })}\n`;
const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, i) => line(`x${from + i}`)).join('');

interface Place {
  readonly folder: string;
  readonly file: string;
  readonly state: string;
  begin(...args: string[]): Promise<Sidecar>;
}
function place(t: TestContext): Place {
  const folder = tempFolder(t);
  const state = join(folder, 'state');
  mkdirSync(join(folder, 'events'));
  return {
    ...{ folder, state, file: join(folder, 'events', 'a.ndjson') },
    begin: (...args) =>
      startSidecar(t, join(folder, 'events', '*'), { args: ['--state-dir', state, ...AT_ONCE, ...args] }),
  };
}

const closes = async (sidecar: Sidecar) => (await sidecar.scrape()).sum('tailfin_stream_closes_total');
/** Counts of the checkpoints themselves are in the snapshot after the one that they are about. */
const comesToShow = (sidecar: Sidecar, name: string, labels: Readonly<Record<string, string>> = {}) =>
  until(async () => (await sidecar.scrape()).sum(name, labels) > 0, { ...PATIENT, what: name });
const shows = (sidecar: Sidecar, count: number) => until(async () => (await closes(sidecar)) === count, PATIENT);
const kill = async (sidecar: Sidecar): Promise<void> => {
  sidecar.child.kill('SIGKILL');
  await sidecar.ended;
};
async function stop(sidecar: Sidecar, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  const start = performance.now();
  sidecar.child.kill(signal);
  const { code, stderr } = await sidecar.ended;
  assert.equal(code, 0, stderr);
  return performance.now() - start;
}
const said = (sidecar: Sidecar, pattern: RegExp) => sidecar.logs().filter(({ msg }) => pattern.test(msg));
const startedAs = async (sidecar: Sidecar, result: string): Promise<void> =>
  assert.equal((await sidecar.scrape()).sum('tailfin_checkpoint_restores_total', { result }), 1, result);

describe('lives', () => {
  test('a kill after a scrape: the next life shows the same at once and goes on, each line once', async (t) => {
    const { file, begin } = place(t);
    writeFileSync(file, lines(0, 100));
    const first = await begin();
    await startedAs(first, 'none');
    await shows(first, 100);
    await kill(first);
    // Written while nobody read, the last one half.
    appendFileSync(file, lines(100, 50) + line('x150').slice(0, 30));
    const second = await begin();
    const answer = await second.get('/metrics');
    assert.equal(answer.status, 200, 'with a checkpoint there is nothing to wait for');
    await startedAs(second, 'restored');
    assert.ok((await closes(second)) >= 100);
    await shows(second, 150);
    appendFileSync(file, line('x150').slice(30));
    await shows(second, 151);
    const { sum } = await second.scrape();
    assert.equal(sum('tailfin_events_total'), 151);
    assert.equal(sum('tailfin_events_rejected_total'), 0);
    assert.equal(sum('tailfin_checkpoint_failures_total'), 0);
    await comesToShow(second, 'tailfin_checkpoint_commits_total');
    const later = (await second.scrape()).sum;
    assert.ok(later('tailfin_checkpoint_bytes') > 1000);
    assert.ok(later('tailfin_checkpoint_age_seconds') < 60);
    await stop(second);
    const third = await begin();
    assert.equal(await closes(third), 151, 'a stop keeps it too');
  });

  test('renamed, truncated, deleted and made anew between two lives: each line once (R14, R15, C11)', async (t) => {
    const { folder, file, begin } = place(t);
    writeFileSync(file, lines(0, 40));
    const first = await begin();
    await shows(first, 40);
    await kill(first);
    appendFileSync(file, lines(40, 10));
    renameSync(file, join(folder, 'events', 'a.1.ndjson'));
    writeFileSync(file, lines(50, 10));
    const second = await begin();
    await shows(second, 60);
    await kill(second);
    truncateSync(file, 0);
    appendFileSync(file, lines(60, 30));
    const third = await begin();
    await shows(third, 90);
    await kill(third);
    rmSync(file);
    writeFileSync(file, lines(90, 60));
    const fourth = await begin();
    await shows(fourth, 150);
    await sleep(500);
    assert.equal(await closes(fourth), 150);
  });

  test('open exchanges, and calls that wait for a retry, go on in the next life', async (t) => {
    const { file, begin } = place(t);
    const ts = Date.now() - 5000;
    const call = { open_ts: ts, args_digest: 'a', protocol_version: '2025-11-25', endpoint: 'http://10.0.0.1/mcp' };
    writeFileSync(file, line('x', { ...call, ts, cut: 'boundary', how: 'error' }));
    const first = await begin();
    await shows(first, 1);
    await kill(first);
    const answer = { terminal: true, terminal_kind: 'result', endpoint: 'http://10.0.0.2/mcp' };
    appendFileSync(file, line('y', { ...call, ...answer, open_ts: ts + 100, ts: ts + 200 }));
    const second = await begin();
    const masked = { is: 'masked_rotated' };
    await until(async () => (await second.scrape()).sum('tailfin_operations_total', { result: masked.is }) === 1, {
      ...PATIENT,
      what: 'the retry of the next life was joined',
    });
    assert.equal((await second.scrape()).sum('tailfin_operations_total', { result: 'surfaced' }), 0);
  });

  test('another configuration: numbers of a server that is named now stay where they were, and go on under the name', async (t) => {
    const { folder, file, begin } = place(t);
    writeFileSync(file, lines(0, 10));
    const first = await begin();
    await shows(first, 10);
    await kill(first);
    const config = join(folder, 'tailfin.yaml');
    writeFileSync(config, 'servers:\n  named: {match: "sh*", sentinel: mandated}\npolicy: {cut_mid: abandoned}\n');
    appendFileSync(file, lines(10, 5));
    const second = await begin('--config', config);
    await shows(second, 15);
    const { sum } = await second.scrape();
    assert.equal(sum('tailfin_stream_closes_total', { server: 'shop', outcome: 'ambiguous' }), 10);
    assert.equal(sum('tailfin_stream_closes_total', { server: 'named', outcome: 'abandoned' }), 5);
  });

  test('a second process for the same folder is refused, whatever name it has for it; a killed one leaves it', async (t) => {
    const { folder, state, begin } = place(t);
    const first = await begin();
    const args = [
      '--events',
      join(folder, 'events', '*'),
      '--metrics-listen',
      '127.0.0.1:0',
      '--local-listen',
      '127.0.0.1:0',
    ];
    const second = await tailfin(['run', ...args, '--state-dir', join(state, '..', 'state')]);
    assert.equal(second.code, 3);
    assert.match(second.stderr, /^tailfin: state_dir: .*state belongs to another tailfin that is running\n$/);
    await kill(first);
    await stop(await begin());
  });
});

describe('a state folder that is not as it was', () => {
  const overwrite = (state: string, make: (bytes: Buffer) => Buffer): void => {
    for (const name of SLOT_FILES)
      if (existsSync(join(state, name))) writeFileSync(join(state, name), make(readFileSync(join(state, name))));
  };
  const CASES: readonly (readonly [what: string, says: RegExp, result: string, spoil: (state: string) => void])[] = [
    ['noise', /checkpoint-a: not a checkpoint/, 'unusable', (state) => overwrite(state, () => Buffer.from('noise'))],
    ['cut short', /cut short/, 'unusable', (state) => overwrite(state, (bytes) => bytes.subarray(0, HEAD_BYTES + 10))],
    [
      'of a later format',
      /format 9/,
      'unusable',
      (state) => overwrite(state, (bytes) => Buffer.from(bytes.fill(9, 8, 9))),
    ],
    ['gone', /beginning/, 'none', (state) => rmSync(state, { recursive: true })],
    [
      'folders in the place of the slots',
      /directory/,
      'unusable',
      (state) => {
        for (const name of SLOT_FILES) {
          rmSync(join(state, name), { force: true });
          mkdirSync(join(state, name));
        }
      },
    ],
  ];
  for (const [what, says, result, spoil] of CASES)
    test(`${what}: it starts, says why, shows nothing before it has read all again, and counts that`, async (t) => {
      const { file, state, begin } = place(t);
      writeFileSync(file, lines(0, 30));
      const first = await begin();
      await shows(first, 30);
      await kill(first);
      spoil(state);
      const second = await begin();
      assert.ok(said(second, says).length > 0, second.stderr());
      // The first answer is not lower than what the life before has shown.
      assert.equal(await closes(second), 30);
      await startedAs(second, result);
      await stop(second, 'SIGINT');
    });

  test('a file in the place of the folder: it runs without, says so, counts the failures, and goes on when it is put right', async (t) => {
    const { file, state, begin } = place(t);
    writeFileSync(state, '');
    writeFileSync(file, lines(0, 5));
    const first = await begin();
    await shows(first, 5);
    await comesToShow(first, 'tailfin_checkpoint_failures_total');
    assert.ok(said(first, /^no checkpoint: /).length > 0);
    rmSync(state);
    await until(async () => (await first.scrape()).sum('tailfin_checkpoint_commits_total') > 0, PATIENT);
    assert.equal(said(first, /written again/).length, 1);
    await kill(first);
    const second = await begin();
    await startedAs(second, 'restored');
    assert.equal(await closes(second), 5);
  });

  test('a full disk: it keeps serving and counting, says so, and recovers; a crash meanwhile shows nothing too early', async (t) => {
    const { file } = place(t);
    const disk = mkdtempSync(join(tmpdir(), 'tailfin-disk-'));
    t.after(() => {
      spawnSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true, force: true });
    });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=9m', 'tmpfs', disk]);
    if (mounted.status !== 0) {
      t.skip('needs mount (root)');
      return;
    }
    const begin = () => startSidecar(t, file, { args: ['--state-dir', join(disk, 'state'), ...AT_ONCE] });
    // No room for the slots from the beginning.
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(9 * 1024 * 1024 - 64 * 1024));
    writeFileSync(file, lines(0, 10));
    const first = await begin();
    await shows(first, 10);
    await comesToShow(first, 'tailfin_checkpoint_failures_total', { reason: 'no_space' });
    assert.ok(said(first, /no space left/i).length > 0);
    rmSync(ballast);
    await until(async () => (await first.scrape()).sum('tailfin_checkpoint_commits_total') > 0, PATIENT);
    // With its slots there, it does not matter that the disk is full.
    const isThere = (name: string): boolean => statSync(join(disk, 'state', name)).size >= 4 * 1024 * 1024;
    await until(() => SLOT_FILES.every(isThere), PATIENT);
    writeFileSync(ballast, Buffer.alloc(512 * 1024));
    spawnSync('sh', ['-c', `dd if=/dev/zero of=${join(disk, 'more')} bs=64k 2>/dev/null`]);
    appendFileSync(file, lines(10, 10));
    await shows(first, 20);
    const failures = (await first.scrape()).sum('tailfin_checkpoint_failures_total');
    appendFileSync(file, lines(20, 10));
    await shows(first, 30);
    assert.equal((await first.scrape()).sum('tailfin_checkpoint_failures_total'), failures);
    await kill(first);
    const second = await begin();
    await startedAs(second, 'restored');
    assert.equal(await closes(second), 30);
  });

  test('numbers that no checkpoint holds were shown: after a crash nothing is shown before all is read again', async (t) => {
    const { file, state, begin } = place(t);
    writeFileSync(file, lines(0, 10));
    const first = await begin();
    await shows(first, 10);
    // As a scrape does that could not commit: the mark alone is written.
    await stop(first, 'SIGINT');
    for (const name of SLOT_FILES) {
      if (!existsSync(join(state, name))) continue;
      const bytes = readFileSync(join(state, name));
      bytes[40] = 1;
      writeFileSync(join(state, name), bytes);
    }
    appendFileSync(file, lines(10, 10));
    const second = await begin();
    assert.equal(await closes(second), 20, 'the first answer holds what was there at the start');
    await startedAs(second, 'behind');
    assert.equal(said(second, /older than what was shown/).length, 1);
  });

  test('one that another user owns: the reason is said, and it runs', async (t) => {
    if (process.getuid?.() !== 0) {
      t.skip('needs root, to become another user');
      return;
    }
    const { folder, file, state } = place(t);
    mkdirSync(state, { mode: 0o700 });
    chmodSync(folder, 0o755);
    writeFileSync(file, lines(0, 3));
    const sidecar = await startSidecar(t, file, { args: ['--state-dir', state, ...AT_ONCE], uid: 65_534 });
    await shows(sidecar, 3);
    await comesToShow(sidecar, 'tailfin_checkpoint_failures_total', { reason: 'permission' });
    assert.ok(said(sidecar, /permission denied/).length > 0);
  });
});

describe('debut at zero', () => {
  test('a new series shows 0 to the scrapes of two intervals, over a crash; then its value, for good', async (t) => {
    const { file, begin } = place(t);
    const slow = ['--scrape-interval-seconds', '2'];
    writeFileSync(file, '');
    const first = await begin(...slow);
    await first.scrape();
    appendFileSync(file, lines(0, 3));
    await until(async () => (await first.get('/metrics')).body.includes('outcome="ambiguous"'), PATIENT);
    const seen = performance.now();
    assert.equal(await closes(first), 0);
    // Its hold is on record with the next scrape; a crash does not begin it anew.
    await sleep(1200);
    assert.equal(await closes(first), 0);
    await kill(first);
    const second = await begin(...slow);
    if (performance.now() - seen < 3500) assert.equal(await closes(second), 0);
    await shows(second, 3);
    assert.ok(performance.now() - seen > 3500, 'not before two intervals');
    appendFileSync(file, lines(3, 1));
    await shows(second, 4);
    await kill(second);
    assert.equal(await closes(await begin(...slow)), 4, 'what was shown once is never held again');
  });
});

describe('the last scrape', () => {
  test('what came after the last scrape is waited for with an answer to one more', async (t) => {
    const { file, begin } = place(t);
    writeFileSync(file, lines(0, 5));
    const sidecar = await begin();
    await shows(sidecar, 5);
    // A scraper every two seconds or so.
    await sleep(2000);
    await sidecar.scrape();
    appendFileSync(file, lines(5, 5));
    const stopping = stop(sidecar);
    await until(() => said(sidecar, /stopping/).length > 0, PATIENT);
    await sleep(500);
    assert.equal(await closes(sidecar), 10, 'the scrape that everybody waited for');
    const ms = await stopping;
    assert.ok(ms < 8000, `${ms} ms`);
    assert.equal(said(sidecar, /not scraped/).length, 0);
  });

  test('it is waited for no longer than its time, and said to be missed', async (t) => {
    const { file, begin } = place(t);
    const sidecar = await begin('--scrape-last-seconds', '1');
    await sidecar.scrape();
    await sleep(1500);
    writeFileSync(file, lines(0, 5));
    const ms = await stop(sidecar);
    assert.ok(ms > 900 && ms < 8000, `${ms} ms`);
    assert.equal(said(sidecar, /the last numbers were not scraped/).length, 1);
  });

  test('nobody ever scraped, or has seen it all: no wait', async (t) => {
    const { file, begin } = place(t);
    writeFileSync(file, lines(0, 5));
    const alone = await begin();
    await sleep(1500);
    // Whoever waits in vain says so.
    await stop(alone);
    assert.equal(said(alone, /not scraped/).length, 0);
    const seen = await begin();
    // All of it, with the windows that the wall clock has closed.
    const counted = async () => (await seen.scrape()).sum('tailfin_operations_total');
    await until(async () => (await counted()) === 5, PATIENT);
    await sleep(1500);
    await stop(seen);
    assert.equal(said(seen, /not scraped/).length, 0);
  });
});

test('by HTTP: a batch is acknowledged when a checkpoint holds it; a kill right after the answer loses nothing', async (t) => {
  const { begin } = place(t);
  const first = await begin('--ingest');
  const url = new URL('/v1/events', localUrl(first.logs()));
  const post = (body: string) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(url, { method: 'POST' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, i) => post(lines(10 * i, 10))));
  await kill(first);
  assert.deepEqual(new Set(statuses), new Set([200]));
  const second = await begin('--ingest');
  assert.equal(await closes(second), 200);
  const { sum } = await second.scrape();
  assert.equal(sum('tailfin_events_total', { source: 'http' }), 200);
});
