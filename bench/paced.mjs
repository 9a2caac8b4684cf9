/**
 * Traffic as it happens: appends to several files at a given rate, in batches of about 50 ms. Every fourth batch of a file stops
 * inside a line and goes on with the next one, as a reader sees it when a writer is half-way.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from './random.mjs';
import { createTraffic } from './traffic.mjs';

const BATCH_MS = 50;
const TORN = 0.25;

/** Appends lines to a file; `flush(false)` may stop inside one. */
export function createAppender(path, random) {
  const fd = openSync(path, 'a');
  let pending = '';
  return {
    line(text) {
      pending += text;
    },
    flush(last) {
      const torn = !last && pending.length > 1 && random.chance(TORN);
      const end = torn ? pending.length - 1 - random.below(Math.min(400, pending.length - 1)) : pending.length;
      writeSync(fd, pending.slice(0, end));
      pending = pending.slice(end);
      if (last) closeSync(fd);
    },
  };
}

/**
 * Writes `rate` exchanges per second of wall time for `seconds`, then at once the calls that are still in flight.
 * Event time starts at `startTs` (default: now) and keeps up with the wall clock; a writer per file.
 * Returns the tally of everything written.
 */
export async function writePaced(options) {
  const { folder, rate, seconds, files = 4, startTs = Date.now(), seed = 1 } = options;
  const random = createRandom(seed + 1);
  const traffic = createTraffic({ seed, rate, startTs, writers: files });
  const appenders = Array.from({ length: files }, (_, i) =>
    createAppender(join(folder, `host-${i + 1}.ndjson`), random),
  );
  const sink = (line, writer) => appenders[writer].line(line);
  const startedAt = performance.now();
  for (;;) {
    const elapsedMs = Math.min(performance.now() - startedAt, seconds * 1000);
    traffic.advance(startTs + elapsedMs, sink);
    for (const appender of appenders) appender.flush(false);
    if (elapsedMs >= seconds * 1000) break;
    await sleep(BATCH_MS);
  }
  traffic.drain(sink);
  for (const appender of appenders) appender.flush(true);
  return traffic.tally;
}
