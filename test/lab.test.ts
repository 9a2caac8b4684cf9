/**
 * The fault lab (lab-expected.tsv): each fault as the lines that a tap would write for it, judged as the table says. The faults
 * and what is visible of them were measured against the real SDKs.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPECTED, expectedOf, expectedText, verdictText } from './lab/expected.ts';
import {
  ANSWERED,
  close,
  end,
  type Fields,
  headers,
  JSON_BODY,
  JSON_CUT,
  type Line,
  message,
  NO_HEAD,
  open,
  parse,
  RESET,
  type Run,
  runLines,
  settle,
} from './support/build-event.ts';

const OLD = { protocol_version: '2025-11-25' } as const;
const NEW = { protocol_version: '2026-07-28', meta_protocol_version: '2026-07-28' } as const;
const WHOLE = { ...JSON_BODY, ...ANSWERED, framing: 'content_length', content_length: 100 } as const;
const FAILED = { terminal_kind: 'error' } as const;
const CLOSED = { framing: 'close_delimited' } as const;
const FIN = { how: 'error', error: 'UND_ERR_SOCKET' } as const;
const HTML = { content_type: 'text/html', events: undefined, framing: 'content_length', content_length: 100 } as const;
const NOTHING = { bytes: 0, events: 0, cut: 'none' } as const;
const PRIMED = { event_ids: 1, event_id_digest: 'e1' } as const;
const ABORTED = { how: 'no_response', by: 'client', error: 'AbortError' } as const;
const GET = {
  http_method: 'GET',
  rpc_kind: 'none',
  method: undefined,
  rpc_id: undefined,
  args_digest: undefined,
} as const;
const RESUME = { ...GET, last_event_id: true, event_id_digest: 'e1' } as const;

const one = (fields: Fields = {}): Line[] => [open('x', 0, NEW), close('x', 1000, { ...NEW, ...fields })];
/** A body that the host parses as one document: the tap says how that went. */
const document = (fields: Fields, line?: Fields): Line[] => [
  ...one(fields),
  parse('x', 1001, { of: 'message', bytes: 100, ...(line ?? { ok: true }) }),
];
const UNFINISHED = { ok: false, at_end: true } as const;
const resumed = (first: Fields, ...gets: readonly Fields[]): Line[] => [
  close('x', 1000, { ...OLD, ...PRIMED, ...first }),
  ...gets.map((get, i) => close(`g${i}`, 2000 + 1500 * i, { ...OLD, ...RESUME, ...get })),
];
const REFUSED = { status: 405, content_type: null, ...NOTHING } as const;
const cancelled = (at: number): Line =>
  close('n', at, { ...OLD, rpc_kind: 'notification', method: 'notifications/cancelled', cancel_of: '1', status: 202 });
const answered = (id: string, at: number): Line => close(id, at, { ...NEW, ...WHOLE, rpc_id: id, args_digest: id });

