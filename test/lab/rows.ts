/** The table of rows: each row of lab-expected.tsv, the script that makes its fault, and how the host has to call. */
import type { ClientName } from './clients.ts';
import * as http from './faults-http.ts';
import * as json from './faults-json.ts';
import * as sse from './faults-sse.ts';
import type { Script } from './script.ts';

export interface Row {
  readonly id: string;
  /** Its line in lab-expected.tsv. */
  readonly expected: string;
  readonly script: Script;
  /** Only the client's own timeout ends the call. */
  readonly hangs: boolean;
  /** The server hands out a session id. */
  readonly session: boolean;
  /** What the host does: one call; four at the same time; three, and then it closes the client. */
  readonly host: 'one' | 'four' | 'closes';
  /** The call goes to an address where nobody answers. */
  readonly unreachable: 'refused' | 'dns' | null;
  /** Clients that cannot bring this row about, and why. */
  readonly not: Readonly<Partial<Record<ClientName, string>>>;
}

const row = (id: string, script: Script, rest: Partial<Row> = {}): Row => ({
  id,
  expected: id,
  script,
  hangs: false,
  session: false,
  host: 'one',
  unreachable: null,
  not: {},
  ...rest,
});
const HANGS = { hangs: true } as const;
const SESSION = {
  session: true,
  not: { 'C2-2026': 'a client of 2026-07-28 sends no session id' },
} as const;
const four = (id: string, script: Script, rest: Partial<Row> = {}): Row =>
  row(`p-${id}`, http.oneOfFour(script, rest.hangs ?? false), { expected: id, host: 'four', ...rest });

export const ROWS: readonly Row[] = [
  row('a', json.a),
  row('b', json.b),
  row('c', json.c),
  row('c2', json.c2),
  row('c3', json.c3),
  row('c4', json.c4, HANGS),
  row('c5', json.c5),
  row('c6', json.c6),
  row('c7', json.c7),
  row('d', json.d),
  row('e', json.e),
  row('e2', json.e2),
  row('f', json.f),
  row('g', sse.g),
  row('g2', sse.g2),
  row('g3', sse.g3, HANGS),
  row('g4', sse.g4),
  row('h0', sse.h0, HANGS),
  row('h', sse.h, HANGS),
  row('h2', sse.h2, HANGS),
  row('h2r', sse.h2r),
  row('h3', sse.h3, HANGS),
  row('h3r', sse.h3r),
  row('h2-500', sse.h2f, HANGS),
  row('h4', sse.h4),
  row('i', sse.i, HANGS),
  row('i2', sse.i2, HANGS),
  row('j', sse.j, HANGS),
  row('j2', sse.j2, HANGS),
  row('k', json.k),
  row('k1', json.k1),
  row('k2', json.k2),
  row('k3', sse.k3, HANGS),
  row('k4', sse.k4),
  row('l-refused', http.l, { expected: 'l', unreachable: 'refused' }),
  row('l-dns', http.l, { expected: 'l', unreachable: 'dns' }),
  row('m', http.m, HANGS),
  row('m2', http.m2, HANGS),
  row('m3', http.m3),
  row('m4', http.m4),
  row('m5', http.m5),
  row('n', http.n),
  row('n-session', http.n, { expected: 'n', ...SESSION }),
  row('n2', http.n2),
  row('n3', http.n3, SESSION),
  row('o', http.o),
  row('o2', http.o2),
  row('o3', http.o3),
  row('o4', http.o4),
  row('q', http.q),
  row('q2', http.q2, HANGS),
  row('q3', http.q3),
  row('q4', json.q4),
  row('q5', json.q5),
  four('f', json.f),
  four('j', sse.j, HANGS),
  four('d', json.d),
  four('h', sse.h, HANGS),
  row("p'", http.closedByHost, { host: 'closes' }),
];
