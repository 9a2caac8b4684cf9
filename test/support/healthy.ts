/**
 * Healthy traffic of hosts, clients and servers on both revisions, with every oddity that the specifications allow. Nothing in it is
 * a failure that a finding may name, and every stream proves its end. Built client by client; lines come in order of time.
 */
import {
  ANSWERED,
  client,
  discovery,
  type Fields,
  headers,
  JSON_BODY,
  type Line,
  message,
  NO_HEAD,
  open,
  parse,
  settle,
} from './build-event.ts';
import { Session } from './healthy-session.ts';
import { type Dice, dice } from './random.ts';

const GET = {
  http_method: 'GET',
  rpc_kind: 'none',
  method: undefined,
  rpc_id: undefined,
  args_digest: undefined,
} as const;
const NO_BODY = { content_type: null, framing: undefined, bytes: 0, events: undefined, cut: undefined } as const;
const HTML = { content_type: 'text/html', events: undefined, cut: undefined } as const;
const GAVE_UP = { how: 'cancel', by: 'client', error: 'AbortError' } as const;
/** What the operator confirms (the policy of the test). */
export const READ_ONLY = 'look_up';
const LISTEN = { method: 'subscriptions/listen', target: undefined, args_digest: undefined } as const;

type Step = (s: Session) => void;
const sse = { ...ANSWERED };
const json = { ...ANSWERED, ...JSON_BODY };
const tool = (s: Session): Fields => ({ target: `tool-${s.roll.int(8)}` });
const answer = (s: Session): Fields => (s.roll.chance(0.5) ? sse : json);

/** What any client may do. */
const COMMON: readonly Step[] = [
  (s) => void s.exchange({ ...tool(s), ...answer(s) }, 5 + s.roll.int(900), 'ok'),
  (s) => void s.exchange({ ...tool(s), ...answer(s), is_error: true }, 5 + s.roll.int(400), 'tool_error'),
  (s) => void s.exchange({ ...tool(s), ...sse, notifications: 4, events: 5 }, 900, 'ok'),
  (s) => void s.exchange({ ...tool(s), ...json, terminal_kind: 'error', error_code: -32603 }, 40, 'rpc_error'),
  (s) => void s.exchange({ method: 'resources/read', ...answer(s) }, 30, 'ok'),
  (s) => void s.exchange({ method: 'prompts/get', ...json }, 30, 'ok'),
  (s) => void s.exchange({ rpc_kind: 'notification', method: 'notifications/progress', ...NO_BODY, status: 202 }, 4),
  // A large answer whose host parses it in one go.
  (s) => {
    const id = s.exchange({ ...tool(s), ...json, bytes: 90_000 }, 700, 'ok');
    s.put(parse(id, s.now + 30, { ...s.who, bytes: 90_000 }));
  },
  // A slow call whose stream carries comments: bytes, but no events.
  (s) => void s.exchange({ ...tool(s), ...sse, bytes: 4000, events: 1 }, 45_000, 'ok'),
  // Calls in parallel, on one client.
  (s) => {
    const at = s.now;
    for (const lasts of [800, 300, 500]) {
      s.now = at;
      s.exchange({ ...tool(s), ...answer(s) }, lasts, 'ok');
    }
    s.now = at + 900;
  },
  // The user gives a call up. (A write that is given up is uncertain: that is a finding.)
  (s) =>
    void s.exchange({ target: READ_ONLY, ...GAVE_UP, bytes: 40, events: 1 }, 2000 + s.roll.int(20_000), 'cancelled'),
  (s) => void s.exchange({ method: 'resources/read', ...NO_HEAD, ...GAVE_UP, how: 'no_response' }, 2000, 'cancelled'),
  // Another route.
  (s) => {
    const same = { ...tool(s), args_digest: `hop-${s.name}-${s.now}` };
    s.exchange({ ...same, ...NO_BODY, status: 307 }, 3);
    s.exchange({ ...same, ...json }, 90, 'ok');
  },
  // Authorisation ran out.
  (s) => {
    const same = { ...tool(s), args_digest: `auth-${s.name}-${s.now}` };
    s.exchange({ ...same, ...NO_BODY, status: 401 }, 6);
    s.pause(300);
    s.exchange({ ...same, ...json }, 90, 'ok');
  },
];

