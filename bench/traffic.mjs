/**
 * Made-up MCP traffic as schema-v1 `close` lines, and what it must count to. The generator decides first what happens to an
 * operation (which attempts, what becomes of each, on which endpoint), writes that down in the tally, and only then writes the
 * lines. It shares no code with src: the tally is a second opinion about design sections 4 and 5, not an echo.
 *
 * The model, all of it driven by one seed:
 * - Operations start as a Poisson process; exchanges (operations and their retries) come at `rate` per second of event time.
 * - 8 servers with 2 to 4 endpoints each (IP addresses, so an endpoint is an instance), 20 tools; per server and host process two
 *   clients, one on each revision. Every call has arguments of its own, so attempts join by what the generator means, not by luck.
 * - 98 % of the exchanges deliver: most by an SSE result, others by a JSON result, a few with isError or a JSON-RPC error.
 * - 2 % do not: see UNDELIVERED. 60 % of these are sent again 0.2 to 5 s after their end, on another endpoint (70 %) or the same
 *   one; one retry in ten fails again. The rest is never retried.
 * - Durations and sizes are log-uniform. Lines are in order of close time; `seq` counts per writer in that order.
 */
import { createRandom, createWeighted } from './random.mjs';

const SERVERS = [
  { name: 'inventory', weight: 24, endpoints: 4, tools: ['reserve', 'release', 'stock_level'] },
  { name: 'search', weight: 22, endpoints: 4, tools: ['web_search', 'fetch_page', 'find_similar'] },
  { name: 'billing', weight: 14, endpoints: 3, tools: ['create_invoice', 'refund', 'list_invoices'] },
  { name: 'tickets', weight: 12, endpoints: 3, tools: ['open_ticket', 'comment', 'close_ticket'] },
  { name: 'files', weight: 10, endpoints: 2, tools: ['read_file', 'write_file'] },
  { name: 'calendar', weight: 8, endpoints: 2, tools: ['book_slot', 'free_slots'] },
  { name: 'mail', weight: 6, endpoints: 2, tools: ['send_mail', 'search_mail'] },
  { name: 'weather', weight: 4, endpoints: 2, tools: ['forecast', 'alerts'] },
];
const REVISIONS = ['2025-11-25', '2026-07-28'];
const PORT = 8080;

const UNDELIVERED_AT_FIRST = 0.019;
const UNDELIVERED_AGAIN = 0.1;
const RETRIED = 0.6;
const ROTATED = 0.7;
const MAX_ATTEMPTS = 6;
const RETRY_DELAY_MS = [200, 5000];
/** Expected exchanges per operation: 1 + first retries + retries of retries. */
const ATTEMPTS_PER_OPERATION = 1 + (UNDELIVERED_AT_FIRST * RETRIED) / (1 - UNDELIVERED_AGAIN * RETRIED);

const sse = '"status":200,"content_type":"text/event-stream","framing":"chunked"';
const json = (bytes) =>
  `"status":200,"content_type":"application/json","framing":"content_length","content_length":${bytes}`;
const events = (random) => {
  const notifications = random.below(4);
  return { sent: notifications + 1, notifications };
};
const size = (random) => Math.round(random.logUniform(200, 60_000));

