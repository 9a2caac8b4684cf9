/**
 * A bad afternoon of two hours, as the lines of one pod: all is well, then one instance and one proxy break answers, then all is well again. The
 * callers see next to nothing of it, which is the point. Seeded: the same lines every time. What must be seen of it stands in headlines.ts.
 */
import {
  ANSWERED,
  client,
  discovery,
  type Fields,
  JSON_BODY,
  JSON_CUT,
  type Line,
  NO_HEAD,
  parse,
  settle,
  T0,
} from '../../test/support/build-event.ts';
import { dice } from '../../test/support/random.ts';
import { rarities } from './rarities.ts';
import { attempt, OLD, type Writer } from './traffic.ts';

const MINUTE = 60_000;
/** 15:00:00 UTC, in milliseconds after T0. */
export const BEGIN = 2_800_000;
export const INCIDENT = BEGIN + 40 * MINUTE;
export const RECOVERY = BEGIN + 80 * MINUTE;
export const END = BEGIN + 120 * MINUTE;
export const unixSeconds = (at: number): number => (T0 + at) / 1000;

export interface Pod {
  readonly name: string;
  readonly seed: number;
}
export const PODS: readonly Pod[] = [
  { name: 'mcp-host-7c9f-4xk2p', seed: 11 },
  { name: 'mcp-host-7c9f-m8t6w', seed: 23 },
];
export const NAMESPACE = 'shop';

/** Share of answers that are cut on the way, by full length in KiB: what was measured behind a proxy with a limit of time. */
const CUT_BY_KIB: readonly (readonly [kib: number, share: number])[] = [
  [4, 0.028],
  [16, 0.086],
  [48, 0.295],
  [96, 0.5],
  [144, 0.375],
];

const endpoint = (server: number, instance: number): string => `http://10.0.${server}.${instance}:8080/mcp`;
const told = (w: Writer, exchange: string, at: number, result: string, fields: Fields): void =>
  w.put(settle(exchange, at, result, { host: w.host, client: `${w.host}-1`, ...fields }));

/** SSE answers of two instances; in the incident one of them stops inside an event, and the caller repeats on the other. */
function inventory(w: Writer, at: number, broken: boolean, surfaced: boolean): void {
  const call: Fields = { ...OLD, server: 'inventory', args_digest: `i${at}` };
  const tool: Fields = w.roll.chance(0.3)
    ? { target: 'reserve' }
    : { target: 'look_up', annotations: { read_only: true }, idempotency_key: w.roll.chance(0.3) };
  const instance = 1 + w.roll.int(2);
  const first = { ...call, ...tool, endpoint: endpoint(1, instance) };
  const lasts = 200 + w.roll.int(900);
  const breaks = broken && instance === 2 && w.roll.chance(0.3);
  if (!breaks && !surfaced) {
    told(w, attempt(w, at, lasts, { ...first, ...ANSWERED, bytes: 900 + w.roll.int(9000) }), at + lasts, 'ok', call);
    return;
  }
  if (!breaks) {
    const refused = { ...NO_HEAD, sent: 'none', error: 'ECONNREFUSED' };
    told(w, attempt(w, at, 5, { ...first, ...refused }), at + 10, 'error', call);
    return;
  }
  const cut = w.roll.chance(0.7) ? 'mid' : 'boundary';
  const failed = attempt(w, at, lasts, { ...first, cut, bytes: 300 + w.roll.int(4000), events: 2 });
  // Some callers find out that they had all of it: a client that insists on the sentinel would have lost that.
  if (w.roll.chance(0.15)) {
    told(w, failed, at + lasts + 5, 'ok', call);
    return;
  }
  const again = attempt(w, at + lasts + 700, 400, { ...call, ...tool, endpoint: endpoint(1, 1), ...ANSWERED });
  told(w, again, at + lasts + 1100, 'ok', call);
}

