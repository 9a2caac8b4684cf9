import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  EXIT,
  LIMITS,
  RuntimeFailure,
  SIZE_CLASSES,
  correlation,
  createLineSplitter,
  createPipeline,
  createPrometheusExporter,
  decode,
  isRejection,
  reasonOf,
  sizeClass,
  toPolicy
} from "./chunk-DADP7SHV.js";

// src/exporters/records.ts
function verdictRecord({ exchange, kind, verdict }) {
  if (verdict === null) return null;
  const { fields } = exchange;
  return {
    record: "verdict",
    ts: exchange.closeTs,
    exchange: exchange.id,
    client: exchange.client,
    server: exchange.server,
    endpoint: exchange.endpoint,
    method: fields.method ?? null,
    target: fields.target ?? null,
    protocol_version: exchange.version,
    stream: kind,
    outcome: verdict.outcome,
    cause: verdict.cause,
    regime: verdict.regime,
    cut: verdict.cut,
    stage: verdict.stage,
    by: verdict.by,
    status: fields.status ?? null,
    bytes: fields.bytes ?? null
  };
}
var endpointsOf = (fact) => [
  ...new Set(fact.operation.attempts.flatMap((attempt) => attempt.endpoint === null ? [] : [attempt.endpoint]))
];
function operationRecord(fact) {
  const { operation } = fact;
  return {
    record: "operation",
    key: operation.key,
    server: operation.server,
    method: operation.method,
    target: operation.target,
    result: fact.result,
    attempts: operation.attempts.length,
    endpoints: endpointsOf(fact),
    next_action: fact.nextAction,
    exchange: operation.attempts.at(-1)?.exchange ?? null,
    ts: fact.ts
  };
}
var findingRecord = (fact) => ({
  record: "finding",
  rule: fact.rule,
  server: fact.server,
  exchange: fact.exchange,
  ts: fact.ts,
  ...fact.evidence
});
function recordOf(fact) {
  switch (fact.is) {
    case "verdict":
      return verdictRecord(fact);
    case "operation":
      return operationRecord(fact);
    case "finding":
      return findingRecord(fact);
    default:
      return null;
  }
}

// src/exporters/story.ts
var RESULT_TEXT = {
  first_try: "delivered by the first attempt",
  masked_rotated: "delivered by a retry on another endpoint: no error was counted",
  masked: "delivered by a retry on the same endpoint: no error was counted",
  masked_unknown: "delivered by a retry, on which endpoint is unknown: no error was counted",
  surfaced: "never delivered",
  unproven: "the caller took an unproven payload for success",
  cancelled: "cancelled by the client",
  unresolved: "no end was ever seen"
};
var ACTION_TEXT = {
  confirm_outcome: "confirm at the destination whether it ran before anything is repeated: it was sent and nothing proves its outcome",
  retrieve_result: "fetch the result: the answer had arrived, its caller lost it",
  reissue_bounded: "repeat it within bounds: a second run does no harm",
  send_normally: "send it again: it never ran"
};
var CAUSE_TEXT = {
  terminal_seen: "the answer arrived",
  connect_failed: "no connection, nothing was sent",
  no_response: "sent, but no response head came back",
  client_cancel: "the client gave it up",
  client_timeout: "the client ran out of patience",
  integrity_ok: "a whole JSON document arrived",
  listen_ended: "the stream was ended on purpose",
  resumed: "resumed on another stream, where the answer arrived",
  not_resumed: "the stream ended early and was never resumed",
  sentinel_missing: "the terminal message is mandatory here and never came",
  transport_error: "the connection broke",
  cut_payload: "the payload was cut",
  malformed_payload: "the payload was no JSON",
  carrier_lost: "the stream that should carry the answer was lost",
  http_response: "an HTTP answer without an MCP result",
  listen_dropped: "the subscription was dropped",
  no_evidence: "the stream ended, and nothing proves whether it was complete or cut"
};
var seconds = (ms) => {
  if (ms < 1e3) return `${Math.round(ms)} ms`;
  return ms < 9e4 ? `${(ms / 1e3).toFixed(1)} s` : `${(ms / 6e4).toFixed(1)} min`;
};
var bytes = (n) => {
  if (n < 1024) return `${n} B`;
  return n < 1024 * 1024 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1024 / 1024).toFixed(1)} MiB`;
};
function evidenceOf(attempt) {
  const { verdict } = attempt;
  const facts = [
    ...attempt.status === null ? [] : [`status ${attempt.status}`],
    ...attempt.bytes > 0 ? [bytes(attempt.bytes)] : [],
    ...verdict === null || verdict.outcome === "clean" ? [] : [`regime ${verdict.regime}`, `cut ${verdict.cut}`],
    ...verdict?.stage ? [`failed at ${verdict.stage}`] : [],
    ...attempt.parseFailed ? ["its payload did not parse"] : [],
    ...attempt.settled === null ? [] : [`caller was told ${attempt.settled}`]
  ];
  return facts.length === 0 ? "" : ` (${facts.join(", ")})`;
}
function verdictText(attempt) {
  const { verdict } = attempt;
  if (verdict !== null) return `${verdict.outcome}: ${CAUSE_TEXT[verdict.cause]}`;
  if (attempt.closeTs === null) return "still open when it was counted";
  return "no verdict: a redirect or a refusal";
}
function attemptLine(attempt, number, before, edge) {
  const since = before === void 0 ? "" : `, ${seconds(Math.max(0, attempt.openTs - (before.closeTs ?? before.openTs)))} later`;
  const how = edge === void 0 ? "" : `, ${edge.endpoint === "unknown" ? "endpoint unknown" : edge.endpoint}, ${edge.safety} retry`;
  const where = attempt.endpoint ?? "endpoint unknown";
  return `   ${number}. ${attempt.exchange} on ${where}${since}${how}
      ${verdictText(attempt)}${evidenceOf(attempt)}
