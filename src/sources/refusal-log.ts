/** Says that batches are refused, and why, without a line for each: the first of a kind at once, then how many a minute. */
import type { Log } from './fault-list.ts';
import type { Refusal } from './ingest-answer.ts';

const EVERY_MS = 60_000;

export function createRefusalLog(name: string, log: Log, now: () => number): (why: Refusal) => void {
  const kinds = new Map<Refusal['error'], { saidAt: number; since: number }>();
  return ({ error, status, message }) => {
    const kind = kinds.get(error) ?? { saidAt: Number.NEGATIVE_INFINITY, since: 0 };
    kinds.set(error, kind);
    kind.since++;
    if (now() < kind.saidAt + EVERY_MS) return;
    const count = kind.since === 1 ? 'a batch' : `${kind.since} batches`;
    log('warn', `${name} refused ${count}: ${status} ${error} (${message})`);
    kind.saidAt = now();
    kind.since = 0;
  };
}
