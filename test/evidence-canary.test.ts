/**
 * Every text that a line can hold carries a mark with the name of its field. What a running sidecar says (evidence on stdout,
 * /api/evidence, log lines, /metrics, what goes out by OTLP) may hold the marks of the fields below and of no other.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FIELDS, type FieldSpec } from '../src/core/model/fields.ts';
import { type Fields, NO_HEAD } from './support/build-event.ts';
import { linesOf, startSidecar, tempFolder } from './support/cli.ts';
import { type EvidenceLine, evidence, localUrl } from './support/local.ts';
import { startReceiver } from './support/otlp-receiver.ts';
import { until } from './support/until.ts';

/** Who may see which fields of an event. `trace` gives its trace id alone, `endpoint` its host and port, a file its name. */
const ALLOWED = {
  evidence: ['endpoint', 'error', 'exchange', 'file', 'server', 'target'],
  metrics: ['endpoint', 'server'],
  traces: ['endpoint', 'exchange', 'server', 'target'],
  logs: [],
};

/** Word-shaped, so that the shape of a value alone does not hold it back. */
const mark = (name: string): string => `canary.${name}`;
const marksIn = (text: string): string[] =>
  [...new Set([...text.matchAll(/canary\.([a-z_-]+)/g)].map(([, name]) => name as string))].sort();

const isText = ({ is }: FieldSpec): boolean => is === 'id' || is === 'word' || is === 'text';
const TEXTS = Object.entries<FieldSpec>(FIELDS).flatMap(([name, spec]) => (isText(spec) ? [name] : []));
const PARENT = 'cafe0000cafe0000';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const MARKED: Fields = {
  ...Object.fromEntries(TEXTS.map((name) => [name, mark(name)])),
  endpoint: `http://${mark('user')}:${mark('password')}@${mark('endpoint')}:8080/${mark('path')}?t=${mark('query')}`,
  trace: `01-${TRACE_ID}-${PARENT}-01-${mark('trace')}`,
  connection: { id: mark('connection'), x: mark('unknown') },
  list: { digest: mark('list_digest'), auth: mark('list_auth'), count: 1 },
  annotations: { read_only: false, x: mark('unknown') },
};
/** What a careless writer might add: fields that the schema does not know. */
const UNKNOWN: Fields = Object.fromEntries(
  [
    'authorization',
    'cookie',
    'mcp-session-id',
    'set-cookie',
    'session_id',
    'body',
    'message',
    'arguments',
    'params',
    'uri',
    'stack',
    'query',
  ].map((name) => [name, mark(name)]),
);
/** With marks in these, an exchange would be of another kind; some lines below have the marks all the same. */
const PLAIN: Fields = {
  ...{ method: 'tools/call', http_method: 'POST', content_type: 'text/event-stream', protocol_version: '2025-11-25' },
  ...{ meta_protocol_version: undefined, event_id_digest: undefined, carrier: undefined, status: 200, by: 'peer' },
  ...{ rpc_kind: 'request', sent: 'body', bytes: 100 },
};

function markedLines(startTs: number): string[] {
  const lines: string[] = [];
  let n = 0;
  const line = (type: string, at: number, fields: Fields): void => {
    const own = { exchange: `${mark('exchange')}.${n}`, request_key: `${mark('request_key')}.${n}` };
    lines.push(JSON.stringify({ ...UNKNOWN, ...MARKED, ...PLAIN, ...own, ...fields, v: 1, type, ts: startTs + at }));
  };
  const closes = (fields: Fields): void => {
    n++;
    line('close', 100 * n, { how: 'eof', ...fields });
  };
  const ANSWER = { terminal: true, id_match: 'match' };
  const BROKEN = { how: 'error' };
  for (const fields of [
    {},
    BROKEN,
    NO_HEAD,
    { ...NO_HEAD, error: `${mark('message')} with spaces` },
    { ...ANSWER, ...BROKEN },
    { ...ANSWER, id_match: 'mismatch' },
    { ...ANSWER, id_match: 'null_id' },
    { event_id_digest: mark('event_id_digest') },
    { carrier: mark('carrier'), status: 202 },
    { method: mark('method') },
    { method: mark('method'), ...BROKEN },
    { method: 'resources/read', target: `file:///${mark('uri')}`, ...BROKEN },
    { method: 'completion/complete', ...BROKEN },
    { target: `https://${mark('uri')}/`, ...BROKEN },
    { http_method: 'GET', rpc_kind: 'none', ...BROKEN },
    { http_method: mark('http_method'), ...BROKEN },
    { protocol_version: mark('protocol_version'), meta_protocol_version: mark('meta_protocol_version'), ...BROKEN },
    { content_type: mark('content_type'), status: 500 },
    { content_type: 'application/json', json: 'cut', ...BROKEN },
    { trace: mark('trace'), ...BROKEN },
    { status: 404, error_code: -32601 },
  ])
    closes(fields);
  // A retry: a first attempt that broke, and one by the same key that brought the answer.
  for (const how of ['eof', 'error']) {
    n++;
    const key = { request_key: `${mark('request_key')}.retry${n}` };
    line('close', 100 * n, { ...key, how });
    line('close', 100 * n + 50, { ...key, how: 'eof', ...ANSWER, exchange: `${mark('exchange')}.again${n}` });
  }
  for (let i = 0; i < 40; i++) {
    n++;
    const failed = i >= 25;
    const bytes = failed ? 200_000 + i : 1000 + i;
    line('close', 100 * n, { how: 'eof', ...ANSWER, bytes });
    line('parse', 100 * n + 1, { of: 'result', ok: !failed, at_end: failed, bytes, expected_bytes: bytes });
  }
  line('open', 100 * n + 10, { exchange: `${mark('exchange')}.open` });
  line('headers', 100 * n + 11, { exchange: `${mark('exchange')}.open` });
  line('message', 100 * n + 12, { exchange: `${mark('exchange')}.open`, rpc: 'notification' });
  line('close', 100 * n + 13, { exchange: `${mark('exchange')}.open`, how: 'cancel', by: 'client' });
  line('settle', 100 * n + 14, { exchange: `${mark('exchange')}.open`, result: 'error' });
  line('discovery', 100 * n + 15, { sentinel: 'optional' });
  for (const event of ['created', 'closed', 'session_deleted']) line('client', 100 * n + 16, { event });
  line('gap', 100 * n + 17, { dropped: 0 });
  line('segment', 100 * n + 18, {});
  line('end', 100 * n + 19, {});
  // What is rejected is not told either.
  line(mark('type'), 100 * n + 20, {});
  line('close', 100 * n + 21, { how: 'eof', bytes: mark('bytes') });
  lines.push(`{"v":1,"type":"close","${mark('broken')}`, mark('not_json'));
  return lines;
}