`;
}
function tellStory(fact, title) {
  const { operation, edges } = fact;
  const what = `${operation.method ?? "unknown method"}${operation.target === null ? "" : ` ${operation.target}`}`;
  let text = `${title}${what} on ${operation.server}: ${fact.result}, ${RESULT_TEXT[fact.result]}
`;
  for (const [i, attempt] of operation.attempts.entries())
    text += attemptLine(
      attempt,
      i + 1,
      operation.attempts[i - 1],
      edges.find((edge) => edge.to === attempt)
    );
  if (fact.nextAction !== null) text += `   next: ${fact.nextAction}: ${ACTION_TEXT[fact.nextAction]}
`;
  return text;
}

// src/exporters/table.ts
function table(head, rows) {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)));
  const left = (i) => i === 0 || head[i] === "";
  const line = (cells) => `  ${cells.map((cell, i) => left(i) ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join("  ").trimEnd()}
`;
  return line(head) + rows.map(line).join("");
}

// src/exporters/report.ts
var MAX_STORIES = 5;
var MAX_KINDS = 1e3;
var MAX_SERVERS = 20;
var BAR = 30;
var emptyTally = () => ({
  operations: 0,
  surfaced: 0,
  hidden: 0,
  rotated: 0,
  uncertain: 0,
  streams: 0,
  ambiguous: 0,
  parsed: 0,
  unparsed: 0
});
var percent = (part, whole) => whole === 0 ? "-" : `${(100 * part / whole).toFixed(1)} %`;
var kindOf = ({ operation, result, edges, nextAction }) => [
  operation.server,
  operation.method,
  operation.target,
  result,
  nextAction,
  ...edges.map((e) => e.after + e.endpoint)
].join("\n");
function badness(fact) {
  const masked = fact.result.startsWith("masked");
  return (fact.nextAction === "confirm_outcome" ? 4 : 0) + (fact.edges.some((edge) => edge.safety === "unsafe") ? 3 : 0) + (masked || fact.result === "unproven" ? 2 : 0) + (fact.result === "surfaced" ? 1 : 0);
}
function createReport() {
  const servers = /* @__PURE__ */ new Map();
  const sizes = /* @__PURE__ */ new Map();
  const kinds = /* @__PURE__ */ new Map();
  const trend = { n: 0, failed: 0, x: 0, xx: 0, xFailed: 0, unknown: 0 };
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  const of = (server) => {
    const known = servers.get(server);
    if (known !== void 0) return known;
    const tally = emptyTally();
    servers.set(server, tally);
    return tally;
  };
  const seen = (ts) => {
    first = Math.min(first, ts);
    last = Math.max(last, ts);
  };
  const addOperation = (fact) => {
    const tally = of(fact.operation.server);
    tally.operations++;
    if (fact.result === "surfaced") tally.surfaced++;
    if (fact.result.startsWith("masked") || fact.result === "unproven") tally.hidden++;
    if (fact.result === "masked_rotated") tally.rotated++;
    if (fact.nextAction === "confirm_outcome") tally.uncertain++;
    const score = badness(fact);
    if (score === 0) return;
    const key = kindOf(fact);
    const known = kinds.get(key);
    if (known !== void 0) known.count++;
    else if (kinds.size < MAX_KINDS) kinds.set(key, { score, fact, count: 1 });
  };
  const serverTable = () => {
    const named = [...servers].sort(
      ([, a], [, b]) => b.surfaced + b.hidden + b.ambiguous - (a.surfaced + a.hidden + a.ambiguous)
    );
    const rest = named.splice(MAX_SERVERS);
    if (rest.length > 0) named.push([`${rest.length} more`, sum(rest.map(([, tally]) => tally))]);
    const head = ["server", "operations", "says", "hides", "rotated", "uncertain writes", "ambiguous", "bad parses"];
    return table(
      head,
      named.map(([name, t]) => [
        name,
        String(t.operations),
        percent(t.surfaced, t.operations),
        percent(t.hidden, t.operations),
        String(t.rotated),
        String(t.uncertain),
        `${t.ambiguous} of ${t.streams}`,
        `${t.unparsed} of ${t.parsed}`
      ])
    );
  };
  const sizeTable = () => {
    const rows = SIZE_CLASSES.flatMap((name) => {
      const tally = sizes.get(name);
      if (tally === void 0) return [];
      const share = tally.failed / (tally.ok + tally.failed);
      return [
        [
          name,
          String(tally.ok + tally.failed),
          String(tally.failed),
          percent(share, 1),
          "#".repeat(Math.ceil(BAR * share))
        ]
      ];
    });
    if (rows.every((row) => row[2] === "0")) return "";
    const { r, z } = correlation(trend);
    const grows = z > 4 && r > 0.1 ? "failures grow with length: truncation that looks like bad JSON" : "no growth with length";
    const unknown = trend.unknown > 0 ? `  ${trend.unknown} failures of unknown full length are not in this table
` : "";
    return `
Parse failures by full length of the payload
${table(["size", "parsed", "failed", "share", ""], rows)}${unknown}  r = ${r.toFixed(2)}, z = ${z.toFixed(1)}: ${grows}
`;
  };
  const addTrend = ({ failed, length }) => {
    if (length === null) {
      trend.unknown++;
      return;
    }
    const name = sizeClass(length);
    const tally = sizes.get(name) ?? { ok: 0, failed: 0 };
    sizes.set(name, tally);
    const x = Math.log2(Math.max(1, length));
    trend.n++;
    trend.x += x;
    trend.xx += x * x;
    if (failed) {
      tally.failed++;
      trend.failed++;
      trend.xFailed += x;
    } else tally.ok++;
  };
  return {
    add(fact) {
      switch (fact.is) {
        case "verdict":
          seen(fact.exchange.closeTs);
          if (fact.kind !== "response" || !fact.verdict?.head) break;
          of(fact.exchange.server).streams++;
          if (fact.verdict.outcome === "ambiguous") of(fact.exchange.server).ambiguous++;
          break;
        case "operation":
          addOperation(fact);
          break;
        case "parse": {
          seen(fact.ts);
          of(fact.server).parsed++;
          if (fact.result !== "ok") of(fact.server).unparsed++;
          break;
        }
        case "trend":
          addTrend(fact);
          break;
      }
    },
    render(cells) {
      const all = sum([...servers.values()]);
      const total = (key) => {
        for (const family of cells.families())
          if (family.key === key) return family.cells.reduce((n, c) => n + c.value, 0);
        return 0;
      };
      const span = last >= first ? `, ${new Date(first).toISOString()} to ${new Date(last).toISOString()}` : "";
      let text = `${plural(total("events"), "event")}, ${plural(servers.size, "server")}${span}
`;
      text += troubles(total("events_rejected"), total("events_missing"));
      if (servers.size === 0) return `${text}
Nothing to report: no exchange in this input.
`;
      text += `
Your error rate says ${percent(all.surfaced, all.operations)}: ${all.surfaced} of ${all.operations} operations failed where their caller could see it.
`;
      text += `It hides ${percent(all.hidden, all.operations)}: ${all.hidden} operations failed at least once and were retried in silence or taken for success.
`;
      text += `Ambiguous closes: ${all.ambiguous} of ${all.streams} response streams ended with no proof that they were complete.
`;
      text += `Uncertain writes: ${all.uncertain} operations may have run, or run twice, and nothing tells.

`;
      text += serverTable();
      text += sizeTable();
      const worst = [...kinds.values()].sort((a, b) => b.score - a.score || b.count - a.count).slice(0, MAX_STORIES);
      if (worst.length > 0) text += "\nWorst operations\n";
      for (const [i, { fact, count }] of worst.entries())
        text += `
${tellStory(fact, `${i + 1}) ${count > 1 ? `${count} times: ` : ""}`)}`;
      return text;
    }
  };
}
var plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
function sum(tallies) {
  const total = emptyTally();
  for (const tally of tallies) for (const key of Object.keys(total)) total[key] += tally[key];
  return total;
}
function troubles(rejected, missing) {
  const lines = [
    ...rejected > 0 ? [`${rejected} lines were not accepted (reasons: --format prom, tailfin_events_rejected_total)`] : [],
    ...missing > 0 ? [`${missing} events were written and never arrived: the numbers below are short of the truth`] : []
  ];
  return lines.map((line) => `warning: ${line}
`).join("");
}

// src/app/progress.ts
var FIRST_MS = 1e3;
var EVERY_MS = 250;
var size = (bytes2) => bytes2 >= 1e9 ? `${(bytes2 / 1e9).toFixed(2)} GB` : bytes2 >= 1e6 ? `${(bytes2 / 1e6).toFixed(1)} MB` : `${Math.round(bytes2 / 1e3)} kB`;
var duration = (seconds2) => seconds2 >= 90 ? `${Math.round(seconds2 / 60)} min` : `${Math.max(0, Math.round(seconds2))} s`;
function createProgress(stderr, now = Date.now) {
  if (!stderr.isTTY) return void 0;
  const start = now();
  let last = start + FIRST_MS - EVERY_MS;
  let shown = false;
  return {
    update(parts) {
      const at = now();
      if (at - last < EVERY_MS) return;
      last = at;
      shown = true;
      const done = parts.reduce((sum2, part) => sum2 + part.bytesRead, 0);
      const total = parts.reduce((sum2, part) => sum2 + part.totalBytes, 0);
      const rate = done / ((at - start) / 1e3);
      const left = total > done ? `, ${duration((total - done) / rate)} left` : "";
      const share = total > 0 ? ` of ${size(total)} (${Math.floor(100 * done / total)} %)` : "";
      stderr.write(`\r\x1B[Kreplaying: ${size(done)}${share}, ${size(rate)}/s${left}`);
    },
    end() {
      if (shown) stderr.write("\r\x1B[K");
    }
  };
}

// src/app/event-reader.ts
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
var CHUNK_BYTES = 256 * 1024;
function openEventReader(path, host, health) {
  const origin = { source: "files", writer: `files:${path}`, host };
  const input = path === "-" ? openStdin() : openFile(path);
  const splitter = createLineSplitter({ maxLineBytes: LIMITS.maxLineBytes, origin });
  let bytesRead = 0;
  let deliver = () => {
  };
  const receiver = {
    line(text, from, line, offset) {
      const event = decode(text, from, line, offset);
      if (isRejection(event)) {
        health.rejected(event.rejected, from);
        return void 0;
      }
      deliver(event);
      return event.ts;
    },
    reject: health.rejected,
    invalidUtf8: health.invalidUtf8
  };
  return {
    async read(to) {
      deliver = to;
      const chunk = await input.read();
      if (chunk === null) {
        splitter.end(receiver);
        input.close();
        return false;
      }
      bytesRead += chunk.length;
      splitter.push(chunk, receiver);
      return true;
    },
    get bytesRead() {
      return bytesRead;
    },
    totalBytes: input.size
  };
}
function openFile(path) {
  const fail = (error) => {
    throw new RuntimeFailure(`cannot read ${path}: ${reasonOf(error)}`);
  };
  let fd;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    return fail(error);
  }
  const stat = fstatSync(fd);
  if (stat.isDirectory()) {
    closeSync(fd);
    throw new RuntimeFailure(`cannot read ${path}: it is a directory (name its files, e.g. ${path}/*.ndjson)`);
  }
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  return {
    size: stat.size,
    async read() {
      try {
        const n = readSync(fd, buffer, 0, buffer.length, null);
        return n === 0 ? null : buffer.subarray(0, n);
      } catch (error) {
        return fail(error);
      }
    },
    close: () => closeSync(fd)
  };
}
function openStdin() {
  const chunks = process.stdin[Symbol.asyncIterator]();
  return {
    size: 0,
    async read() {
      const { value, done } = await chunks.next();
      return done ? null : Buffer.from(value);
    },
    close: () => process.stdin.destroy()
  };
}

// src/app/replay.ts
var TICK_MS = 100;
async function replay(options) {
  const { files, host, policy, onFact, onChunk, progress } = options;
  const pipeline = createPipeline(onFact === void 0 ? { policy } : { policy, onFact });
  const health = { rejected: pipeline.reject, invalidUtf8: pipeline.invalidUtf8 };
  const readers = files.map((path) => openEventReader(path, host, health));
  let nextTick = Number.NEGATIVE_INFINITY;
  const deliver = (event) => {
    if (event.ts >= nextTick) {
      pipeline.tick(event.ts);
      nextTick = event.ts + TICK_MS;
    }
    pipeline.accept(event);
  };
  const betweenChunks = async () => {
    await onChunk?.();
    progress?.update(readers);
  };
  if (readers.length === 1) {
    while (await readers[0].read(deliver)) await betweenChunks();
  } else await merge(readers, deliver, betweenChunks);
  pipeline.finish();
  progress?.end();
  return pipeline;
}
async function merge(readers, deliver, betweenChunks) {
  const queues = [];
  const refill = async (queue) => {
    queue.events = [];
    queue.at = 0;
    let more = true;
    while (more && queue.events.length === 0) {
      more = await queue.reader.read((event) => queue.events.push(event));
      await betweenChunks();
    }
    return queue.events.length > 0;
  };
  for (const reader of readers) {
    const queue = { reader, events: [], at: 0 };
    if (await refill(queue)) queues.push(queue);
  }
  const head = (queue) => queue.events[queue.at];
  while (queues.length > 0) {
    let earliest = queues[0];
    for (const queue of queues) if (head(queue).ts < head(earliest).ts) earliest = queue;
    deliver(head(earliest));
    earliest.at++;
    if (earliest.at === earliest.events.length && !await refill(earliest)) queues.splice(queues.indexOf(earliest), 1);
  }
}

// src/app/command-replay.ts
var FORMATS = ["text", "json", "prom"];
async function replayCommand(files, format, config, output) {
  const report = format === "text" ? createReport() : void 0;
  const onFact = (fact) => {
    report?.add(fact);
    if (format !== "json") return;
    const record = recordOf(fact);
    if (record !== null) output.write(`${JSON.stringify(record)}
`);
  };
  const progress = createProgress(process.stderr);
  const pipeline = await replay({
    files,
    host: config.host || "files",
    policy: toPolicy(config),
    onFact,
    onChunk: () => format === "json" ? output.settle() : void 0,
    progress
  });
  if (format === "prom") {
    pipeline.refresh();
    output.write(await createPrometheusExporter(pipeline.cells, { process: false }).render());
  }
  if (report !== void 0) output.write(report.render(pipeline.cells));
  await output.settle();
  return EXIT.ok;
}

export {
  FORMATS,
  replayCommand
};
//# sourceMappingURL=chunk-I2UAQHRC.js.map
