/** What the body of a response says in the `close` and `parse` lines: the rows of the fault lab that a body shows, and the edges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../../src/tap/scan/answer.ts';
import type { BodyScanOptions } from '../../../src/tap/scan/body-scan.ts';
import type { LineFields } from '../../../src/tap/scan/line-fields.ts';
import { MAX_DEPTH } from '../../../src/tap/scan/nesting.ts';
import { event, JSON_TYPE, SSE_TYPE, scanOf } from '../../support/scan-body.ts';

const ANSWER = '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"é"}],"isError":false}}';
const SIZE = Buffer.byteLength(ANSWER);
const NOTE = event('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}');
const CUT = ANSWER.slice(0, 60);
const SSE = { mediaType: SSE_TYPE } as const;
const HTML = { mediaType: 'text/html' } as const;
const failure = (code: number, id: unknown = 7): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'x' } });
const CUT_PARSE = { of: 'message', ok: false, bytes: CUT.length, at_end: true } as const;
const SEEN = { terminal: true, id_match: 'match', terminal_kind: 'result', terminal_ts: 1000 } as const;

type Row = readonly [
  row: string,
  body: string | Uint8Array,
  options: Partial<BodyScanOptions>,
  close: LineFields,
  parse: LineFields | undefined,
];
const ROWS: readonly Row[] = [
  [
    'a: whole',
    ANSWER,
    { contentLength: SIZE },
    { ...SEEN, bytes: SIZE, json: 'complete', cut: 'boundary', is_error: false, inner_json: 'none' },
    { of: 'message', ok: true, bytes: SIZE, expected_bytes: SIZE },
  ],
  [
    'b: chunked',
    ANSWER,
    {},
    { terminal: true, json: 'complete', cut: 'boundary' },
    { of: 'message', ok: true, bytes: SIZE },
  ],
  [
    'c: cut',
    CUT,
    {},
    { bytes: CUT.length, json: 'cut', cut: 'mid', terminal: false, id_match: undefined, inner_json: undefined },
    CUT_PARSE,
  ],
  [
    'c2: cut at its length',
    CUT,
    { contentLength: 60 },
    { json: 'cut', cut: 'mid' },
    { ...CUT_PARSE, expected_bytes: 60 },
  ],
  [
    'c3: empty',
    '',
    {},
    { bytes: 0, json: 'empty', cut: 'none', terminal: false },
    { of: 'message', ok: false, bytes: 0, at_end: true },
  ],
  [
    'c4: another id',
    ANSWER.replace(':7', ':"7"'),
    {},
    { json: 'complete', terminal: false, id_match: 'mismatch', terminal_kind: undefined },
    { of: 'message', ok: true, bytes: SIZE + 2 },
  ],
  ['c5: gzip cut', CUT, { contentEncoding: 'gzip', contentLength: 999 }, { json: 'cut', cut: 'mid' }, CUT_PARSE],
  [
    'c6: gzip whole',
    ANSWER,
    { contentEncoding: 'gzip', contentLength: 80 },
    { ...SEEN, json: 'complete' },
    { of: 'message', ok: true, bytes: SIZE },
  ],
  [
    'identity',
    ANSWER,
    { contentEncoding: 'identity', contentLength: SIZE },
    { json: 'complete' },
    { of: 'message', ok: true, bytes: SIZE, expected_bytes: SIZE },
  ],
  [
    'c7: cut inside a character',
    Buffer.from(ANSWER).subarray(0, ANSWER.indexOf('é') + 1),
    {},
    { json: 'cut', cut: 'mid' },
    { of: 'message', ok: false, bytes: ANSWER.indexOf('é') + 1, at_end: true },
  ],
  ['d: shorter than its length', CUT, { contentLength: SIZE }, { json: 'cut' }, { ...CUT_PARSE, expected_bytes: SIZE }],
  [
    'no JSON',
    '<html>',
    {},
    { json: 'malformed', cut: 'boundary', terminal: false },
    { of: 'message', ok: false, bytes: 6, at: 0, at_end: false },
  ],
  [
    'more behind the answer',
    `${ANSWER} x`,
    {},
    { json: 'malformed', terminal: false, terminal_kind: undefined, is_error: undefined, inner_json: undefined },
    { of: 'message', ok: false, bytes: SIZE + 2, at: SIZE + 1, at_end: false },
  ],
  [
    'only space',
    ' \n',
    {},
    { json: 'empty', cut: 'none', bytes: 2 },
    { of: 'message', ok: false, bytes: 2, at_end: true },
  ],
  [
    'a suffix of JSON',
    ANSWER,
    { mediaType: 'application/problem+json' },
    { json: 'complete', terminal: true },
    { of: 'message', ok: true, bytes: SIZE },
  ],
  [
    'a batch',
    `[${failure(-1, 6)},${ANSWER}]`,
    {},
    { json: 'complete', ...SEEN, error_code: undefined },
    { of: 'message', ok: true, bytes: SIZE + failure(-1, 6).length + 3 },
  ],
  [
    'a batch that is cut behind the answer',
    `[${ANSWER},`,
    {},
    { json: 'cut', terminal: false },
    { of: 'message', ok: false, bytes: SIZE + 2, at_end: true },
  ],
  [
    'g: note and answer',
    NOTE + event(ANSWER),
    SSE,
    {
      ...SEEN,
      events: 2,
      notifications: 1,
      event_ids: 0,
      event_id_digest: undefined,
      cut: 'boundary',
      json: undefined,
    },
    { of: 'message', ok: true, bytes: SIZE },
  ],
  [
    'g3: no blank line',
    NOTE + event(ANSWER).trimEnd(),
    SSE,
    { events: 1, cut: 'mid', terminal: false, id_match: undefined },
    { of: 'message', ok: false, bytes: SIZE, at_end: true },
  ],
  ['h0: nothing', '', SSE, { bytes: 0, events: 0, notifications: 0, cut: 'none', terminal: false }, undefined],
  ['h: two notes', NOTE + NOTE, SSE, { events: 2, notifications: 2, cut: 'boundary', terminal: false }, undefined],
  [
    'h2: an id',
    event('', 'id: a1', 'retry: 5') + NOTE,
    SSE,
    { events: 2, event_ids: 1, event_id_digest: 'd(a1)', notifications: 1, cut: 'boundary' },
    undefined,
  ],
  [
    'h4: an error',
    event(failure(-32602)),
    SSE,
    { terminal: true, terminal_kind: 'error', error_code: -32602, inner_json: undefined },
    { of: 'message', ok: true, bytes: failure(-32602).length },
  ],
  ['i: cut inside an event', `${NOTE}data: ${CUT}`, SSE, { events: 1, cut: 'mid', terminal: false }, CUT_PARSE],
  [
    'i2: cut JSON, blank line',
    NOTE + event(CUT),
    SSE,
    { events: 2, notifications: 1, cut: 'mid', terminal: false },
    CUT_PARSE,
  ],
  ['cut inside a note', NOTE.slice(0, -20), SSE, { events: 0, cut: 'mid', terminal: false }, undefined],
  ['cut before it is an answer', 'data: {"jsonrpc":"2.0","id":7,', SSE, { cut: 'mid', terminal: false }, undefined],
  [
    'cut inside a request of the server',
    'data: {"id":7,"result":1,"method":"x',
    SSE,
    { cut: 'mid', terminal: false },
    undefined,
  ],
  [
    'a malformed answer',
    event('{"id":7,"result":{},}'),
    SSE,
    { cut: 'boundary', terminal: false },
    { of: 'message', ok: false, bytes: 21, at: 20, at_end: false },
  ],
  [
    'a foreign answer, then its own',
    event(ANSWER.replace(':7', ':8')) + event(ANSWER),
    SSE,
    { ...SEEN },
    { of: 'message', ok: true, bytes: SIZE },
  ],
  [
    'an answer of a type that no client reads',
    event(ANSWER, 'event: ping'),
    SSE,
    { events: 1, terminal: false },
    undefined,
  ],
  [
    'n: 404 HTML',
    '<html></html>',
    { ...HTML, status: 404 },
    { bytes: 13, cut: 'boundary', terminal: false, json: undefined, events: undefined },
    undefined,
  ],
  ['HTML that falls short', '<html>', { ...HTML, contentLength: 13 }, { cut: 'mid' }, undefined],
  ['HTML, encoded', '<html>', { ...HTML, contentLength: 13, contentEncoding: 'br' }, { cut: 'boundary' }, undefined],
  [
    'n2: 404, method not found',
    failure(-32601),
    { status: 404 },
    { terminal: true, terminal_kind: 'error', error_code: -32601, json: 'complete' },
    { of: 'message', ok: true, bytes: failure(-32601).length },
  ],
  [
    'n3: 404, null id',
    failure(-32001, null),
    { status: 404 },
    { terminal: false, id_match: 'null_id', error_code: -32001 },
    { of: 'message', ok: true, bytes: failure(-32001, null).length },
  ],
  ['500, JSON that is no answer', '{"detail":"x"}', { status: 500 }, { json: 'complete', terminal: false }, undefined],
  ['502, cut JSON', CUT, { status: 502 }, { json: 'cut', cut: 'mid' }, undefined],
  ['q: 200 HTML', '<html>', HTML, { bytes: 6, cut: 'boundary', terminal: false }, undefined],
  [
    'q2: 202, no media type',
    '',
    { mediaType: null, status: 202 },
    { bytes: 0, cut: 'none', terminal: false, json: undefined },
    undefined,
  ],
  ['202, JSON without content', '', { status: 202 }, { bytes: 0, cut: 'none', json: undefined }, undefined],
  ['204', '', { mediaType: null, status: 204 }, { bytes: 0, cut: 'none' }, undefined],
  [
    '202 with the answer',
    ANSWER,
    { status: 202 },
    { ...SEEN, json: 'complete' },
    { of: 'message', ok: true, bytes: SIZE },
  ],
  [
    'a notification',
    '',
    { mediaType: null, status: 202, method: 'notifications/initialized' },
    { bytes: 0, terminal: undefined },
    undefined,
  ],
  [
    '405 to a GET',
    failure(-32000, null),
    { method: '', status: 405 },
    { json: 'complete', error_code: -32000 },
    undefined,
  ],
  [
    '2026-07-28',
    ANSWER.replace('"isError":false', '"resultType":"input_required"'),
    {},
    { result_type: 'input_required', is_error: undefined },
    { of: 'message', ok: true, bytes: SIZE + 14 },
  ],
];

for (const [row, body, options, close, parse] of ROWS) {
  test(row, () => {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
    for (const size of [bytes.length, 1, 7]) {
      const chunks = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
      const scan = scanOf(chunks, options);
      const fields = scan.close();
      for (const [name, value] of Object.entries(close))
        assert.deepEqual(fields[name as keyof LineFields], value, name);
      assert.deepEqual(scan.parse(), parse);
      assert.equal(fields.oversize, undefined);
      assert.deepEqual(scan.close(), fields, 'asking again changes nothing');
    }
  });
}

test('an answer is told as soon as it is whole, with all that a line needs', () => {
  const answers: Answer[] = [];
  const options = { onAnswer: (answer: Answer) => answers.push(answer) } as const;
  const scan = scanOf(NOTE + event(ANSWER).trimEnd(), { ...SSE, ...options });
  assert.equal(answers.length, 0);
  scan.push(new TextEncoder().encode('\n\n: still open\n'));
  const close = { ...SEEN, is_error: false, inner_json: 'none' };
  const parse = { of: 'message', ok: true, bytes: SIZE };
  assert.deepEqual(answers, [{ idJson: '7', kind: 'result', ts: 1000, bytes: SIZE, close, parse, tools: undefined }]);
  scan.push(new TextEncoder().encode(event(ANSWER)));
  assert.equal(answers.length, 2, 'a second answer is told too');
  scanOf(ANSWER, options);
  assert.equal(answers.length, 3, 'a JSON body: before the body ends');
});

test('a GET stream serves many requests: every awaited answer is told, a foreign one is no mismatch', () => {
  const ids: string[] = [];
  const awaited = new Set(['7', '"a"']);
  const body = ['7', '9', '"a"'].map((id) => event(ANSWER.replace(':7', `:${id}`))).join('');
  const options = { ...SSE, method: '', idMatch: (id: string) => awaited.has(id) } as const;
  const scan = scanOf(body, { ...options, onAnswer: ({ idJson }) => ids.push(idJson) });
  assert.deepEqual(ids, ['7', '"a"']);
  assert.deepEqual([scan.close().terminal, scan.close().id_match], [true, 'match']);
  const foreign = scanOf(event(ANSWER.replace(':7', ':9')), options).close();
  assert.deepEqual([foreign.terminal, foreign.id_match, foreign.is_error], [false, undefined, undefined]);
});

test('notifications/cancelled ends a listen that it names, and nothing else', () => {
  const cancel = (params: object) => event({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  const CASES: readonly (readonly [body: string, method: string, ends: boolean])[] = [
    [cancel({ requestId: 7 }), 'subscriptions/listen', true],
    [cancel({ reason: 'x' }), 'subscriptions/listen', true],
    [cancel({ requestId: 8 }), 'subscriptions/listen', false],
    [cancel({ requestId: '7' }), 'subscriptions/listen', false],
    [cancel({ requestId: 7 }), '', true],
    [cancel({ requestId: 8 }), '', false],
    // The server takes back a request of its own, say a sampling request, that happens to have this id.
    [cancel({ requestId: 7 }), 'tools/call', false],
  ];
  for (const [body, method, ends] of CASES) {
    const scan = scanOf(body + body, { ...SSE, method });
    assert.equal(scan.close().cancelled, ends ? true : undefined, `${method} ${body}`);
    assert.equal(scan.close().notifications, 2);
  }
});

test('what is nested too deeply is not judged', () => {
  const deep = '['.repeat(MAX_DEPTH + 1) + ']'.repeat(MAX_DEPTH + 1);
  const body = ANSWER.replace('"é"', deep);
  const json = scanOf(body);
  assert.deepEqual(json.close(), { bytes: Buffer.byteLength(body), oversize: true });
  assert.equal(json.parse(), undefined);
  const events = scanOf(NOTE + event(body), SSE);
  assert.deepEqual([events.close().events, events.close().terminal, events.close().oversize], [2, undefined, true]);
  assert.equal(events.parse(), undefined);
});

test('a fault of a callback is no fault of the host: the size stays known', () => {
  const chunk = new TextEncoder().encode(ANSWER);
  for (const mediaType of [JSON_TYPE, SSE_TYPE]) {
    const idMatch = () => {
      throw new Error('x');
    };
    const scan = scanOf(mediaType === JSON_TYPE ? ANSWER : event(ANSWER), { mediaType, idMatch });
    scan.push(chunk);
    const bytes = SIZE * 2 + (mediaType === JSON_TYPE ? 0 : 8);
    assert.deepEqual(scan.close(), { bytes });
    assert.deepEqual([scan.parse(), scan.discovery()], [undefined, undefined]);
  }
});
