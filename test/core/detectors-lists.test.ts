/** Rules about lists that differ or change: what fires each, and what narrowly does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ANSWERED,
  close,
  ENDPOINTS,
  type Fields,
  headers,
  JSON_BODY,
  type Line,
  message,
  open,
  runLines,
} from '../support/build-event.ts';
import { detectorCases } from '../support/detector-cases.ts';

const NEW = { protocol_version: '2026-07-28' } as const;
const OLD = { protocol_version: '2025-11-25' } as const;
/** An authorisation that is not known. */
const UNTOLD = 'untold';
const list = (exchange: string, at: number, digest: string, fields: Fields = {}, auth: string | null = 'me') =>
  close(exchange, at, {
    ...{ ...NEW, ...JSON_BODY, ...ANSWERED, method: 'tools/list', target: undefined, args_digest: undefined },
    ...{ list: { count: 3, digest, ...(auth === UNTOLD ? {} : { auth }) }, ...fields },
  });
const there = { endpoint: ENDPOINTS[1] } as const;
const call = (at: number, fields: Fields = {}): Line =>
  close(`call${at}`, at, { ...NEW, ...JSON_BODY, ...ANSWERED, target: 'login', ...fields });
const listened = (at: number, notifications: number): Line =>
  close(`l${at}`, at, { ...NEW, method: 'subscriptions/listen', notifications, by: 'client', cancelled: true });
const hears = (at: number): Line[] => [
  open('l', -9, { ...NEW, method: 'subscriptions/listen' }),
  headers('l', -8),
  message('l', at, { rpc: 'notification', id_match: undefined }),
];
/** Telling of its request while that is open. */
const progress = (at: number): Line[] => [
  open('p', -9, { ...NEW, args_digest: 'p' }),
  headers('p', -8),
  message('p', at, { rpc: 'notification', id_match: undefined }),
];

detectorCases({
  list_drift: {
    fires: {
      'another endpoint': [list('a', 0, 'd1'), list('b', 1000, 'd2', there)],
      'another client': [list('a', 0, 'd1'), list('b', 1000, 'd2', { client: 'c2' })],
      'at the edge of 5 min': [list('a', 0, 'd1'), list('b', 300_000, 'd2', there)],
      'nobody is authorised': [list('a', 0, 'd1', {}, null), list('b', 1000, 'd2', there, null)],
      'back and forth is one crossing': [
        ...[list('a', 0, 'd1'), list('b', 1000, 'd2', there), list('c', 2000, 'd1'), list('d', 3000, 'd2', there)],
      ],
      'a line that came late': [list('b', 1000, 'd2', there), list('a', 0, 'd1')],
      'a call told of its progress in between': [list('a', 0, 'd1'), ...progress(500), list('b', 1000, 'd2', there)],
      'announced long before': [...hears(-5), list('a', 0, 'd1'), list('b', 1000, 'd2', there)],
    },
    silent: {
      equal: [list('a', 0, 'd1'), list('b', 1000, 'd1', there)],
      'another authorisation': [list('a', 0, 'd1'), list('b', 1000, 'd2', there, 'you')],
      'an unknown authorisation': [list('a', 0, 'd1', {}, UNTOLD), list('b', 1000, 'd2', there, UNTOLD)],
      'one of them unauthorised': [list('a', 0, 'd1', {}, null), list('b', 1000, 'd2', there)],
      'later than 5 min': [list('a', 0, 'd1'), list('b', 300_001, 'd2', there)],
      'at one place': [list('a', 0, 'd1'), list('b', 1000, 'd2')],
      'an unknown endpoint': [list('a', 0, 'd1'), list('b', 1000, 'd2', { endpoint: undefined })],
      'an unknown client': [list('a', 0, 'd1'), list('b', 1000, 'd2', { client: undefined })],
      'another list': [list('a', 0, 'd1'), list('b', 1000, 'd2', { ...there, method: 'prompts/list' })],
      'another page': [list('a', 0, 'd1'), list('b', 1000, 'd2', { ...there, args_digest: 'cursor' })],
      'another server': [list('a', 0, 'd1'), list('b', 1000, 'd2', { ...there, server: 'srv2' })],
      'another key of digests': [list('a', 0, 'd1', { writer: 'v' }), list('b', 1000, 'd2', { ...there, writer: 'w' })],
      'with sessions a list may differ': [list('a', 0, 'd1', OLD), list('b', 1000, 'd2', { ...OLD, ...there })],
      'a change that was announced': [list('a', 0, 'd1'), ...hears(500), list('b', 1000, 'd2', there)],
      'announced on a stream that ended since': [list('a', 0, 'd1'), listened(500, 1), list('b', 1000, 'd2', there)],
    },
  },
  list_changed_after_call: {
    fires: {
      'a call in between': [list('a', 0, 'd1'), call(500), list('b', 1000, 'd2')],
      'a call of another client': [list('a', 0, 'd1'), call(500, { client: 'c2' }), list('b', 1000, 'd2')],
      'at the edge of 5 min': [list('a', 0, 'd1'), call(500), list('b', 300_000, 'd2')],
      'an unknown authorisation, but one caller': [
        ...[list('a', 0, 'd1', {}, UNTOLD), call(500), list('b', 1000, 'd2', {}, UNTOLD)],
      ],
      'progress is no announcement': [list('a', 0, 'd1'), ...progress(400), call(500), list('b', 1000, 'd2')],
      'a stream that announced nothing': [list('a', 0, 'd1'), call(500), listened(600, 0), list('b', 1000, 'd2')],
    },
    silent: {
      'no call in between': [call(-5), list('a', 0, 'd1'), list('b', 1000, 'd2')],
      'the call came after': [list('a', 0, 'd1'), list('b', 1000, 'd2'), call(1500)],
      unchanged: [list('a', 0, 'd1'), call(500), list('b', 1000, 'd1')],
      announced: [list('a', 0, 'd1'), call(500), ...hears(600), list('b', 1000, 'd2')],
      'announced on a stream that ended since': [
        list('a', 0, 'd1'),
        call(500),
        listened(600, 1),
        list('b', 1000, 'd2'),
      ],
      'too far apart': [list('a', 0, 'd1'), call(500), list('b', 300_001, 'd2')],
      'another endpoint, which is drift': [list('a', 0, 'd1'), call(500), list('b', 1000, 'd2', there)],
      'another page': [list('a', 0, 'd1'), call(500), list('b', 1000, 'd2', { args_digest: 'cursor' })],
      'another authorisation': [list('a', 0, 'd1'), call(500), list('b', 1000, 'd2', {}, 'you')],
      'a call on another server': [list('a', 0, 'd1'), call(500, { server: 'srv2' }), list('b', 1000, 'd2')],
      'with sessions it may change': [list('a', 0, 'd1', OLD), call(500, OLD), list('b', 1000, 'd2', OLD)],
    },
  },
});

test('list_drift: armed again once the places agree', () => {
  const lines = [
    ...[list('a', 0, 'd1'), list('b', 1000, 'd2', there), list('c', 2000, 'd2'), list('d', 3000, 'd2', there)],
    ...[list('e', 4000, 'd3', there), list('f', 5000, 'd2')],
  ];
  assert.deepEqual(
    runLines(lines)
      .findings('list_drift')
      .map(({ exchange }) => exchange),
    ['b', 'e'],
  );
});
