/**
 * `tailfin run`: puts the sidecar together, consumers before producers, and takes it apart in the opposite order. The one place
 * where the live pipeline meets the wall clock.
 */
import { LIMITS } from '../core/model/limits.ts';
import { createPipeline, type Pipeline } from '../core/pipeline.ts';
import { createPrometheusExporter } from '../exporters/prometheus.ts';
import { SOURCES } from '../sources/index.ts';
import type { LineSink, Source } from '../sources/source.ts';
import type { Config } from './config-keys.ts';
import { toPolicy } from './config-policy.ts';
import { EXIT, reasonOf } from './exit.ts';
import { type RunningServer, startListener } from './listener.ts';
import { createLocalApp, type LocalPart } from './local-app.ts';
import type { Logger } from './log.ts';
import { holdYoungGeneration } from './memory.ts';
import { createMetricsApp } from './metrics-app.ts';
import { VERSION } from './version.ts';

/** Name of the file source: the `source` label, and the host of events that name none. */
const FILES = 'files';
/** How long a stop may go on reading what is there; the whole stop stays under 5 s. */
const DRAIN_MS = 3000;

export interface RunOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Aborted by SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

function createSink(pipeline: Pipeline, now: () => number): LineSink {
  return {
    line: (text, origin, line, offset) => pipeline.line(text, origin, line, offset, now() + LIMITS.maxFutureMs),
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
    // One source so far: its watermark is the time of the pipeline.
    advance(_source, watermark) {
      holdYoungGeneration();
      pipeline.tick(watermark);
    },
  };
}

function showSources(pipeline: Pipeline, sources: readonly Source[]): void {
  for (const source of sources) {
    const { name, faults, lagBytes, lagSeconds } = source.status();
    pipeline.cells.set('source_up', faults.length === 0 ? 1 : 0, [name]);
    pipeline.cells.set('source_lag_bytes', lagBytes, [name]);
    pipeline.cells.set('source_lag_seconds', lagSeconds, [name]);
  }
}

/** The default port may be another sidecar's, which must not keep this one from counting; an address that was asked for must be had. */
async function startLocal(
  config: Config,
  parts: readonly LocalPart[],
  log: Logger,
): Promise<RunningServer | undefined> {
  if (parts.length === 0) return undefined;
  try {
    const server = await startListener(config.localListen, createLocalApp(parts));
    log('info', `for this pod alone: http://${server.address}/`);
    return server;
  } catch (error) {
    if (config.origins.local_listen !== 'default') throw error;
    log('warn', `${reasonOf(error)}; going on without it (local_listen)`);
    return undefined;
  }
}

/** Runs until the signal aborts. @throws RuntimeFailure when it cannot start. */
export async function run({ config, log, signal, now = Date.now }: RunOptions): Promise<number> {
  const pipeline = createPipeline({ policy: toPolicy(config), home: config.host || FILES });
  const { cells } = pipeline;
  cells.set('build_info', 1, [VERSION, process.version]);
  // At 0 from the start: an alert on their increase must see the first one.
  cells.touch('source_faults', [FILES]);
  cells.touch('events_missing', [FILES]);
  const exporter = createPrometheusExporter(cells, { process: true });
  const source = SOURCES.file.create({
    name: FILES,
    host: config.host || FILES,
    globs: config.events,
    from: config.from,
    maxLineBytes: LIMITS.maxLineBytes,
    log(level, message) {
      if (level === 'warn') cells.add('source_faults', 1, [FILES]);
      log(level, message);
    },
    now,
  });
  const metricsApp = createMetricsApp({
    statuses: () => [source.status()],
    metrics(format) {
      pipeline.refresh();
      showSources(pipeline, [source]);
      return exporter.render(format);
    },
  });
  const server = await startListener(config.metricsListen, metricsApp);
  log('info', `metrics on http://${server.address}/metrics`, { version: VERSION });
  const local = await startLocal(config, [], log);
  const sink = createSink(pipeline, now);
  try {
    await source.run(sink, signal);
    log('info', 'stopping: reading what is left');
    await source.drain(sink, DRAIN_MS);
  } finally {
    await Promise.all([server.close(), local?.close()]);
  }
  log('info', 'stopped', { lag_bytes: source.status().lagBytes });
  return EXIT.ok;
}
