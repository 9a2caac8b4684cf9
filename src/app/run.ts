/**
 * `tailfin run`: puts the sidecar together, consumers before producers, and takes it apart in the opposite order. The one place
 * where the live pipeline meets the wall clock.
 */
import type { Pipeline, PipelineOptions } from '../core/pipeline.ts';
import type { Saved } from '../core/state.ts';
import { createPrometheusExporter } from '../exporters/prometheus.ts';
import type { Log as SourceLog } from '../sources/fault-list.ts';
import { createTurns } from '../sources/next-turn.ts';
import type { LineSink, Source, SourceStatus } from '../sources/source.ts';
import { createCheckpoint, createGate, type Gate } from './checkpoint/checkpoint.ts';
import { beginLife, type Life } from './checkpoint/life.ts';
import { type Config, formatListen } from './config-keys.ts';
import { toPolicy } from './config-policy.ts';
import { createEvidence, type EvidenceOptions } from './evidence.ts';
import { EXIT, reasonOf } from './exit.ts';
import { createExposition } from './exposition.ts';
import { createFileSource, FILES, showSources } from './file-source.ts';
import { createIngest, ingestPart } from './ingest.ts';
import { type RunningServer, startListener } from './listener.ts';
import { createLocalApp, type LocalPart } from './local-app.ts';
import type { Logger } from './log.ts';
import { createLogLimit } from './log-limit.ts';
import { tendHeap } from './memory.ts';
import { createMetricsApp } from './metrics-app.ts';
import type { Otel } from './otel/otel.ts';
import { type OtelSettings, otelSettings } from './otel/settings.ts';
import { VERSION } from './version.ts';
import { createWatermark } from './watermark.ts';

/** How long a stop may go on reading what is there; the last scrape and the exports come after it. */
const DRAIN_MS = 3000;
/** How long a stop may go on exporting by OTLP. */
const FLUSH_MS = 3000;

export interface RunOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Aborted by SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** `begins`: a source has looked around and is about to deliver for the first time. `noScanner`: lines cannot be read the short way. */
function createSink(
  pipeline: Pipeline,
  sources: readonly Source[],
  gate: Gate,
  now: () => number,
  begins: () => void,
  noScanner: () => void,
): LineSink {
  let hasBegun = false;
  // Asked again each time: a record may begin as another answer is done.
  const tick = (to: number): void => {
    const pause = gate.pause();
    if (pause === undefined) pipeline.tick(to);
    else pause.then(() => tick(to));
  };
  const time = createWatermark(
    sources.map(({ name }) => name),
    now(),
  );
  return {
    line: pipeline.line,
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
    bytes: pipeline.bytes,
    room(bytes) {
      const room = pipeline.room(bytes);
      if (room === null) noScanner();
      return room;
    },
    silent: pipeline.silent,
    pause() {
      if (!hasBegun) {
        hasBegun = true;
        begins();
      }
      return gate.pause();
    },
    advance(source, watermark) {
      tendHeap();
      tick(time.advance(source, watermark));
    },
  };
}

const takesBatches = ({ ingest, ingestOtlp }: Config): boolean => ingest || ingestOtlp;

/**
 * Where events come by HTTP, that there are no files at the path which nobody configured is no reason to be unready.
 */
function askedFor(config: Config, status: SourceStatus): boolean {
  const isUnasked = takesBatches(config) && config.origins.events === 'default';
  return !(isUnasked && status.name === FILES && status.state === 'waiting');
}

/** Until the signal; a source that fails (which is a programming error) ends the others. */
async function runAll(sources: readonly Source[], sink: LineSink, signal: AbortSignal): Promise<void> {
  const failure = new AbortController();
  const all = AbortSignal.any([signal, failure.signal]);
  const running = sources.map((source) => source.run(sink, all));
  await Promise.all(running).catch(async (error: unknown) => {
    failure.abort();
    await Promise.allSettled(running);
    throw error;
  });
}

/** The default port may be another sidecar's, which must not keep this one from counting; an address that was asked for must be had. */
async function startLocal(
  config: Config,
  parts: readonly LocalPart[],
  log: Logger,
): Promise<RunningServer | undefined> {
  if (parts.length === 0) return undefined;
  try {
    const server = await startListener(config.localListen, createLocalApp(parts, config.localListen.host));
    log('info', `for this pod alone: http://${server.address}/`);
    return server;
  } catch (error) {
    if (takesBatches(config) || config.origins.local_listen !== 'default') throw error;
    log('warn', `${reasonOf(error)}; going on without it (local_listen)`);
    return undefined;
  }
}

/** Runs until the signal aborts. @throws RuntimeFailure when it cannot start, ConfigError where a variable of OpenTelemetry is wrong. */
export async function run({ config, log, signal, now = Date.now, env = process.env }: RunOptions): Promise<number> {
  const settings = otelSettings(config, env);
  for (const each of settings?.ignored ?? []) log('warn', `${each}; ignored`, { kind: 'otel_variable_ignored' });
  let onFact: NonNullable<PipelineOptions['onFact']> = () => {};
  const home = config.host || FILES;
  const options: PipelineOptions = {
    ...{ policy: toPolicy(config), home, wallClock: now },
    onFact: (fact, cause) => onFact(fact, cause),
    // Only a trace may be of a call that went well.
    plainFacts: settings?.targets.traces !== undefined,
  };
  const life = await beginLife(config.stateDir, FILES, log, options);
  try {
    return await live(life, { config, log, signal, now, env, settings }, (listener) => {
      onFact = listener;
    });
  } finally {
    await life.release();
  }
}

