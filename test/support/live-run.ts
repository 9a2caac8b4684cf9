/**
 * A file followed by the file source into a pipeline of its own, as `tailfin run` does it, on a clock that stands still: event
 * time then moves by the events alone, and nothing is in the future.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { LIMITS } from '../../src/core/model/limits.ts';
import type { Policy } from '../../src/core/model/policy.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { createPrometheusExporter } from '../../src/exporters/prometheus.ts';
import { SOURCES } from '../../src/sources/index.ts';
import type { LineSink } from '../../src/sources/source.ts';
import { until } from './until.ts';

export interface LiveRun {
  readonly path: string;
  readonly policy: Policy;
  /** The file's content: what is there at the start, and what is appended after each look. */
  readonly parts: readonly Buffer[];
  /** Wall clock, Unix ms. */
  readonly now: number;
}

const POLL_MS = 5;

/** The exposition after the last part was read and every window was closed. */
export async function runLive({ path, policy, parts, now }: LiveRun): Promise<string> {
  const pipeline = createPipeline({ policy, wallClock: () => now });
  let looks = 0;
  const sink: LineSink = {
    line: pipeline.line,
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
    advance(_, watermark) {
      looks++;
      pipeline.tick(watermark);
    },
  };
  const source = SOURCES.file.create({
    ...{ name: 'files', host: 'files', globs: [path], from: 'beginning', maxLineBytes: LIMITS.maxLineBytes },
    ...{ log: () => {}, now: () => now, pollMs: POLL_MS },
  });
  const [first = Buffer.alloc(0), ...rest] = parts;
  writeFileSync(path, first);
  const control = new AbortController();
  const running = source.run(sink, control.signal);
  for (const part of rest) {
    // One `advance` may belong to a look that began before the last part was written; the second one cannot.
    const seen = looks;
    await until(() => looks > seen + 1 && source.status().lagBytes === 0, { everyMs: 1, what: `a look at ${path}` });
    appendFileSync(path, part);
  }
  control.abort();
  await running;
  await source.drain(sink, 10_000);
  pipeline.finish();
  pipeline.refresh();
  return createPrometheusExporter(pipeline.cells, { process: false }).render();
}
