/**
 * Random traffic that could be real, as plain data that fast-check can shrink: hosts, clients, servers, every kind of exchange,
 * faults, retries, resumes, payload lines.
 */
import fc from 'fast-check';
import { ANSWERED, type Fields, JSON_BODY, JSON_CUT, NO_HEAD, RESET } from './build-event.ts';

const SSE_EMPTY = { bytes: 0, events: 0, cut: 'none' } as const;
const HTML = { content_type: 'text/html', events: undefined } as const;
const GAVE_UP = { how: 'cancel', by: 'client', error: 'AbortError' } as const;

/** How an attempt ends. `lost`: undelivered, whatever else is said of it (but a settle), so another attempt may follow. */
const LOST = {
  eof: {},
  mid: { cut: 'mid' },
  empty: SSE_EMPTY,
  reset: RESET,
  jsonCut: JSON_CUT,
  jsonEmpty: { ...JSON_BODY, ...SSE_EMPTY, json: 'empty' },
  noResponse: NO_HEAD,
  refusedToConnect: { ...NO_HEAD, sent: 'none', error: 'ECONNREFUSED' },
  timeout: { how: 'error', by: 'client', error: 'TimeoutError' },
  gaveUp: GAVE_UP,
  overloaded: { ...HTML, status: 503 },
  tooMany: { ...HTML, status: 429 },
  accepted: { ...SSE_EMPTY, content_type: null, status: 202 },
  mismatch: { ...JSON_BODY, id_match: 'mismatch' },
  primed: { event_ids: 1 },
  primedReset: { ...RESET, event_ids: 1 },
} as const satisfies Record<string, Fields>;
/** A hop, not a retry, when another attempt follows. */
const HOPS = { redirect: { ...HTML, status: 307 }, unauthorized: { ...HTML, status: 401 } } as const;
const LAST = {
  json: { ...JSON_BODY, ...ANSWERED },
  sse: ANSWERED,
  rpcError: { ...JSON_BODY, ...ANSWERED, terminal_kind: 'error', error_code: -32602 },
  lateError: { ...ANSWERED, ...RESET },
  whole: JSON_BODY,
  forever: null,
} as const satisfies Record<string, Fields | null>;
export const FATES: Readonly<Record<string, Fields | null>> = { ...LOST, ...HOPS, ...LAST };

/** How many lines tell of an exchange. */
const STYLES = ['close', 'closeWithOpen', 'openAndClose', 'all'] as const;
const KINDS = ['call', 'list', 'listen', 'standalone', 'newGet', 'notification', 'delete', 'resumeAlone'] as const;

export interface AttemptPlan {
  readonly fate: string;
  readonly style: (typeof STYLES)[number];
  readonly lasts: number;
  /** Time from the end of the attempt before. */
  readonly after: number;
  readonly endpoint: 0 | 1;
  readonly parse: { readonly ok: boolean; readonly at: number; readonly expected: boolean } | null;
  readonly settle: { readonly result: string; readonly at: number } | null;
  /** The client is replaced before this attempt. */
  readonly reconnect: boolean;
  /** A resume GET opens so long after the end, and brings the answer or not. */
  readonly resume: { readonly after: number; readonly answers: boolean } | null;
}
export interface IntentPlan {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly host: 0 | 1;
  readonly client: 0 | 1 | 2;
  readonly server: 0 | 1 | 2;
  readonly version: string;
  readonly lost: readonly AttemptPlan[];
  readonly last: AttemptPlan;
}
export interface Plan {
  readonly intents: readonly IntentPlan[];
  readonly mandated: boolean;
}

/**
 * any: every moment is possible. clear: nothing happens within 5 s of the end of a window, so that lines which arrive up to 5 s
 * out of order still fall on the same side of it.
 */
export type Moments = 'any' | 'clear';

const VERSIONS = ['2024-11-05', '2025-11-25', '2026-07-28'];

export function plans(moments: Moments, maxIntents = 25): fc.Arbitrary<Plan> {
  const any = moments === 'any';
  const short = fc.nat(2000);
  const after = any
    ? fc.oneof(short, fc.nat(120_000), fc.constantFrom(59_999, 60_000, 60_001, 120_000))
    : fc.nat(50_000);
  const attempt = (fates: readonly string[]): fc.Arbitrary<AttemptPlan> =>
    fc.record({
      fate: fc.constantFrom(...fates),
      style: fc.constantFrom(...STYLES),
      lasts: any ? fc.oneof(short, fc.nat(60_000), fc.nat(800_000)) : fc.nat(4000),
      after,
      endpoint: fc.constantFrom(0, 1),
      parse: fc.option(
        fc.record({
          ok: fc.boolean(),
          at: any
            ? fc.oneof(fc.integer({ min: -2000, max: 2000 }), fc.nat(700_000))
            : fc.integer({ min: -1000, max: 2000 }),
          expected: fc.boolean(),
        }),
      ),
      settle: fc.option(
        fc.record({
          result: fc.constantFrom('ok', 'tool_error', 'error', 'timeout', 'cancelled'),
          at: any
            ? fc.oneof(short, fc.integer({ min: -800_000, max: 700_000 }))
            : fc.integer({ min: -2000, max: 2000 }),
        }),
      ),
      reconnect: fc.boolean(),
      resume: fc.option(fc.record({ after: any ? fc.nat(70_000) : fc.nat(45_000), answers: fc.boolean() })),
    });
  const intent: fc.Arbitrary<IntentPlan> = fc.record({
    kind: fc.oneof({ weight: 5, arbitrary: fc.constant('call' as const) }, fc.constantFrom(...KINDS)),
    at: fc.nat(1_500_000),
    host: fc.constantFrom(0, 1),
    client: fc.constantFrom(0, 1, 2),
    server: fc.constantFrom(0, 1, 2),
    version: fc.constantFrom(...VERSIONS),
    lost: fc.oneof(fc.constant([]), fc.array(attempt([...Object.keys(LOST), ...Object.keys(HOPS)]), { maxLength: 3 })),
    last: attempt([...Object.keys(LAST), ...Object.keys(LOST)]),
  });
  return fc.record({ intents: fc.array(intent, { maxLength: maxIntents }), mandated: fc.boolean() });
}
