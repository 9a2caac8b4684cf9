/**
 * Lines that nobody sends by accident: every id is new, nothing that is opened ever ends, all within a few seconds of event time so
 * that no time limit helps. What holds memory then is caps alone.
 */
import {
  ANSWERED,
  client,
  close,
  discovery,
  type Fields,
  JSON_BODY,
  type Line,
  open,
  parse,
  RESET,
  settle,
} from './build-event.ts';
import { type Dice, dice } from './random.ts';

const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined } as const;
const VERSIONS = ['2024-11-05', '2025-11-25', '2026-07-28', '9999-99-99', undefined];
const METHODS = ['tools/call', 'tools/list', 'subscriptions/listen', 'ping', 'initialize'];

/** A request with nothing in it that was seen before. */
function request({ pick, chance, int }: Dice, n: number): Fields {
  const name = `${n}-${int(1e9).toString(36)}`;
  return {
    ...{ host: `h${name}`, client: `c${name}`, server: `s${name}`, endpoint: `https://${name}.example/mcp` },
    ...{ method: chance(0.5) ? pick(METHODS) : `m/${name}`, target: `t${name}`, rpc_id: name, args_digest: `a${name}` },
    ...{ protocol_version: pick(VERSIONS), writer: `w${name}`, trace: name },
    ...(chance(0.2) ? { request_key: `k${name}` } : {}),
    ...(chance(0.1) ? { cancel_of: `r${name}` } : {}),
    ...(chance(0.1) ? { carrier: `g${name}` } : {}),
    ...(chance(0.1) ? GET : {}),
    ...(chance(0.05) ? { http_method: 'DELETE', session: true } : {}),
  };
}

/** What may end at once: delivered, broken, suspended, refused. */
const ENDS: readonly Fields[] = [
  { ...JSON_BODY, ...ANSWERED },
  ANSWERED,
  RESET,
  {},
  { event_ids: 1, event_id_digest: 'e' },
  { status: 404, content_type: 'text/html' },
  { ...ANSWERED, result_type: 'input_required' },
];

export interface Hostile {
  readonly lines: Generator<Line>;
  /** Exchanges that were opened and did not end. */
  opened(): number;
}

export function hostile(seed: number, exchanges: number): Hostile {
  const roll = dice(seed);
  let opened = 0;
  function* lines(): Generator<Line> {
    for (let n = 0; n < exchanges; n++) {
      const at = Math.floor(n / 20);
      const fields = request(roll, n);
      if (roll.chance(0.6)) {
        opened++;
        yield open(`x${n}`, at, fields);
        if (roll.chance(0.2)) yield settle(`x${n}`, at, 'timeout', { host: fields.host });
      } else yield close(`x${n}`, at, { ...fields, ...roll.pick(ENDS) });
      if (roll.chance(0.1))
        yield parse(`never${n}`, at, { ...fields, ok: roll.chance(0.5), expected_bytes: 1 + roll.int(1e6) });
      if (roll.chance(0.06)) yield settle(`never${n}`, at, 'ok', fields);
      if (roll.chance(0.06)) yield discovery(at, { server: `d${n}`, sentinel: 'optional' });
      if (roll.chance(0.06)) yield client(roll.pick(['closed', 'session_deleted', 'created']), at, { client: `c${n}` });
      // A writer with a hole in its numbers, and one that has many.
      if (roll.chance(0.06)) yield client('created', at, { writer: 'holes', seq: 10 + 2 * n });
      if (roll.chance(0.004))
        yield close(`g${n}`, at, {
          ...fields,
          ...GET,
          ...ANSWERED,
          last_event_id: true,
          protocol_version: '2025-11-25',
        });
    }
  }
  return { lines: lines(), opened: () => opened };
}