const NO_SCANNER =
  'no WebAssembly with 128-bit words here (--jitless, or too little address space): lines are read at half the speed';

const longestIntervalMs = ({ scrapeIntervalSeconds }: Config, settings: OtelSettings | undefined): number =>
  Math.max(1000 * scrapeIntervalSeconds, settings?.targets.metrics === undefined ? 0 : settings.metricsIntervalMs);

async function live(
  { cells, pipeline, files: resume, slots, start, since, otlp }: Life,
  { config, log, signal, now, env, settings }: Required<RunOptions> & { settings: OtelSettings | undefined },
  listen: (onFact: NonNullable<PipelineOptions['onFact']>) => void,
): Promise<number> {
  const faults = createLogLimit(log);
  let otel: Otel | undefined;
  const onRecord: EvidenceOptions['onRecord'] = (fact, record) => otel?.onRecord(fact, record);
  const evidence = createEvidence({ config, cells, log, stdout: process.stdout, onRecord });
  listen((fact, cause) => {
    evidence.onFact(fact, cause);
    otel?.onFact(fact);
  });
  cells.set('build_info', 1, [VERSION, process.version]);
  // Who asks for debug lines wants all of them.
  const say: SourceLog = (level, message, kind) =>
    level === 'debug' ? log(level, message, { kind }) : faults.say(kind, level, message);
  const hasCommits = slots !== undefined;
  const files = createFileSource({ config, cells, log: say, now, resume, hasCommits });
  const gate = createGate();
  const sources: Source[] = [files];
  const more = (): Saved => otel?.save() ?? [];
  const sayFault = (l: 'info' | 'warn' | 'error', m: string, kind: string): void => faults.say(kind, l, m);
  const isBehind = start === 'behind' || start === 'unusable';
  const checkpoint =
    slots && createCheckpoint({ slots, pipeline, sources, gate, since, isBehind, more, say: sayFault });
  const needs = { log: say, now, stored: checkpoint?.commitSoon };
  const ingest = createIngest(config, needs);
  if (ingest !== undefined) sources.push(ingest);
  const otlpIn = config.ingestOtlp ? (await import('./otlp-in.ts')).createOtlpIn(config, needs) : undefined;
  if (otlpIn !== undefined) sources.push(otlpIn.source);
  // At 0 from the start: an alert on their increase must see the first one.
  for (const { name } of sources) {
    cells.touch('source_faults', [name]);
    cells.touch('events_missing', [name]);
    cells.touch('writers_unclean', [name]);
  }
  const statuses = () => sources.map((source) => source.status());
  const turn = createTurns(() => performance.now());
  const exporter = createPrometheusExporter(cells, { process: true, turn });
  const exposition = createExposition({
    ...{ cells, exporter, statuses, checkpoint, start, now, hold: gate.close },
    // A push is one more scraper.
    holdMs: config.scrapeIntervalSeconds === 0 ? 0 : 2 * longestIntervalMs(config, settings),
    withNumbers: settings?.targets.metrics !== undefined,
    refresh() {
      pipeline.refresh();
      otel?.refresh();
      showSources(cells, sources);
      const age = checkpoint?.age();
      if (age !== undefined) cells.set('checkpoint_age', age / 1000, []);
    },
  });
  if (settings !== undefined) {
    const { createOtel } = await import('./otel/otel.ts');
    otel = createOtel({
      ...{ settings, cells, exposition, since, saved: otlp, env, say: sayFault },
      ...{ isRestored: start === 'restored' || start === 'behind', commitSoon: checkpoint?.commitSoon },
      address: formatListen(config.metricsListen),
    });
  }
  const metricsApp = createMetricsApp({
    statuses: () => statuses().filter((status) => askedFor(config, status)),
    metrics: exposition.scrape,
  });
  const server = await startListener(config.metricsListen, metricsApp);
  log('info', `metrics on http://${server.address}/metrics`, { version: VERSION });
  // A scrape finds a durable snapshot from the start on, and code and slots that are ready for the next record.
  const begins = (): void => void (checkpoint !== undefined && exposition.renew());
  const noScanner = (): void => sayFault('info', NO_SCANNER, 'scanner_missing');
  const sink = createSink(pipeline, sources, gate, now, begins, noScanner);
  let local: RunningServer | undefined;
  try {
    const parts = [
      ...(ingest === undefined ? [] : [ingestPart(ingest)]),
      ...(otlpIn === undefined ? [] : [otlpIn.part]),
    ];
    local = await startLocal(config, [...parts, evidence.part], log);
    checkpoint?.start(exposition.renew);
    await runAll(sources, sink, signal);
    log('info', 'stopping: reading what is left');
    await Promise.all(sources.map((source) => source.drain(sink, DRAIN_MS)));
    await checkpoint?.commit();
    const flushed = otel?.flush(FLUSH_MS);
    if (signal.reason === 'SIGTERM') {
      const last = await exposition.lastScrape(1000 * config.scrapeLastSeconds);
      if (last === 'missed') log('warn', 'the last numbers were not scraped', { waited_s: config.scrapeLastSeconds });
    }
    await flushed;
    exposition.keepLastPush();
    // What the backend has by now must not be sent again.
    if (otel !== undefined) await checkpoint?.commit();
  } finally {
    await Promise.all([server.close(), local?.close(), evidence.close(), checkpoint?.stop(), otel?.close()]);
    faults.close();
  }
  log('info', 'stopped', { lag_bytes: sources.reduce((sum, source) => sum + source.status().lagBytes, 0) });
  return EXIT.ok;
}
