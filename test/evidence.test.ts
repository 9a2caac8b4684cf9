/** Evidence of a real `tailfin run`: the interface, the outputs and their failures, a storm, and no word that must stay inside. */
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ensureBuilt,
  linesOf,
  MAIN,
  readExposition,
  type Sidecar,
  start,
  startSidecar,
  tempFolder,
} from './support/cli.ts';
import { ask, broken, type EvidenceLine, evidence, localUrl } from './support/local.ts';
import { until } from './support/until.ts';

before(ensureBuilt);

/** One of many: its client and its endpoint are its own, so that nothing but its verdict is to be said. */
const alone = (id: string, ts: number): string => broken(id, ts, { client: id, endpoint: `http://${id}:80/mcp` });

const PATIENT = { timeoutMs: 60_000, everyMs: 50 };
/** 1,000 failures/s for so long. */
const STORM_SECONDS = process.env.TAILFIN_LONG === '1' ? 60 : 6;
const MiB = 2 ** 20;

const parsed = (text: string): EvidenceLine[] => linesOf(text).map((line) => JSON.parse(line) as EvidenceLine);
const made = async (sidecar: Pick<Sidecar, 'scrape'>) => (await sidecar.scrape()).sum('tailfin_evidence_records_total');
const suppressed = async (sidecar: Pick<Sidecar, 'scrape'>, reason: string) =>
  (await sidecar.scrape()).sum('tailfin_evidence_suppressed_total', { reason });

async function sidecarOn(t: TestContext, lines: string, env: Readonly<Record<string, string>> = {}) {
  const folder = tempFolder(t);
  const file = join(folder, 'a.ndjson');
  writeFileSync(file, lines);
  const sidecar = await startSidecar(t, join(folder, '*.ndjson'), { env });
  await until(async () => (await sidecar.ready()).status === 200, PATIENT);
  return { folder, file, sidecar, url: localUrl(sidecar.logs()) };
}

