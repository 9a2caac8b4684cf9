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
import { EXIT } from './exit.ts';
import type { Logger } from './log.ts';
import { holdYoungGeneration } from './memory.ts';
import { startServer } from './server.ts';
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
    silent: pipeline.silent,
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

/** Runs until the signal aborts. @throws RuntimeFailure when it cannot start. */
export async function run({ config, log, signal, now = Date.now }: RunOptions): Promise<number> {
  const pipeline = createPipeline({ policy: toPolicy(config), home: config.host || FILES });
  const { cells } = pipeline;
  cells.set('build_info', 1, [VERSION, process.version]);
  cells.touch('source_faults', [FILES]);
  cells.touch('writers_unclean', [FILES]);
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
  const server = await startServer({
    listen: config.metricsListen,
    contentType: exporter.contentType,
    statuses: () => [source.status()],
    metrics() {
      pipeline.refresh();
      showSources(pipeline, [source]);
      return exporter.render();
    },
  });
  log('info', `metrics on http://${server.address}/metrics`, { version: VERSION });
  const sink = createSink(pipeline, now);
  try {
    await source.run(sink, signal);
    log('info', 'stopping: reading what is left');
    await source.drain(sink, DRAIN_MS);
  } finally {
    await server.close();
  }
  log('info', 'stopped', { lag_bytes: source.status().lagBytes });
  return EXIT.ok;
}
