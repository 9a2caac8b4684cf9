import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import "./chunk-L2O7YVJL.js";

// src/demo/demo.ts
import { once as once2 } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as join2, relative } from "node:path";

// src/demo/gateway.ts
import { Agent, createServer, request } from "node:http";
import { buffer } from "node:stream/consumers";

// src/demo/faults.ts
var FAULTS = {
  /** The response passes untouched. */
  pass: { outcome: "clean", causes: ["terminal_seen"], delivered: true },
  /** An event stream ends well-formed, between two events, before the answer. */
  cut_boundary: { outcome: "ambiguous", causes: ["no_evidence"], cut: "boundary", delivered: false },
  /** The same, inside the event that holds the answer. Still a well-formed end: a strong hint, no proof. */
  cut_mid_event: { outcome: "ambiguous", causes: ["no_evidence"], cut: "mid", delivered: false },
  /** A JSON body stops in mid-token under a well-formed HTTP end. */
  cut_json: { outcome: "abandoned", causes: ["cut_payload"], delivered: false },
  /** The connection is dropped inside the body. */
  reset: { outcome: "abandoned", causes: ["transport_error"], delivered: false },
  /** Not injected: the host hung up or cancelled first (a slow machine). */
  client_left: { outcome: "abandoned", causes: ["client_cancel", "client_timeout"], delivered: false }
};
var MEAN_JSON_BYTES = 768 * 1024;
var JSON_RESET = 1 / 6;
var STREAM_FAULTS = [
  ["cut_boundary", 0.09],
  ["cut_mid_event", 0.11],
  ["reset", 0.14]
];
function drawFault(seed, key) {
  const random = seededRandom(seed, key);
  const jsonBytes = 1 + Math.floor(-Math.log(1 - random()) * MEAN_JSON_BYTES);
  const jsonFault = random() < JSON_RESET ? "reset" : "cut_json";
  const draw = random();
  const streamFault = STREAM_FAULTS.find(([, upTo]) => draw < upTo)?.[0] ?? "pass";
  return { jsonBytes, jsonFault, streamFault };
}
function seededRandom(seed, key) {
  let state = 2166136261;
  for (const char of `${seed}/${key}`) state = Math.imul(state ^ char.charCodeAt(0), 16777619);
  return () => {
    state = state + 1831565813 | 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

// src/demo/relay.ts
function relay(answer, res, plan, delivery) {
  const mediaType = answer.headers["content-type"] ?? "";
  const events = mediaType.startsWith("text/event-stream");
  delivery.json = mediaType.startsWith("application/json");
  const hands = {
    send(part) {
      delivery.bytes += part.length;
      if (part.length === 0 || res.write(part)) return;
      answer.pause();
      res.once("drain", () => answer.resume());
    },
    strike(fault) {
      delivery.fault = fault;
      if (fault === "reset") dropConnection(res);
      else res.end();
    }
  };
  const take = plan !== void 0 && events ? cutEvents(plan, delivery, hands) : plan !== void 0 && delivery.json ? cutJson(plan, delivery, hands) : hands.send;
  answer.on("data", (chunk) => {
    delivery.fullBytes += chunk.length;
    if (delivery.fault === "pass") take(chunk);
  });
  answer.on("end", () => {
    if (delivery.fault !== "pass") return;
    if (plan === void 0 || !events) delivery.answered = true;
    else if (!delivery.answered) delivery.fault = "client_left";
    res.end();
  });
  answer.on("error", () => res.destroy());
}
function cutJson(plan, delivery, { send, strike }) {
  return (chunk) => {
    const left = plan.jsonBytes - delivery.bytes;
    send(chunk.subarray(0, left));
    if (chunk.length > left) strike(plan.jsonFault);
  };
}
function cutEvents(plan, delivery, { send, strike }) {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (let end = pending.indexOf("\n\n"); end >= 0; end = pending.indexOf("\n\n")) {
      const event = pending.subarray(0, end + 2);
      pending = pending.subarray(end + 2);
      if (isAnswer(event)) {
        if (plan.streamFault === "cut_mid_event") send(event.subarray(0, Math.floor(event.length * 0.6)));
        if (plan.streamFault !== "pass") {
          strike(plan.streamFault);
          return;
        }
        delivery.answered = true;
      }
      send(event);
    }
  };
}
function isAnswer(event) {
  const data = /^data: (.*)$/m.exec(event.toString())?.[1];
  return data !== void 0 && !("method" in JSON.parse(data));
}
function dropConnection(res) {
  setImmediate(() => res.socket?.destroySoon());
}

// src/demo/gateway.ts
var EXCHANGE_HEADER = "x-tailfin-exchange";
var NOT_FORWARDED = ["connection", "keep-alive", "transfer-encoding", "content-length", EXCHANGE_HEADER];
var MAX_LOG = 1e5;
async function startGateway(upstreamPorts, seed) {
  const log = [];
  const agent = new Agent({ keepAlive: true });
  const servers = await Promise.all(
    upstreamPorts.map(
      (port, index) => listen(async (req, res) => {
        const started = performance.now();
        const body = await buffer(req);
        const entry = readEntry(req, body);
        if (entry !== void 0 && log.length < MAX_LOG) log.push(entry);
        const plan = entry?.method === "tools/call" ? drawFault(seed, `${index} ${entry.call}`) : void 0;
        const delivery = entry ?? newDelivery();
        const upstream = request(
          { host: "127.0.0.1", port, agent, method: req.method, path: req.url, headers: forwarded(req.headers) },
          (answer) => {
            res.writeHead(answer.statusCode ?? 502, forwarded(answer.headers));
            res.flushHeaders();
            relay(answer, res, plan, delivery);
          }
        );
        upstream.on("error", () => res.destroy());
        res.on("close", () => {
          delivery.elapsedMs = performance.now() - started;
          if (delivery.answered || delivery.fault !== "pass") return;
          delivery.fault = "client_left";
          upstream.destroy();
        });
        upstream.end(body);
      })
    )
  );
  return {
    endpoints: servers.map((server) => `http://127.0.0.1:${server.address().port}/mcp`),
    log,
    close() {
      agent.destroy();
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    }
  };
}
async function listen(handle) {
  const server = createServer((req, res) => {
    handle(req, res).catch(() => res.destroy());
  });
  server.keepAliveTimeout = 6e4;
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}
var newDelivery = () => ({
  json: false,
  fault: "pass",
  answered: false,
  bytes: 0,
  fullBytes: 0,
  elapsedMs: 0
});
var forwarded = (headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.includes(name)));
function readEntry(req, body) {
  const exchange = req.headers[EXCHANGE_HEADER];
  if (typeof exchange !== "string" || body.length === 0) return void 0;
  const { id, method, params } = JSON.parse(body.toString());
  if (id === void 0 || method === void 0) return void 0;
  const endpoint = `http://${req.headers.host}${req.url}`;
  const call = [req.headers["mcp-protocol-version"], method, params?.name, JSON.stringify(params?.arguments)].join(" ");
  return { exchange, endpoint, method, tool: params?.name, call, ...newDelivery() };
}

