/** Batches by HTTP: what is accepted, what is refused and how, and that nothing of a refused or broken-off batch is counted. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LIMITS } from '../../src/core/model/limits.ts';
import { tokenCheck } from '../../src/sources/ingest-token.ts';
import { createIngestRig, type IngestRig } from '../support/ingest-rig.ts';
import { until } from '../support/until.ts';

const NDJSON = { 'content-type': 'application/x-ndjson' };
const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { ...NDJSON, 'content-encoding': 'gzip' };
const NOTHING = { accepted: 0, rejected: 0, duplicates: 0, errors: [] };

const gapLine = (ts: number, more: object = {}): string =>
  JSON.stringify({ v: 1, type: 'gap', ts, dropped: 0, reason: 'test', ...more });
/** Lines of one writer, in order. */
const batch = (ts: number, count: number, from = 0, writer = 'w'): string =>
  Array.from({ length: count }, (_, i) => `${gapLine(ts + i, { writer, seq: from + i })}\n`).join('');

const counted = (rig: IngestRig) => rig.sum('tailfin_events_total', { source: 'http' });
const rejected = (rig: IngestRig, reason: string) =>
  rig.sum('tailfin_events_rejected_total', { source: 'http', reason });

describe('an accepted batch', () => {
  test('NDJSON under each of its names, whole, in chunks and packed', async (t) => {
    const rig = await createIngestRig(t);
    const line = gapLine(rig.clock.now);
    const one = { ...NOTHING, accepted: 1 };
    for (const type of ['application/x-ndjson', 'application/ndjson', 'text/plain; charset=utf-8', 'Text/Plain'])
      assert.deepEqual((await rig.post(line, { headers: { 'content-type': type } })).json, one, type);
    assert.deepEqual((await rig.post(line, { headers: {} })).json, one, 'no type');
    assert.deepEqual((await rig.post('', { pieces: [...`${line}\n${line}`] })).json, { ...one, accepted: 2 });
    for (const encoding of ['gzip', 'x-gzip', 'GZIP'])
      assert.deepEqual((await rig.post(gzipSync(line), { headers: { 'content-encoding': encoding } })).json, one);
    assert.deepEqual((await rig.post(line, { headers: { 'content-encoding': 'identity' } })).json, one);
    const members = Buffer.concat([gzipSync(`${line}\n`), gzipSync(`${line}\n`)]);
    assert.deepEqual((await rig.post(members, { headers: GZIP })).json, { ...one, accepted: 2 });
    assert.equal(counted(rig), 13);
  });

  test('a JSON array: its elements are its lines', async (t) => {
    const rig = await createIngestRig(t);
    const line = gapLine(rig.clock.now);
    const accepted = async (text: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
      (await rig.post(text, { headers })).json.accepted;
    assert.equal(await accepted(`[${line},${line}]`), 2);
    assert.equal(await accepted(`\uFEFF \r\n[\n ${line}\t,\n${JSON.stringify(JSON.parse(line), null, 2)} ] \n`), 2);
    assert.equal(await accepted(gzipSync(`[${line}]`), { ...JSON_TYPE, 'content-encoding': 'gzip' }), 1);
    const odd = `[${gapLine(rig.clock.now, { reason: ']},"\\{["é\u2028' })},[1,{}],"a,]",1,null,tru]`;
    assert.deepEqual((await rig.post(odd, { headers: JSON_TYPE })).json, {
      ...{ accepted: 1, rejected: 5, duplicates: 0 },
      errors: [...[2, 3, 4, 5].map((n) => ({ line: n, reason: 'not_object' })), { line: 6, reason: 'not_json' }],
    });
  });

  test('an empty one is fine', async (t) => {
    const rig = await createIngestRig(t);
    for (const [body, headers] of [
      ['', NDJSON],
      ['', {}],
      ['\n\r\n  \n', NDJSON],
      ['', JSON_TYPE],
      [' [ ]\n', JSON_TYPE],
      [gzipSync(''), GZIP],
      ['', GZIP],
    ] as const) {
      const { status, json } = await rig.post(body, { headers });
      assert.deepEqual([status, json], [200, NOTHING], JSON.stringify([body, headers]));
    }
    assert.equal(rig.delivered.length, 0);
  });

  test('lines are those of files: blank, CRLF, BOM, NUL runs, too long, no UTF-8; broken ones are named', async (t) => {
    const rig = await createIngestRig(t);
    const line = gapLine(rig.clock.now);
    const long = `${line.slice(0, -1)},"more":"${'x'.repeat(LIMITS.maxLineBytes)}"}`;
    const body = Buffer.concat([
      Buffer.from(`\uFEFF${line}\r\n\n\0\0${line}\0\n{"v":1\n`),
      Buffer.from(`${long}\n`),
      Buffer.from(line.replace('test', 't\x01t').replace('\x01', '\u00ff'), 'latin1'),
      Buffer.from(`\n${gapLine(rig.clock.now, { dropped: -1 })}\n${gapLine(rig.clock.now + 301_000)}\n[]`),
    ]);
    assert.deepEqual((await rig.post(body)).json, {
      accepted: 3,
      rejected: 5,
      duplicates: 0,
      errors: [
        { line: 4, reason: 'not_json' },
        { line: 5, reason: 'oversize' },
        { line: 7, reason: 'bad_field', field: 'dropped' },
        { line: 8, reason: 'future_ts', field: 'ts' },
        { line: 9, reason: 'not_object' },
      ],
    });
    for (const reason of ['not_json', 'oversize', 'bad_field', 'future_ts', 'not_object'])
      assert.equal(rejected(rig, reason), 1, reason);
    assert.equal(rig.sum('tailfin_events_invalid_utf8_total', { source: 'http' }), 1);
    const array = Buffer.concat([Buffer.from(`[${long},`), Buffer.from('"\xff"]', 'latin1')]);
    const { errors } = (await rig.post(array, { headers: JSON_TYPE })).json;
    assert.deepEqual(errors, [
      { line: 1, reason: 'oversize' },
      { line: 2, reason: 'not_object' },
    ]);
    assert.equal(rig.sum('tailfin_events_invalid_utf8_total', { source: 'http' }), 2);
  });

  test('a hundred errors are named, all are counted', async (t) => {
    const rig = await createIngestRig(t);
    const { json } = await rig.post('{\n'.repeat(250));
    assert.equal(json.rejected, 250);
    assert.equal(json.errors.length, 100);
    assert.deepEqual(json.errors.at(-1), { line: 100, reason: 'not_json' });
    assert.equal(rejected(rig, 'not_json'), 250);
  });

  test('sent again: every line of it is a duplicate', async (t) => {
    const rig = await createIngestRig(t);
    const body = batch(rig.clock.now, 50);
    assert.deepEqual((await rig.post(body)).json, { ...NOTHING, accepted: 50 });
    assert.deepEqual((await rig.post(gzipSync(body), { headers: GZIP })).json, { ...NOTHING, duplicates: 50 });
    const array = `[${body.trimEnd().replaceAll('\n', ',')}]`;
    assert.deepEqual((await rig.post(array, { headers: JSON_TYPE })).json, { ...NOTHING, duplicates: 50 });
    assert.equal(counted(rig), 50);
    assert.equal(rejected(rig, 'duplicate'), 100);
    assert.equal(rig.sum('tailfin_events_missing_total'), 0);
  });

  test('many at a time: each is counted once and whole, also where the same ones are sent twice', async (t) => {
    const rig = await createIngestRig(t);
    const bodies = Array.from({ length: 40 }, (_, i) => batch(rig.clock.now, 300, 0, `w${i % 20}`));
    const answers = await Promise.all(bodies.map((body) => rig.post(body)));
    for (const { status } of answers) assert.equal(status, 200);
    assert.equal(counted(rig), 20 * 300);
    assert.equal(rejected(rig, 'duplicate'), 20 * 300);
    for (const { json } of answers) assert.ok(json.accepted === 0 || json.duplicates === 0, JSON.stringify(json));
    // No batch is cut by another one.
    const order = rig.delivered.map((text) => (JSON.parse(text) as { writer: string }).writer);
    assert.ok(order.filter((writer, i) => writer !== order[i - 1]).length <= 40);
  });

  for (const [form, body, type] of [
    ['lines', 'x\n'.repeat(20_000), 'application/x-ndjson'],
    ['elements', `[${'1,'.repeat(20_000)}1]`, 'application/json'],
  ] as const)
    test(`many tiny broken ${form} give others a turn`, async (t) => {
      const rig = await createIngestRig(t);
      const refused = () => rig.sum('tailfin_events_rejected_total');
      let turns = 0;
      const count = (): void => {
        if (refused() > 0 && refused() < 20_000) turns++;
        timer = setImmediate(count);
      };
      let timer = setImmediate(count);
      const { json } = await rig.post(body, { headers: { 'content-type': type } });
      clearImmediate(timer);
      assert.ok(json.rejected >= 20_000);
      assert.ok(turns >= 20, `${turns} turns`);
    });

  test('a large one gives others a turn while it is delivered', async (t) => {
    const rig = await createIngestRig(t);
    const body = batch(rig.clock.now, 60_000);
    let longest = 0;
    let before = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - before);
      before = performance.now();
    }, 1);
    let turns = 0;
    const counting = setInterval(() => {
      if (rig.delivered.length > 0 && rig.delivered.length < 60_000) turns++;
    }, 0);
    const { json } = await rig.post(body);
    clearInterval(timer);
    clearInterval(counting);
    assert.equal(json.accepted, 60_000);
    assert.ok(turns >= 10, `${turns} turns`);
    t.diagnostic(`longest wait for a turn: ${longest.toFixed(0)} ms for ${(body.length / 2 ** 20).toFixed(1)} MiB`);
  });
});

