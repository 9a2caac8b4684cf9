/**
 * A story through the real pipeline on a virtual clock, as OpenMetrics text with a time on every sample: what a Prometheus that scraped the
 * sidecars would have stored. What the application around the pipeline counts is told here, since no application runs.
 */
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs';
import type { Cells } from '../../src/core/measures/cells.ts';
import type { Origin } from '../../src/core/model/event.ts';
import { createPipeline, type Pipeline } from '../../src/core/pipeline.ts';
import { createPrometheusExporter, type PrometheusExporter } from '../../src/exporters/prometheus.ts';
import { T0 } from '../../test/support/build-event.ts';
import { BEGIN, END, INCIDENT, NAMESPACE, PODS, type Pod, RECOVERY, storyOf, unixSeconds } from './story.ts';

const STEP_MS = 15_000;
const MINUTE = 60_000;
export const JOB = 'tailfin';

export interface Snapshots {
  /** Exposition of each pod at the end of the story. */
  readonly exporters: ReadonlyMap<string, PrometheusExporter>;
  readonly pipelines: ReadonlyMap<string, Pipeline>;
}

/** The gauges and counters of the sidecar around the pipeline: one pod cannot read its files for six minutes. */
function around({ cells }: Pipeline, at: number, second: boolean): void {
  const broken = at >= INCIDENT && at < RECOVERY;
  const lost = second && at >= INCIDENT + 20 * MINUTE && at < INCIDENT + 26 * MINUTE;
  const behind = lost ? (at - INCIDENT - 20 * MINUTE) / 1000 : 0;
  cells.set('source_up', lost ? 0 : 1, ['files']);
  cells.set('source_lag_seconds', behind, ['files']);
  cells.set('source_lag_bytes', behind * 900, ['files']);
  cells.set('build_info', 1, ['0.1.0', process.version]);
  cells.add('evidence_records', 5, ['verdict']);
  cells.add('evidence_suppressed', broken ? 2 : 0, ['rate_limit']);
  cells.add('source_faults', lost && behind < STEP_MS / 1000 ? 1 : 0, ['files']);
  files(cells, at, lost, broken);
  // A minute without room on the disk, after a minute in which nobody could scrape it.
  const noRoom = second && at >= INCIDENT + 33 * MINUTE && at < INCIDENT + 34 * MINUTE;
  cells.add('checkpoint_commits', noRoom ? 0 : 1, []);
  cells.add('checkpoint_failures', noRoom ? 1 : 0, ['no_space']);
  // A new series is held at 0 for two scrape intervals.
  const held = BEGIN + 2 * MINUTE;
  cells.add('checkpoint_restores', at >= held && at < held + STEP_MS ? 1 : 0, ['none']);
  cells.set('checkpoint_age', noRoom ? 60 : 15, []);
  cells.set('checkpoint_bytes', 400_000 + (at - BEGIN) / 100, []);
  exported(cells, broken, second);
  cells.add('state_evictions', broken && at % (10 * MINUTE) < STEP_MS ? 3 : 0, ['orphans']);
}

/** A Collector that is busy during the incident. */
function exported(cells: Cells, broken: boolean, second: boolean): void {
  for (const signal of ['metrics', 'traces', 'logs'] as const) {
    const isBusy = broken && second;
    cells.add('otlp_exports', isBusy ? 0 : 1, [signal, 'ok']);
    cells.add('otlp_exports', isBusy ? 1 : 0, [signal, 'failed']);
    cells.add('otlp_retries', isBusy ? 4 : 0, [signal]);
    cells.add('otlp_dropped', isBusy && signal === 'traces' ? 12 : 0, [signal, 'queue_full']);
    if (signal !== 'metrics') cells.set('otlp_queue_entries', isBusy ? 2040 : 3, [signal]);
  }
}

