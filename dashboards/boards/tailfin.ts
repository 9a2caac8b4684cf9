/**
 * Tailfin itself: can the other boards be believed. One line per metric of our own health: a new one in the catalog is a line in
 * COUNTED or SHOWN.
 */
import type { MetricKey } from '../../src/core/measures/catalog.ts';
import type { Board } from '../board.ts';
import { NONE_ALLOWED } from '../look.ts';
import type { LinesPanel, StatPanel } from '../panel.ts';
import { type LabelName, perMinute, type Queries, sum } from '../queries.ts';

const RATE = '$__rate_interval';
const RANGE = '$__range';

interface Health<K extends MetricKey = MetricKey> {
  readonly key: K;
  readonly title: string;
  readonly description: string;
  readonly by: readonly ('pod' | LabelName<K>)[];
  readonly unit?: string;
}
const health = <K extends MetricKey>(each: Health<K>): Health => each as unknown as Health;

/** Counters whose every step makes a total wrong, or says that one may be. */
const COUNTED: readonly Health[] = [
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
const FILES: readonly Health[] = [
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
const FILE_GAUGES: readonly Health[] = [
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
const CHECKPOINTS: readonly Health[] = [
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
const CHECKPOINT_GAUGES: readonly Health[] = [
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
/** What is neither good nor bad by itself. */
const SHOWN: readonly Health[] = [
  health({
    key: 'events',
    title: 'Events read',
    by: ['type'],
    description: 'Per minute. 0 while the hosts work: the tap is not attached, or the wrong folder is read.',
  }),
  health({ key: 'evidence_records', title: 'Evidence made', by: ['record'], description: 'Per minute.' }),
];
const GAUGES: readonly Health[] = [
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

export function tailfinBoard(q: Queries): Board {
  const legend = ({ by }: Health): string => by.map((label) => `{{${label}}}`).join(' ');
  const noValue = 'none yet';
  const counter = (each: Health, width: number): LinesPanel => ({
    kind: 'lines',
    ...{ title: each.title, description: each.description, unit: each.unit ?? 'cpm', width, noValue },
    targets: [{ expr: perMinute(sum(each.by, q.rate(each.key, RATE))), legend: legend(each) }],
  });
  const gauge = (each: Health, width: number): LinesPanel => ({
    kind: 'lines',
    ...{ title: each.title, description: each.description, unit: each.unit ?? 'short', width, noValue },
    targets: [{ expr: sum(each.by, q.series(each.key)), legend: legend(each) }],
  });
  const total = (title: string, key: MetricKey, description: string): StatPanel => ({
    kind: 'stat',
    ...{ title, description, unit: 'short', decimals: 0, width: 4, height: 4, noValue: 'none yet' },
    targets: [{ expr: sum([], q.increase(key, RANGE)), legend: title }],
    steps: NONE_ALLOWED,
  });
  const process = (title: string, expr: string, unit: string, description: string): LinesPanel => ({
    kind: 'lines',
    ...{ title, description, unit, width: 8, noValue: 'no sidecars' },
    targets: [{ expr, legend: '{{pod}}' }],
  });
  const [lag, ...otherGauges] = GAUGES as [Health, ...Health[]];
  return {
    key: 'tailfin',
    description:
      'Whether the other boards can be believed. A quiet board means nothing while Tailfin is down, behind, or losing events.',
    rows: [
      {
        title: null,
        panels: [
          {
            kind: 'stat',
            title: 'Sidecars that answer',
            description: 'Of those that Prometheus knows. Fewer than your pods: the scrape does not find them.',
            unit: 'percentunit',
            decimals: 0,
            width: 4,
            height: 4,
            noValue: 'none known',
            targets: [{ expr: `avg(${q.external('up')})`, legend: 'up' }],
            steps: ['red', [0.999, 'green']],
          },
          {
            kind: 'stat',
            title: 'Sources that can be read',
            description: 'Below 100 %: what the hosts write is not read.',
            unit: 'percentunit',
            decimals: 0,
            width: 4,
            height: 4,
            noValue: 'no sources',
            targets: [{ expr: `avg(${q.series('source_up')})`, legend: 'up' }],
            steps: ['red', [0.999, 'green']],
          },
          total('Events missing, in all', 'events_missing', 'In the time range. More than 0: every total is short.'),
          total('Lines rejected, in all', 'events_rejected', 'In the time range, by whatever reason.'),
          total('Entries given up', 'state_evictions', 'In the time range, by full stores.'),
          total('Folded into _other', 'label_overflow', 'In the time range: samples whose name was past the budget.'),
          counter(SHOWN[0] as Health, 12),
          gauge(lag, 12),
        ],
      },
      { title: 'What makes totals wrong', panels: COUNTED.slice(0, 6).map((each) => counter(each, 8)) },
      {
        title: 'Memory and time',
        panels: [
          process(
            'Memory',
            q.external('memory'),
            'bytes',
            'Resident, per sidecar. Compare with the limit of the container.',
          ),
          process('CPU', `rate(${q.external('cpu')}[${RATE}])`, 'percentunit', 'Of one core.'),
          process(
            'Delay of the event loop, 99th percentile',
            q.external('loop_delay'),
            's',
            'Scrapes and reads wait as long as this.',
          ),
        ],
      },
      {
        title: 'Files',
        collapsed: true,
        panels: [...FILES.map((each) => counter(each, 8)), ...FILE_GAUGES.map((each) => gauge(each, 6))],
      },
      {
        title: 'Checkpoints',
        collapsed: true,
        panels: [...CHECKPOINTS.map((each) => counter(each, 8)), ...CHECKPOINT_GAUGES.map((each) => gauge(each, 12))],
      },
      {
        title: 'Stores, labels, evidence, versions',
        collapsed: true,
        panels: [
          ...COUNTED.slice(6).map((each) => counter(each, 8)),
          ...otherGauges.map((each) => gauge(each, 8)),
          ...SHOWN.slice(1).map((each) => counter(each, 8)),
          {
            kind: 'table',
            title: 'Versions',
            description: 'What runs where.',
            unit: 'short',
            width: 16,
            noValue: 'none',
            rows: { namespace: 'Namespace', pod: 'Pod', version: 'Tailfin', node: 'Node' },
            columns: [
              {
                title: 'Sidecars',
                expr: sum(['namespace', 'pod', 'version', 'node'], q.series('build_info')),
                unit: 'short',
                decimals: 0,
              },
            ],
          },
        ],
      },
    ],
  };
}
