/** Rules about revisions, sessions, lists and resumption: what fires each, and what narrowly does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ANSWERED,
  client,
  close,
  end,
  type Fields,
  headers,
  JSON_BODY,
  type Line,
  message,
  NO_HEAD,
  open,
  RESET,
  runLines,
  T0,
} from '../support/build-event.ts';
import { detectorCases } from '../support/detector-cases.ts';

const NEW = { protocol_version: '2026-07-28' } as const;
const OLD = { protocol_version: '2025-11-25' } as const;
const NEWER = { protocol_version: '2027-01-01' } as const;
const UNKNOWN = { protocol_version: undefined } as const;
const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined, rpc_id: undefined } as const;
const REFUSED = { content_type: 'text/plain', bytes: 9, events: undefined, cut: undefined } as const;
const PRIMED = { event_ids: 1 } as const;
const FAILED = { ...ANSWERED, terminal_kind: 'error' } as const;

const one = (fields: Fields): Line[] => [close('x', 0, { ...NEW, ...ANSWERED, ...fields })];

/** A tool that worked, then its answer with an error. */
const worked = (fields: Fields = {}): Line => close('w', 0, { ...NEW, ...ANSWERED, ...fields });
const failed = (error_code: number, fields: Fields = {}): Line =>
  close('x', 1000, { ...NEW, ...JSON_BODY, ...FAILED, error_code, ...fields });

const probe = (at = 0, fields: Fields = {}): Line =>
  close('probe', at, { ...NEW, method: 'server/discover', status: 404, ...REFUSED, ...fields });
const greet = (at: number, fields: Fields = {}): Line =>
  close('greet', at, { ...OLD, ...ANSWERED, method: 'initialize', ...fields });

const dead = (exchange: string, at: number, fields: Fields = {}): Line =>
  close(exchange, at, { ...OLD, session: true, status: 404, ...REFUSED, open_ts: T0 + at - 10, ...fields });
const alive = (exchange: string, at: number): Line =>
  close(exchange, at, { ...ANSWERED, session: true, open_ts: T0 + at - 10 });

const resume = (exchange: string, at: number, fields: Fields = {}): Line =>
  close(exchange, at, { ...GET, last_event_id: true, open_ts: T0 + at, ...fields });