async function stopped(sidecar: Sidecar) {
  sidecar.child.kill('SIGTERM');
  const ended = await sidecar.ended;
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

describe('GET /api/evidence', () => {
  const now = Date.now();
  const lines = [
    broken('a', now - 3000),
    broken('b', now - 2000, { server: 'bank', method: 'tools/list', target: undefined, how: 'eof', error: undefined }),
    broken('c', now - 1000, { server: 'bank' }),
    broken('fine', now, { how: 'eof', terminal: true, id_match: 'match', error: undefined }),
  ].join('');

  test('the last ones, newest first, by every filter', async (t) => {
    const { url, file, sidecar } = await sidecarOn(t, lines);
    const ids = async (query = '') =>
      (await evidence(url, query)).records.map(({ record, exchange }) => `${record} ${exchange}`);
    assert.deepEqual(await ids(), ['verdict c', 'finding b', 'verdict b', 'verdict a']);
    assert.deepEqual(await ids('?record=finding'), ['finding b']);
    assert.deepEqual(await ids('?rule=ambiguous_close'), ['finding b']);
    assert.deepEqual(await ids('?rule=masked_retry'), []);
    assert.deepEqual(await ids('?server=bank&record=verdict'), ['verdict c', 'verdict b']);
    assert.deepEqual(await ids('?server=nobody'), []);
    assert.deepEqual(await ids('?outcome=abandoned'), ['verdict c', 'verdict a']);
    assert.deepEqual(await ids('?method=tools/list'), ['finding b', 'verdict b']);
    assert.deepEqual(await ids('?result=surfaced'), []);
    assert.deepEqual(await ids('?limit=2'), ['verdict c', 'finding b']);
    assert.deepEqual(await ids(`?since=${now - 1500}`), ['verdict c']);
    assert.deepEqual(await ids(`?since=${new Date(now - 2000).toISOString()}&outcome=ambiguous`), ['verdict b']);
    const { kept, suppressed: left } = await evidence(url, '?limit=1');
    assert.deepEqual([kept, left], [4, 0]);

    // An operation that its caller gave up is over at once.
    appendFileSync(file, `{"v":1,"type":"settle","ts":${now},"exchange":"c","result":"cancelled"}\n`);
    await until(async () => (await ids('?result=cancelled')).length === 1, PATIENT);
    const [newest, before] = (await evidence(url)).records;
    assert.deepEqual([newest?.rule, before?.record], ['uncertain_write', 'operation']);

    appendFileSync(file, Array.from({ length: 700 }, (_, n) => alone(`n${n}`, now)).join(''));
    await until(async () => (await sidecar.scrape()).sum('tailfin_events_total') === 705, PATIENT);
    const all = await evidence(url);
    assert.deepEqual([all.kept, all.records.length], [500, 500]);
    assert.equal(all.suppressed, await suppressed(sidecar, 'rate_limit'));
    assert.equal((await made(sidecar)) + all.suppressed, 6 + 700);
  });

  test('a filter or value that does not exist is a clear error, not an empty answer', async (t) => {
    const { url } = await sidecarOn(t, lines);
    for (const [query, error] of [
      ['?rul=x', '"rul": unknown filter; did you mean "rule"?'],
      ['?x=1', '"x": unknown filter; one of record, rule, server, outcome, result, method, since, limit'],
      ['?record=verdicts', 'record: unknown value "verdicts"; did you mean "verdict"?'],
      ['?rule=ambiguous', /^rule: unknown value "ambiguous"; one of ambiguous_close, /],
      ['?outcome=clean', 'outcome: unknown value "clean"; one of abandoned, ambiguous'],
      ['?result=first_try', /^result: unknown value "first_try"; /],
      ['?method=tools/cal', 'method: unknown value "tools/cal"; did you mean "tools/call"?'],
      ['?limit=0', 'limit: expected 1 to 500, found "0"'],
      ['?limit=501', 'limit: expected 1 to 500, found "501"'],
      ['?limit=1e2', 'limit: expected 1 to 500, found "1e2"'],
      ['?since=yesterday', /^since: expected RFC 3339 such as 2026-07-28T12:00:00Z, or Unix ms, found "yesterday"$/],
      ['?since=', /^since: expected/],
      ['?since=2026-02-30T00:00:00Z', /^since: expected RFC 3339 .*, found "2026-02-30T00:00:00Z"$/],
      ['?since=2026-02-29T00:00:00Z', /^since: expected/],
      ['?since=2026-13-01T00:00:00Z', /^since: expected/],
      ['?since=2026-02-03T00:00:00', /^since: expected/],
      [
        '?since=2026-02-03T00:00:00+01:00',
        /found "2026-02-03T00:00:00 01:00" \(a "\+" in a URL is a blank: write %2B\)$/,
      ],
      ['?record=verdict&record=finding', 'record: given more than once'],
    ] as const) {
      const { status, headers, body } = await ask(`${url}/api/evidence${query}`);
      assert.equal(status, 400, query);
      assert.match(String(headers['content-type']), /^application\/json/);
      const said = (JSON.parse(body) as { error: string }).error;
      if (typeof error === 'string') assert.equal(said, error);
      else assert.match(said, error);
    }
    const posted = await ask(`${url}/api/evidence`, {}, 'POST');
    assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET, HEAD']);
    for (const fine of ['2028-02-29T00:00:00Z', '2026-02-03T00:00:00.25%2B01:00', '2026-02-03t00:00:00z'])
      assert.equal((await ask(`${url}/api/evidence?since=${fine}`)).status, 200, fine);
    const index = await ask(url, {}, 'PUT');
    assert.deepEqual([index.status, index.headers.allow], [405, 'GET, HEAD']);
    const nowhere = await ask(`${url}/nope`);
    assert.deepEqual([nowhere.status, nowhere.body], [404, '{"error":"not found; / lists the paths"}']);
    const broken_ = await ask(`${url}/%zz`);
    assert.equal(broken_.status < 500 && !broken_.body.includes('    at '), true, broken_.body);
  });

  test('who names another host, or comes from another site, is refused; nothing is shared with other sites', async (t) => {
    const { url } = await sidecarOn(t, lines);
    const port = new URL(url).port;
    const statusFor = async (headers: Readonly<Record<string, string>>) =>
      (await ask(`${url}/api/evidence`, headers)).status;
    for (const host of [
      `127.0.0.1:${port}`,
      'localhost',
      `LOCALHOST:${port}`,
      'localhost:8080',
      '[::1]:80',
      '127.9.9.9',
    ])
      assert.equal(await statusFor({ host }), 200, host);
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '10.0.0.1',
      '127.0.0.1.evil.example',
      'a@localhost',
      '[::2]',
      '::1',
    ])
      assert.equal(await statusFor({ host }), 403, host);
    for (const origin of ['http://evil.example', 'null', 'https://localhost.evil.example', 'nonsense'])
      assert.equal(await statusFor({ origin }), 403, origin);
    assert.equal(await statusFor({ origin: `http://localhost:${port}` }), 200);
    for (const path of ['/', '/api/evidence', '/nope']) {
      const { headers } = await ask(url + path, { origin: `http://127.0.0.1:${port}` });
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('access-control')),
        [],
      );
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    }
    // The scrape listener does not have it.
    assert.equal((await ask(`${url}/metrics`)).status, 404);
  });
});