/** A tap whose segments are read and tidied away, and a file of somebody else's that is rotated badly during the incident. */
function files(cells: Cells, at: number, lost: boolean, broken: boolean): void {
  const now = broken && at % (10 * MINUTE) < STEP_MS;
  cells.add('source_read_bytes', lost ? 0 : 90_000, ['files']);
  cells.add('source_truncations', now ? 1 : 0, ['files']);
  cells.add('source_lost_bytes', now ? 12_000 : 0, ['files', 'truncated']);
  cells.add('source_cleaned_lines', 2, ['files', 'crlf']);
  cells.add('source_copies', now ? 1 : 0, ['files']);
  cells.add('source_removed_segments', at % (10 * MINUTE) < STEP_MS ? 1 : 0, ['files']);
  cells.set('source_unread_rotated_bytes', lost ? 40_000 : 0, ['files']);
  cells.set('source_backlog_ratio', Math.min(1, (at - BEGIN) / MINUTE), ['files']);
  cells.set('source_open_files', 3, ['files']);
  cells.set('source_files', 9, ['files']);
}

/** What prom-client would say of a sidecar's process: the figures of docs/decisions/0010, not those of the process that tells the story. */
function processOf(at: number, second: boolean): string {
  const wave = Math.sin(at / 400_000 + (second ? 2 : 0));
  return [
    `process_resident_memory_bytes ${Math.round((64 + 2 * wave) * 1_048_576)}`,
    `process_cpu_seconds_total ${((at - BEGIN) / 1000) * 0.012}`,
    `process_start_time_seconds ${unixSeconds(BEGIN - MINUTE)}`,
    `nodejs_eventloop_lag_p99_seconds ${(0.0115 + 0.0008 * wave).toFixed(6)}`,
    '',
  ].join('\n');
}

/** A scrape of the text format as samples of one target at one time. */
function stamped(text: string, labels: string, seconds: number): string {
  let out = '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const space = line.lastIndexOf(' ');
    const series = line.slice(0, space);
    const named = series.endsWith('}') ? `${series.slice(0, -1)},${labels}}` : `${series}{${labels}}`;
    out += `${named} ${line.slice(space + 1)} ${seconds}\n`;
  }
  return out;
}

async function playPod(pod: Pod, second: boolean, write: (text: string, at: number) => void) {
  const pipeline = createPipeline({ home: pod.name });
  const exporter = createPrometheusExporter(pipeline.cells, { process: false });
  const origin: Origin = { source: 'files', writer: `files:${pod.name}`, host: pod.name };
  const labels = `job="${JOB}",namespace="${NAMESPACE}",pod="${pod.name}",instance="10.1.0.${second ? 8 : 7}:19640"`;
  const lines = storyOf(pod);
  let next = 0;
  let number = 0;
  for (let at = BEGIN; at <= END; at += STEP_MS) {
    for (let line = lines[next]; line !== undefined && line.ts <= T0 + at; line = lines[++next])
      pipeline.line(JSON.stringify(line), origin, ++number, 0);
    if (at % (5 * MINUTE) < STEP_MS) {
      pipeline.line('{"v":1,"type":"close"', origin, ++number, 0);
      pipeline.invalidUtf8(origin);
    }
    pipeline.tick(T0 + at);
    around(pipeline, at, second);
    pipeline.refresh();
    const up = second && at >= INCIDENT + 30 * MINUTE && at < INCIDENT + 31 * MINUTE ? 0 : 1;
    const scraped = up === 1 ? await exporter.render() : '';
    write(stamped(`${scraped}${up === 1 ? processOf(at, second) : ''}up ${up}\n`, labels, unixSeconds(at)), at);
  }
  return { pipeline, exporter };
}

/** Writes one file per scrape interval (in seconds); the longer ones hold a part of the same samples. */
export async function writeSnapshots(files: Readonly<Record<number, string>>): Promise<Snapshots> {
  const open = Object.entries(files).map(([seconds, file]) => ({
    every: Number(seconds) * 1000,
    file,
    fd: openSync(file, 'w'),
  }));
  const exporters = new Map<string, PrometheusExporter>();
  const pipelines = new Map<string, Pipeline>();
  for (const [i, pod] of PODS.entries()) {
    const { pipeline, exporter } = await playPod(pod, i > 0, (text, at) => {
      for (const { every, fd } of open) if ((at - BEGIN) % every === 0) writeSync(fd, text);
    });
    exporters.set(pod.name, exporter);
    pipelines.set(pod.name, pipeline);
  }
  for (const { fd, file } of open) {
    closeSync(fd);
    appendFileSync(file, '# EOF\n');
  }
  return { exporters, pipelines };
}