test('no text of an event leaves but those of the allow-list', { timeout: 120_000 }, async (t) => {
  // 20 minutes ago: every window closes once the file has been quiet for 10 s.
  const lines = markedLines(Date.now() - 20 * 60_000);
  const given = marksIn(lines.join('\n'));
  for (const name of [...TEXTS, ...Object.keys(UNKNOWN), 'list_auth', 'list_digest', 'connection', 'password'])
    assert.ok(given.includes(name), `no line carries ${name}`);

  const folder = join(tempFolder(t), 'canary.folder');
  mkdirSync(folder);
  writeFileSync(join(folder, 'canary.file.ndjson'), `${lines.join('\n')}\n`);
  const receiver = await startReceiver(t);
  const otel = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: `authorization=${mark('header')}` },
    ...{ OTEL_TRACES_SAMPLER_ARG: '1', OTEL_LOG_LEVEL: 'debug' },
  };
  const sidecar = await startSidecar(t, '*.ndjson', {
    cwd: folder,
    env: { TAILFIN_EVIDENCE_FILE: '-', TAILFIN_LOG_LEVEL: 'debug', ...otel },
  });
  const isOver = async () =>
    (await sidecar.scrape()).sum('tailfin_operations_total', { result: 'masked' }) > 0 ||
    (await sidecar.scrape()).sum('tailfin_operations_total', { result: 'masked_unknown' }) > 0;
  await until(isOver, { timeoutMs: 90_000, everyMs: 200, what: 'the operations are over' });
  const surfaced = async () => (await sidecar.scrape()).sum('tailfin_operations_total', { result: 'surfaced' });
  await until(async () => (await surfaced()) > 10, { timeoutMs: 90_000, everyMs: 200 });

  const api = await evidence(localUrl(sidecar.logs()));
  const { body: metrics } = await sidecar.get('/metrics');
  sidecar.child.kill('SIGTERM');
  const { stdout, stderr } = await sidecar.ended;
  const records = linesOf(stdout).map((line) => JSON.parse(line) as EvidenceLine);
  assert.deepEqual([...records].reverse(), api.records);
  assert.equal(api.suppressed, 0);

  const kinds = new Set(records.map(({ record, rule }) => `${record} ${rule ?? ''}`.trim()));
  for (const kind of [
    ...['verdict', 'operation', 'finding ambiguous_close', 'finding masked_retry', 'finding unsafe_retry'],
    ...['finding uncertain_write', 'finding late_error_after_terminal', 'finding id_mismatch'],
    ...['finding parse_failure_size_step'],
  ])
    assert.ok(kinds.has(kind), `${kind} is not among ${[...kinds].join(', ')}`);
  assert.ok(records.some(({ trace_id }) => trace_id === TRACE_ID));

  assert.deepEqual(marksIn(JSON.stringify(api)), ALLOWED.evidence);
  assert.deepEqual(marksIn(stdout), ALLOWED.evidence);
  assert.deepEqual(marksIn(metrics), ALLOWED.metrics);
  // Which files it reads, and in which one a line is broken, is for its operator to see: the name, and nothing of the line.
  const opened = /"kind":"(file_(opened|closed)|line_(rejected|cleaned))"/;
  const named = linesOf(stderr).filter((line) => line.includes('"kind":"line_'));
  assert.ok(named.length > 0);
  assert.deepEqual(marksIn(named.join('\n')), ['file', 'folder']);
  assert.deepEqual(
    marksIn(
      linesOf(stderr)
        .filter((line) => !opened.test(line))
        .join('\n'),
    ),
    ALLOWED.logs,
  );
  for (const signal of ['metrics', 'traces', 'logs'] as const) {
    const sent = receiver.received.filter((each) => each.signal === signal);
    assert.ok(sent.length > 0 && sent.every(({ headers }) => headers.authorization === mark('header')), signal);
    const allowed = signal === 'logs' ? ALLOWED.evidence : ALLOWED[signal];
    assert.deepEqual(marksIn(sent.map(({ bytes }) => bytes.toString('latin1')).join('\n')), allowed, signal);
  }
  assert.deepEqual(
    receiver.logs().map(({ body }) => body),
    records,
  );
  // The span of the host is the parent of ours, and is named nowhere else.
  for (const { parentSpanId, traceId } of receiver.spans()) assert.ok(parentSpanId !== PARENT || traceId === TRACE_ID);
  for (const text of [stdout, stderr, metrics, JSON.stringify(api)]) assert.ok(!text.includes(PARENT));
  // Marks of resource URIs stand in `target`: those of tools alone may come out.
  for (const { method, target } of records)
    if (target !== undefined) assert.deepEqual([method, target], ['tools/call', mark('target')]);
});