describe('outputs', () => {
  test('stdout: one JSON line each, the same as the interface gives, and nothing else', async (t) => {
    const now = Date.now();
    const { sidecar, url } = await sidecarOn(t, broken('a', now) + broken('b', now), { TAILFIN_EVIDENCE_FILE: '-' });
    await until(() => linesOf(sidecar.stdout()).length >= 2, PATIENT);
    assert.deepEqual(parsed(sidecar.stdout()).reverse(), (await evidence(url)).records);
    const { stdout } = await stopped(sidecar);
    assert.equal(linesOf(stdout).length, 2);
  });

  test('at level debug: how many records were not made, at the latest at the stop', async (t) => {
    const lines = Array.from({ length: 40 }, (_, n) => alone(`x${n}`, Date.now())).join('');
    const { sidecar } = await sidecarOn(t, lines, {
      TAILFIN_EVIDENCE_MAX_PER_SECOND: '1',
      TAILFIN_LOG_LEVEL: 'debug',
    });
    await until(async () => (await made(sidecar)) + (await suppressed(sidecar, 'rate_limit')) === 40, PATIENT);
    const left = await suppressed(sidecar, 'rate_limit');
    assert.ok(left > 20);
    await stopped(sidecar);
    const said = sidecar.logs().filter(({ kind }) => kind === 'evidence_suppressed');
    const counted = said.map(({ level, msg }) => [
      level,
      Number(/^(\d+) evidence records were not made/.exec(msg)?.[1]),
    ]);
    assert.ok(counted.every(([level]) => level === 'debug'));
    assert.ok(counted.reduce((sum, [, count]) => sum + Number(count), 0) >= left, JSON.stringify(said));
  });

  test('without a setting nothing is written, and the interface has it all the same', async (t) => {
    const { sidecar, url } = await sidecarOn(t, broken('a', Date.now()));
    assert.equal((await evidence(url)).kept, 1);
    assert.equal((await stopped(sidecar)).stdout, '');
  });

  test('a file: rotated, its total bounded, every line whole; what is held is written at the stop', async (t) => {
    const folder = tempFolder(t);
    const file = join(folder, 'evidence.ndjson');
    const now = Date.now();
    const count = 3000;
    const { sidecar } = await sidecarOn(t, Array.from({ length: count }, (_, n) => alone(`x${n}`, now)).join(''), {
      TAILFIN_EVIDENCE_FILE: file,
      TAILFIN_EVIDENCE_FILE_BYTES: String(128 * 1024),
      TAILFIN_EVIDENCE_OLD_FILES: '2',
      TAILFIN_EVIDENCE_MAX_PER_SECOND: '10000',
    });
    await until(async () => (await made(sidecar)) === count, PATIENT);
    const lost = (await suppressed(sidecar, 'slow_reader')) + (await suppressed(sidecar, 'write_failed'));
    await stopped(sidecar);
    const names = readdirSync(folder).sort();
    assert.deepEqual(names, ['evidence.ndjson', 'evidence.ndjson.1', 'evidence.ndjson.2']);
    for (const name of names) assert.ok(statSync(join(folder, name)).size <= 128 * 1024, name);
    const kept = names.reverse().flatMap((name) => parsed(readFileSync(join(folder, name), 'utf8')));
    if (lost === 0) assert.equal(kept.at(-1)?.exchange, `x${count - 1}`);
    assert.ok(kept.length > 300);
  });

  test('a file that cannot be written: one line, counted, counting goes on; then it works', async (t) => {
    const out = join(tempFolder(t), 'later');
    const { sidecar, file } = await sidecarOn(t, broken('a', Date.now()), { TAILFIN_EVIDENCE_FILE: join(out, 'e') });
    await until(async () => (await suppressed(sidecar, 'write_failed')) === 1, PATIENT);
    appendFileSync(file, broken('b', Date.now()));
    await until(async () => (await suppressed(sidecar, 'write_failed')) === 2, PATIENT);
    assert.equal((await sidecar.scrape()).sum('tailfin_stream_closes_total'), 2);
    assert.equal((await sidecar.ready()).status, 200);
    mkdirSync(out);
    appendFileSync(file, broken('c', Date.now()));
    await until(() => sidecar.logs().some(({ msg }) => msg.startsWith('can write evidence')), PATIENT);
    assert.deepEqual(
      sidecar.logs().flatMap(({ level, msg, kind }) => (kind === 'evidence_output' ? [[level, msg]] : [])),
      [
        [
          'warn',
          `cannot write evidence to ${out}/e: no such file or directory (ENOENT); records are dropped and counted until it works`,
        ],
        ['info', `can write evidence to ${out}/e again`],
      ],
    );
    assert.deepEqual(
      parsed(readFileSync(join(out, 'e'), 'utf8')).map(({ exchange }) => exchange),
      ['c'],
    );
  });

  test('a folder without permission', { skip: process.getuid?.() === 0 && 'root may write everywhere' }, async (t) => {
    const out = tempFolder(t);
    chmodSync(out, 0o500);
    const { sidecar } = await sidecarOn(t, broken('a', Date.now()), { TAILFIN_EVIDENCE_FILE: join(out, 'e') });
    await until(async () => (await suppressed(sidecar, 'write_failed')) === 1, PATIENT);
    assert.match(sidecar.stderr(), /permission denied \(EACCES\)/);
  });

  /** `tailfin run` with its stdout in a pipe to another program. */
  async function piped(t: TestContext, reader: string, lines: string) {
    const folder = tempFolder(t);
    writeFileSync(join(folder, 'a.ndjson'), lines);
    const options =
      '--metrics-listen 127.0.0.1:0 --local-listen 127.0.0.1:0 --evidence-file - --evidence-max-per-second 10000';
    const script = `'${process.execPath}' '${MAIN}' run --events '${folder}/*.ndjson' ${options} | ${reader}`;
    const running = start('bash', ['-c', script], { group: true, timeoutMs: 120_000 });
    t.after(() => {
      process.kill(-running.child.pid!, 'SIGKILL');
      return running.ended;
    });
    const metrics = () => /"metrics on (http:[^"]+)"/.exec(running.stderr())?.[1];
    await until(() => metrics() !== undefined, PATIENT);
    // Nothing is shown before what was there at the start is read.
    await until(async () => (await fetch(metrics()!)).status === 200, PATIENT);
    const scrape = async () => readExposition(await (await fetch(metrics()!)).text());
    return { scrape, stderr: running.stderr, file: join(folder, 'a.ndjson') };
  }

  test('a reader of stdout that does not read: bounded, counted, and nothing waits for it', async (t) => {
    const count = 6000;
    const now = Date.now();
    const sidecar = await piped(t, 'sleep 120', Array.from({ length: count }, (_, n) => alone(`x${n}`, now)).join(''));
    await until(async () => (await made(sidecar)) === count, PATIENT);
    const lost = await suppressed(sidecar, 'slow_reader');
    // About 450 bytes each: a mebibyte is held, and the pipe's own 64 KiB.
    assert.ok(lost > 1000 && lost < count - 1000, `${lost} dropped`);
    const held = (await sidecar.scrape()).sum('process_resident_memory_bytes');
    appendFileSync(sidecar.file, Array.from({ length: count }, (_, n) => alone(`y${n}`, now)).join(''));
    await until(async () => (await made(sidecar)) === 2 * count, PATIENT);
    assert.equal(await suppressed(sidecar, 'slow_reader'), lost + count);
    const grown = (await sidecar.scrape()).sum('process_resident_memory_bytes') - held;
    assert.ok(grown < 48 * MiB, `${(grown / MiB).toFixed(0)} MiB more`);
  });

  test('a reader of stdout that leaves: one line, counted, and the sidecar goes on', async (t) => {
    const sidecar = await piped(t, 'true', '');
    for (let n = 0; n < 20; n++) appendFileSync(sidecar.file, alone(`x${n}`, Date.now()));
    await until(async () => (await made(sidecar)) === 20, PATIENT);
    appendFileSync(sidecar.file, broken('last', Date.now()));
    await until(async () => (await made(sidecar)) === 21, PATIENT);
    await until(async () => (await suppressed(sidecar, 'write_failed')) >= 1, PATIENT);
    assert.equal((await sidecar.scrape()).sum('tailfin_stream_closes_total'), 21);
    const said = () => sidecar.stderr().match(/cannot write evidence to stdout: broken pipe \(EPIPE\)/g)?.length;
    await until(() => said() !== undefined, { ...PATIENT, what: sidecar.stderr });
    appendFileSync(sidecar.file, broken('later', Date.now()));
    await until(async () => (await made(sidecar)) === 22, PATIENT);
    assert.equal(said(), 1);
  });
});

