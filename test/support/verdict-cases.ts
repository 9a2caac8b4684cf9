/** Design section 4, row by row, as whole lines: what makes a row hit, what narrowly misses it, and which of two rows wins. */
import type { Policy } from '../../src/core/model/policy.ts';
import {
  ANSWERED,
  client,
  close,
  discovery,
  end,
  type Fields,
  headers,
  JSON_BODY,
  JSON_CUT,
  type Line,
  message,
  NO_HEAD,
  open,
  policyOf,
  RESET,
  settle,
} from './build-event.ts';

/** The exchange `x` in a single close line (opened at 0), judged as `row outcome cause regime cut stage`. */
export type Case = readonly [name: string, expected: string, x: Fields, more?: readonly Line[], policy?: Policy];

const LISTEN = { method: 'subscriptions/listen' } as const;
export const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined, rpc_id: undefined } as const;
const PRIMED = { event_ids: 1, event_id_digest: 'e1' } as const;
const CANCEL = { how: 'cancel', by: 'client', error: 'AbortError' } as const;
const TIMEOUT = { how: 'error', by: 'client', error: 'TimeoutError' } as const;
const HTML = { content_type: 'text/html', events: undefined } as const;
const DECLARED = { self_delimiting: true } as const;
const MANDATED = [discovery(-10, { sentinel: 'mandated' })];
export const OPENS = 0;
export const CLOSES = 1000;

const cancelOf = (named: string, at: number): Line =>
  close('n', at, { rpc_kind: 'notification', method: 'notifications/cancelled', cancel_of: named, status: 202 });
/** A resume GET in one line: it opened and closed at once. */
export const resume = (at: number, fields: Fields = ANSWERED): Line =>
  close('g', at, { ...GET, open_ts: close('g', at).ts, last_event_id: true, event_id_digest: 'e1', ...fields });

