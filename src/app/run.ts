/**
 * `tailfin run`: puts the sidecar together, consumers before producers, and takes it apart in the opposite order. The one place
 * where the live pipeline meets the wall clock.
 */

import { createCells } from '../core/measures/cells.ts';
import { LIMITS } from '../core/model/limits.ts';
import { createPipeline, type Pipeline } from '../core/pipeline.ts';
import { createPrometheusExporter } from '../exporters/prometheus.ts';
import type { Log as SourceLog } from '../sources/fault-list.ts';
import type { LineSink, Source, SourceStatus } from '../sources/source.ts';
import type { Config } from './config-keys.ts';
import { toPolicy } from './config-policy.ts';
import { createEvidence } from './evidence.ts';
import { EXIT, reasonOf } from './exit.ts';
import { createFileSource, FILES, showSources } from './file-source.ts';
import { createIngest, ingestPart } from './ingest.ts';
import { type RunningServer, startListener } from './listener.ts';
import { createLocalApp, type LocalPart } from './local-app.ts';
import type { Logger } from './log.ts';
import { createLogLimit } from './log-limit.ts';
import { holdYoungGeneration } from './memory.ts';
import { createMetricsApp } from './metrics-app.ts';
import { VERSION } from './version.ts';
import { createWatermark } from './watermark.ts';

/** How long a stop may go on reading what is there; the whole stop stays under 5 s. */
const DRAIN_MS = 3000;

export interface RunOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Aborted by SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

function createSink(pipeline: Pipeline, sources: readonly Source[], now: () => number): LineSink {
  const time = createWatermark(
    sources.map(({ name }) => name),
    now(),
  );
  return {
    line: (text, origin, line, offset) => pipeline.line(text, origin, line, offset, now() + LIMITS.maxFutureMs),
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
    bytes: (bytes, start, end, origin, line, offset) =>
      pipeline.bytes(bytes, start, end, origin, line, offset, now() + LIMITS.maxFutureMs),
    silent: pipeline.silent,
    advance(source, watermark) {
      holdYoungGeneration();
      pipeline.tick(time.advance(source, watermark));
    },
  };
}

/**
 * Where events come by HTTP, that there are no files at the path which nobody configured is no reason to be unready.
 */
function askedFor(config: Config, status: SourceStatus): boolean {
  const isUnasked = config.ingest && config.origins.events === 'default';
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
    if (config.ingest || config.origins.local_listen !== 'default') throw error;
    log('warn', `${reasonOf(error)}; going on without it (local_listen)`);
    return undefined;
  }
}

/** Runs until the signal aborts. @throws RuntimeFailure when it cannot start. */
export async function run({ config, log, signal, now = Date.now }: RunOptions): Promise<number> {
  const cells = createCells();
  const faults = createLogLimit(log);
  const evidence = createEvidence({ config, cells, log, stdout: process.stdout });
  const pipeline = createPipeline({
    ...{ policy: toPolicy(config), home: config.host || FILES, cells, onFact: evidence.onFact },
  });
  cells.set('build_info', 1, [VERSION, process.version]);
  const exporter = createPrometheusExporter(cells, { process: true });
  // Who asks for debug lines wants all of them.
  const say: SourceLog = (level, message, kind) =>
    level === 'debug' ? log(level, message, { kind }) : faults.say(kind, level, message);
  const ingest = createIngest(config, say, now);
  const files = createFileSource({ config, cells, log: say, now });
  const sources: readonly Source[] = ingest === undefined ? [files] : [files, ingest];
  // At 0 from the start: an alert on their increase must see the first one.
  for (const { name } of sources) {
    cells.touch('source_faults', [name]);
    cells.touch('events_missing', [name]);
    cells.touch('writers_unclean', [name]);
  }
  const metricsApp = createMetricsApp({
    statuses: () => sources.map((source) => source.status()).filter((status) => askedFor(config, status)),
    metrics(format) {
      pipeline.refresh();
      showSources(cells, sources);
      return exporter.render(format);
    },
  });
  const server = await startListener(config.metricsListen, metricsApp);
  log('info', `metrics on http://${server.address}/metrics`, { version: VERSION });
  const sink = createSink(pipeline, sources, now);
  let local: RunningServer | undefined;
  try {
    local = await startLocal(config, ingest === undefined ? [evidence.part] : [ingestPart(ingest), evidence.part], log);
    await runAll(sources, sink, signal);
    log('info', 'stopping: reading what is left');
    await Promise.all(sources.map((source) => source.drain(sink, DRAIN_MS)));
  } finally {
    await Promise.all([server.close(), local?.close(), evidence.close()]);
    faults.close();
  }
  log('info', 'stopped', { lag_bytes: sources.reduce((sum, source) => sum + source.status().lagBytes, 0) });
  return EXIT.ok;
}