detectorCases({
  session_header_on_2026_07_28: {
    fires: {
      sent: one({ session: true }),
      issued: one({ session_issued: true }),
      'on a later one': one({ ...NEWER, session: true }),
    },
    silent: {
      'known to have none': one({ session: false }),
      null: one({ session: null }),
      'not known': one({}),
      'before it was removed': one({ ...OLD, session: true }),
      'on an unknown revision': one({ ...UNKNOWN, session: true }),
    },
  },
  last_event_id_on_2026_07_28: {
    fires: { 'on a GET': one({ ...GET, last_event_id: true }), 'on a POST': one({ last_event_id: true }) },
    silent: {
      'before it was removed': one({ ...OLD, ...GET, last_event_id: true }),
      'on an unknown revision': one({ ...UNKNOWN, ...GET, last_event_id: true }),
      none: one({ last_event_id: false }),
      'not known': one(GET),
    },
  },
  event_id_on_2026_07_28: {
    fires: {
      'a number of ids': one({ event_ids: 1 }),
      'the last one': one({ event_id_digest: 'e' }),
      'a prime': [
        open('x', 0, NEW),
        headers('x', 1),
        message('x', 2, { rpc: 'prime', id_match: undefined }),
        end('x', 3),
      ],
      'on a listen': one({ method: 'subscriptions/listen', event_ids: 3 }),
    },
    silent: {
      none: one({ event_ids: 0 }),
      'not known': one({}),
      'before it was removed': one({ ...OLD, event_ids: 1 }),
      'an id that the client names': one({ ...GET, last_event_id: true, event_id_digest: 'e' }),
    },
  },
  get_or_delete_on_2026_07_28: {
    fires: {
      'a GET': one(GET),
      'a GET that was refused': one({ ...GET, status: 405, ...REFUSED, terminal: undefined }),
      'a DELETE': one({ ...GET, http_method: 'DELETE' }),
      'in small letters': one({ ...GET, http_method: 'get' }),
    },
    silent: {
      'a POST': one({}),
      'before it was removed': one({ ...OLD, ...GET }),
      'on an unknown revision': one({ ...UNKNOWN, ...GET }),
    },
  },
  cancel_notification_on_2026_07_28: {
    fires: {
      'by its method': one({ rpc_kind: 'notification', method: 'notifications/cancelled' }),
      'by what it names': one({ rpc_kind: 'notification', method: undefined, cancel_of: '7' }),
    },
    silent: {
      'before it was removed': one({ ...OLD, rpc_kind: 'notification', method: 'notifications/cancelled' }),
      'another notification': one({ rpc_kind: 'notification', method: 'notifications/progress' }),
      'one of the server': one({ method: 'subscriptions/listen', cancelled: true }),
    },
  },
  missing_meta_version: {
    fires: { 'known to be absent': one({ meta_protocol_version: null }) },
    silent: {
      'not known': one({}),
      there: one({ meta_protocol_version: '2026-07-28' }),
      'before it was due': one({ ...OLD, meta_protocol_version: null }),
      'a notification': one({ rpc_kind: 'notification', meta_protocol_version: null }),
      'no revision is known': one({ protocol_version: null, meta_protocol_version: null }),
    },
  },
  missing_meta_capabilities: {
    fires: {
      'known to be absent': one({ meta_capabilities: null }),
      'said to be absent': one({ meta_capabilities: false }),
    },
    silent: {
      'not known': one({}),
      there: one({ meta_capabilities: true }),
      'before it was due': one({ ...OLD, meta_capabilities: null }),
      'a notification': one({ rpc_kind: 'notification', meta_capabilities: null }),
    },
  },
  header_vs_meta_version_mismatch: {
    fires: {
      'the older in the body': one({ meta_protocol_version: '2025-11-25' }),
      'the older in the header': one({ ...OLD, meta_protocol_version: '2026-07-28' }),
    },
    silent: {
      equal: one({ meta_protocol_version: '2026-07-28' }),
      'no header': one({ protocol_version: null, meta_protocol_version: '2026-07-28' }),
      'none in the body': one({ meta_protocol_version: null }),
      'not known': one({}),
      'two that know no such rule': one({ ...OLD, meta_protocol_version: '2025-06-18' }),
    },
  },
  handle_error_as_json_rpc_error: {
    fires: {
      '-32602': [worked(), failed(-32602)],
      'the first of the servers own': [worked(), failed(-32000)],
      'the last of the servers own': [worked(), failed(-32019)],
      'it worked for another client': [worked({ client: 'c2' }), failed(-32602)],
      'it worked on the older revision': [worked(OLD), failed(-32602)],
      'on a stream': [worked(), failed(-32602, { content_type: 'text/event-stream', json: undefined })],
    },
    silent: {
      'a tool that never worked': [failed(-32602)],
      'another tool worked': [worked({ target: 'other' }), failed(-32602)],
      'it worked on another server': [worked({ server: 'srv2' }), failed(-32602)],
      'it worked later': [failed(-32602), worked()],
      'it failed by isError': [worked({ is_error: true }), failed(-32602)],
      'it asked for input': [worked({ result_type: 'input_required' }), failed(-32602)],
      'a code of the protocol': [worked(), failed(-32020)],
      'an internal error': [worked(), failed(-32603)],
      'answered 400': [worked(), failed(-32602, { status: 400 })],
      'of an unknown status': [worked(), failed(-32602, { status: undefined })],
      'on the older revision': [worked(), failed(-32602, OLD)],
      'no tools/call': [worked(), failed(-32602, { method: 'prompts/get' })],
      'an isError result': [worked(), close('x', 1000, { ...NEW, ...ANSWERED, is_error: true })],
    },
  },
  era_downgrade: {
    fires: {
      'the probe was refused': [probe(), greet(500)],
      'the probe was answered': [probe(0, { ...JSON_BODY, ...ANSWERED, status: 200 }), greet(500)],
      'the probe got no response': [probe(0, NO_HEAD), greet(500)],
      'of one client, an hour later': [probe(), greet(3_600_000)],
      'clients are not known': [probe(0, { client: undefined }), greet(60_000, { client: undefined })],
      'the handshake is on an unknown client': [probe(), greet(500, { client: undefined })],
      'once for each probe': [probe(), greet(500), close('again', 900, { ...ANSWERED, method: 'initialize' })],
    },
    silent: {
      'no probe': [greet(500)],
      'the handshake came first': [greet(0), probe(500)],
      'another client': [probe(), greet(500, { client: 'c2' })],
      'another server': [probe(), greet(500, { server: 'srv2' })],
      'another host': [probe(), greet(500, { host: 'h2' })],
      'an unknown client, too far apart': [probe(0, { client: undefined }), greet(60_001)],
      'an unknown client, whose probe was answered': [
        probe(0, { ...JSON_BODY, ...ANSWERED, status: 200, client: undefined }),
        greet(500),
      ],
      'no handshake': [probe(), close('x', 500, { ...NEW, ...ANSWERED })],
    },
  },
  missing_reinitialize: {
    fires: {
      'used again': [dead('x', 0), dead('y', 1000)],
      'again and again is one': [dead('x', 0), dead('y', 1000), dead('z', 2000)],
      'used by the GET stream': [dead('x', 0), dead('y', 1000, GET)],
      'used again, and no answer': [dead('x', 0), dead('y', 1000, { ...NO_HEAD, open_ts: T0 + 500 })],
      'initialize failed': [
        dead('x', 0),
        greet(500, { ...REFUSED, status: 500, terminal: undefined }),
        dead('y', 1000),
      ],
    },
    silent: {
      once: [dead('x', 0)],
      'initialised in between': [dead('x', 0), greet(500), dead('y', 1000)],
      'the client says so': [dead('x', 0), client('reinitialized', 500), dead('y', 1000)],
      'a new client': [dead('x', 0), client('created', 500), dead('y', 1000)],
      'another client': [dead('x', 0), dead('y', 1000, { client: 'c2' })],
      'an unknown client': [dead('x', 0, { client: undefined }), dead('y', 1000, { client: undefined })],
      'already on its way': [dead('x', 0), dead('y', 1000, { open_ts: T0 })],
      'without the session': [dead('x', 0), dead('y', 1000, { session: false })],
      'it lived on': [dead('x', 0), alive('y', 1000), dead('z', 2000)],
      'it answers, though with an error': [
        dead('x', 0),
        dead('y', 1000, { ...JSON_BODY, ...ANSWERED, status: 400, terminal_kind: 'error', error_code: -32601 }),
      ],
      'only tidied up': [dead('x', 0), dead('y', 1000, { ...GET, http_method: 'DELETE' })],
      'a wrong route': [dead('x', 0, { content_type: 'text/html' }), dead('y', 1000, { content_type: 'text/html' })],
      'a missing method': [
        dead('x', 0, { ...JSON_BODY, error_code: -32601 }),
        dead('y', 1000, { ...JSON_BODY, error_code: -32601 }),
      ],
      'no sessions on this revision': [dead('x', 0, NEW), dead('y', 1000, NEW)],
    },
  },
  needless_reconnect: {
    fires: {
      'after an error answer': [close('x', 0, { ...FAILED, ...PRIMED }), resume('g', 1000)],
      'known by its code': [
        close('x', 0, { ...ANSWERED, ...PRIMED, terminal_kind: undefined, error_code: -32603 }),
        resume('g', 1000),
      ],
      'of that very stream': [
        close('x', 0, { ...FAILED, ...PRIMED, event_id_digest: 'e' }),
        resume('g', 1000, { event_id_digest: 'e' }),
      ],
      refused: [close('x', 0, { ...FAILED, ...PRIMED }), resume('g', 1000, { status: 405, ...REFUSED })],
      'at the edge of 60 s': [close('x', 0, { ...FAILED, ...PRIMED }), resume('g', 60_000)],
    },
    silent: {
      'after a result': [close('x', 0, { ...ANSWERED, ...PRIMED }), resume('g', 1000)],
      'no event ids': [close('x', 0, FAILED), resume('g', 1000)],
      'of another stream': [
        close('x', 0, { ...FAILED, ...PRIMED, event_id_digest: 'e' }),
        resume('g', 1000, { event_id_digest: 'f' }),
      ],
      'it takes up another stream': [
        close('x', 0, { ...FAILED, ...PRIMED }),
        close('y', 100, { ...PRIMED, args_digest: 'b' }),
        resume('g', 1000),
      ],
      'a stream of notifications': [close('x', 0, { ...FAILED, ...PRIMED }), close('g', 1000, GET)],
      'another client': [close('x', 0, { ...FAILED, ...PRIMED }), resume('g', 1000, { client: 'c2' })],
      'too late': [close('x', 0, { ...FAILED, ...PRIMED }), resume('g', 60_001)],
      'opened before the answer': [resume('g', 500, { open_ts: T0 - 1 }), close('x', 0, { ...FAILED, ...PRIMED })],
    },
  },
  resume_failed: {
    fires: {
      'refused 405': [close('x', 0, PRIMED), resume('g', 1000, { status: 405, ...REFUSED })],
      'refused 500': [close('x', 0, PRIMED), resume('g', 1000, { status: 500, ...REFUSED })],
      'no answer on it': [close('x', 0, PRIMED), resume('g', 1000)],
      'no answer on any of them': [close('x', 0, PRIMED), resume('g', 1000), resume('h', 2000)],
      'after a reset': [close('x', 0, { ...RESET, ...PRIMED }), resume('g', 1000)],
      'the GET broke': [close('x', 0, PRIMED), resume('g', 1000, NO_HEAD)],
      'a stream of notifications that may not go on': [resume('g', 1000, { status: 405, ...REFUSED })],
    },
    silent: {
      answered: [close('x', 0, PRIMED), resume('g', 1000, ANSWERED)],
      'answered on the third leg': [
        close('x', 0, PRIMED),
        resume('g', 1000),
        resume('h', 2000),
        resume('i', 3000, ANSWERED),
      ],
      'never tried': [close('x', 0, PRIMED)],
      'asked for authorisation first': [
        close('x', 0, PRIMED),
        resume('g', 1000, { status: 401, ...REFUSED }),
        resume('h', 2000, ANSWERED),
      ],
      'a stream of notifications goes on': [close('x', 0, GET), resume('g', 1000)],
      'a GET without an id was refused': [close('g', 1000, { ...GET, status: 405, ...REFUSED })],
    },
  },
});

test('missing_reinitialize: armed again by a new session', () => {
  const lines = [dead('a', 0), dead('b', 100), greet(200), dead('c', 300), dead('d', 400)];
  assert.equal(runLines(lines).findings('missing_reinitialize').length, 2);
});
