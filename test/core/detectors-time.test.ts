/** Rules about many exchanges in a time: what fires each, once per crossing, and what narrowly does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ANSWERED,
  client,
  close,
  ENDPOINTS,
  type Fields,
  type Line,
  NO_HEAD,
  RESET,
  runLines,
  settle,
  T0,
} from '../support/build-event.ts';
import { detectorCases, times } from '../support/detector-cases.ts';

const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined, rpc_id: undefined } as const;
const EMPTY = { bytes: 0, events: 0, cut: 'none' } as const;
const MINUTE = 60_000;

const short = (at: number, n: number, fields: Fields = {}): Line =>
  close(`g${n}`, at + 100, { ...GET, ...EMPTY, open_ts: T0 + at, ...fields });
const reconnected = (at: number, who: Fields = {}): Line => client('reconnected', at, who);
const lost = (at: number, n: number, fields: Fields = {}): Line =>
  close(`x${n}-${at}`, at, { ...RESET, args_digest: `a${n}`, ...fields });
/** One settled call and `n` requests of its client. */
const work =
  (requests: number, settled: (n: number) => Line | readonly Line[], who: Fields = {}) =>
  (at: number, n: number): Line[] => [
    ...[settled(n)].flat(),
    ...times(requests, 1, (ms, i) => close(`x${n}-${i}`, at + ms, { ...ANSWERED, args_digest: `a${n}-${i}`, ...who })),
  ];
const told = (at: number, n: number, fields: Fields = {}): Line => settle(`x${n}-0`, at, 'ok', fields);
const idle = (connection: Fields, fields: Fields = {}): Line[] => [
  close('x', 0, { ...NO_HEAD, connection, ...fields }),
];
const REUSED = { id: 'k', reused: true, idle_ms: 1000 } as const;
/** Streams one after the other, with these lives. */
const lives = (all: readonly number[], fields: Fields = {}): Line[] => {
  let at = 0;
  return all.map((life, n) => {
    const openAt = at;
    at += life + 50;
    return close(`g${n}`, openAt + life, { ...GET, open_ts: T0 + openAt, ...fields });
  });
};
const LISTEN = { http_method: 'POST', rpc_kind: 'request', method: 'subscriptions/listen' } as const;

