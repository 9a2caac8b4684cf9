/** What an HTTP status means, by revision (design section 6, the table of `tailfin_status_meaning_total`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MEANINGS } from '../../src/core/protocol/status.ts';
import { ANSWERED, close, type Fields, JSON_BODY, NO_HEAD, runLines } from '../support/build-event.ts';

const OLD = '2025-11-25';
const NEW = '2026-07-28';
const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined, rpc_id: undefined } as const;
const DELETE = { ...GET, http_method: 'DELETE' } as const;
const HTML = { content_type: 'text/html' } as const;
const error = (error_code: number, more: Fields = {}): Fields => ({
  ...{ ...JSON_BODY, terminal: true, terminal_kind: 'error', id_match: 'match', error_code },
  ...more,
});

/** null: no sample at all. */
type Row = readonly [status: number, meaning: string | null, fields: Fields];

const OLDER: readonly Row[] = [
  [404, 'method_not_found_nonconformant', error(-32601)],
  [404, 'method_not_found_nonconformant', error(-32601, { session: true })],
  [400, 'method_not_found_nonconformant', error(-32601)],
  [404, 'session_expired', error(-32001, { session: true })],
  [404, 'session_expired', { session: true, content_type: null }],
  [404, 'session_expired', { ...GET, session: true, content_type: null }],
  [404, 'route_missing', { ...HTML, session: true }],
  [404, 'route_missing', { ...DELETE, session: true, content_type: null }],
  [404, 'route_missing', error(-32001, { session: false })],
  [405, 'stream_not_offered', { ...GET, session: true }],
  [405, 'stream_not_offered', { ...GET, session: false }],
  [404, 'stream_not_offered', { ...GET, session: false }],
  [405, 'other', {}],
  [405, 'other', { ...DELETE, session: true }],
  [400, 'session_unknown_nonconformant', error(-32000, { session: true })],
  [400, 'session_unknown_nonconformant', { ...HTML, session: true }],
  [400, 'bad_request', error(-32000, { session: false })],
  [400, 'bad_request', error(-32020)],
  [400, 'bad_request', error(-32022)],
  [200, 'session_unknown_nonconformant', error(-32000, { session: true, session_issued: true })],
  [200, 'rpc_error', error(-32000, { session: true, session_issued: false })],
  [200, 'rpc_error', error(-32000, { session: false, session_issued: true })],
  [200, null, { ...ANSWERED, session: true, session_issued: true }],
];

const NEWER: readonly Row[] = [
  [404, 'method_not_found', error(-32601)],
  [404, 'route_missing', error(-32001, { session: true })],
  [404, 'route_missing', HTML],
  [404, 'route_missing', { ...GET, session: false }],
  [400, 'header_mismatch', error(-32020)],
  [400, 'missing_capability', error(-32021)],
  [400, 'unsupported_version', error(-32022)],
  [400, 'invalid_params_meta', error(-32602, { meta_protocol_version: null })],
  [400, 'bad_request', error(-32602, { meta_protocol_version: NEW })],
  [400, 'bad_request', error(-32602)],
  [400, 'bad_request', error(-32601)],
  [400, 'bad_request', error(-32000, { session: true })],
  [405, 'stream_not_offered', GET],
  [405, 'stream_not_offered', DELETE],
  [405, 'other', {}],
  [200, 'rpc_error', error(-32000, { session: true, session_issued: true })],
  [409, 'other', error(-32020)],
];

const ANY: readonly Row[] = [
  [400, 'bad_request', HTML],
  [401, 'unauthorized', HTML],
  [403, 'forbidden', {}],
  [429, 'rate_limited', HTML],
  [500, 'upstream_error', HTML],
  [502, 'upstream_error', error(-32603)],
  [599, 'upstream_error', {}],
  [301, 'redirect', {}],
  [307, 'redirect', {}],
  [413, 'other', HTML],
  [101, 'other', {}],
  [202, 'request_answered_202', { content_type: null, bytes: 0 }],
  [204, 'request_answered_202', { content_type: null, bytes: 0 }],
  [202, null, { rpc_kind: 'notification', method: 'notifications/initialized' }],
  [202, null, { rpc_kind: 'response', method: undefined }],
  [204, null, DELETE],
  [200, 'rpc_error', error(-32603)],
  [200, null, ANSWERED],
  [200, null, { ...ANSWERED, is_error: true }],
  [200, null, {}],
  [206, null, {}],
];

function check(version: string | undefined, [status, meaning, fields]: Row): void {
  const text = JSON.stringify({ status, ...fields });
  const { samples } = runLines([close('x', 0, { protocol_version: version, status, ...fields })]);
  const expected = meaning === null ? 0 : 1;
  assert.equal(samples('tailfin_status_meaning_total'), expected, `${version} ${text}`);
  if (meaning === null) return;
  const labels = { server: 'srv', protocol_version: version ?? 'unknown', status: String(status), meaning };
  assert.equal(samples('tailfin_status_meaning_total', labels), 1, `${version} ${text} is not ${meaning}`);
}

for (const row of OLDER)
  test(`status up to ${OLD}: ${row[0]} ${row[1]} ${JSON.stringify(row[2])}`, () => {
    for (const version of ['2025-03-26', '2025-06-18', OLD, undefined]) check(version, row);
  });
for (const row of NEWER) test(`status on ${NEW}: ${row[0]} ${row[1]} ${JSON.stringify(row[2])}`, () => check(NEW, row));
for (const row of ANY)
  test(`status on any revision: ${row[0]} ${row[1]} ${JSON.stringify(row[2])}`, () => {
    for (const version of ['2025-03-26', OLD, NEW, undefined]) check(version, row);
  });

test('status: 202 to a request is no news before Streamable HTTP, nor with a carrier', () => {
  const accepted = { status: 202, content_type: null, bytes: 0, events: 0 };
  check('2024-11-05', [202, null, accepted]);
  check(OLD, [202, null, { ...accepted, carrier: 's' }]);
});

test('status: none without a response head, and a status that HTTP does not define makes no series of its own', () => {
  assert.equal(runLines([close('x', 0, NO_HEAD)]).samples('tailfin_status_meaning_total'), 0);
  const { samples } = runLines([close('x', 0, { status: 99999 })]);
  assert.equal(samples('tailfin_status_meaning_total', { status: 'other' }), 1);
});

test('status: the meta version stands in for the header', () => {
  const fields = { meta_protocol_version: NEW, ...error(-32601), status: 404 };
  const { samples } = runLines([close('x', 0, { ...fields, protocol_version: undefined })]);
  assert.equal(samples('tailfin_status_meaning_total', { protocol_version: NEW, meaning: 'method_not_found' }), 1);
});

test('status: every meaning is in the table above', () => {
  const seen = new Set([...OLDER, ...NEWER, ...ANY].map(([, meaning]) => meaning));
  assert.deepEqual(
    MEANINGS.filter((meaning) => !seen.has(meaning)),
    [],
  );
});
