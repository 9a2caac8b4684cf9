/**
 * Appends schema-v1 lines to one NDJSON file: envelope, sequence number, one append per line. It never throws into the host: a
 * line that could not be written is counted and reported with a `gap` line as soon as writing works again.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, openSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { EventFields } from '../core/model/event.ts';
import type { EventType } from '../core/model/fields.ts';

const POLL_MS = 10;

export type LineFields = Partial<EventFields>;

export interface EventLog {
  emit(type: EventType, fields: LineFields): void;
  /** Resolves when every exchange that was opened is closed, or when the time is up. */
  idle(budgetMs: number): Promise<void>;
}

export interface EventLogOptions {
  readonly file: string;
  readonly host: string;
  /** The id of the transport instance whose traffic this log holds. */
  readonly client: string;
  /** The logical server that it talks to. */
  readonly server: string;
}

export function createEventLog({ file, host, client, server }: EventLogOptions): EventLog {
  const fd = openSync(file, 'a');
  const envelope = { writer: randomUUID(), host, client, server };
  const open = new Set<unknown>();
  let seq = 0;
  let dropped = 0;

  const append = (type: EventType, fields: LineFields): void => {
    appendFileSync(fd, `${JSON.stringify({ v: 1, type, ts: Date.now(), seq, ...envelope, ...fields })}\n`);
    seq++;
  };
  return {
    emit(type, fields) {
      if (type === 'open') open.add(fields.exchange);
      if (type === 'close') open.delete(fields.exchange);
      try {
        if (dropped > 0) append('gap', { dropped, reason: 'write_failed' });
        dropped = 0;
        append(type, fields);
      } catch {
        dropped++;
      }
    },
    async idle(budgetMs) {
      for (const deadline = Date.now() + budgetMs; open.size > 0 && Date.now() < deadline; ) await setTimeout(POLL_MS);
    },
  };
}