detectorCases({
  open_close_loop: {
    fires: {
      'ten GETs': times(10, 6000, (at, n) => short(at, n)),
      'at the edge of 60 s': times(10, MINUTE / 9, (at, n) => short(Math.floor(at), n)),
      'of 1999 ms': times(10, 3000, (at, n) => close(`g${n}`, at + 1999, { ...GET, ...EMPTY, open_ts: T0 + at })),
      'listens on 2026-07-28': times(10, 2000, (at, n) => short(at, n, { ...LISTEN, protocol_version: '2026-07-28' })),
      'refused each time': times(10, 2000, (at, n) => short(at, n, { status: 405, content_type: null })),
      'resumes that bring nothing': times(10, 2000, (at, n) => short(at, n, { last_event_id: true })),
      'no response at all': times(10, 2000, (at, n) => short(at, n, NO_HEAD)),
      'thirty are one loop': times(30, 2000, (at, n) => short(at, n)),
    },
    silent: {
      nine: times(9, 100, (at, n) => short(at, n)),
      'ten in more than 60 s': times(10, 6700, (at, n) => short(at, n)),
      'of 2 s': times(10, 3000, (at, n) => close(`g${n}`, at + 2000, { ...GET, ...EMPTY, open_ts: T0 + at })),
      'not known how long': times(10, 2000, (at, n) => short(at, n, { open_ts: undefined })),
      'with a message': times(10, 2000, (at, n) => short(at, n, { events: 1 })),
      'with a notification': times(10, 2000, (at, n) => short(at, n, { notifications: 1 })),
      'calls, not streams': times(10, 2000, (at, n) => short(at, n, { http_method: 'POST', rpc_kind: 'request' })),
      'of ten clients': times(10, 2000, (at, n) => short(at, n, { client: `c${n}` })),
      'to ten servers': times(10, 2000, (at, n) => short(at, n, { server: `s${n}` })),
    },
  },
  reconnect_loop: {
    fires: {
      ten: times(10, 6000, (at) => reconnected(at)),
      'at the edge of 60 s': times(10, MINUTE / 9, (at) => reconnected(Math.floor(at))),
      'forty are one loop': times(40, 1000, (at) => reconnected(at)),
    },
    silent: {
      nine: times(9, 10, (at) => reconnected(at)),
      'ten in more than 60 s': times(10, 6700, (at) => reconnected(at)),
      'of ten clients': times(10, 10, (at, n) => reconnected(at, { client: `c${n}` })),
      'of one name on ten hosts': times(10, 10, (at, n) => reconnected(at, { host: `h${n}` })),
      'other events': times(10, 10, (at) => client('reinitialized', at)),
    },
  },
  request_amplification: {
    fires: {
      'five requests each': times(20, 1000, (at, n) => [...work(5, () => [])(at, n), told(at, n)]),
      'once, while it stays so': times(60, 1000, (at, n) => work(7, () => told(at, n))(at, n)),
    },
    silent: {
      'nineteen of them': times(19, 1000, (at, n) => [...work(5, () => [])(at, n), told(at, n)]),
      'fewer than five each': times(40, 1000, (at, n) => work(4, () => told(at, n))(at, n)),
      'fewer than 20 operations': times(19, 1000, (at, n) => work(9, () => told(at, n))(at, n)),
      'in more than 10 min': times(60, 40_000, (at, n) => work(9, () => told(at, n))(at, n)),
      'nobody tells what callers got': times(40, 1000, (at, n) => work(9, () => short(at, n))(at, n)),
      'the requests of a host that tells nothing': times(40, 1000, (at, n) => [
        ...work(1, () => told(at, n))(at, n),
        ...times(9, 1, (ms, i) => close(`o${n}-${i}`, at + ms, { ...ANSWERED, args_digest: `o${n}-${i}`, host: 'h2' })),
      ]),
      'failed without any request': times(40, 1000, (at, n) => work(9, () => told(at, n, { on_wire: false }))(at, n)),
    },
  },
  endpoint_termination_burst: {
    fires: {
      five: times(5, 0, lost),
      'at the edge of 1 s': times(5, 250, lost),
      'of several clients': times(5, 10, (at, n) => lost(at, n, { client: `c${n}` })),
      ambiguous: times(5, 10, (at, n) => lost(at, n, { how: 'eof', error: undefined })),
      'fifty are one burst': times(50, 5, lost),
      'some may be resumed': times(5, 10, (at, n) => lost(at, n, n % 2 === 0 ? { event_ids: 1 } : {})),
      'all may be resumed, and more fail meanwhile': [
        ...times(5, 10, (at, n) => lost(at, n, { event_ids: 1 })),
        ...times(4, 10_000, (at, n) => lost(5000 + at, 10 + n)),
      ],
    },
    silent: {
      four: times(4, 10, lost),
      'five in more than 1 s': times(5, 251, lost),
      'on two endpoints': times(8, 10, (at, n) => lost(at, n, { endpoint: ENDPOINTS[n % 2] })),
      'endpoints are not known': times(9, 10, (at, n) => lost(at, n, { endpoint: undefined })),
      'ended well': times(9, 10, (at, n) => lost(at, n, ANSWERED)),
      'ended by the client': times(9, 10, (at, n) => lost(at, n, { by: 'client', how: 'cancel', error: 'AbortError' })),
      'standalone streams that may end so': times(9, 10, (at, n) =>
        lost(at, n, { ...GET, how: 'eof', error: undefined }),
      ),
    },
  },
  keep_alive_race: {
    fires: {
      'reset after 1 s of idleness': idle(REUSED),
      'closed by the peer': idle(REUSED, { error: undefined }),
      'named by the library': idle({ ...REUSED, idle_ms: 50_000 }, { error: 'UND_ERR_SOCKET', by: undefined }),
      'not a byte': idle(REUSED, { bytes: 0 }),
      'while the request was written': idle(REUSED, { sent: 'none' }),
    },
    silent: {
      'idle for less': idle({ ...REUSED, idle_ms: 999 }),
      'a new connection': idle({ ...REUSED, reused: false }),
      'not known whether it is': idle({ id: 'k', idle_ms: 5000 }),
      'not known how long it was idle': idle({ id: 'k', reused: true }),
      'after the head': [close('x', 0, { ...RESET, connection: REUSED })],
      'a byte had come': idle(REUSED, { bytes: 12 }),
      'by the client': idle(REUSED, { by: 'client', error: 'AbortError' }),
      'a wait that ran out': idle(REUSED, { by: undefined, error: 'UND_ERR_HEADERS_TIMEOUT' }),
      'nothing is known of the end': idle(REUSED, { by: undefined, error: undefined }),
    },
  },
  periodic_cut: {
    fires: {
      'four equal lives': lives([MINUTE, MINUTE, MINUTE, MINUTE]),
      'below 5 %': lives([60_000, 61_000, 62_000, 62_900]),
      'listens that are dropped': lives([MINUTE, MINUTE, MINUTE, MINUTE], LISTEN),
      'with an error': lives([MINUTE, MINUTE, MINUTE, MINUTE], RESET),
      'the clients own timer': lives([300_000, 300_010, 300_020, 300_000], {
        ...{ how: 'error', by: 'client', error: 'UND_ERR_BODY_TIMEOUT' },
      }),
      'once, while it stays so': lives(Array.from({ length: 12 }, () => MINUTE)),
      'of several clients': lives([MINUTE, MINUTE, MINUTE, MINUTE]).map((line, n) => ({ ...line, client: `c${n}` })),
      'after others': lives([9000, 80_000, 23_000, MINUTE, MINUTE, MINUTE, MINUTE]),
    },
    silent: {
      three: lives([MINUTE, MINUTE, MINUTE]),
      'a spread of 5 %': lives([100_000, 100_000, 100_000, 105_400]),
      'one of them differs': lives([MINUTE, MINUTE, 90_000, MINUTE, MINUTE, MINUTE]),
      'closed by the client': lives([MINUTE, MINUTE, MINUTE, MINUTE], { by: 'client', how: 'cancel' }),
      'not known how long': lives([MINUTE, MINUTE, MINUTE, MINUTE], { open_ts: undefined }),
      'calls, not streams': lives([MINUTE, MINUTE, MINUTE, MINUTE], {
        http_method: 'POST',
        rpc_kind: 'request',
        method: 'tools/call',
      }),
      'of several servers': lives([MINUTE, MINUTE, MINUTE, MINUTE]).map((line, n) => ({ ...line, server: `s${n}` })),
      'all ended at once': times(8, 10, (at, n) =>
        close(`g${n}`, MINUTE + at, { ...GET, open_ts: T0 + at, client: `c${n}` }),
      ),
      'an ended listen': lives([MINUTE, MINUTE, MINUTE, MINUTE], { ...LISTEN, ...ANSWERED }),
    },
  },
});

