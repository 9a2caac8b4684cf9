/** Alerts about Tailfin itself: without them a quiet board is a lie. They name the pod, and use no recording rule. */
import { NO_FAULTS } from '../../src/core/model/event.ts';
import { FINDING_STORES } from '../../src/core/model/limits.ts';
import { sum } from '../queries.ts';
import { type Alert, type AlertContext, POD_AT } from './alert.ts';

/** The address too: outside of Kubernetes it is all that tells two sidecars apart. */
const POD = ['cluster', 'namespace', 'pod', 'instance'];

export function selfAlerts({ q, settings }: AlertContext): readonly Alert[] {
  const common = { severity: 'warning', board: 'tailfin', variables: ['namespace', 'pod'] } as const;
  return [
    {
      ...common,
      name: 'TailfinDown',
      expr: `${q.external('up')} == 0`,
      for: '5m',
      summary: 'A Tailfin sidecar cannot be scraped.',
      description: `${POD_AT.replace('pod', 'Pod')} has not answered for 5 minutes (up = {{ $value | humanize }}). Nothing is known of its host's calls. First look at the state of the container and its previous log.`,
    },
    {
      ...common,
      name: 'TailfinAbsent',
      expr: `absent(${q.external('up')})`,
      for: '10m',
      summary: 'Prometheus knows no Tailfin sidecar at all.',
      description:
        'No target of the job has been found for 10 minutes (absent = {{ $value | humanize }}). No other rule of Tailfin can fire. First look at Status > Service Discovery in Prometheus.',
      variables: [],
    },
    {
      ...common,
      name: 'TailfinSourceLost',
      expr: `min by (${[...POD, 'source'].join(', ')}) (${q.series('source_up')}) == 0`,
      for: '5m',
      summary: 'A Tailfin sidecar cannot reach what its host writes.',
      description: `The folders of source {{ $labels.source }} of ${POD_AT} cannot be listed for 5 minutes (up = {{ $value | humanize }}). Its totals stand still. First read the log of the sidecar: it names folder and reason.`,
    },
    {
      ...common,
      name: 'TailfinSourceFault',
      expr: `${sum([...POD, 'source'], q.increase('source_faults', '1h'))} > ${settings.source_faults}`,
      for: '5m',
      summary: 'A Tailfin sidecar cannot read one of the files that its host writes.',
      description: `About {{ $value | humanize }} times in an hour something of source {{ $labels.source }} of ${POD_AT} became unreadable; the other files go on. What is in it is in no total. First read the log of the sidecar: it names file and reason.`,
    },
    {
      ...common,
      name: 'TailfinSourceLagging',
      expr: `max by (${[...POD, 'source'].join(', ')}) (${q.series('source_lag_seconds')}) > ${settings.source_lag_seconds}`,
      for: '10m',
      keepFiringFor: settings.keep_firing_for,
      summary: 'A Tailfin sidecar shows the past.',
      description: `Source {{ $labels.source }} of ${POD_AT} is {{ $value | humanizeDuration }} behind. First look whether its log names a file that it cannot read, then whether its CPU is limited.`,
    },
    {
      ...common,
      name: 'TailfinMissingEvents',
      expr: `${sum(POD, q.increase('events_missing', '10m'))} > ${settings.missing_events}`,
      for: '5m',
      summary: 'Events were written and never reached Tailfin.',
      description: `About {{ $value | humanize }} events of ${POD_AT} were lost in 10 minutes. All of its totals are short by what they would have said. First look at the rotation of its files and at the volume.`,
    },
    {
      ...common,
      name: 'TailfinRejectedEvents',
      expr: `${sum([...POD, 'reason'], q.increase('events_rejected', '10m', { reason: { not: NO_FAULTS } }))} > ${settings.rejected_events}`,
      for: '5m',
      summary: 'Tailfin refuses lines that its host writes.',
      description: `About {{ $value | humanize }} lines of ${POD_AT} were refused in 10 minutes: {{ $labels.reason }}. First compare the versions of writer and sidecar; tailfin replay on the file names line and field.`,
    },
    {
      ...common,
      name: 'TailfinLabelOverflow',
      expr: `${sum([...POD, 'label'], q.increase('label_overflow', '1h'))} > ${settings.overflow_samples}`,
      for: '5m',
      severity: 'info',
      summary: 'More servers, endpoints or series than Tailfin names.',
      description: `About {{ $value | humanize }} samples of ${POD_AT} went to _other in an hour ({{ $labels.label }}). Totals are right, names are lost. First join names with servers.NAME.match.`,
    },
    {
      ...common,
      name: 'TailfinCheckpointFailing',
      expr: `${sum([...POD, 'reason'], q.increase('checkpoint_failures', '15m'))} > ${settings.checkpoint_failures}`,
      for: '5m',
      summary: 'A Tailfin sidecar cannot store its checkpoints.',
      description: `About {{ $value | humanize }} checkpoints of ${POD_AT} failed in 15 minutes: {{ $labels.reason }}. Numbers are right until it is killed; then it must read everything again. First look at the state volume: room, and who may write.`,
    },
    {
      ...common,
      name: 'TailfinStateEvictions',
      expr: `${sum([...POD, 'store'], q.increase('state_evictions', '30m', { store: { not: FINDING_STORES } }))} > ${settings.evictions}`,
      for: '5m',
      summary: 'A store of Tailfin is full: totals may be short.',
      description: `About {{ $value | humanize }} entries of store {{ $labels.store }} of ${POD_AT} were given up in 30 minutes. First look whether exchanges stay open for ever, then at the traffic of this host.`,
    },
  ];
}
