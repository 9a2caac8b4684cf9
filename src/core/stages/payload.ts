/** What one parse line says (design section 7): ok, cut or malformed, and the size that its class is taken from. */
import type { WireEvent } from '../model/event.ts';
import type { ParseFact } from '../model/facts.ts';
import type { Attempt, ParseOf } from '../model/operation.ts';

/** cut: the error lies at the end of what arrived, or (no position) the exchange itself was cut or empty. */
export function parseResult(event: WireEvent, cutOrEmpty: boolean): ParseFact['result'] {
  if (event.ok === true) return 'ok';
  if (event.at_end === true) return 'cut';
  const at = event.at ?? null;
  if (at !== null && event.bytes !== undefined && event.bytes !== null) return at >= event.bytes ? 'cut' : 'malformed';
  if (event.at_end === false) return 'malformed';
  return cutOrEmpty ? 'cut' : 'malformed';
}

export function parseFact(server: string, event: WireEvent, attempt: Attempt | undefined): ParseFact {
  const bytes = event.bytes ?? 0;
  return {
    is: 'parse',
    server,
    of: event.of as ParseOf,
    result: parseResult(event, attempt?.cutOrEmpty ?? false),
    bytes,
    size: event.expected_bytes ?? attempt?.fullLength ?? bytes,
    exchange: event.exchange ?? null,
    ts: event.ts,
  };
}