// src/demo/processes.ts
import { fork } from "node:child_process";
import { once } from "node:events";
var STOP_MS = 5e3;
var MAX_TAIL = 2e3;
var LEASH = `data:text/javascript,${encodeURIComponent(
  "process.once('disconnect', () => process.kill(process.pid, 'SIGTERM')); process.channel?.unref();"
)}`;
var ChildFailure = class extends Error {
};
var Child = class {
  name;
  /** Resolves when the child ended with exit code 0, and rejects otherwise. */
  ended;
  #process;
  #tail = "";
  constructor(name, process2) {
    this.name = name;
    this.#process = process2;
    const keep = (chunk) => {
      this.#tail = (this.#tail + chunk).slice(-MAX_TAIL);
    };
    process2.stdout?.on("data", keep);
    process2.stderr?.on("data", keep);
    this.ended = new Promise((resolve, reject) => {
      process2.once("exit", (code, signal) => {
        if (code === 0) resolve();
        else reject(new ChildFailure(`${name} ended early (${signal ?? `exit code ${code}`}) ${this.#tail.trim()}`));
      });
    });
    this.ended.catch(() => {
    });
  }
  /** The first thing that `read` finds in what the child says: its messages, and its output so far. */
  says(read) {
    const found = new Promise((resolve) => {
      const look = (said) => {
        const value = read(said);
        if (value !== void 0) resolve(value);
      };
      this.#process.on("message", look);
      this.#process.stdout?.on("data", () => look(this.#tail));
      this.#process.stderr?.on("data", () => look(this.#tail));
    });
    const tooSoon = this.ended.then(() => {
      throw new ChildFailure(`${this.name} ended early ${this.#tail.trim()}`);
    });
    return Promise.race([found, tooSoon]);
  }
  /** Asks a script of the demo to finish what it has begun. */
  finish() {
    if (this.#process.connected) this.#process.send("stop");
  }
  async stop() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    const timer = setTimeout(() => this.kill(), STOP_MS);
    this.#process.kill("SIGTERM");
    await exited;
    clearTimeout(timer);
  }
  kill() {
    this.#process.kill("SIGKILL");
  }
};
var Processes = class {
  #children = [];
  #killAll = () => {
    for (const child of this.#children) child.kill();
  };
  constructor() {
    process.on("exit", this.#killAll);
  }
  /** Starts a script of the demo, which follows its parent by itself. */
  start(name, script, argument) {
    return this.#add(name, fork(script, argument === void 0 ? [] : [JSON.stringify(argument)], { silent: true }));
  }
  /** Starts any other program of this package. */
  startLeashed(name, script, args, env) {
    return this.#add(name, fork(script, args, { silent: true, execArgv: ["--import", LEASH], env }));
  }
  async stopAll() {
    await Promise.all(this.#children.map((child) => child.stop()));
    process.off("exit", this.#killAll);
  }
  #add(name, process2) {
    const child = new Child(name, process2);
    this.#children.push(child);
    return child;
  }
};

// src/demo/prom-text.ts
function parseExposition(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const parts = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (parts?.[1] === void 0) continue;
    const pairs = [...(parts[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    const labels = Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
    samples.push({ name: parts[1], labels, value: Number(parts[3]) });
  }
  return samples;
}
var sum = (samples, name, labels = {}) => samples.filter(
  (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value)
).reduce((total, { value }) => total + value, 0);

// src/demo/report.ts
var MAX_LISTED = 5;
var ALARM_Z = 4;
var percent = (part, whole) => `${(100 * part / Math.max(1, whole)).toFixed(1)} %`;
var row = (label, { tailfin, gateway }) => `  ${label.padEnd(46)}${String(tailfin).padStart(8)}${String(gateway).padStart(10)}`;
function renderReport({ seconds, signals, check, liveDifferences }) {
  const { operations, surfaced, hidden, sizeClasses, fullLengths, trend } = signals;
  const width = Math.max(surfaced.tailfin, hidden).toString().length;
  const ratio = (part) => `${percent(part, operations).padStart(7)}   ${String(part).padStart(width)} of ${operations} calls`;
  return [
    "",
    `${seconds} s of real MCP traffic: two hosts, two servers, a gateway that breaks some answers.`,
    "",
    `  your error rate says   ${ratio(surfaced.tailfin)} failed for their caller`,
    `  what it hides          ${ratio(hidden)} failed once and were repeated`,
    "",
    `  ${"".padEnd(46)}${"Tailfin".padStart(8)}${"gateway".padStart(10)}`,
    row("1. ambiguous closes", signals.ambiguous),
    row("     stopped inside an event", signals.ambiguousMid),
    row("2. retries masked by endpoint rotation", signals.masked),
    row("     of them sent a write a second time", signals.maskedUnsafe),
    row("3. parse failures, by bytes that arrived", signals.parseFailures),
    ...sizeClasses.map(
      ({ name, answers, failed }) => row(
        `     ${name.padEnd(13)}${percent(failed.tailfin, answers).padStart(7)} of ${String(answers).padStart(4)}`,
        failed
      )
    ),
    `     of full length  ${fullLengths.map(({ name, answers, broken }) => `${name} ${percent(broken, answers)}`).join(", ")} (gateway)`,
    `     grow with length: r = ${trend.r.toFixed(2)}, z = ${trend.z.toFixed(1)} over ${trend.samples} answers (alarm above ${ALARM_Z})`,
    "",
    ...agreement(check),
    liveDifferences.length === 0 ? "The live /metrics and the offline replay count the same stream closes." : `The live /metrics and the offline replay differ: ${liveDifferences.slice(0, MAX_LISTED).join("; ")}`,
    ""
  ].join("\n");
}
function agreement({ compared, preempted, disagreements }) {
  const slow = preempted === 0 ? "" : ` (${preempted} given up by the host before a slow answer)`;
  if (disagreements.length === 0) return [`Verdicts agree with the gateway's log on all ${compared} exchanges${slow}.`];
  const agreed = compared - disagreements.length;
  const listed = disagreements.slice(0, MAX_LISTED).map((line) => `  ${line}`);
  return [`Verdicts agree with the gateway's log on ${agreed} of ${compared} exchanges${slow}. Not on:`, ...listed];
}
function shortfalls({ signals, check, liveDifferences }) {
  const missing = [
    [signals.ambiguous.tailfin === 0, "signal missing: no ambiguous close"],
    [signals.masked.tailfin === 0, "signal missing: no retry masked by endpoint rotation"],
    [signals.parseFailures.tailfin === 0, "signal missing: no parse failure"],
    [!(signals.trend.z > ALARM_Z), "signal missing: parse failures do not grow with length"],
    [check.disagreements.length > 0, "verdicts disagree with the gateway's log"],
    [liveDifferences.length > 0, "live metrics and replay disagree"]
  ];
  return missing.flatMap(([is, line]) => is ? [line] : []);
}

// src/demo/sidecar.ts
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as setTimeout2 } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
var POLL_MS = 100;
var MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
var plainEnvironment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TAILFIN_")));
function distFolder() {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "dist", "main.js"))) return join(folder, "dist");
  }
  throw new Error("dist/main.js is missing: run npm run build");
}
async function startSidecar(processes, dist, folder) {
  const args = ["run", "--events", join(folder, "*.ndjson"), "--metrics-listen", "127.0.0.1:0"];
  const child = processes.startLeashed("the sidecar", join(dist, "main.js"), args, plainEnvironment());
  const metricsUrl = await child.says((said) => /metrics on (http:\S+\/metrics)/.exec(String(said))?.[1]);
  const scrape = async () => {
    const response = await fetch(metricsUrl, { signal: AbortSignal.timeout(5e3) });
    return response.ok ? parseExposition(await response.text()) : [];
  };
  return {
    metricsUrl,
    scrape,
    async caughtUp(lines, budgetMs) {
      for (const deadline = Date.now() + budgetMs; Date.now() < deadline; await setTimeout2(POLL_MS)) {
        const samples = await scrape();
        if (sum(samples, "tailfin_events_total") === lines && sum(samples, "tailfin_source_lag_bytes") === 0)
          return true;
      }
      return false;
    }
  };
}
async function replay(dist, format, files) {
  const run = promisify(execFile);
  const args = [join(dist, "main.js"), "replay", "--format", format, ...files];
  const { stdout } = await run(process.execPath, args, { maxBuffer: MAX_OUTPUT_BYTES, env: plainEnvironment() });
  return stdout;
}
function differences(name, first, second) {
  const index = (samples) => new Map(
    samples.flatMap((s) => s.name === name ? [[JSON.stringify(Object.entries(s.labels).sort()), s.value]] : [])
  );
  const [a, b] = [index(first), index(second)];
  return [.../* @__PURE__ */ new Set([...a.keys(), ...b.keys()])].flatMap((key) => {
    const [left, right] = [a.get(key) ?? 0, b.get(key) ?? 0];
    return left === right ? [] : [`${name}${key}: ${left}, ${right}`];
  });
}

