/** Tailfin itself: can the other boards be believed. Its metrics stand in tailfin-health.ts. */
import { CATALOG } from '../../src/core/measures/catalog.ts';
import { FINDING_STORES } from '../../src/core/model/limits.ts';
import type { Board } from '../board.ts';
import { NONE_ALLOWED, type Steps } from '../look.ts';
import type { LinesPanel, StatPanel } from '../panel.ts';
import { max, min, perMinute, type Queries, sum } from '../queries.ts';
import {
  CHECKPOINT_GAUGES,
  CHECKPOINTS,
  COUNTED,
  EXPORT_GAUGES,
  EXPORTS,
  FILE_GAUGES,
  FILES,
  GAUGES,
  type Health,
  SHOWN,
} from './tailfin-health.ts';

const RATE = '$__rate_interval';
const RANGE = '$__range';

export function tailfinBoard(q: Queries): Board {
  const legend = ({ by }: Health): string => by.map((label) => `{{${label}}}`).join(' ');
  const noValue = 'none yet';
  const counter = (each: Health, width: number): LinesPanel => ({
    kind: 'lines',
    ...{ title: each.title, description: each.description, unit: each.unit ?? 'cpm', width, noValue },
    targets: [{ expr: perMinute(sum(each.by, q.rate(each.key, RATE))), legend: legend(each) }],
  });
  /** Two pods of one name in two namespaces: sizes add up; of times the largest counts, of parts done the smallest. */
  const together = ({ key, by }: Health): string => {
    const { name, unit } = CATALOG[key];
    const join = unit === 'seconds' ? max : name.endsWith('_ratio') ? min : sum;
    return join(by, q.series(key));
  };
  const gauge = (each: Health, width: number): LinesPanel => ({
    kind: 'lines',
    ...{ title: each.title, description: each.description, unit: each.unit ?? 'short', width, noValue },
    targets: [{ expr: together(each), legend: legend(each) }],
  });
  const total = (title: string, increase: string, description: string, steps: Steps = NONE_ALLOWED): StatPanel => ({
    kind: 'stat',
    ...{ title, description, unit: 'locale', decimals: 0, width: 4, height: 4, noValue: 'none yet' },
    targets: [{ expr: sum([], increase), legend: title }],
    steps,
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
          total(
            'Events missing, in all',
            q.increase('events_missing', RANGE),
            'In the time range. More than 0: every total is short.',
          ),
          total(
            'Lines rejected, in all',
            q.increase('events_rejected', RANGE, { reason: { not: 'duplicate' } }),
            'In the time range, but for duplicates, which are harmless. What was in them is in no total.',
          ),
          total(
            'Entries given up',
            q.increase('state_evictions', RANGE, { store: { not: FINDING_STORES } }),
            'In the time range, by full stores: totals may be short. Not those of findings, which cost findings alone.',
          ),
          total(
            'Folded into _other',
            q.increase('label_overflow', RANGE),
            'In the time range: samples whose name was past the budget. Totals are right, names are lost.',
            ['green', [0.5, 'orange']],
          ),
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
        title: 'OTLP',
        collapsed: true,
        panels: [...EXPORTS.map((each) => counter(each, 8)), ...EXPORT_GAUGES.map((each) => gauge(each, 24))],
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
                unit: 'locale',
                decimals: 0,
              },
            ],
          },
        ],
      },
    ],
  };
}