describe('a refused batch', () => {
  test('method, type, encoding, page, packing, array: the status, why, and nothing counted', async (t) => {
    const rig = await createIngestRig(t);
    const line = gapLine(rig.clock.now);
    const cases: readonly (readonly [number, string, string | Buffer, object, string?, string?])[] = [
      [405, 'wrong_method', '', { method: 'GET' }, 'allow', 'POST'],
      [405, 'wrong_method', line, { method: 'PUT' }, 'allow', 'POST'],
      [405, 'wrong_method', '', { method: 'OPTIONS' }, 'allow', 'POST'],
      [415, 'wrong_type', line, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 'accept'],
      [415, 'wrong_type', line, { headers: { 'content-type': 'application/jsonx' } }],
      [415, 'wrong_encoding', line, { headers: { ...NDJSON, 'content-encoding': 'br' } }, 'accept-encoding', 'gzip'],
      [415, 'wrong_encoding', line, { headers: { ...NDJSON, 'content-encoding': 'gzip, gzip' } }],
      [403, 'from_browser', line, { headers: { ...NDJSON, origin: 'https://example.com' } }],
      [400, 'bad_gzip', line, { headers: GZIP }],
      [400, 'bad_gzip', gzipSync(line).subarray(0, -9), { headers: GZIP }],
      ...[
        `${line}\n${line}`,
        `[${line}`,
        `[${line},]`,
        `[,${line}]`,
        `[${line} ${line}]`,
        `[${line}]]`,
        '{}',
        '"a"',
        '[',
      ].map((body) => [400, 'bad_array', body, { headers: JSON_TYPE }] as const),
    ];
    for (const [status, error, body, options, header, value] of cases) {
      const answer = await rig.post(body, options);
      const what = `${body.toString()} ${JSON.stringify(options)}`;
      assert.deepEqual([answer.status, answer.json.error], [status, error], what);
      assert.ok(answer.headers['content-type'] === 'application/json' && (answer.json.message ?? '') !== '', what);
      assert.ok(!answer.body.includes('test'), `repeats what was sent: ${answer.body}`);
      if (header !== undefined) assert.match(String(answer.headers[header]), new RegExp(value ?? '.'), what);
    }
    const head = await rig.post('', { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.allow, head.body], [405, 'POST', '']);
    assert.equal(counted(rig) + rig.sum('tailfin_events_rejected_total'), 0);
  });

  test('is said in the log, each kind under its own name, so that a crowd of one hides no other', async (t) => {
    const rig = await createIngestRig(t, { token: 's3cret' });
    for (let i = 0; i < 2; i++) await rig.post('{', { headers: { authorization: 'Bearer nearly-s3cret' } });
    await rig.post('', { method: 'GET' });
    const unauthorized =
      'warn http refused a batch: 401 unauthorized (a bearer token is required) [batch_unauthorized]';
    assert.deepEqual(rig.logs, [
      ...[unauthorized, unauthorized],
      'warn http refused a batch: 405 wrong_method (POST only) [batch_wrong_method]',
    ]);
  });

  test('more than the limit: by its head, while it arrives, and while it is unpacked', async (t) => {
    const rig = await createIngestRig(t, { maxBatchBytes: 100_000, maxHeldBytes: 1_000_000 });
    const line = `${gapLine(rig.clock.now)}\n`;
    const long = line.repeat(Math.ceil(100_000 / line.length) + 1);
    for (const [name, body, options] of [
      ['declared', long, {}],
      ['chunked', '', { pieces: [long.slice(0, 60_000), long.slice(60_000)] }],
      ['unpacked', gzipSync(long), { headers: GZIP }],
      ['array', `[${long.trimEnd().replaceAll('\n', ',')}]`, { headers: JSON_TYPE }],
      ['a bomb', gzipSync(Buffer.alloc(64 * 2 ** 20)), { headers: GZIP }],
    ] as const) {
      const { status, json } = await rig.post(body, options);
      assert.deepEqual([status, json.error], [413, 'too_large'], name);
    }
    assert.equal(rig.delivered.length, 0);
    const fits = line.repeat(Math.floor(100_000 / line.length));
    assert.equal((await rig.post(fits)).json.accepted, Math.floor(100_000 / line.length));
    assert.equal(rig.source.status().lagBytes, 0);
  });

  test('no room: 429 with Retry-After, nothing counted, and the same batch is taken when there is room', async (t) => {
    const rig = await createIngestRig(t, { maxHeldBytes: 128 * 1024 });
    const first = rig.socket();
    const half = batch(rig.clock.now, 600);
    first.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${half.length}\r\n\r\n`);
    first.write(half.slice(0, 20_000));
    const other = batch(rig.clock.now, 1000, 0, 'v');
    await until(async () => (await rig.post(other)).status === 429, { what: 'the room is taken' });
    const chunked = await rig.post('', { pieces: [other.slice(0, 70_000), other.slice(70_000)] });
    assert.deepEqual([chunked.status, chunked.headers['retry-after']], [429, '1']);
    const seen = counted(rig);
    first.write(half.slice(20_000));
    await once(first, 'data');
    first.destroy();
    assert.equal(counted(rig), seen + 600);
    const { status, json } = await rig.post(other);
    assert.deepEqual([status, json.accepted + json.duplicates], [200, 1000]);
    assert.equal(counted(rig), 1600);
  });

  test('the sender goes away in the middle: nothing of it is counted, and its room is free again', async (t) => {
    const rig = await createIngestRig(t, { maxHeldBytes: 256 * 1024 });
    const body = batch(rig.clock.now, 1000);
    const packed = gzipSync(body);
    for (let i = 0; i < 20; i++) {
      const socket = rig.socket();
      const gzip = i % 2 === 1;
      const bytes = gzip ? packed : Buffer.from(body);
      const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n${gzip ? 'Content-Encoding: gzip\r\n' : ''}\r\n`;
      socket.write(head);
      socket.write(bytes.subarray(0, bytes.length - 1));
      await new Promise((resolve) => setImmediate(resolve));
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    await until(async () => (await rig.post(body)).status === 200, { what: 'room for the same batch' });
    assert.equal(counted(rig), 1000);
    assert.equal(rejected(rig, 'duplicate') % 1000, 0);
  });

  test('stopping: what began may end, what comes then is refused', async (t) => {
    const rig = await createIngestRig(t);
    const body = batch(rig.clock.now, 10);
    const socket = rig.socket();
    let heard = '';
    socket.on('data', (piece) => {
      heard += piece.toString();
    });
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 50)}`);
    await once(rig.server, 'request');
    rig.stop();
    const draining = rig.source.drain(rig.sink, 10_000);
    const { status, headers } = await rig.post(body);
    assert.deepEqual([status, headers['retry-after']], [503, '5']);
    socket.write(body.slice(50));
    await draining;
    assert.equal(counted(rig), 10);
    await until(() => heard.startsWith('HTTP/1.1 200 '), { what: () => heard });
    socket.destroy();
  });

  test('a stop waits no longer than its budget for a sender that never ends', async (t) => {
    const rig = await createIngestRig(t);
    const socket = rig.socket();
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12');
    await once(rig.server, 'request');
    rig.stop();
    await rig.source.drain(rig.sink, 50);
    socket.destroy();
  });
});

describe('the token', () => {
  test('missing or wrong: 401 and how to ask, whatever it is; right: accepted', async (t) => {
    const rig = await createIngestRig(t, { token: 'secret-token' });
    const line = gapLine(rig.clock.now);
    const by = (authorization?: string) =>
      rig.post(line, { headers: { ...NDJSON, ...(authorization !== undefined && { authorization }) } });
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer secret-toke',
      'Bearer secret-token2',
      'Bearer secret-token x',
      'Basic secret-token',
      'secret-token',
      `Bearer ${'x'.repeat(8000)}`,
    ]) {
      const { status, headers, body } = await by(wrong);
      assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer realm="tailfin"'], wrong);
      assert.ok(!body.includes('secret'));
    }
    assert.equal(rig.delivered.length, 0);
    for (const right of ['Bearer secret-token', 'bearer  secret-token '])
      assert.equal((await by(right)).json.accepted, 1, right);
  });

  test('is looked at before the body is: a refused sender cannot take room', async (t) => {
    const rig = await createIngestRig(t, { token: 'secret', maxBatchBytes: 1000 });
    assert.equal((await rig.post('x'.repeat(5000))).status, 401);
  });

  test('no check at all without one', () => {
    assert.ok(tokenCheck(undefined)(undefined));
  });
});
