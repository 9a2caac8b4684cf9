/**
 * What is shown of our own health, a line per metric: a new one in the catalog is a line here. Where it stands on the board is said in
 * tailfin.ts.
 */
import type { MetricKey } from '../../src/core/measures/catalog.ts';
import type { LabelName } from '../queries.ts';

export interface Health<K extends MetricKey = MetricKey> {
  readonly key: K;
  readonly title: string;
  readonly description: string;
  readonly by: readonly ('pod' | LabelName<K>)[];
  readonly unit?: string;
}
const health = <K extends MetricKey>(each: Health<K>): Health => each as unknown as Health;

/** Counters whose every step makes a total wrong, or says that one may be. */
export const COUNTED: readonly Health[] = [
  health({
    key: 'events_missing',
    title: 'Events missing',
    by: ['pod', 'source'],
    description:
      'Written and never arrived: every total is short by what they would have said. Files that vanish before they are read, or a writer that drops.',
  }),
  health({
    key: 'events_rejected',
    title: 'Lines rejected',
    by: ['source', 'reason'],
    description: 'not_json, bad_field: a writer of another version. future_ts: a clock. duplicate alone is harmless.',
  }),
  health({
    key: 'events_late',
    title: 'Lines too late',
    by: ['pod', 'source'],
    description: 'Accepted for an exchange that had been judged already: a writer that holds lines back.',
  }),
  health({
    key: 'events_invalid_utf8',
    title: 'Lines that are no UTF-8',
    by: ['pod', 'source'],
    description: 'Read with replacement characters; names in them may not match.',
  }),
  health({
    key: 'writers_unclean',
    title: 'Writers that were killed',
    by: ['pod', 'source'],
    description: 'Up to 100 ms of the last lines of each may be missing.',
  }),
  health({
    key: 'source_faults',
    title: 'Sources that became unreadable',
    by: ['pod', 'source'],
    description: 'The log of the sidecar names file and reason.',
  }),
  health({
    key: 'exchanges_expired',
    title: 'Exchanges without an end',
    by: ['server', 'reason'],
    description: 'No verdict. ttl: ends are not reported. writer_gone: the host was killed.',
  }),
  health({
    key: 'state_evictions',
    title: 'Entries given up by full stores',
    by: ['pod', 'store'],
    description:
      'Totals may be short from here on. Too much traffic for the caps in limits.ts, or a leak of open exchanges.',
  }),
  health({
    key: 'label_overflow',
    title: 'Samples folded into _other',
    by: ['pod', 'label'],
    description:
      'More servers, endpoints or series than the budget: totals stay right, names are lost. Use servers.NAME.match to join names.',
  }),
  health({
    key: 'evidence_suppressed',
    title: 'Evidence left out',
    by: ['pod', 'reason'],
    description: 'Numbers are not touched; some calls cannot be looked up.',
  }),
];
/** The files behind the numbers: what was lost, read twice, cleaned, tidied away. */
export const FILES: readonly Health[] = [
  health({
    key: 'source_lost_bytes',
    title: 'Bytes that were gone before they were read',
    by: ['pod', 'reason'],
    unit: 'bytes',
    description:
      'Per minute, at least: a rotation that keeps too little, or a file that was truncated under the reader.',
  }),
  health({
    key: 'source_truncations',
    title: 'Files rewritten in place',
    by: ['pod', 'source'],
    description: 'Read again from their start. copytruncate loses what was written in between: rename instead.',
  }),
  health({
    key: 'source_cleaned_lines',
    title: 'Lines with something dropped around them',
    by: ['what'],
    description: 'Harmless, if strange: byte order marks, CR, NUL runs, blank lines.',
  }),
  health({
    key: 'source_read_bytes',
    title: 'Bytes read',
    by: ['pod'],
    unit: 'bytes',
    description: 'Per minute.',
  }),
  health({
    key: 'source_copies',
    title: 'Copies left alone',
    by: ['pod', 'source'],
    description: 'Files that repeat a segment which is read.',
  }),
  health({
    key: 'source_removed_segments',
    title: 'Segments removed',
    by: ['pod', 'source'],
    description: 'Read to the end and ended. None for long while the folder grows: the sidecar may not remove there.',
  }),
];
export const FILE_GAUGES: readonly Health[] = [
  health({
    key: 'source_unread_rotated_bytes',
    title: 'Unread in renamed or removed files',
    by: ['pod', 'source'],
    unit: 'bytes',
    description: 'Lost should the sidecar stop now.',
  }),
  health({
    key: 'source_backlog_ratio',
    title: 'Backlog of the start, part read',
    by: ['pod', 'source'],
    unit: 'percentunit',
    description: 'Of what lay unread when the sidecar started.',
  }),
  health({
    key: 'source_open_files',
    title: 'Files open',
    by: ['pod', 'source'],
    description: '256 at most.',
  }),
  health({
    key: 'source_files',
    title: 'Files known',
    by: ['pod', 'source'],
    description: 'A line that only climbs: nothing tidies the folder up.',
  }),
];
/** Absent without state_dir. */
export const CHECKPOINTS: readonly Health[] = [
  health({
    key: 'checkpoint_commits',
    title: 'Checkpoints stored',
    by: ['pod'],
    description: 'One before each new answer to a scrape. None: state_dir is not set, or they fail.',
  }),
  health({
    key: 'checkpoint_failures',
    title: 'Checkpoints that failed',
    by: ['pod', 'reason'],
    description: 'Numbers are right until the sidecar is killed; then it has to read everything again.',
  }),
  health({
    key: 'checkpoint_restores',
    title: 'What starts went on from',
    by: ['pod', 'result'],
    description: 'behind and unusable: the log of that start names the reason.',
  }),
];
export const CHECKPOINT_GAUGES: readonly Health[] = [
  health({
    key: 'checkpoint_age',
    title: 'Age of the last checkpoint',
    by: ['pod'],
    unit: 's',
    description: 'About a scrape interval while events come.',
  }),
  health({
    key: 'checkpoint_bytes',
    title: 'Size of the last checkpoint',
    by: ['pod'],
    unit: 'bytes',
    description: 'Twice this, and room to grow, is what the state volume has to hold.',
  }),
];
/** Absent without otel.endpoint. */
export const EXPORTS: readonly Health[] = [
  health({
    key: 'otlp_exports',
    title: 'Exports by OTLP',
    by: ['signal', 'result'],
    description: 'failed: sent again. refused: the backend never will take them; the log names its status.',
  }),
  health({
    key: 'otlp_retries',
    title: 'Requests that were repeated',
    by: ['pod', 'signal'],
    description: 'Within one export: the backend was busy or could not be reached.',
  }),
  health({
    key: 'otlp_dropped',
    title: 'Entries dropped by OTLP',
    by: ['pod', 'signal', 'reason'],
    description: 'queue_full: the backend is down for long. Numbers on /metrics are not touched.',
  }),
];
export const EXPORT_GAUGES: readonly Health[] = [
  health({
    key: 'otlp_queue_entries',
    title: 'Spans and log records that wait',
    by: ['pod', 'signal'],
    description: 'Climbs while the backend is down, to otel.traces_queue and otel.logs_queue.',
  }),
];
/** What is neither good nor bad by itself. */
export const SHOWN: readonly Health[] = [
  health({
    key: 'events',
    title: 'Events read',
    by: ['type'],
    description: 'Per minute. 0 while the hosts work: the tap is not attached, or the wrong folder is read.',
  }),
  health({ key: 'evidence_records', title: 'Evidence made', by: ['record'], description: 'Per minute.' }),
];
export const GAUGES: readonly Health[] = [
  health({
    key: 'source_lag_seconds',
    title: 'Lag of sources',
    by: ['pod', 'source'],
    unit: 's',
    description: 'Age of the newest event read while bytes are unread. Beyond a minute the boards show the past.',
  }),
  health({
    key: 'source_lag_bytes',
    title: 'Bytes not read yet',
    by: ['pod', 'source'],
    unit: 'bytes',
    description: 'A line that only climbs: more is written than one sidecar reads.',
  }),
  health({
    key: 'state_entries',
    title: 'Entries held',
    by: ['store'],
    description: 'Per store, all pods. Memory follows it.',
  }),
];
