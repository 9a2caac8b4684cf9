/**
 * A child process of test/memory.test.ts: feeds the pipeline N exchanges and prints what it holds then, as one line of JSON.
 * `calm`: a few servers, tools and clients. `hostile`: every line names a server, tool, client, endpoint, writer and id that no other
 * line names. Both are the same mix of kinds and ends, at the same rate.
 */
import { keepHeapSmall, tendHeap } from '../../src/app/memory.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import type { TextBytes } from '../../src/core/scan/text-bytes.ts';
import { nextTurn } from '../../src/sources/next-turn.ts';
import {
  ANSWERED,
  client,
  close,
  type Fields,
  JSON_BODY,
  type Line,
  NO_HEAD,
  ORIGIN,
  RESET,
  settle,
  T0,
} from './build-event.ts';

const [kind, wanted] = [process.argv[2] as 'calm' | 'hostile', Number(process.argv[3])];
const PER_SECOND = 500;
/** As many as 64 KiB of these lines. */
const EXCHANGES_PER_CHUNK = 40;
/** Names that are long enough to be worth holding on to. */
const name = (what: string, n: number): string => `${what}-${kind === 'calm' ? n % 7 : n}-${'x'.repeat(24)}`;

function who(n: number): Fields {
  const version = Math.floor(n / 40) % 2 === 0 ? '2026-07-28' : '2025-11-25';
  return {
    ...{ client: name('client', n), server: name('server', n), target: name('tool', n), host: name('host', n) },
    ...{ endpoint: `http://${name('10', n)}.test:8080/mcp`, protocol_version: version, meta_protocol_version: version },
    ...{ rpc_id: `${n}`, args_digest: `h:${n}`, open_ts: T0 + Math.floor((n * 1000) / PER_SECOND) - 50 },
  };
}

const GET = { http_method: 'GET', rpc_kind: 'none', method: undefined } as const;
const LISTED = { method: 'tools/list', target: undefined, args_digest: undefined } as const;
/** Each makes some detector remember something. */
const ENDS: readonly ((n: number) => Fields)[] = [
  () => ({ ...JSON_BODY, ...ANSWERED }),
  () => ANSWERED,
  () => ({ ...JSON_BODY, ...ANSWERED, is_error: true }),
  () => RESET,
  () => ({}),
  () => ({ ...NO_HEAD, connection: { id: 'k', reused: true, idle_ms: 5000 } }),
  () => ({ event_ids: 1 }),
  () => ({ ...ANSWERED, terminal_kind: 'error', error_code: -32602, event_ids: 1 }),
  () => ({ ...NO_HEAD, by: 'client', how: 'cancel', error: 'AbortError', open_ts: T0 - 60_000 }),
  () => ({ status: 404, session: true, content_type: 'text/plain' }),
  () => ({ ...GET, bytes: 0, events: 0 }),
  () => ({ ...GET, open_ts: T0 - 100_000 }),
  () => ({ method: 'subscriptions/listen', open_ts: T0 - 100_000, notifications: 1 }),
  (n) => ({ ...LISTED, ...JSON_BODY, ...ANSWERED, list: { count: 1, digest: `d${n}`, auth: 'me' } }),
  () => ({ ...LISTED, method: 'server/discover', status: 404, content_type: 'text/html' }),
];
/** Most exchanges are ordinary calls. */
const endOf = (n: number): Fields => (ENDS[n % 40] ?? (ENDS[0] as (n: number) => Fields))(n);

// As `tailfin` itself does at its start: the heap grows by a tenth between collections, not by a multiple.
keepHeapSmall();
const pipeline = createPipeline({ ownClock: true });
const buffer = Buffer.alloc(65_536) as Buffer & TextBytes;
let count = 0;
/** As an operator sees it, garbage and all: over the second half of the run. */
const rss: number[] = [];
/** The way of a replay; a line that is not plain goes as text. */
const put = (line: Line): void => {
  const text = JSON.stringify(line);
  const length = buffer.write(text, 'utf8');
  if (!pipeline.bytes(buffer, 0, length, ORIGIN, ++count, 0)) pipeline.line(text, ORIGIN, count, 0);
};
for (let n = 0; n < wanted; n++) {
  const at = Math.floor((n * 1000) / PER_SECOND);
  const { client: c, server, host, ...request } = who(n);
  const own = { client: c, server, host };
  put(close(`x${n}`, at, { ...own, ...request, ...endOf(n), writer: name('writer', n) }));
  put(settle(`x${n}`, at, n % 9 === 0 ? 'timeout' : 'ok', own));
  if (n % 3 === 0) put(client(n % 2 === 0 ? 'closed' : 'reconnected', at, own));
  if (n % EXCHANGES_PER_CHUNK !== 0) continue;
  // As the sidecar does: without a turn of the event loop V8 gives no page back.
  tendHeap();
  await nextTurn();
  if (n > wanted / 2) rss.push(process.memoryUsage.rss());
}
pipeline.refresh();
/** All that can be collected is, and free pages are given back: newer V8 keeps those of a plain collection for itself. */
const gc = (globalThis as { gc?: (how: { type: 'major'; flavor: 'last-resort' }) => void }).gc;
gc?.({ type: 'major', flavor: 'last-resort' });
const families = [...pipeline.cells.families()];
const byStore = (key: string): Record<string, number> =>
  Object.fromEntries(
    families.find((family) => family.key === key)?.cells.map(({ values, value }) => [values[0], value]) ?? [],
  );
console.log(
  JSON.stringify({
    rss: rss.sort((a, b) => a - b)[rss.length >> 1],
    atRest: process.memoryUsage.rss(),
    heap: process.memoryUsage().heapUsed,
    peak: process.resourceUsage().maxRSS * 1024,
    series: pipeline.cells.series,
    entries: byStore('state_entries'),
    evictions: byStore('state_evictions'),
  }),
);