const count = (rule: Parameters<ReturnType<typeof runLines>['findings']>[0], lines: readonly Line[]): number =>
  runLines(lines).findings(rule).length;
const later = (lines: readonly Line[], ms: number): Line[] =>
  lines.map((line) => ({
    ...line,
    ts: line.ts + ms,
    ...('exchange' in line && line.exchange !== undefined ? { exchange: `${line.exchange}-${ms}` } : {}),
    ...('open_ts' in line && typeof line.open_ts === 'number' ? { open_ts: line.open_ts + ms } : {}),
  }));

test('a rule with a threshold fires again after it was below it', () => {
  const loop = times(10, 1000, (at, n) => short(at, n));
  assert.equal(count('open_close_loop', [...loop, ...later(loop, 10 * MINUTE)]), 2);
  const reconnects = times(10, 1000, (at) => reconnected(at));
  assert.equal(count('reconnect_loop', [...reconnects, ...later(reconnects, 10 * MINUTE)]), 2);
  const burst = times(5, 10, lost);
  assert.equal(count('endpoint_termination_burst', [...burst, ...later(burst, 5000)]), 2);
  const load = times(40, 1000, (at, n) => work(7, () => told(at, n))(at, n));
  assert.equal(count('request_amplification', [...load, ...later(load, 30 * MINUTE)]), 2);
  assert.equal(count('periodic_cut', lives([...Array(5).fill(MINUTE), 9000, ...Array(5).fill(MINUTE)])), 2);
});

test('periodic_cut: says the period', () => {
  const [found] = runLines(lives([59_000, 60_000, 61_000, 60_000])).findings('periodic_cut');
  assert.deepEqual(found?.evidence, { stream: 'standalone', period_ms: 60_000, spread: 0.033 });
});
