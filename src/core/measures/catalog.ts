/**
 * Every metric Tailfin exposes: one table from which the registry, the types of `cells.add`, docs/metrics.md, zero values and
 * the dashboards derive. It is long because it is whole: a metric is looked for here and nowhere else. Names are the contract (design section 7): add rows, never rename without a [CHANGE] in the CHANGELOG.
 */
import { RULES, UNDELIVERED } from '../detectors/rules.ts';
import { REJECTIONS } from '../model/event.ts';
import { EVENT_TYPES } from '../model/fields.ts';
import {
  EDGE_ENDPOINTS,
  EDGE_OUTCOMES,
  ERROR_TYPES,
  FAILURE_CLASSES,
  HINTS,
  NEXT_ACTIONS,
  RESULTS,
  SAFETIES,
} from '../model/operation.ts';
import { CAUSES, CUTS, OUTCOMES, REGIMES, REQUEST_STATES, SIDES, STAGES, STREAMS } from '../model/verdict.ts';
import { METHODS } from '../protocol/methods.ts';
import { VERSIONS } from '../protocol/revisions.ts';
import { MEANINGS } from '../protocol/status.ts';
import { type Domain, ENDPOINT, NAME, SERVER, SIZE_CLASSES } from './domains.ts';

export interface MetricSpec {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly unit: 'exchanges' | 'operations' | 'bytes' | 'seconds' | 'events' | 'entries' | 'samples' | 'none';
  readonly help: string;
  /** Label names and domains, in the order in which `cells.add` takes the values. */
  readonly labels: readonly (readonly [name: string, domain: Domain])[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /**
   * Which series show the trace of their newest sample (an OpenMetrics exemplar): those whose samples somebody will want to look
   * into, so all but some values of a label. Absent: none.
   */
  readonly exemplars?: 'all' | { readonly label: string; readonly except: readonly string[] };
  /** The dashboard that shows it. */
  readonly board: 'hidden' | 'streams' | 'retries' | 'parsing' | 'protocol' | 'tailfin';
}

const server = ['server', SERVER] as const;
const version = ['protocol_version', VERSIONS] as const;
const of = ['of', ['arguments', 'result', 'message']] as const;
const size = ['size_class', SIZE_CLASSES] as const;
const outcome = ['outcome', OUTCOMES] as const;
const source = ['source', NAME] as const;
const otlpSignal = ['signal', ['metrics', 'traces', 'logs']] as const;
/** A series that is not there yet looks like one that never will be: HELP says when and why (docs/decisions/0005). */
const LATE =
  'Appears late: counted when nothing can change it any more, 30 s after a delivery, 600 s after a failure (retries for 120 s, then late settle and parse lines).';

const LATE_TREND =
  'A failure of unknown length appears late, when its operation is over: a retry may tell the length, up to 600 s later.';

/** OTel semantic conventions, mcp.client.operation.duration. */
const DURATION_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;
const BYTE_BUCKETS = [1024, 4096, 8192, 16384, 32768, 65536, 131072, 1048576, 8388608] as const;

export const CATALOG = {
  stream_closes: {
    name: 'tailfin_stream_closes_total',
    kind: 'counter',
    unit: 'exchanges',
    help: 'Response, listen and standalone streams that had a response head and ended, by verdict. A stream that a resume may still complete appears late, when it is resolved or 60 s have passed.',
    labels: [server, version, ['stream', STREAMS], outcome, ['regime', REGIMES], ['cause', CAUSES], ['cut', CUTS]],
    exemplars: { label: 'outcome', except: ['clean'] },
    board: 'streams',
  },
  exchange_failures: {
    name: 'tailfin_exchange_failures_total',
    kind: 'counter',
    unit: 'exchanges',
    help: 'Abandoned exchanges by the stage they had reached, with or without a response head.',
    labels: [server, version, ['stage', STAGES], ['by', SIDES], ['request', REQUEST_STATES]],
    exemplars: 'all',
    board: 'streams',
  },
  operations: {
    name: 'tailfin_operations_total',
    kind: 'counter',
    unit: 'operations',
    help: `JSON-RPC requests as the host meant them, whatever number of attempts they took. ${LATE}`,
    labels: [server, version, ['method', METHODS], ['result', RESULTS]],
    exemplars: { label: 'result', except: ['first_try'] },
    board: 'hidden',
  },
  retries: {
    name: 'tailfin_retries_total',
    kind: 'counter',
    unit: 'operations',
    help: `Retries: one per failed attempt that was followed by another. ${LATE}`,
    labels: [
      server,
      version,
      ['after', FAILURE_CLASSES],
      ['endpoint', EDGE_ENDPOINTS],
      ['outcome', EDGE_OUTCOMES],
      ['safety', SAFETIES],
    ],
    exemplars: 'all',
    board: 'retries',
  },
  next_actions: {
    name: 'tailfin_next_actions_total',
    kind: 'counter',
    unit: 'operations',
    help: `What the evidence allows next, once per operation that was retried or ended undelivered. ${LATE}`,
    labels: [server, version, ['next_action', NEXT_ACTIONS]],
    board: 'retries',
  },
  uncertain_writes: {
    name: 'tailfin_uncertain_writes_total',
    kind: 'counter',
    unit: 'operations',
    help: `Operations that may have changed something without proof of their outcome. hint="declared": the tool only claims to be read-only or idempotent. ${LATE}`,
    labels: [server, version, ['hint', HINTS]],
    exemplars: 'all',
    board: 'hidden',
  },
  parse_attempts: {
    name: 'tailfin_parse_attempts_total',
    kind: 'counter',
    unit: 'events',
    help: 'Payloads that the host parsed, by result and by size class of the full length where known, else of the bytes given.',
    labels: [server, of, ['result', ['ok', 'cut', 'malformed']], size],
    exemplars: { label: 'result', except: ['ok'] },
    board: 'parsing',
  },
  parse_bytes: {
    name: 'tailfin_parse_bytes_total',
    kind: 'counter',
    unit: 'bytes',
    help: 'Bytes given to parsers.',
    labels: [server, of, ['result', ['ok', 'cut', 'malformed']]],
    board: 'parsing',
  },
  trend_samples: {
    name: 'tailfin_length_trend_samples_total',
    kind: 'counter',
    unit: 'samples',
    help: `Parse attempts of known full length: with the two sums beside it they give Pearson's r between log2(length) and failure, across pods. ${LATE_TREND}`,
    labels: [server, of, ['result', ['ok', 'failed']]],
    board: 'parsing',
  },
  trend_log2: {
    name: 'tailfin_length_trend_log2_bytes_total',
    kind: 'counter',
    unit: 'none',
    help: `Sum of log2(full length in bytes) over the samples. ${LATE_TREND}`,
    labels: [server, of, ['result', ['ok', 'failed']]],
    board: 'parsing',
  },
  trend_log2_squared: {
    name: 'tailfin_length_trend_log2_bytes_squared_total',
    kind: 'counter',
    unit: 'none',
    help: `Sum of log2(full length in bytes) squared over the samples. ${LATE_TREND}`,
    labels: [server, of, ['result', ['ok', 'failed']]],
    board: 'parsing',
  },
  trend_unknown: {
    name: 'tailfin_length_trend_unknown_total',
    kind: 'counter',
    unit: 'samples',
    help: `Parse failures whose full length never became known: they are no samples of the trend. ${LATE_TREND}`,
    labels: [server, of],
    board: 'parsing',
  },
  status_meaning: {
    name: 'tailfin_status_meaning_total',
    kind: 'counter',
    unit: 'exchanges',
    help: 'Answers other than a plain 2xx, by what they mean in their protocol revision.',
    labels: [server, version, ['status', NAME], ['meaning', MEANINGS]],
    board: 'protocol',
  },
  findings: {
    name: 'tailfin_findings_total',
    kind: 'counter',
    unit: 'events',
    help: 'Findings by rule (docs/findings.md). Those about one exchange appear at its close; those about an operation appear late, with it: 30 s after a delivery, 600 s after a failure.',
    labels: [server, ['rule', RULES]],
    exemplars: 'all',
    board: 'protocol',
  },
  undelivered: {
    name: 'tailfin_undelivered_total',
    kind: 'counter',
    unit: 'operations',
    help: 'Operations whose caller was never told, or was told the wrong thing.',
    labels: [server, ['signal', UNDELIVERED]],
    exemplars: 'all',
    board: 'hidden',
  },
  collateral_failures: {
    name: 'tailfin_collateral_failures_total',
    kind: 'counter',
    unit: 'exchanges',
    help: 'Calls that failed because another call of the same client broke.',
    labels: [server, ['kind', ['sibling', 'closed_client']]],
    exemplars: 'all',
    board: 'hidden',
  },
  endpoint_closes: {
    name: 'tailfin_endpoint_closes_total',
    kind: 'counter',
    unit: 'exchanges',
    help: 'Judged exchanges by the endpoint that served them, with or without a response head.',
    labels: [server, ['endpoint', ENDPOINT], outcome],
    board: 'streams',
  },
  exchanges_expired: {
    name: 'tailfin_exchanges_expired_total',
    kind: 'counter',
    unit: 'exchanges',
    help: 'Exchanges that never closed: no verdict. Appears late, since an end may still come: ttl after 15 min without a line (listen and standalone 24 h); writer_gone: their writer started afresh.',
    labels: [server, ['reason', ['ttl', 'writer_gone']]],
    board: 'tailfin',
  },
  whatif_sentinel: {
    name: 'tailfin_whatif_sentinel_total',
    kind: 'counter',
    unit: 'exchanges',
    help: `Ambiguous closes without evidence, had the server been held to a terminal message: those later shown to be complete would have been rejected. ${LATE}`,
    labels: [server, ['result', ['would_reject_complete', 'would_resolve']], size],
    board: 'protocol',
  },
  stream_regime: {
    name: 'tailfin_stream_regime',
    kind: 'gauge',
    unit: 'none',
    help: 'Regime of a server with a known contract: A terminal message mandated, B self-delimiting, C neither (a configuration error to fix before it fails).',
    labels: [server, ['regime', ['A', 'B', 'C']]],
    board: 'hidden',
  },
  stream_bytes: {
    name: 'tailfin_stream_bytes',
    kind: 'histogram',
    unit: 'bytes',
    help: 'Body bytes of ended streams, by outcome.',
    labels: [server, outcome],
    buckets: BYTE_BUCKETS,
    board: 'streams',
  },
  streams_open: {
    name: 'tailfin_streams_open',
    kind: 'gauge',
    unit: 'exchanges',
    help: 'Exchanges with an open line and no close line yet.',
    labels: [server, ['stream', STREAMS]],
    board: 'streams',
  },
  operation_duration: {
    name: 'mcp_client_operation_duration_seconds',
    kind: 'histogram',
    unit: 'seconds',
    help: `Duration of operations from the first open to the end (OpenTelemetry MCP conventions). error_type is empty when fine. ${LATE}`,
    labels: [['mcp_method_name', METHODS], ['mcp_protocol_version', VERSIONS], ['error_type', ERROR_TYPES], server],
    buckets: DURATION_BUCKETS,
    exemplars: 'all',
    board: 'hidden',
  },
  events: {
    name: 'tailfin_events_total',
    kind: 'counter',
    unit: 'events',
    help: 'Accepted lines.',
    labels: [source, ['type', Object.keys(EVENT_TYPES) as (keyof typeof EVENT_TYPES)[]]],
    board: 'tailfin',
  },
  events_rejected: {
    name: 'tailfin_events_rejected_total',
    kind: 'counter',
    unit: 'events',
    help: 'Lines that were not accepted, by reason.',
    labels: [source, ['reason', REJECTIONS]],
    board: 'tailfin',
  },
  events_late: {
    name: 'tailfin_events_late_total',
    kind: 'counter',
    unit: 'events',
    help: 'Accepted lines for an exchange that had been judged or given up: counted, nothing else.',
    labels: [source],
    board: 'tailfin',
  },
  events_invalid_utf8: {
    name: 'tailfin_events_invalid_utf8_total',
    kind: 'counter',
    unit: 'events',
    help: 'Lines with bytes that are no UTF-8 (read as U+FFFD).',
    labels: [source],
    board: 'tailfin',
  },
  events_missing: {
    name: 'tailfin_events_missing_total',
    kind: 'counter',
    unit: 'events',
    help: 'Events that were written and never arrived: holes in seq (after 30 s) and what writers say they dropped.',
    labels: [source],
    board: 'tailfin',
  },
  writers_unclean: {
    name: 'tailfin_writers_unclean_total',
    kind: 'counter',
    unit: 'events',
    help: 'Writers of segment files that ended without their end line (a host that was killed): up to 100 ms of its last lines may be missing. Counted after 10 min of watching the file without a sign of life, or when the same writer begins anew.',
    labels: [source],
    board: 'tailfin',
  },
  source_up: {
    name: 'tailfin_source_up',
    kind: 'gauge',
    unit: 'none',
    help: '1 while the source is where its input comes from: for files, every folder of `events` exists and can be listed (that no file is there yet, or that one cannot be read, is no reason for 0).',
    labels: [source],
    board: 'tailfin',
  },
  source_faults: {
    name: 'tailfin_source_faults_total',
    kind: 'counter',
    unit: 'events',
    help: 'Times that something became unreadable (one for each file and reason; it is tried again for ever).',
    labels: [source],
    board: 'tailfin',
  },
  source_lag_bytes: {
    name: 'tailfin_source_lag_bytes',
    kind: 'gauge',
    unit: 'bytes',
    help: 'Bytes that the source has not read yet.',
    labels: [source],
    board: 'tailfin',
  },
  source_lag_seconds: {
    name: 'tailfin_source_lag_seconds',
    kind: 'gauge',
    unit: 'seconds',
    help: 'Age of the newest event read while bytes are unread, else 0.',
    labels: [source],
    board: 'tailfin',
  },
  source_unread_rotated_bytes: {
    name: 'tailfin_source_unread_rotated_bytes',
    kind: 'gauge',
    unit: 'bytes',
    help: 'The part of tailfin_source_lag_bytes in files that were renamed or removed: lost should the sidecar stop now.',
    labels: [source],
    board: 'tailfin',
  },
  source_backlog_ratio: {
    name: 'tailfin_source_backlog_ratio',
    kind: 'gauge',
    unit: 'none',
    help: 'What was read, 0 to 1, of the bytes that were there unread at start.',
    labels: [source],
    board: 'tailfin',
  },
  source_open_files: {
    name: 'tailfin_source_open_files',
    kind: 'gauge',
    unit: 'none',
    help: 'Files that the source holds open, 256 at most.',
    labels: [source],
    board: 'tailfin',
  },
  source_files: {
    name: 'tailfin_source_files',
    kind: 'gauge',
    unit: 'none',
    help: 'Files that the source knows of.',
    labels: [source],
    board: 'tailfin',
  },
  source_read_bytes: {
    name: 'tailfin_source_read_bytes_total',
    kind: 'counter',
    unit: 'bytes',
    help: 'Bytes read of event files.',
    labels: [source],
    board: 'tailfin',
  },
  source_truncations: {
    name: 'tailfin_source_truncations_total',
    kind: 'counter',
    unit: 'events',
    help: 'Files that were truncated or rewritten in place, and read again from their start.',
    labels: [source],
    board: 'tailfin',
  },
  source_lost_bytes: {
    name: 'tailfin_source_lost_bytes_total',
    kind: 'counter',
    unit: 'bytes',
    help: 'Bytes that were there and are gone unread, at least: truncated, or rotated away (removed, or moved out of the folder while nothing held the file open).',
    labels: [source, ['reason', ['rotated', 'truncated']]],
    board: 'tailfin',
  },
  source_cleaned_lines: {
    name: 'tailfin_source_cleaned_lines_total',
    kind: 'counter',
    unit: 'events',
    help: 'Lines around which something was dropped: byte order mark, CR, a run of NUL bytes; and blank lines.',
    labels: [source, ['what', ['blank', 'bom', 'crlf', 'nul_run']]],
    board: 'tailfin',
  },
  source_copies: {
    name: 'tailfin_source_copies_total',
    kind: 'counter',
    unit: 'events',
    help: 'Files that were not read because they are copies of a segment that is read.',
    labels: [source],
    board: 'tailfin',
  },
  source_removed_segments: {
    name: 'tailfin_source_removed_segments_total',
    kind: 'counter',
    unit: 'events',
    help: 'Segments of a tap that were removed after they had been read (remove_read_segments).',
    labels: [source],
    board: 'tailfin',
  },
  state_entries: {
    name: 'tailfin_state_entries',
    kind: 'gauge',
    unit: 'entries',
    help: 'Entries held per store.',
    labels: [['store', NAME]],
    board: 'tailfin',
  },
  state_evictions: {
    name: 'tailfin_state_evictions_total',
    kind: 'counter',
    unit: 'entries',
    help: 'Entries that a full store gave up: totals may be short from here on.',
    labels: [['store', NAME]],
    board: 'tailfin',
  },
  label_overflow: {
    name: 'tailfin_label_overflow_total',
    kind: 'counter',
    unit: 'events',
    help: 'Samples whose label value became _other because its budget is spent.',
    labels: [['label', ['server', 'endpoint', 'series']]],
    board: 'tailfin',
  },
  evidence_records: {
    name: 'tailfin_evidence_records_total',
    kind: 'counter',
    unit: 'events',
    help: 'Evidence records made: kept for /api/evidence (the last 500) and handed to evidence.file where it is set.',
    labels: [['record', ['verdict', 'operation', 'finding']]],
    board: 'tailfin',
  },
  evidence_suppressed: {
    name: 'tailfin_evidence_suppressed_total',
    kind: 'counter',
    unit: 'events',
    help: 'Evidence that was left out. rate_limit: never made; slow_reader, write_failed: made and in /api/evidence, but not in the output.',
    labels: [['reason', ['rate_limit', 'slow_reader', 'write_failed']]],
    board: 'tailfin',
  },
  checkpoint_commits: {
    name: 'tailfin_checkpoint_commits_total',
    kind: 'counter',
    unit: 'events',
    help: 'Checkpoints that are on the disk, since this process started. Absent without state_dir.',
    labels: [],
    board: 'tailfin',
  },
  checkpoint_failures: {
    name: 'tailfin_checkpoint_failures_total',
    kind: 'counter',
    unit: 'events',
    help: 'Checkpoints that could not be written, since this process started. While they fail, a crash makes /metrics answer 503 until everything is read again.',
    labels: [['reason', ['no_space', 'permission', 'io', 'slow', 'internal']]],
    board: 'tailfin',
  },
  checkpoint_restores: {
    name: 'tailfin_checkpoint_restores_total',
    kind: 'counter',
    unit: 'events',
    help: 'What this process went on from. restored: the last checkpoint. behind: one that is older than what was shown. none: the first start. unusable: there was one, and the log says what is wrong with it.',
    labels: [['result', ['restored', 'behind', 'none', 'unusable']]],
    board: 'tailfin',
  },
  checkpoint_age: {
    name: 'tailfin_checkpoint_age_seconds',
    kind: 'gauge',
    unit: 'seconds',
    help: 'Time since the last checkpoint of this process was taken. It grows while nothing happens, and where checkpoints fail.',
    labels: [],
    board: 'tailfin',
  },
  checkpoint_bytes: {
    name: 'tailfin_checkpoint_bytes',
    kind: 'gauge',
    unit: 'bytes',
    help: 'Size of the last checkpoint.',
    labels: [],
    board: 'tailfin',
  },
  otlp_exports: {
    name: 'tailfin_otlp_exports_total',
    kind: 'counter',
    unit: 'events',
    help: 'Exports by OTLP as they ended. ok; partial: the backend took some of it; refused: it never will take it; failed: it could not be reached or was busy, and all of it is sent again. Absent without an endpoint.',
    labels: [otlpSignal, ['result', ['ok', 'partial', 'refused', 'failed']]],
    board: 'tailfin',
  },
  otlp_retries: {
    name: 'tailfin_otlp_retries_total',
    kind: 'counter',
    unit: 'events',
    help: 'Requests by OTLP that repeated an earlier one of the same export.',
    labels: [otlpSignal],
    board: 'tailfin',
  },
  otlp_dropped: {
    name: 'tailfin_otlp_dropped_total',
    kind: 'counter',
    unit: 'entries',
    help: 'Spans, log records and data points that no backend will have. queue_full: made while too many waited; refused, partial: the backend did not take them. Numbers of a refused export of metrics are in the next one.',
    labels: [otlpSignal, ['reason', ['queue_full', 'refused', 'partial']]],
    board: 'tailfin',
  },
  otlp_queue_entries: {
    name: 'tailfin_otlp_queue_entries',
    kind: 'gauge',
    unit: 'entries',
    help: 'Spans and log records that wait to be exported by OTLP.',
    labels: [['signal', ['traces', 'logs']]],
    board: 'tailfin',
  },
  build_info: {
    name: 'tailfin_build_info',
    kind: 'gauge',
    unit: 'none',
    help: 'Always 1; the version that runs.',
    labels: [
      ['version', NAME],
      ['node', NAME],
    ],
    board: 'tailfin',
  },
} as const satisfies Record<string, MetricSpec>;

export type MetricKey = keyof typeof CATALOG;

type ValueOf<D> = D extends readonly (infer W)[] ? W : string;
type Values<L extends readonly (readonly [string, Domain])[]> = { readonly [I in keyof L]: ValueOf<L[I][1]> };
/** Label values of a metric, in catalog order: a value outside a closed set is a compile error. */
export type LabelValues<K extends MetricKey> = Values<(typeof CATALOG)[K]['labels']>;