test(`a storm: 1,000 failures/s for ${STORM_SECONDS} s; memory is bounded, what is suppressed is counted, it answers throughout`, {
  timeout: (STORM_SECONDS + 120) * 1000,
}, async (t) => {
  const out = join(tempFolder(t), 'e.ndjson');
  const { sidecar, file, url } = await sidecarOn(t, broken('first', Date.now()), { TAILFIN_EVIDENCE_FILE: out });
  const startedAt = performance.now();
  const rss: number[] = [];
  let slowest = 0;
  let written = 0;
  while (written < STORM_SECONDS * 1000) {
    const due = Math.min(STORM_SECONDS * 1000, Math.floor(performance.now() - startedAt));
    let text = '';
    // Half of them ambiguous, with a finding each.
    for (; written < due; written++)
      text += broken(`s${written}`, Date.now(), written % 2 === 0 ? { how: 'eof', error: undefined } : {});
    appendFileSync(file, text);
    const askedAt = performance.now();
    const { status, body } = await sidecar.get('/healthz');
    slowest = Math.max(slowest, performance.now() - askedAt);
    assert.equal(status, 200, body);
    rss.push((await sidecar.scrape()).sum('process_resident_memory_bytes'));
    await sleep(50);
  }
  await until(async () => (await sidecar.scrape()).sum('tailfin_stream_closes_total') === written + 1, PATIENT);
  const seconds = (performance.now() - startedAt) / 1000;
  // Past 40,000 attempts the oldest operations are given up: they are records too. All three totals are of one scrape.
  const { sum } = await sidecar.scrape();
  const due = written + 1 + sum('tailfin_findings_total') + sum('tailfin_operations_total');
  assert.ok(sum('tailfin_findings_total') >= written / 2);
  const records = await made(sidecar);
  const left = await suppressed(sidecar, 'rate_limit');
  assert.equal(records + left, due, 'every record is made or counted');
  // The burst, the rate, and one a second of each of three kinds.
  assert.ok(records <= 500 + 50 * (seconds + 1) + 3 * (seconds + 1), `${records} records in ${seconds.toFixed(1)} s`);
  assert.ok(records >= 500);
  const answer = await evidence(url);
  assert.deepEqual([answer.kept, answer.suppressed], [500, left]);
  const third = Math.floor(rss.length / 3);
  const early = Math.max(...rss.slice(third, 2 * third));
  const late = Math.max(...rss.slice(2 * third));
  t.diagnostic(
    `${written} failures: ${records} records, ${left} suppressed, RSS ${(early / MiB).toFixed(0)} then ${(late / MiB).toFixed(0)} MiB, ` +
      `/healthz at most ${slowest.toFixed(0)} ms`,
  );
  // The attempts that wait for a retry are in it: at most 40,000 of them (docs/architecture.md).
  assert.ok(late - early < 64 * MiB);
  await stopped(sidecar);
  assert.equal(linesOf(readFileSync(out, 'utf8')).length, records);
});