// src/demo/signals.ts
var KIB = 1024;
var SIZE_CLASSES = [
  ["<1KiB", KIB],
  ["1-4KiB", 4 * KIB],
  ["4-8KiB", 8 * KIB],
  ["8-16KiB", 16 * KIB],
  ["16-32KiB", 32 * KIB],
  ["32-64KiB", 64 * KIB],
  ["64-128KiB", 128 * KIB],
  ["128KiB-1MiB", KIB * KIB],
  [">=1MiB", Number.POSITIVE_INFINITY]
];
var BANDS = [
  ["below 16 KiB", 0, 16 * KIB],
  ["16 to 128 KiB", 16 * KIB, 128 * KIB],
  ["longer", 128 * KIB, Number.POSITIVE_INFINITY]
];
function measureSignals(records, samples, log) {
  const verdicts = records.filter((record) => record.record === "verdict");
  const operations = records.filter((record) => record.record === "operation");
  const ambiguous = verdicts.filter(({ outcome }) => outcome === "ambiguous");
  const injected = (fault) => log.filter((entry) => entry.fault === fault).length;
  const calls = groupCalls(log);
  const rescued = calls.filter((attempts) => attempts.length > 1 && delivered(attempts.at(-1)));
  const parseFailures = log.flatMap((entry) => parseFailureBytes(entry) ?? []);
  const sizeClasses = SIZE_CLASSES.map(([name, upTo], index) => {
    const from = SIZE_CLASSES[index - 1]?.[1] ?? 0;
    const labels = { of: "message", size_class: name };
    const ok = sum(samples, "tailfin_parse_attempts_total", { ...labels, result: "ok" });
    const answers = sum(samples, "tailfin_parse_attempts_total", labels);
    const gateway = parseFailures.filter((bytes) => bytes >= from && bytes < upTo).length;
    return { name, answers, failed: { tailfin: answers - ok, gateway } };
  });
  return {
    operations: operations.length,
    surfaced: {
      tailfin: operations.filter(({ result }) => result === "surfaced").length,
      gateway: calls.filter((attempts) => !delivered(attempts.at(-1))).length
    },
    hidden: operations.filter(({ result }) => result.startsWith("masked") || result === "unproven").length,
    ambiguous: { tailfin: ambiguous.length, gateway: injected("cut_boundary") + injected("cut_mid_event") },
    ambiguousMid: { tailfin: ambiguous.filter(({ cut }) => cut === "mid").length, gateway: injected("cut_mid_event") },
    masked: {
      tailfin: operations.filter(({ result }) => result === "masked_rotated").length,
      gateway: rescued.length
    },
    maskedUnsafe: {
      tailfin: sum(samples, "tailfin_retries_total", { safety: "unsafe", endpoint: "rotated", outcome: "delivered" }),
      gateway: rescued.filter(([first]) => first?.tool === "place_order").length
    },
    parseFailures: {
      tailfin: sizeClasses.reduce((total, { failed }) => total + failed.tailfin, 0),
      gateway: parseFailures.length
    },
    sizeClasses: sizeClasses.filter(({ answers, failed }) => answers + failed.gateway > 0),
    fullLengths: BANDS.map(([name, from, upTo]) => {
      const answers = log.filter(({ json, fullBytes }) => json && fullBytes >= from && fullBytes < upTo);
      return { name, answers: answers.length, broken: answers.filter(({ fault }) => fault !== "pass").length };
    }),
    trend: lengthTrend(samples)
  };
}
var delivered = (entry) => entry !== void 0 && FAULTS[entry.fault].delivered;
function groupCalls(log) {
  const calls = /* @__PURE__ */ new Map();
  for (const entry of log) calls.set(entry.call, [...calls.get(entry.call) ?? [], entry]);
  return [...calls.values()];
}
function parseFailureBytes({ fault, json, bytes }) {
  if (fault === "cut_mid_event") return 0;
  return fault === "cut_json" || fault === "reset" && json ? bytes : void 0;
}
function lengthTrend(samples) {
  const total = (name, result) => sum(samples, `tailfin_length_trend_${name}_total`, { of: "message", ...result === void 0 ? {} : { result } });
  const n = total("samples");
  const failed = total("samples", "failed");
  const sumX = total("log2_bytes");
  const covariance = total("log2_bytes", "failed") - sumX * failed / n;
  const spread = (total("log2_bytes_squared") - sumX ** 2 / n) * (failed - failed ** 2 / n);
  const r = spread > 0 ? covariance / Math.sqrt(spread) : 0;
  return { r, z: r * Math.sqrt(n), samples: n };
}

