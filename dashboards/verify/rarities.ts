/**
 * What happens a few times in a night: broken clients, hangs, refusals, old sessions, idle timers, size limits, lost lines. Each of them is
 * there so that the panel which shows it has something to show; none of it is part of the headline.
 */
import {
  ANSWERED,
  client,
  discovery,
  end,
  type Fields,
  JSON_BODY,
  JSON_CUT,
  NO_HEAD,
  open,
  parse,
  RESET,
  settle,
  T0,
} from '../../test/support/build-event.ts';
import { attempt, OLD, type Writer } from './traffic.ts';

const SECOND = 1000;
export type Every = (ms: number, step: (at: number, broken: boolean) => void) => void;

const tickets = (at: number): Fields => ({
  ...{ ...OLD, server: 'tickets' },
  ...{ endpoint: 'http://10.0.4.1:8080/mcp', args_digest: `t${at}`, target: 'comment', client: undefined },
});
const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined, target: undefined, rpc_id: undefined } as const;
const HTML = { content_type: 'text/html', events: undefined, cut: undefined, bytes: 150 } as const;

export function rarities(w: Writer, every: Every): void {
  const who = (name: string): Fields => ({ host: w.host, client: `${w.host}-${name}` });

  // A server whose contract is known: what ends without its message is a failure, not a riddle.
  every(20 * SECOND, (at, broken) => {
    const mine = { ...tickets(at), ...who('t') };
    const ends = broken && w.roll.chance(0.1) ? { cut: 'boundary' } : ANSWERED;
    attempt(w, at, 300, { ...mine, ...ends });
    if (ends !== ANSWERED) attempt(w, at + 900, 300, { ...mine, ...ANSWERED });
  });
  // Sessions that are gone, routes that are missing, too many requests; old ways on the new revision.
  every(600 * SECOND, (at, broken) => {
    const mine = { ...tickets(at), ...who('t') };
    attempt(w, at, 5, { ...mine, ...HTML, content_type: 'application/json', status: broken ? 404 : 429 });
    attempt(w, at + 50, 90, { ...mine, ...ANSWERED });
    const on = { server: 'search', endpoint: 'http://10.0.3.1:8080/mcp', ...who('1') };
    attempt(w, at + 90, 40, { ...on, args_digest: `o${at}`, session: true, ...JSON_BODY, ...ANSWERED });
    attempt(w, at + 200, 9, {
      ...{ ...on, args_digest: `m${at}`, ...JSON_BODY, ...ANSWERED },
      ...{ status: 404, terminal_kind: 'error', error_code: -32601 },
    });
    attempt(w, at + 300, 40, { ...on, args_digest: `m${at}`, ...JSON_BODY, ...ANSWERED });
    attempt(w, at + 400, 9, { ...on, ...GET, ...HTML, status: 405 });
  });
  // A stream that something on the way ends every minute.
  every(61 * SECOND, (at) => {
    const mine = { ...tickets(at), ...who('listener'), ...GET, meta_capabilities: undefined };
    attempt(w, at, 60 * SECOND, { ...mine, events: 1, how: 'eof' });
  });
  every(300 * SECOND, (at) => {
    const listens = { method: 'subscriptions/listen', target: undefined, server: 'search', ...who('l') };
    attempt(w, at, 50 * SECOND, { ...listens, endpoint: 'http://10.0.3.1:8080/mcp', by: 'client', how: 'cancel' });
  });
  // A listener that gets its stream and loses it at once, again and again.
  every(900 * SECOND, (at, broken) => {
    if (!broken) return;
    const loops = { ...tickets(at), ...who('loop'), ...GET, events: 0, bytes: 0, cut: 'none', how: 'eof' };
    for (let i = 0; i < 14; i++) attempt(w, at + i * 4000, 300, loops);
  });
  // One call breaks and takes the others of its client with it; then calls on the closed client.
  every(200 * SECOND, (at, broken) => {
    if (!broken) return;
    const one = `c${at}`;
    const on = (instance: number): Fields => ({
      ...{ ...OLD, server: 'inventory', target: 'look_up' },
      ...{ idempotency_key: true, endpoint: `http://10.0.1.${instance}:8080/mcp`, ...who(one) },
    });
    const calls = [2, 1, 1].map((instance, i) => ({
      ...on(instance),
      args_digest: `${one}-${i}`,
      ...RESET,
      bytes: 40,
    }));
    for (const [i, call] of calls.entries()) attempt(w, at, 900 + 10 * i, call);
    for (const call of calls)
      attempt(w, at + 1500, 200, { ...call, ...ANSWERED, how: 'eof', error: undefined, endpoint: on(1).endpoint });
    w.put(client('closed', at + 5000, { ...who(one), server: 'inventory' }));
    for (const late of [5100, 5200])
      w.put(settle(undefined, at + late, 'error', { ...who(one), server: 'inventory', on_wire: false }));
  });
  // An instance is stopped with its calls in flight.
  every(900 * SECOND, (at, broken) => {
    if (!broken) return;
    for (let i = 0; i < 6; i++) {
      const mine = { ...tickets(at), ...who(`b${i}`), args_digest: `b${at}-${i}` };
      attempt(w, at, 400 + i, { ...mine, ...RESET, bytes: 10, events: 0, cut: 'none' });
      attempt(w, at + 2000, 200, { ...mine, ...ANSWERED });
    }
  });
  // Requests that are accepted and never answered, connections that fail, callers who give up.
  every(600 * SECOND, (at) => {
    const mine = { ...tickets(at), ...who('t'), idempotency_key: true };
    attempt(w, at, 12, { ...mine, status: 202, content_type: null, bytes: 0, events: undefined, cut: undefined });
    attempt(w, at + 800, 200, { ...mine, ...ANSWERED });
    const fails = { ...mine, args_digest: `f${at}` };
    attempt(w, at + 3000, 9, { ...fails, ...NO_HEAD, sent: 'none', error: 'ECONNREFUSED' });
    attempt(w, at + 3500, 200, { ...fails, ...ANSWERED });
    const gives = { ...mine, args_digest: `g${at}`, how: 'cancel', by: 'client', error: 'AbortError' };
    w.put(settle(attempt(w, at + 6000, 8000, gives), at + 14_000, 'cancelled', { ...who('t'), server: 'tickets' }));
  });
  // Everything from 64 KiB on fails: a limit of a gateway.
  every(40 * SECOND, (at, broken) => {
    const bytes = w.roll.pick([0.5, 3, 9, 30, 70, 110]) * 1024;
    const fails = broken && bytes > 65_536;
    const mine = { server: 'exports', method: 'resources/read', target: 'csv', args_digest: `e${at}` };
    const where = { endpoint: 'http://exports.shop:8080/mcp', framing: 'content_length', content_length: bytes };
    const got = fails ? 65_536 : bytes;
    const id = attempt(w, at, 500, {
      ...mine,
      ...where,
      ...(fails ? JSON_CUT : { ...JSON_BODY, ...ANSWERED }),
      bytes: got,
    });
    const parsed = { host: w.host, server: 'exports', of: 'message', bytes: got, expected_bytes: bytes };
    w.put(parse(id, at + 503, { ...parsed, ok: !fails, ...(fails ? { at_end: true } : {}) }));
    if (fails) attempt(w, at + 1000, 700, { ...mine, ...where, ...JSON_BODY, ...ANSWERED, bytes });
  });
  // The longest of all.
  every(600 * SECOND, (at) => {
    const bytes = 1_500_000;
    const mine = { server: 'exports', method: 'resources/read', target: 'dump', args_digest: `d${at}`, bytes };
    const id = attempt(w, at, 4000, { ...mine, endpoint: 'http://exports.shop:8080/mcp', ...JSON_BODY, ...ANSWERED });
    w.put(parse(id, at + 4010, { host: w.host, server: 'exports', of: 'result', bytes }));
  });
  // What goes wrong with the lines themselves.
  every(1200 * SECOND, (at) => {
    const writer = `w${at}`;
    for (const seq of [0, 1, 4])
      w.put(discovery(at + seq, { host: w.host, server: 'reports', self_delimiting: true, writer, seq }));
    const id = attempt(w, at, 60, { ...tickets(at), ...who('t'), ...ANSWERED });
    w.put(end(id, at + 40 * SECOND, { host: w.host }));
    w.put(open(w.id(), at, { ...tickets(at), ...who('lost'), method: 'prompts/get' }));
    for (const [n, ts] of [at, at + 2000].entries())
      w.put({ v: 1, type: 'segment', ts: T0 + ts, writer: `tap-${at}`, id: `s${at}${n}`, n: 0 });
    // One name for each build: more than there is room for.
    for (let i = 0; i < 6; i++)
      attempt(w, at + 5000 + i, 30, {
        ...{
          server: 'search',
          args_digest: `x${at}${i}`,
          target: 'query',
          endpoint: `http://10.9.${i}.${w.roll.int(250)}:80/`,
        },
        ...{ ...JSON_BODY, ...ANSWERED },
      });
  });
}