/** Sessions, standalone streams and resumption. */
const OLD: readonly Step[] = [
  (s) => void s.exchange({ method: 'ping', args_digest: undefined, ...json }, 4, 'ok'),
  // The server closes the stream as planned; the client comes back for the answer.
  (s) => resumed(s, 1),
  (s) => resumed(s, 3),
  // An error answer ends a primed stream: nobody comes back.
  (s) => {
    const failed = { ...ANSWERED, terminal_kind: 'error', error_code: -32603 };
    s.exchange({ ...tool(s), ...failed, event_ids: 2, event_id_digest: `e-${s.now}` }, 90, 'rpc_error');
  },
  (s) => {
    const id = s.request({ target: READ_ONLY });
    s.put(open(id.id, s.now, id.fields));
    s.exchange(
      {
        rpc_kind: 'notification',
        method: 'notifications/cancelled',
        cancel_of: id.fields.rpc_id,
        ...NO_BODY,
        status: 202,
      },
      3,
    );
    s.end(id.id, { bytes: 0, events: 0, cut: 'none' });
    s.put(settle(id.id, s.now, 'cancelled', s.who));
  },
  // A list that changed, with its announcement on the standalone stream.
  (s) => void s.exchange({ ...GET, notifications: 1, events: 1 }, 20_000 + s.roll.int(400_000)),
  (s) => void s.exchange({ ...GET, by: 'client', how: 'cancel' }, 3000 + s.roll.int(200_000)),
  (s) => void listing(s, `d${s.roll.int(3)}`),
];

/** Listen streams, rounds and rules of each request. */
const NEW: readonly Step[] = [
  // The server asks for input, once or twice.
  (s) => {
    const same = { ...tool(s), args_digest: `rounds-${s.name}-${s.now}`, ...json };
    const asks = { ...same, result_type: 'input_required' };
    s.exchange(asks, 80);
    s.pause(20_000);
    if (s.roll.chance(0.5)) s.exchange({ ...asks, input_responses: true }, 80);
    s.pause(20_000);
    s.exchange({ ...same, input_responses: true }, 90, 'ok');
  },
  (s) => {
    const same = { ...tool(s), args_digest: `meta-${s.name}-${s.now}`, ...json };
    s.exchange({ ...same, status: 400, terminal_kind: 'error', error_code: -32020 }, 6);
    s.exchange(same, 50, 'ok');
  },
  (s) => void s.exchange({ ...LISTEN, by: 'client', how: 'cancel', notifications: 2 }, 3000 + s.roll.int(300_000)),
  (s) => void s.exchange({ ...LISTEN, cancelled: true, notifications: 1 }, 3000 + s.roll.int(300_000)),
  (s) => void s.exchange({ ...LISTEN, ...ANSWERED }, 3000 + s.roll.int(300_000)),
  (s) => void listing(s, 'd0'),
];

/** Legs without the answer, then one with it. */
function resumed(s: Session, legs: number): void {
  const digest = `e-${s.name}-${s.now}`;
  const id = s.exchange({ ...tool(s), event_ids: 1, event_id_digest: `${digest}-0`, events: 1 }, 400);
  for (let leg = 0; leg < legs; leg++) {
    s.pause(3000);
    const last = leg === legs - 1;
    const { id: get, fields } = s.request({ ...GET, last_event_id: true, event_id_digest: `${digest}-${leg}` });
    s.put(open(get, s.now, fields));
    s.pause(4000);
    s.end(get, { event_ids: 1, event_id_digest: `${digest}-${leg + 1}`, ...(last ? ANSWERED : {}) });
  }
  s.put(settle(id, s.now + 5, 'ok', s.who));
}