export const CASES: readonly Case[] = [
  ['1 hit', '1 clean terminal_seen A boundary -', ANSWERED],
  ['1 hit: an error is an answer', '1 clean terminal_seen A boundary -', { terminal: true, terminal_kind: 'error' }],
  ['1 hit: by a message line', '1 clean terminal_seen A boundary -', {}, [open('x', OPENS), message('x', 500)]],
  ['1 miss: another id', '13 ambiguous no_evidence C boundary between_events', { id_match: 'mismatch' }],
  [
    '1 miss: a message with another id',
    '13 ambiguous no_evidence C boundary between_events',
    {},
    [open('x', OPENS), message('x', 500, { id_match: 'mismatch' })],
  ],
  ['1 before 5', '1 clean terminal_seen A boundary -', { ...ANSWERED, ...CANCEL }],
  ['1 before 6', '1 clean terminal_seen A boundary -', { ...ANSWERED, ...PRIMED }],
  ['1 before 7', '1 clean terminal_seen A boundary -', { ...ANSWERED, ...RESET }],
  ['1 before 10', '1 clean terminal_seen A boundary -', { ...ANSWERED, ...JSON_BODY, status: 404 }],

  ['2 hit: never sent', '2 abandoned connect_failed none unknown connect', { ...NO_HEAD, sent: 'none' }],
  ['2 hit: sent', '2 abandoned no_response none unknown before_headers', { ...NO_HEAD, sent: 'body' }],
  ['2 hit: unknown', '2 abandoned no_response none unknown before_headers', { ...NO_HEAD, sent: undefined }],
  [
    '2 hit: the client went',
    '2 abandoned client_cancel none unknown before_headers',
    { ...NO_HEAD, by: 'client', error: 'AbortError' },
  ],
  ['2 hit: its timeout', '2 abandoned client_timeout none unknown before_headers', { ...NO_HEAD, ...TIMEOUT }],
  ['2 miss: a head arrived', '7 abandoned transport_error C unknown between_events', { ...RESET, cut: undefined }],
  ['2 before 4', '2 abandoned client_cancel none unknown before_headers', { ...NO_HEAD, ...LISTEN, ...CANCEL }],
  ['2 before 12', '2 abandoned no_response none unknown before_headers', NO_HEAD, MANDATED],

  ['3 hit: whole JSON', '3 clean integrity_ok B boundary -', { ...JSON_BODY, id_match: 'mismatch' }],
  ['3 hit: declared', '3 clean integrity_ok B boundary -', { ...DECLARED, integrity_ok: true }],
  [
    '3 hit: by contract',
    '3 clean integrity_ok B boundary -',
    { integrity_ok: true },
    [discovery(-10, { self_delimiting: true })],
  ],
  ['3 miss: not self-delimiting', '13 ambiguous no_evidence C boundary between_events', { integrity_ok: true }],
  ['3 miss: declared, not checked', '13 ambiguous no_evidence C boundary between_events', DECLARED],
  ['3 before 5', '3 clean integrity_ok B boundary -', { ...JSON_BODY, ...CANCEL }],
  ['3 before 7', '3 clean integrity_ok B boundary -', { ...JSON_BODY, ...RESET }],
  ['3 before 12', '3 clean integrity_ok A boundary -', JSON_BODY, MANDATED],

  ['4 hit: listen closed by the client', '4 clean listen_ended none boundary -', { ...LISTEN, ...CANCEL }],
  ['4 hit: `cancelled` seen', '4 clean listen_ended none boundary -', { ...LISTEN, cancelled: true }],
  ['4 hit: GET closed by the client', '4 clean listen_ended none boundary -', { ...GET, ...CANCEL }],
  ['4 hit: session deleted', '4 clean listen_ended none boundary -', LISTEN, [client('session_deleted', 500)]],
  ['4 miss: ended by the peer', '11 abandoned listen_dropped none boundary between_events', LISTEN],
  ['4 before 7', '4 clean listen_ended none boundary -', { ...LISTEN, ...RESET, cancelled: true }],

  ['5 hit: cancel', '5 abandoned client_cancel C boundary between_events', CANCEL],
  ['5 hit: timeout', '5 abandoned client_timeout C boundary between_events', TIMEOUT],
  [
    '5 hit: told timeout before',
    '5 abandoned client_timeout C boundary between_events',
    {},
    [open('x', OPENS), settle('x', CLOSES, 'timeout')],
  ],
  ['5 hit: cancel_of', '5 abandoned client_cancel C boundary between_events', {}, [cancelOf('1', 500)]],
  ['5 hit: cancel_of an exchange', '5 abandoned client_cancel C boundary between_events', {}, [cancelOf('x', 500)]],
  [
    '5 hit: session deleted',
    '5 abandoned client_cancel C boundary between_events',
    { session: true },
    [client('session_deleted', 500)],
  ],
  ['5 miss: 202 discarded', '10 clean http_response C boundary -', { ...CANCEL, status: 202, content_type: null }],
  ['5 miss: HTML discarded', '10 clean http_response C boundary -', { ...CANCEL, ...HTML }],
  ['5 miss: cancel of another', '13 ambiguous no_evidence C boundary between_events', {}, [cancelOf('2', 500)]],
  ['5 miss: cancelled before', '13 ambiguous no_evidence C boundary between_events', {}, [cancelOf('1', -100)]],
  ['5 before 6', '5 abandoned client_cancel C boundary between_events', { ...PRIMED, ...CANCEL }],
  ['5 before 7', '5 abandoned client_cancel C boundary between_events', RESET, [cancelOf('1', 500)]],
  ['5 before 8', '5 abandoned client_cancel B mid mid_json', { ...JSON_CUT, ...CANCEL }],
  ['5 before 12', '5 abandoned client_timeout A boundary between_events', TIMEOUT, MANDATED],

  ['6 hit: not resumed', '6 ambiguous not_resumed C boundary between_events', PRIMED],
  ['6 hit: cut mid', '6 ambiguous not_resumed C mid mid_event', { ...PRIMED, cut: 'mid' }],
  ['6 hit: broken', '6 abandoned transport_error C boundary between_events', { ...PRIMED, ...RESET }],
  ['6 hit: mandated', '6 abandoned sentinel_missing A boundary between_events', PRIMED, MANDATED],
  ['6 hit: resumed', '6 clean resumed A boundary -', PRIMED, [resume(CLOSES + 60_000)]],
  [
    '6 hit: resumed for long',
    '6 clean resumed A boundary -',
    PRIMED,
    [open('g', CLOSES + 60_000, { ...GET, last_event_id: true, event_id_digest: 'e1' }), end('g', 500_000, ANSWERED)],
  ],
  ['6 hit: broken, resumed', '6 clean resumed A boundary -', { ...PRIMED, ...RESET }, [resume(2000)]],
  ['6 hit: mandated, resumed', '6 clean resumed A boundary -', PRIMED, [...MANDATED, resume(2000)]],
  [
    '6 hit: by a prime message',
    '6 ambiguous not_resumed C boundary between_events',
    {},
    [open('x', OPENS), message('x', 5, { rpc: 'prime', id_match: undefined })],
  ],
  ['6 miss: too late', '6 ambiguous not_resumed C boundary between_events', PRIMED, [resume(CLOSES + 60_001)]],
  ['6 miss: no answer on it', '6 ambiguous not_resumed C boundary between_events', PRIMED, [resume(2000, {})]],
  [
    '6 miss: another client',
    '6 ambiguous not_resumed C boundary between_events',
    PRIMED,
    [resume(2000, { ...ANSWERED, client: 'c2' })],
  ],
  [
    '6 miss: another event id',
    '6 ambiguous not_resumed C boundary between_events',
    PRIMED,
    [resume(2000, { ...ANSWERED, event_id_digest: 'e2' })],
  ],
  ['6 miss: a listen', '11 abandoned listen_dropped none boundary between_events', { ...LISTEN, ...PRIMED }],
  ['6 before 8', '6 ambiguous not_resumed B boundary between_events', { ...PRIMED, ...DECLARED, integrity_ok: false }],

  ['7 hit', '7 abandoned transport_error C boundary between_events', RESET],
  ['7 hit: a GET', '7 abandoned transport_error none boundary between_events', { ...GET, ...RESET }],
  ['7 before 8', '7 abandoned transport_error B mid mid_json', { ...JSON_CUT, ...RESET }],
  ['7 before 10', '7 abandoned transport_error C boundary between_events', { ...HTML, ...RESET, status: 500 }],
  ['7 before 11', '7 abandoned transport_error none boundary between_events', { ...LISTEN, ...RESET }],
  ['7 before 12', '7 abandoned transport_error A boundary between_events', RESET, MANDATED],

  ['8 hit: cut', '8 abandoned cut_payload B mid mid_json', JSON_CUT],
  ['8 hit: empty', '8 abandoned cut_payload B none mid_json', { ...JSON_BODY, json: 'empty', bytes: 0, cut: 'none' }],
  ['8 hit: malformed', '8 abandoned malformed_payload B boundary mid_json', { ...JSON_BODY, json: 'malformed' }],
  [
    '8 hit: declared, failed',
    '8 abandoned cut_payload B boundary between_events',
    { ...DECLARED, integrity_ok: false },
  ],
  ['8 miss: not self-delimiting', '13 ambiguous no_evidence C boundary between_events', { integrity_ok: false }],
  ['8 before 10', '8 abandoned cut_payload B mid mid_json', { ...JSON_CUT, status: 500 }],
  ['8 before 12', '8 abandoned cut_payload A mid mid_json', JSON_CUT, MANDATED],

  [
    '9 hit, before 10',
    '9 abandoned carrier_lost C none between_events',
    { carrier: 's', status: 202, content_type: null, events: 0, bytes: 0, cut: 'none' },
    [open('s', -500, GET), headers('s', -400), end('s', 900, RESET)],
  ],
  [
    '9 miss: refused, and the carrier lives',
    '10 clean http_response C boundary -',
    { carrier: 's', status: 503, content_type: 'text/html', events: undefined },
    [open('s', -500, GET), headers('s', -400)],
  ],

  ['10 hit: 503', '10 clean http_response C boundary -', { ...HTML, status: 503 }],
  ['10 hit: 300 of an event stream', '10 clean http_response C boundary -', { status: 404 }],
  ['10 hit: 200 HTML', '10 clean http_response C boundary -', HTML],
  ['10 hit: no content type', '10 clean http_response C none -', { content_type: null, bytes: 0, cut: 'none' }],
  ['10 miss: content type unknown', '13 ambiguous no_evidence C boundary between_events', { content_type: undefined }],
  ['10 before 12', '10 clean http_response A boundary -', { ...HTML, status: 503 }, MANDATED],

  ['11 hit: standalone', '11 clean listen_ended none boundary -', GET],
  ['11 hit: listen', '11 abandoned listen_dropped none boundary between_events', LISTEN],
  ['11 before 12', '11 abandoned listen_dropped none boundary between_events', LISTEN, MANDATED],

  ['12 hit', '12 abandoned sentinel_missing A boundary between_events', {}, MANDATED],
  [
    '12 hit: by configuration',
    '12 abandoned sentinel_missing A boundary between_events',
    {},
    [discovery(-10, { sentinel: 'optional' })],
    policyOf({ srv: { sentinel: 'mandated' } }),
  ],
  [
    '12 miss: announced after the open',
    '13 ambiguous no_evidence C boundary between_events',
    {},
    [discovery(500, { sentinel: 'mandated' })],
  ],
  [
    '12 miss: replaced whole',
    '13 ambiguous no_evidence C boundary between_events',
    {},
    [...MANDATED, discovery(-5, { self_delimiting: false })],
  ],
  [
    '12 miss: configured optional',
    '13 ambiguous no_evidence C boundary between_events',
    {},
    MANDATED,
    policyOf({ srv: { sentinel: 'optional' } }),
  ],

  ['13 hit', '13 ambiguous no_evidence C boundary between_events', {}],
  ['13 hit: cut mid', '13 ambiguous no_evidence C mid mid_event', { cut: 'mid' }],
  ['13 policy', '13 abandoned cut_payload C mid mid_event', { cut: 'mid' }, [], policyOf({}, 'abandoned')],
  ['13 policy', '13 ambiguous no_evidence C boundary between_events', {}, [], policyOf({}, 'abandoned')],
];

/** The lines of a case, in the order of their times: those around it, and the closing line of `x`. */
export function linesOfCase(x: Fields, more: readonly Line[] = []): Line[] {
  const last = close('x', CLOSES, { open_ts: close('x', OPENS).ts, ...x });
  return [...more, last].sort((a, b) => a.ts - b.ts);
}
