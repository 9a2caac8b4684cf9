/** What parse and settle lines say. Parse (design section 7): ok, cut or malformed, and the size that its class is taken from. */
import type { WireEvent } from '../model/event.ts';
import { serverLabel } from '../model/exchange.ts';
import { clientKey } from '../model/exchange-names.ts';
import type { ParseFact, SettleFact } from '../model/facts.ts';
import type { Attempt, ParseOf } from '../model/operation.ts';
import type { Policy } from '../model/policy.ts';

/** cut: the error lies at the end of what arrived, or (no position) the exchange itself was cut or empty. */
export function parseResult(event: WireEvent, cutOrEmpty: boolean): ParseFact['result'] {
  const { ok, at_end, at, bytes } = event.fields;
  if (ok === true) return 'ok';
  if (at_end === true) return 'cut';
  if (typeof at === 'number') return typeof bytes === 'number' && at >= bytes ? 'cut' : 'malformed';
  return cutOrEmpty ? 'cut' : 'malformed';
}

export function parseFact(
  server: string,
  event: WireEvent,
  attempt: Pick<Attempt, 'fullLength' | 'cutOrEmpty' | 'trace'> | undefined,
): ParseFact {
  const { fields } = event;
  const bytes = fields.bytes ?? 0;
  return {
    is: 'parse',
    server,
    of: fields.of as ParseOf,
    result: parseResult(event, attempt?.cutOrEmpty ?? false),
    bytes,
    size: fields.expected_bytes ?? attempt?.fullLength ?? bytes,
    repaired: fields.repaired === true,
    exchange: fields.exchange ?? null,
    trace: fields.trace ?? attempt?.trace ?? null,
    ts: event.ts,
    origin: event.origin,
    line: event.line,
  };
}

/** Failed parses of one attempt that may still learn their full length; more are counted as unknown at once. */
const MAX_HELD_TRENDS = 16;

/** Keeps a failure of unknown full length for the end of its operation; false where it cannot wait. */
export function holdTrend(attempt: Attempt | undefined, fact: ParseFact): boolean {
  if (attempt === undefined || (attempt.trends?.length ?? 0) >= MAX_HELD_TRENDS) return false;
  attempt.trends ??= [];
  attempt.trends.push({ of: fact.of, received: fact.bytes, ts: fact.ts });
  return true;
}

export function settleFact(event: WireEvent, attempt: Attempt | null, policy: Policy): SettleFact {
  const { fields, origin } = event;
  const server = attempt?.server ?? serverLabel(fields, policy);
  const client = fields.client ?? attempt?.client ?? null;
  return {
    is: 'settle',
    event,
    server,
    client: clientKey(attempt?.host ?? fields.host ?? origin.host, client, server),
    attempt,
  };
}
