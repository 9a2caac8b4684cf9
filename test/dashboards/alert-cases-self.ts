/** Cases of the alerts about Tailfin itself, and what a case is; the notation is explained in alert-cases.ts. */
export type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly alert: string;
  readonly series: Series;
  readonly labels: Readonly<Record<string, string>>;
  /** `$value`, as its function writes it. */
  readonly value: string;
  /** The condition holds, but not for long enough. */
  readonly notBefore: number;
  readonly fires: number;
  readonly resolved: number;
  readonly quiet: { readonly why: string; readonly series: Series; readonly at: readonly number[] };
}

const own = (metric: string, labels: string, pod = 'a'): string =>
  `tailfin_${metric}{job="tailfin", namespace="shop", pod="${pod}", instance="${pod}:19640", ${labels}}`;
const AT_POD = { namespace: 'shop', pod: 'a', instance: 'a:19640' };
/** Outside of Kubernetes: an address is all that a target has. */
const bare = (metric: string, labels: string, instance: string): string =>
  `tailfin_${metric}{job="tailfin", instance="${instance}", ${labels}}`;

export const SELF_CASES: readonly AlertCase[] = [
  {
    alert: 'TailfinDown',
    series: {
      'up{job="tailfin", namespace="shop", pod="a", instance="10.0.0.1:19640"}': '1x10 0x20 1x60',
      'up{job="tailfin", namespace="shop", pod="b", instance="10.0.0.2:19640"}': '1x90',
    },
    labels: { ...AT_POD, severity: 'warning', job: 'tailfin', instance: '10.0.0.1:19640' },
    value: '0',
    notBefore: 14,
    fires: 18,
    resolved: 35,
    quiet: {
      why: 'something else is down',
      series: { 'up{job="other", instance="10.0.0.3:80"}': '0x90' },
      at: [20, 60],
    },
  },
  {
    alert: 'TailfinAbsent',
    series: { 'up{job="tailfin", namespace="shop", pod="a", instance="10.0.0.1:19640"}': '_x30 1x60' },
    labels: { severity: 'warning', job: 'tailfin' },
    value: '1',
    notBefore: 8,
    fires: 15,
    resolved: 35,
    quiet: {
      why: 'one of two pods is left',
      series: {
        'up{job="tailfin", namespace="shop", pod="a", instance="10.0.0.1:19640"}': '1x90',
        'up{job="tailfin", namespace="shop", pod="b", instance="10.0.0.2:19640"}': '1x10 _x80',
      },
      at: [30, 80],
    },
  },
  {
    alert: 'TailfinSourceLost',
    series: {
      [own('source_up', 'source="files"')]: '1x10 0x20 1x60',
      [own('source_up', 'source="files"', 'b')]: '1x90',
    },
    labels: { ...AT_POD, severity: 'warning', source: 'files' },
    value: '0',
    notBefore: 14,
    fires: 18,
    resolved: 35,
    quiet: {
      why: 'back within 5 minutes',
      series: { [own('source_up', 'source="files"')]: '1x10 0x3 1x60' },
      at: [12, 20, 40],
    },
  },
  {
    alert: 'TailfinSourceFault',
    // Two sidecars without a pod, and one of them has the fault.
    series: {
      [bare('source_faults_total', 'source="files"', 'host-a:19640')]: '0x10 2x100',
      [bare('source_faults_total', 'source="files"', 'host-b:19640')]: '7x110',
    },
    labels: { severity: 'warning', source: 'files', instance: 'host-a:19640' },
    value: '2',
    notBefore: 14,
    fires: 18,
    resolved: 80,
    quiet: {
      why: 'over long ago, and a restart that sees the same file again at its start',
      series: {
        [own('source_faults_total', 'source="files"')]: '1x110',
        [own('source_faults_total', 'source="files"', 'b')]: '_x50 1x60',
      },
      at: [20, 60, 80],
    },
  },
  {
    alert: 'TailfinSourceLagging',
    series: { [own('source_lag_seconds', 'source="files"')]: '0x10 90x30 0x60' },
    labels: { ...AT_POD, severity: 'warning', source: 'files' },
    value: '1m 30s',
    notBefore: 18,
    fires: 23,
    resolved: 60,
    quiet: {
      why: 'a minute behind, or a short burst',
      series: {
        [own('source_lag_seconds', 'source="files"')]: '0x10 60x60',
        [own('source_lag_seconds', 'source="files"', 'b')]: '0x10 300x8 0x60',
      },
      at: [18, 23, 60],
    },
  },
  {
    alert: 'TailfinMissingEvents',
    series: {
      [own('events_missing_total', 'source="files"')]: '0x10 3x90',
      // It had lost some before it restarted: not again.
      [own('events_missing_total', 'source="files"', 'c')]: '9x8 0x92',
    },
    labels: { ...AT_POD, severity: 'warning' },
    value: '3',
    notBefore: 14,
    fires: 18,
    resolved: 30,
    quiet: { why: 'none', series: { [own('events_missing_total', 'source="files"')]: '4x100' }, at: [20, 60] },
  },
  {
    alert: 'TailfinRejectedEvents',
    series: { [own('events_rejected_total', 'source="files", reason="not_json"')]: '0x10 12x90' },
    labels: { ...AT_POD, severity: 'warning', reason: 'not_json' },
    value: '12',
    notBefore: 14,
    fires: 18,
    resolved: 30,
    quiet: {
      why: 'duplicates only, and ten of another kind',
      series: {
        [own('events_rejected_total', 'source="files", reason="duplicate"')]: '0+10x90',
        [own('events_rejected_total', 'source="otlp", reason="not_mcp"')]: '0+10x90',
        [own('events_rejected_total', 'source="otlp", reason="not_client"')]: '0+10x90',
        [own('events_rejected_total', 'source="otlp", reason="not_event"')]: '0+10x90',
        [own('events_rejected_total', 'source="files", reason="bad_field"')]: '0x10 10x80',
      },
      at: [14, 18, 60],
    },
  },
  {
    alert: 'TailfinLabelOverflow',
    series: { [own('label_overflow_total', 'label="endpoint"')]: '0x10 4x100' },
    labels: { ...AT_POD, severity: 'info', label: 'endpoint' },
    value: '4',
    notBefore: 14,
    fires: 18,
    resolved: 80,
    quiet: {
      why: 'over long ago',
      series: { [own('label_overflow_total', 'label="endpoint"')]: '4x100' },
      at: [20, 80],
    },
  },
  {
    alert: 'TailfinCheckpointFailing',
    series: { [own('checkpoint_failures_total', 'reason="no_space"')]: '0x10 3x100' },
    labels: { ...AT_POD, severity: 'warning', reason: 'no_space' },
    value: '3',
    notBefore: 14,
    fires: 18,
    resolved: 40,
    quiet: {
      why: 'over long ago',
      series: { [own('checkpoint_failures_total', 'reason="no_space"')]: '3x100' },
      at: [20, 80],
    },
  },
  {
    alert: 'TailfinStateEvictions',
    series: { [own('state_evictions_total', 'store="open_exchanges"')]: '0x10 2x100' },
    labels: { ...AT_POD, severity: 'warning', store: 'open_exchanges' },
    value: '2',
    notBefore: 14,
    fires: 18,
    resolved: 50,
    quiet: {
      why: 'over long ago',
      series: { [own('state_evictions_total', 'store="open_exchanges"')]: '2x100' },
      at: [20, 80],
    },
  },
];