/** A row may have variants: the clients differ in what they do. */
const ROWS: Readonly<Record<string, readonly (readonly Line[])[]>> = {
  a: [document(WHOLE)],
  b: [document({ ...WHOLE, framing: 'chunked', content_length: undefined })],
  c: [document(JSON_CUT, UNFINISHED)],
  c2: [document({ ...JSON_CUT, framing: 'content_length', content_length: 100 }, UNFINISHED)],
  c3: [document({ ...JSON_BODY, ...NOTHING, json: 'empty' }, { ...UNFINISHED, bytes: 0 })],
  c4: [one({ ...WHOLE, terminal: false, id_match: 'mismatch' })],
  c5: [document({ ...JSON_CUT, content_encoding: 'gzip' }, UNFINISHED)],
  c6: [document({ ...WHOLE, content_encoding: 'gzip', content_length: 131, bytes: 422 }, { ok: true, bytes: 422 })],
  c7: [document(JSON_CUT, { ok: false, at: 100 })],
  d: [document({ ...JSON_CUT, ...FIN, framing: 'content_length', content_length: 900 }, UNFINISHED)],
  e: [document({ ...JSON_CUT, ...FIN }, UNFINISHED)],
  e2: [one({ ...WHOLE, ...FIN, framing: 'chunked', content_length: undefined })],
  f: [document({ ...JSON_CUT, ...RESET }, UNFINISHED)],
  g: [one({ ...ANSWERED, events: 2, notifications: 1 })],
  g2: [one({ ...ANSWERED, ...RESET })],
  g3: [one({ events: 0, cut: 'mid', bytes: 451 })],
  g4: [
    [
      ...[open('x', 0, NEW), headers('x', 10), message('x', 500)],
      end('x', 60_000, { how: 'cancel', by: 'client', error: 'AbortError' }),
    ],
  ],
  h0: [one(NOTHING)],
  h: [one({ events: 2, notifications: 2 })],
  h2: [resumed({}, REFUSED)],
  h2r: [resumed({}, ANSWERED)],
  h3: [resumed(RESET, REFUSED)],
  h3r: [resumed(RESET, ANSWERED)],
  'h2-500': [resumed({}, { ...HTML, status: 500 }, { ...HTML, status: 500 })],
  // One client resumes although the answer, an error, was there.
  h4: [resumed({ ...ANSWERED, ...FAILED, error_code: -32602 }), resumed({ ...ANSWERED, ...FAILED }, REFUSED)],
  i: [one({ cut: 'mid' })],
  i2: [one({ cut: 'mid', events: 2 })],
  j: [one(RESET)],
  j2: [one(FIN)],
  'k,k1': [document({ ...WHOLE, ...CLOSED, content_length: undefined })],
  k2: [document({ ...JSON_CUT, ...CLOSED }, UNFINISHED)],
  k3: [one(CLOSED)],
  k4: [one({ ...ANSWERED, ...CLOSED })],
  l: [
    one({ ...NO_HEAD, error: 'ECONNREFUSED', sent: 'none' }),
    one({ ...NO_HEAD, error: 'ENOTFOUND', sent: 'none', endpoint: 'http://nowhere:80/' }),
  ],
  // The newer client aborts its POST; the older ones leave it open until the process ends.
  m: [
    one({ ...NO_HEAD, by: 'client', error: 'TimeoutError', how: 'error' }),
    [open('x', 0, NEW), settle('x', 1000, 'timeout'), end('x', 1000, { ...NO_HEAD, ...ABORTED })],
    [open('x', 0, OLD), settle('x', 1000, 'timeout'), cancelled(1000), end('x', 9000, { ...NO_HEAD, ...ABORTED })],
  ],
  m2: [
    one({ ...NOTHING, how: 'error', by: 'client', error: 'TimeoutError' }),
    [
      ...[open('x', 0, OLD), headers('x', 5), settle('x', 1000, 'timeout'), cancelled(1000)],
      end('x', 9000, { ...NOTHING, how: 'error', by: 'client', error: 'AbortError' }),
    ],
  ],
  'm3,m4,m5': [one(NO_HEAD), one({ ...NO_HEAD, error: 'UND_ERR_SOCKET' })],
  n: [
    one({ ...HTML, status: 404 }),
    one({ ...HTML, ...OLD, meta_protocol_version: undefined, session: true, status: 404 }),
  ],
  n2: [
    one({ ...WHOLE, ...FAILED, status: 404, error_code: -32601 }),
    [close('x', 0, { ...OLD, ...WHOLE, ...FAILED, status: 404, error_code: -32601 })],
  ],
  n3: [[close('x', 0, { ...OLD, ...JSON_BODY, session: true, status: 404, id_match: 'null_id', error_code: -32001 })]],
  o: [
    [
      close('x', 0, { ...NEW, ...WHOLE, ...FAILED, status: 400, error_code: -32020 }),
      close('list', 100, { ...NEW, ...WHOLE, method: 'tools/list', rpc_id: '2', args_digest: undefined }),
      close('again', 200, { ...NEW, ...WHOLE, rpc_id: '3' }),
    ],
  ],
  o2: [one({ ...WHOLE, ...FAILED, status: 400, error_code: -32022 })],
  'o3,o4': [one({ ...HTML, status: 400 }), one({ ...HTML, status: 502 })],
  q: [one(HTML), one({ ...HTML, how: 'cancel', by: 'client' })],
  q2: [
    one({ ...NOTHING, status: 202, content_type: null }),
    one({ ...NOTHING, status: 202, content_type: null, how: 'cancel', by: 'client' }),
  ],
  q3: [
    [close('hop', 0, { ...NEW, ...NOTHING, status: 307, content_type: null }), close('x', 100, { ...NEW, ...WHOLE })],
  ],
  'q4,q5': [one({ ...WHOLE, ...FAILED, error_code: -32602 }), one({ ...WHOLE, is_error: true })],
  "p'": [
    [
      ...['x', 'y', 'z'].map((id, i) => open(id, i, { ...OLD, args_digest: id, rpc_id: id })),
      ...['x', 'y', 'z'].map((id, i) => end(id, 500 + i, { ...NO_HEAD, ...ABORTED })),
    ],
  ],
};