/** `write` gives the response side of the line; the other fields are what the rules of the design make of it. */
const DELIVERED = [
  {
    weight: 58,
    outcome: 'clean',
    cause: 'terminal_seen',
    durationMs: [5, 3000],
    write(random) {
      const { sent, notifications } = events(random);
      return `${sse},"how":"eof","by":"peer","bytes":${size(random)},"events":${sent},"notifications":${notifications},"terminal":true,"terminal_kind":"result","id_match":"match","cut":"boundary"`;
    },
  },
  {
    weight: 33,
    outcome: 'clean',
    cause: 'terminal_seen',
    durationMs: [3, 800],
    write(random) {
      const bytes = size(random);
      return `${json(bytes)},"how":"eof","by":"peer","bytes":${bytes},"terminal":true,"terminal_kind":"result","id_match":"match","json":"complete"`;
    },
  },
  {
    weight: 5,
    outcome: 'clean',
    cause: 'terminal_seen',
    durationMs: [5, 3000],
    write(random) {
      const { sent, notifications } = events(random);
      return `${sse},"how":"eof","by":"peer","bytes":${size(random)},"events":${sent},"notifications":${notifications},"terminal":true,"terminal_kind":"result","id_match":"match","is_error":true,"cut":"boundary"`;
    },
  },
  {
    weight: 2,
    outcome: 'clean',
    cause: 'terminal_seen',
    durationMs: [3, 300],
    write(random) {
      const bytes = 90 + random.below(80);
      return `${json(bytes)},"how":"eof","by":"peer","bytes":${bytes},"terminal":true,"terminal_kind":"error","id_match":"match","error_code":-32602,"json":"complete"`;
    },
  },
  {
    // A tap that sees framing and JSON only: complete, but no terminal message reported.
    weight: 2,
    outcome: 'clean',
    cause: 'integrity_ok',
    durationMs: [3, 800],
    write(random) {
      const bytes = size(random);
      return `${json(bytes)},"how":"eof","by":"peer","bytes":${bytes},"json":"complete"`;
    },
  },
];

/** `after`: the class of the failed attempt as a retry counts it (design section 5). */
const UNDELIVERED = [
  {
    // The peer ends the stream cleanly between or inside events: nothing proves a cut.
    weight: 34,
    outcome: 'ambiguous',
    cause: 'no_evidence',
    head: true,
    after: 'ambiguous',
    durationMs: [5, 3000],
    write(random) {
      const notifications = random.below(4);
      const cut = random.chance(0.4) ? 'mid' : notifications === 0 ? 'none' : 'boundary';
      const bytes = cut === 'none' ? 0 : Math.round(random.logUniform(100, 20_000));
      return `${sse},"how":"eof","by":"peer","bytes":${bytes},"events":${notifications},"notifications":${notifications},"terminal":false,"cut":"${cut}"`;
    },
  },
  {
    weight: 20,
    outcome: 'abandoned',
    cause: 'cut_payload',
    head: true,
    after: 'abandoned',
    durationMs: [5, 1500],
    write(random) {
      const full = size(random);
      return `${json(full)},"how":"eof","by":"peer","bytes":${Math.floor(full * random.unit())},"terminal":false,"json":"cut","cut":"mid"`;
    },
  },
  {
    weight: 16,
    outcome: 'abandoned',
    cause: 'transport_error',
    head: true,
    after: 'abandoned',
    durationMs: [5, 3000],
    write(random) {
      const error = random.chance(0.5) ? 'ECONNRESET' : 'UND_ERR_SOCKET';
      const bytes = Math.round(random.logUniform(50, 20_000));
      return `${sse},"how":"error","by":"peer","error":"${error}","bytes":${bytes},"events":1,"notifications":1,"terminal":false,"cut":"${random.chance(0.5) ? 'mid' : 'boundary'}"`;
    },
  },
  {
    weight: 10,
    outcome: 'abandoned',
    cause: 'no_response',
    head: false,
    after: 'abandoned',
    durationMs: [5, 5000],
    write: () => '"how":"no_response","by":"peer","error":"UND_ERR_SOCKET","bytes":0',
  },
  {
    // Complete as a stream, undelivered as a call.
    weight: 12,
    outcome: 'clean',
    cause: 'http_response',
    head: true,
    after: 'http_error',
    durationMs: [2, 200],
    write: () =>
      '"status":503,"content_type":"text/html","framing":"content_length","content_length":107,"how":"eof","by":"peer","bytes":107',
  },
  {
    weight: 8,
    outcome: 'abandoned',
    cause: 'client_timeout',
    head: true,
    after: 'timeout',
    durationMs: [2000, 30_000],
    write(random) {
      const notifications = random.below(3);
      return `${sse},"how":"cancel","by":"client","error":"TimeoutError","bytes":${notifications * 140},"events":${notifications},"notifications":${notifications},"terminal":false,"cut":"${notifications === 0 ? 'none' : 'boundary'}"`;
    },
  },
];