// src/demo/terminal.ts
function onInterrupt(outer) {
  const own = new AbortController();
  const abort = () => own.abort();
  process.on("SIGINT", abort);
  process.on("SIGTERM", abort);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    release() {
      process.off("SIGINT", abort);
      process.off("SIGTERM", abort);
    }
  };
}
function showProgress(stderr, log, durationMs) {
  const started = Date.now();
  const print = () => {
    const seconds = Math.round((Date.now() - started) / 1e3);
    const faults = log.filter(({ fault }) => fault !== "pass").length;
    const text = `demo: ${seconds} s of ${Math.round(durationMs / 1e3)} s, ${log.length} requests, ${faults} faults injected`;
    stderr.write(stderr.isTTY ? `\r${text}` : `${text}
`);
  };
  const timer = setInterval(print, stderr.isTTY ? 500 : 5e3);
  return {
    end() {
      clearInterval(timer);
      print();
      if (stderr.isTTY) stderr.write("\n");
    }
  };
}

// src/demo/verdict-check.ts
var SLOW_MS = 500;
function checkVerdicts(verdicts, log) {
  const byExchange = new Map(verdicts.map((verdict) => [verdict.exchange, verdict]));
  const logged = new Set(log.map(({ exchange }) => exchange));
  let preempted = 0;
  const disagreements = log.flatMap((entry) => {
    const verdict = byExchange.get(entry.exchange);
    if (verdict !== void 0 && agrees(FAULTS[entry.fault], verdict)) return [];
    if (verdict !== void 0 && entry.elapsedMs > SLOW_MS && agrees(FAULTS.client_left, verdict)) {
      preempted++;
      return [];
    }
    const said = verdict === void 0 ? "no verdict" : `${verdict.outcome}, ${verdict.cause}, cut ${verdict.cut}`;
    const { outcome, causes } = FAULTS[entry.fault];
    return [
      `${entry.exchange} ${entry.tool ?? entry.method}: gateway ${entry.fault} (${outcome}, ${causes[0]}); Tailfin ${said}`
    ];
  });
  for (const { exchange, method, target } of verdicts) {
    if (!logged.has(exchange)) disagreements.push(`${exchange} ${target ?? method}: not in the gateway's log`);
  }
  return { compared: log.length, preempted, disagreements };
}
var agrees = ({ outcome, causes, cut }, verdict) => verdict.outcome === outcome && causes.includes(verdict.cause) && (cut === void 0 || verdict.cut === cut);