const verdictOf = (run: Run, exchange: string, row: string): string =>
  verdictText(run.verdict(exchange), expectedOf(row));
const expected = (row: string): string => expectedText(expectedOf(row));

for (const { row, fault } of EXPECTED.filter(({ row }) => row !== 'p'))
  test(`lab ${row}: ${fault}`, () => {
    const variants = ROWS[row];
    assert.ok(variants, `row ${row} is not encoded`);
    for (const lines of variants)
      assert.equal(verdictOf(runLines(lines), 'x', row), expected(row), JSON.stringify(lines));
  });

test('lab p: one of 4 concurrent calls is cut, the others are clean', () => {
  for (const row of ['f', 'j', 'd', 'h']) {
    const others = ['o1', 'o2', 'o3'];
    const run = runLines([...(ROWS[row]?.[0] ?? []), ...others.map((id, i) => answered(id, 1002 + i))]);
    assert.equal(verdictOf(run, 'x', row), expected(row), row);
    for (const id of others) assert.equal(run.verdict(id).cause, 'terminal_seen');
    assert.equal(run.samples('tailfin_collateral_failures_total'), 0);
  }
});

test('lab: every row of the table is encoded, and no other', () => {
  assert.deepEqual([...Object.keys(ROWS), 'p'].sort(), EXPECTED.map(({ row }) => row).sort());
});

/** The notes of the table that belong to what is built: a sum that must be 1 for every variant. */
const NOTES: readonly (readonly [row: string, variant: number, metric: string, labels: Fields])[] = [
  ...['c', 'c2', 'c3', 'c5', 'c7', 'k2'].map(
    (row) => [row, 0, 'tailfin_parse_attempts_total', { of: 'message', result: 'cut' }] as const,
  ),
  ['c4', 0, 'tailfin_findings_total', { rule: 'id_mismatch' }],
  ['e2', 0, 'tailfin_findings_total', { rule: 'late_error_after_terminal' }],
  ['g2', 0, 'tailfin_findings_total', { rule: 'late_error_after_terminal' }],
  ['l', 0, 'tailfin_exchange_failures_total', { stage: 'connect', request: 'not_sent' }],
  ['m3,m4,m5', 0, 'tailfin_exchange_failures_total', { stage: 'before_headers', by: 'peer', request: 'sent' }],
  ['n', 0, 'tailfin_status_meaning_total', { status: '404', meaning: 'route_missing' }],
  ['n', 1, 'tailfin_status_meaning_total', { status: '404', meaning: 'route_missing' }],
  ['n2', 0, 'tailfin_status_meaning_total', { meaning: 'method_not_found' }],
  ['n2', 1, 'tailfin_status_meaning_total', { meaning: 'method_not_found_nonconformant' }],
  ['n3', 0, 'tailfin_status_meaning_total', { meaning: 'session_expired' }],
  ['o', 0, 'tailfin_status_meaning_total', { meaning: 'header_mismatch' }],
  ['o', 0, 'tailfin_operations_total', { method: 'tools/call', result: 'first_try' }],
  ['o2', 0, 'tailfin_status_meaning_total', { meaning: 'unsupported_version' }],
  ['o3,o4', 0, 'tailfin_status_meaning_total', { meaning: 'bad_request' }],
  ['o3,o4', 1, 'tailfin_status_meaning_total', { meaning: 'upstream_error' }],
  ['q2', 0, 'tailfin_status_meaning_total', { meaning: 'request_answered_202' }],
  ['q3', 0, 'tailfin_stream_closes_total', {}],
  ['q3', 0, 'tailfin_operations_total', { result: 'first_try' }],
  ['q4,q5', 0, 'tailfin_status_meaning_total', { meaning: 'rpc_error' }],
];

test('lab: the notes of the table', () => {
  for (const [row, variant, metric, labels] of NOTES) {
    const run = runLines(ROWS[row]?.[variant] ?? []);
    assert.equal(run.samples(metric, labels), 1, `${row}: ${metric} ${JSON.stringify(labels)}`);
    assert.equal(run.samples('tailfin_retries_total'), 0, `${row}: no retry`);
  }
});