/** Calls that carry arguments: all of them join their retries by the digest of these. */
const METHODS = [
  { weight: 92, name: 'tools/call', targets: (server) => server.tools },
  {
    weight: 5,
    name: 'resources/read',
    targets: (server) => server.tools.map((tool) => `doc://${server.name}/${tool}`),
  },
  { weight: 3, name: 'prompts/get', targets: (server) => server.tools.map((tool) => `how_to_${tool}`) },
];

/** Counts by key; a key is its parts joined by a space (no part holds one). */
export const createTally = () => ({
  lines: 0,
  bytes: 0,
  operationsStarted: 0,
  firstTs: Number.POSITIVE_INFINITY,
  lastTs: Number.NEGATIVE_INFINITY,
  /** server outcome cause, of exchanges that had a response head. */
  closes: {},
  /** server outcome, of all exchanges. */
  judged: {},
  /** server, of abandoned exchanges with or without a head. */
  abandoned: {},
  /** server method result. */
  operations: {},
  /** server after endpoint outcome. */
  retries: {},
});

const count = (table, ...parts) => {
  const key = parts.join(' ');
  table[key] = (table[key] ?? 0) + 1;
};

/** What an operation came to: the endpoint that delivered against those that failed before. */
function resultOf(attempts) {
  const last = attempts[attempts.length - 1];
  if (!last.delivered) return 'surfaced';
  if (attempts.length === 1) return 'first_try';
  return attempts.slice(0, -1).some((attempt) => attempt.endpoint === last.endpoint) ? 'masked' : 'masked_rotated';
}

function tallyOperation(tally, server, method, attempts) {
  tally.operationsStarted++;
  for (const [i, attempt] of attempts.entries()) {
    const { shape, endpoint, delivered } = attempt;
    if (delivered || shape.head) count(tally.closes, server, shape.outcome, shape.cause);
    count(tally.judged, server, shape.outcome);
    if (shape.outcome === 'abandoned') count(tally.abandoned, server);
    if (i === 0) continue;
    const before = attempts[i - 1];
    const relation = before.endpoint === endpoint ? 'same' : 'rotated';
    count(tally.retries, server, before.shape.after, relation, delivered ? 'delivered' : 'failed');
  }
  count(tally.operations, server, method, resultOf(attempts));
}

/** Lines that have not been written yet, earliest close first; equal times in order of creation. */
function createHeap() {
  const heap = [];
  let order = 0;
  const before = (a, b) => a.ts < b.ts || (a.ts === b.ts && a.order < b.order);
  return {
    get size() {
      return heap.length;
    },
    peek: () => heap[0],
    push(item) {
      item.order = order++;
      let i = heap.length;
      heap.push(item);
      while (i > 0) {
        const parent = (i - 1) >> 1;
        if (!before(item, heap[parent])) break;
        heap[i] = heap[parent];
        i = parent;
      }
      heap[i] = item;
    },
    pop() {
      const top = heap[0];
      const item = heap.pop();
      if (heap.length === 0) return top;
      let i = 0;
      for (;;) {
        let child = 2 * i + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], item)) break;
        heap[i] = heap[child];
        i = child;
      }
      heap[i] = item;
      return top;
    },
  };
}

/**
 * @param {{seed: number, rate: number, startTs: number, writers: number}} options `rate`: exchanges per second of event time.
 * @returns traffic whose `tally` covers every operation started so far; it is what the lines say once `drain` was called.
 */