/** JSON answers of all lengths; in the incident the longer one is, the more often it is cut. The caller asks again. */
function reports(w: Writer, at: number, broken: boolean): void {
  const [kib, share] = w.roll.pick(CUT_BY_KIB);
  const bytes = Math.round(kib * 1024 * (0.8 + w.roll.int(400) / 1000));
  const call: Fields = {
    ...{ server: 'reports', method: 'resources/read', target: 'report', args_digest: `r${at}` },
    ...{ endpoint: 'http://reports.shop:8080/mcp', framing: 'content_length', content_length: bytes },
  };
  const lasts = 300 + 8 * kib;
  const whole = (from: number): void => {
    const id = attempt(w, from, lasts, { ...call, ...JSON_BODY, ...ANSWERED, bytes });
    w.put(
      parse(id, from + lasts + 2, { host: w.host, server: 'reports', of: 'message', bytes, expected_bytes: bytes }),
    );
    told(w, id, from + lasts + 4, 'ok', call);
  };
  if (!(broken && w.roll.chance(share))) {
    whole(at);
    return;
  }
  const got = Math.round(bytes * (0.2 + w.roll.int(70) / 100));
  const id = attempt(w, at, lasts, { ...call, ...JSON_CUT, bytes: got });
  const failed = { host: w.host, server: 'reports', of: 'message', ok: false, at_end: true };
  w.put(parse(id, at + lasts + 2, { ...failed, bytes: got, expected_bytes: bytes }));
  whole(at + lasts + 900);
}

/** A server that can prove nothing, and answers at an endpoint of its own for every build. */
function search(w: Writer, at: number, broken: boolean): void {
  const call: Fields = { server: 'search', args_digest: `s${at}`, target: 'query' };
  const build = broken && w.roll.chance(0.4) ? 2 : 1;
  if (w.roll.chance(0.3)) {
    const listed = { count: 4 + build, digest: `tools-${build}`, auth: 'me' };
    const list = { ...call, method: 'tools/list', target: undefined, args_digest: undefined, list: listed };
    attempt(w, at, 40, { ...list, endpoint: endpoint(3, build), ...JSON_BODY, ...ANSWERED });
    return;
  }
  const id = attempt(w, at, 150, { ...call, endpoint: endpoint(3, build), ...JSON_BODY, ...ANSWERED, bytes: 700 });
  told(w, id, at + 155, 'ok', call);
  const payload = { host: w.host, server: 'search', of: 'arguments', bytes: 300 + w.roll.int(900) };
  // The length of what a model wrote is known to nobody when it stops.
  const stops = broken && w.roll.chance(0.2);
  w.put(parse(id, at + 1, { ...payload, ok: !stops, ...(stops ? { at_end: true } : {}) }));
}

/** Everything of one pod, in order of time. */
export function storyOf({ name, seed }: Pod): readonly Line[] {
  const lines: Line[] = [];
  let ids = 0;
  const roll = dice(seed);
  const w: Writer = { put: (line) => void lines.push(line), roll, id: () => `${name}-${++ids}`, host: name };
  const every = (ms: number, step: (at: number, broken: boolean) => void): void => {
    for (let at = BEGIN + roll.int(ms); at < END; at += ms / 2 + roll.int(ms))
      step(at, at >= INCIDENT && at < RECOVERY);
  };
  for (const [server, contract] of Object.entries({
    inventory: { protocol_version: '2025-11-25' },
    reports: { protocol_version: '2026-07-28', self_delimiting: true },
    search: { protocol_version: '2026-07-28', sentinel: 'optional' },
    tickets: { protocol_version: '2025-11-25', sentinel: 'mandated' },
  }))
    if (server !== 'inventory') w.put(discovery(BEGIN, { host: name, server, ...contract }));
  w.put(client('created', BEGIN, { host: name, client: `${name}-1`, server: 'inventory' }));
  let calls = 0;
  // Next to none fails for its caller.
  every(3000, (at, broken) => inventory(w, at, broken, ++calls % 1500 === 700));
  every(4000, (at, broken) => reports(w, at, broken));
  every(25_000, (at, broken) => search(w, at, broken));
  rarities(w, every);
  return lines.sort((a, b) => a.ts - b.ts);
}