// src/demo/demo.ts
var SEED = 249;
var PACE_MS = 60;
var IDLE_PACE_MS = 500;
var TIMEOUT_MS = 2e3;
var MAX_IN_FLIGHT = 8;
var CATCH_UP_MS = 15e3;
var HOSTS = ["host-2026", "host-2025"];
var PACKAGES = ["client", "node", "sdk/client/index.js", "server"].map((name) => `@modelcontextprotocol/${name}`);
async function runDemo(options) {
  const missing = PACKAGES.find((name) => !isInstalled(name));
  if (missing !== void 0) {
    options.stderr.write(`tailfin: the demo needs ${missing}: run it in a clone of the repository, after npm ci
`);
    return 3;
  }
  const interrupt = onInterrupt(options.signal);
  const demo = new Demo(options, distFolder(), interrupt.signal);
  try {
    return await demo.run();
  } catch (error) {
    if (interrupt.signal.aborted) return options.once ? 1 : 0;
    if (!(error instanceof ChildFailure)) throw error;
    options.stderr.write(`tailfin: ${error.message}
`);
    return 3;
  } finally {
    await demo.cleanUp();
    interrupt.release();
  }
}
var Demo = class {
  #options;
  #dist;
  #interrupted;
  #processes = new Processes();
  #folder = mkdtempSync(join2(tmpdir(), "tailfin-demo-"));
  #files = HOSTS.map((name) => join2(this.#folder, `${name}.ndjson`));
  #gateway;
  constructor(options, dist, interrupted) {
    this.#options = options;
    this.#dist = dist;
    this.#interrupted = interrupted;
  }
  async run() {
    const { stdout, durationMs = 2e4 } = this.#options;
    const [sidecar, ...ports] = await Promise.all([
      startSidecar(this.#processes, this.#dist, this.#folder),
      this.#startServer("the first server"),
      this.#startServer("the second server")
    ]);
    this.#gateway = await startGateway(ports, SEED);
    await this.#runTraffic(this.#gateway, durationMs);
    const findings = await this.#compare(this.#gateway, sidecar, durationMs);
    const short = shortfalls(findings);
    stdout.write(renderReport(findings));
    for (const line of short) stdout.write(`${line}
`);
    if (this.#options.once) return short.length === 0 ? 0 : 1;
    const program = relative(process.cwd(), join2(this.#dist, "main.js"));
    stdout.write(`Look further:  node ${program} replay ${this.#files.join(" ")}
`);
    stdout.write(`Scrape:        ${sidecar.metricsUrl}
The hosts go on, more slowly. Ctrl-C ends the demo.
`);
    const hosts = this.#startHosts(this.#gateway, Number.MAX_SAFE_INTEGER, IDLE_PACE_MS);
    if (!this.#interrupted.aborted) {
      await Promise.race([once2(this.#interrupted, "abort"), ...hosts.map((host) => host.ended)]);
    }
    return 0;
  }
  async cleanUp() {
    await this.#processes.stopAll();
    this.#gateway?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
  #startServer(name) {
    const child = this.#processes.start(name, join2(this.#dist, "demo", "server.js"));
    return child.says((said) => said.port);
  }
  #startHosts({ endpoints }, calls, paceMs) {
    return HOSTS.map((name, index) => {
      const file = this.#files[index];
      const config = {
        endpoints,
        file,
        seed: SEED + index,
        calls,
        paceMs,
        maxInFlight: MAX_IN_FLIGHT,
        timeoutMs: TIMEOUT_MS,
        exchangeHeader: EXCHANGE_HEADER
      };
      return this.#processes.start(name, join2(this.#dist, "demo", `${name}.js`), config);
    });
  }
  /** Lets both hosts make their calls, and waits until those are settled. */
  async #runTraffic(gateway, durationMs) {
    const hosts = this.#startHosts(gateway, Math.round(durationMs / PACE_MS), PACE_MS);
    const finish = () => {
      for (const host of hosts) host.finish();
    };
    const late = setTimeout(finish, 1.5 * durationMs);
    this.#interrupted.addEventListener("abort", finish, { once: true });
    const progress = showProgress(this.#options.stderr, gateway.log, durationMs);
    try {
      await Promise.all(hosts.map((host) => host.ended));
    } finally {
      clearTimeout(late);
      progress.end();
    }
    this.#interrupted.throwIfAborted();
  }
  async #compare(gateway, sidecar, durationMs) {
    const lines = this.#files.reduce((total, file) => total + readFileSync(file, "utf8").split("\n").length - 1, 0);
    if (!await sidecar.caughtUp(lines, CATCH_UP_MS)) {
      this.#options.stderr.write(`tailfin: the sidecar did not count all ${lines} lines in ${CATCH_UP_MS / 1e3} s
`);
    }
    const live = await sidecar.scrape();
    const json = await replay(this.#dist, "json", this.#files);
    const offline = parseExposition(await replay(this.#dist, "prom", this.#files));
    const records = json.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    const verdicts = records.filter((record) => record.record === "verdict");
    return {
      seconds: Math.round(durationMs / 1e3),
      signals: measureSignals(records, offline, gateway.log),
      check: checkVerdicts(verdicts, gateway.log),
      liveDifferences: differences("tailfin_stream_closes_total", live, offline)
    };
  }
};
function isInstalled(name) {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
export {
  runDemo
};
//# sourceMappingURL=demo-VWI3D7GR.js.map