export function createTraffic({ seed, rate, startTs, writers }) {
  const random = createRandom(seed);
  const nextServer = createWeighted(SERVERS, random);
  const nextMethod = createWeighted(METHODS, random);
  const nextDelivered = createWeighted(DELIVERED, random);
  const nextUndelivered = createWeighted(UNDELIVERED, random);
  const targets = new Map(METHODS.map((method) => [method, new Map(SERVERS.map((s) => [s, method.targets(s)]))]));
  const endpoints = new Map(
    SERVERS.map((server, s) => [
      server,
      Array.from({ length: server.endpoints }, (_, e) => `10.${s + 2}.0.${e + 1}:${PORT}`),
    ]),
  );
  /** Per writer (a host process) and server: one client on each revision. */
  const clients = Array.from(
    { length: writers },
    () =>
      new Map(
        SERVERS.map((server) => [
          server,
          REVISIONS.map((revision) => ({ id: `c-${random.hex16().slice(0, 8)}`, revision, calls: 0 })),
        ]),
      ),
  );
  const names = Array.from({ length: writers }, (_, w) => `host-${w + 1}`);
  const sequences = new Array(writers).fill(0);
  const pending = createHeap();
  const tally = createTally();
  const meanGapMs = (1000 / rate) * ATTEMPTS_PER_OPERATION;
  let nextOpen = startTs + random.exponential(meanGapMs);

  const lineOf = (attempt, call) => {
    const { client, server, method, target, digest } = call;
    const { openTs, endpoint, shape } = attempt;
    return `"client":"${client.id}","server":"${server.name}","exchange":"${random.uuid()}","open_ts":${openTs},"method":"${method.name}","target":"${target}","rpc_id":"${++client.calls}","protocol_version":"${client.revision}","args_digest":"h:${digest}","endpoint":"${endpoint}","sent":"body",${shape.write(random)}}\n`;
  };

  function startOperation() {
    const writer = random.below(writers);
    const server = nextServer();
    const method = nextMethod();
    const call = {
      server,
      method,
      client: random.pick(clients[writer].get(server)),
      target: random.pick(targets.get(method).get(server)),
      digest: random.hex16(),
    };
    const choices = endpoints.get(server);
    const attempts = [];
    let openTs = Math.round(nextOpen);
    let at = random.below(choices.length);
    for (;;) {
      const delivered = !random.chance(attempts.length === 0 ? UNDELIVERED_AT_FIRST : UNDELIVERED_AGAIN);
      const shape = delivered ? nextDelivered() : nextUndelivered();
      const attempt = { openTs, endpoint: choices[at], delivered, shape };
      attempts.push(attempt);
      const closeTs = openTs + Math.max(1, Math.round(random.logUniform(...shape.durationMs)));
      pending.push({ ts: closeTs, writer, rest: lineOf(attempt, call), order: 0 });
      if (delivered || attempts.length === MAX_ATTEMPTS || !random.chance(RETRIED)) break;
      openTs = closeTs + Math.round(random.logUniform(...RETRY_DELAY_MS));
      if (random.chance(ROTATED)) at = (at + 1 + random.below(choices.length - 1)) % choices.length;
    }
    tallyOperation(tally, server.name, method.name, attempts);
  }

  function emitUntil(ts, sink) {
    for (let next = pending.peek(); next !== undefined && next.ts <= ts; next = pending.peek()) {
      pending.pop();
      const { writer } = next;
      const line = `{"v":1,"type":"close","ts":${next.ts},"writer":"${names[writer]}","seq":${sequences[writer]++},${next.rest}`;
      tally.lines++;
      tally.bytes += line.length;
      tally.firstTs = Math.min(tally.firstTs, next.ts);
      tally.lastTs = Math.max(tally.lastTs, next.ts);
      sink(line, writer);
    }
  }

  return {
    tally,
    /** Lines not handed out yet. */
    get pending() {
      return pending.size;
    },
    /** Starts what starts up to `ts` and hands out, in order, every line that closes up to `ts`: sink(line, writer index). */
    advance(ts, sink) {
      while (nextOpen <= ts) {
        emitUntil(nextOpen, sink);
        startOperation();
        nextOpen += random.exponential(meanGapMs);
      }
      emitUntil(ts, sink);
    },
    /** Hands out the rest; nothing new starts. */
    drain: (sink) => emitUntil(Number.POSITIVE_INFINITY, sink),
  };
}
