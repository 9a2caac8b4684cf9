/**
 * One event as one line of text, built at once: the host may change its objects afterwards. It decides the envelope (`v`, `type`,
 * `ts`, `writer`, `host`, `seq`) and nothing else; what the fields say is the caller's.
 */
import type { EventFields } from '../../core/model/event.ts';
import type { EventType } from '../../core/model/fields.ts';

export type LineFields = Partial<EventFields>;

export interface Lines {
  /** Adds the envelope. Never throws, never waits. */
  emit(type: EventType, fields: LineFields): void;
}

/** `seq` null: a line that is no event (`segment`, `end`). @throws where the fields have no JSON. */
export type LineMaker = (type: EventType, seq: number | null, ts: number, fields: LineFields) => string;

/** Longest id that the schema allows, in bytes. */
const MAX_ID_BYTES = 128;

function fitting(id: string): string {
  let text = id;
  while (Buffer.byteLength(text) > MAX_ID_BYTES) text = text.slice(0, -1);
  return text;
}

export function createLineMaker(writer: string, host: string): LineMaker {
  const envelope = `,"writer":${JSON.stringify(writer)}`;
  const named = host === '' ? '' : `,"host":${JSON.stringify(fitting(host))}`;
  return (type, seq, ts, fields) => {
    const body = JSON.stringify(fields);
    const hostPart = fields.host === undefined ? named : '';
    const seqPart = seq === null ? '' : `,"seq":${seq}`;
    const rest = body === '{}' ? '}\n' : `,${body.slice(1)}\n`;
    return `{"v":1,"type":"${type}","ts":${ts}${envelope}${hostPart}${seqPart}${rest}`;
  };
}
