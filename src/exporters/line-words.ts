/**
 * What one event line says, by its own field names: those that a verdict, a join or a safety can depend on. Never ids of sessions
 * or digests, and of words only those that look like the code words they should be.
 */
import type { EventFields, WireEvent } from '../core/model/event.ts';
import type { FieldName } from '../core/model/fields.ts';
import type { ToldLine } from './explanation.ts';
import { plain } from './plain.ts';

const DECISIVE = [
  ...[
    'http_method',
    'rpc_kind',
    'last_event_id',
    'session',
    'input_responses',
    'idempotency_key',
    'cancel_of',
    'carrier',
  ],
  ...['sent', 'how', 'by', 'error', 'status', 'content_type', 'framing', 'content_length', 'content_encoding'],
  ...[
    'rpc',
    'of',
    'ok',
    'bytes',
    'expected_bytes',
    'at',
    'at_end',
    'repaired',
    'terminal',
    'terminal_kind',
    'id_match',
  ],
  ...[
    'error_code',
    'is_error',
    'result_type',
    'cancelled',
    'event_ids',
    'json',
    'cut',
    'self_delimiting',
    'integrity_ok',
  ],
  ...['result', 'waited_ms', 'on_wire', 'executed', 'sentinel', 'sticky', 'event', 'cause', 'dropped'],
] as const as readonly FieldName[];

/** A name, a media type, an id; an error message is none of these. */
const WORD = /^[\w.:/+*@-]{1,64}$/;

function valueText(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value !== 'string') return String(value);
  return WORD.test(value) ? value : '(no code word)';
}

export function lineWords(fields: EventFields): string {
  const words = DECISIVE.flatMap((name) => {
    const value = fields[name];
    return value === undefined || (typeof value === 'object' && value !== null) ? [] : [`${name}=${valueText(value)}`];
  });
  const { annotations, connection } = fields;
  if (annotations?.read_only === true) words.push('annotations.read_only=true');
  if (annotations?.idempotent === true) words.push('annotations.idempotent=true');
  if (connection?.reused === true) words.push('connection.reused=true');
  return plain(words.join(' '));
}

/** A copy of what a line said: the event is valid while it is delivered. */
export const toldLine = (event: WireEvent, what: string): ToldLine => ({
  file: event.origin.file ?? null,
  line: event.line,
  ts: event.ts,
  what,
  says: lineWords(event.fields),
});
