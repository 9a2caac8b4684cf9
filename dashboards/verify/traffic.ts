/** How a story writes an attempt down: by its close line, with all that a tap would say. What happens is told in story.ts and rarities.ts. */
import { close, type Fields, type Line, T0 } from '../../test/support/build-event.ts';
import type { Dice } from '../../test/support/random.ts';

export interface Writer {
  put(line: Line): void;
  readonly roll: Dice;
  /** A new exchange id. */
  id(): string;
  readonly host: string;
}

/** A request of the revision before. */
export const OLD = { protocol_version: '2025-11-25', meta_protocol_version: undefined, session: true } as const;

const trace = ({ roll }: Writer): string => {
  const hex = (digits: number) => Array.from({ length: digits }, () => '123456789abcdef'[roll.int(15)]).join('');
  return `00-${hex(32)}-${hex(16)}-01`;
};

/** One attempt of a call by its close line: from `at`, for `lasts`. */
export function attempt(w: Writer, at: number, lasts: number, fields: Fields): string {
  const id = w.id();
  w.put(
    close(id, at + lasts, {
      host: w.host,
      client: `${w.host}-1`,
      trace: trace(w),
      open_ts: T0 + at,
      rpc_id: id,
      protocol_version: '2026-07-28',
      meta_protocol_version: '2026-07-28',
      meta_capabilities: true,
      session: false,
      ...fields,
    }),
  );
  return id;
}
