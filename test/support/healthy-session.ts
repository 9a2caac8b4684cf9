/** One client of a healthy trace: its clock, its ids, and how an exchange becomes lines. What it does is in healthy.ts. */
import { close, end, type Fields, type Line, open, settle, T0 } from './build-event.ts';
import type { Dice } from './random.ts';

const HEAD = { status: 200, content_type: 'text/event-stream', framing: 'chunked' } as const;

/** One transport instance at work: a clock of its own, ids that count up. */
export class Session {
  readonly lines: Line[] = [];
  #id = 0;
  exchanges = 0;

  constructor(
    readonly roll: Dice,
    readonly name: string,
    readonly isNew: boolean,
    readonly who: Fields,
    public now: number,
  ) {}

  put(line: Line): void {
    this.lines.push(line);
  }
  /** The end of an exchange that has an open line. */
  end(id: string, fields: Fields): void {
    this.put(end(id, this.now, { host: this.who.host, ...HEAD, ...fields }));
  }
  pause(most: number): void {
    this.now += 1 + this.roll.int(most);
  }
  /** The next exchange: what every line of it says. */
  request(fields: Fields = {}): { id: string; fields: Fields } {
    const number = ++this.#id;
    this.exchanges++;
    const version = this.isNew
      ? { protocol_version: '2026-07-28', meta_protocol_version: '2026-07-28', meta_capabilities: true, session: false }
      : { protocol_version: '2025-11-25', session: true };
    // No two calls are equal: what happens twice would be something else.
    const own = { rpc_id: String(number), args_digest: `${this.name}-${number}`, ...version };
    const connection = { id: `k${number % 4}`, reused: number > 4, idle_ms: this.roll.int(20_000) };
    return { id: `${this.name}-${number}`, fields: { ...this.who, ...own, connection, ...fields } };
  }
  /** One exchange by its close line, or by all its lines. */
  exchange(fields: Fields, lasts: number, told: string | null = null): string {
    const { id, fields: all } = this.request(fields);
    const from = this.now;
    this.now += lasts;
    if (this.roll.chance(0.3)) {
      this.put(open(id, from, all));
      this.end(id, pick(all, ENDS));
    } else this.put(close(id, this.now, { ...all, open_ts: T0 + from }));
    if (told !== null) this.put(settle(id, this.now + this.roll.int(20), told, this.who));
    return id;
  }
}

/** What a close line may say beside how it ended. */
const ENDS = [
  ...['status', 'content_type', 'framing', 'how', 'by', 'error', 'bytes', 'events', 'notifications', 'event_ids'],
  ...[
    'event_id_digest',
    'terminal',
    'terminal_kind',
    'terminal_ts',
    'id_match',
    'error_code',
    'is_error',
    'result_type',
  ],
  ...['cancelled', 'json', 'cut', 'list', 'session_issued', 'sent'],
];
const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => name in fields).map((name) => [name, fields[name]]));