const listing = (s: Session, digest: string): string =>
  s.exchange(
    {
      method: 'tools/list',
      target: undefined,
      args_digest: undefined,
      ...json,
      list: { count: 4, digest, auth: 'me' },
    },
    20,
    'ok',
  );

/** From the first line of a client to its last. */
function live(s: Session, steps: number): void {
  s.put(client('created', s.now, s.who));
  if (s.isNew) s.exchange({ method: 'server/discover', args_digest: undefined, ...json }, 20, 'ok');
  else {
    s.exchange(
      { method: 'initialize', args_digest: undefined, session: false, session_issued: true, ...json },
      20,
      'ok',
    );
    s.exchange({ rpc_kind: 'notification', method: 'notifications/initialized', ...NO_BODY, status: 202 }, 3);
    // A stream that the server need not offer.
    if (s.roll.chance(0.5))
      s.exchange({ ...GET, ...HTML, status: s.roll.pick([404, 405]), session: s.roll.chance(0.5) }, 5);
  }
  listing(s, s.isNew ? 'd0' : 'd1');
  const own = s.isNew ? NEW : OLD;
  for (let step = 0; step < steps; step++) {
    s.pause(s.roll.chance(0.1) ? 60_000 : 2000);
    s.roll.pick(s.roll.chance(0.75) ? COMMON : own)(s);
  }
  if (!s.isNew) s.exchange({ ...GET, http_method: 'DELETE', ...NO_BODY, status: s.roll.pick([200, 204, 405]) }, 4);
  s.put(client('closed', s.now + 50, s.who));
}

/** A server whose list of tools grows when a user logs in, and says so to whoever listens. */
function announced(roll: Dice, at: number): Line[] {
  const who = (name: string): Fields => ({
    host: 'h0',
    client: name,
    server: 'growing',
    endpoint: 'http://10.9.0.1:8080/mcp',
  });
  const s = new Session(roll, `a${at}`, true, who(`a${at}`), at);
  const hears = s.request(LISTEN);
  s.put(open(hears.id, s.now, hears.fields));
  s.put(headers(hears.id, s.now + 1, { host: 'h0' }));
  listing(s, `g${at}`);
  s.exchange({ target: 'login', ...json }, 90, 'ok');
  s.put(message(hears.id, s.now + 2, { host: 'h0', rpc: 'notification', id_match: undefined }));
  s.pause(3000);
  listing(s, `g${at}+`);
  const other = new Session(roll, `b${at}`, true, who(`b${at}`), s.now + 5);
  listing(other, `g${at}+`);
  s.now = other.now + 9;
  s.end(hears.id, { by: 'client', how: 'cancel', notifications: 1 });
  return [...s.lines, ...other.lines];
}

export interface Healthy {
  readonly lines: readonly Line[];
  readonly exchanges: number;
}

export function healthy(seed: number, wanted: number): Healthy {
  const roll = dice(seed);
  const lines: Line[] = [];
  let exchanges = 0;
  for (let server = 0; server < 6; server++)
    lines.push(
      discovery(-1000, { server: `s${server}`, protocol_version: server % 2 === 0 ? '2026-07-28' : '2025-11-25' }),
    );
  for (let n = 0; exchanges < wanted; n++) {
    const server = roll.int(6);
    const who = {
      ...{ host: `h${n % 3}`, client: `c${n}`, server: `s${server}` },
      endpoint: `http://10.${server}.0.${roll.int(3)}:8080/mcp`,
    };
    // Twelve clients at a time.
    const s = new Session(roll, `c${n}`, server % 2 === 0, who, Math.floor(n / 12) * 400_000 + roll.int(300_000));
    live(s, 20 + roll.int(60));
    exchanges += s.exchanges;
    lines.push(...s.lines);
    if (n % 50 === 0) lines.push(...announced(roll, s.now));
  }
  return { lines: lines.sort((a, b) => a.ts - b.ts), exchanges };
}
