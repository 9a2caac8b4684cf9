/** What error rates hide: the error ratio that everybody watches, beside what it does not count. Each panel leads one board further down. */
import { UNDELIVERED } from '../../src/core/detectors/rules.ts';
import type { Board } from '../board.ts';
import { GOOD_BELOW, NONE_ALLOWED } from '../look.ts';
import { measures } from '../measures.ts';
import { LEVEL } from '../names.ts';
import { ENOUGH, max, perMinute, type Queries, shareOfEnough, sum } from '../queries.ts';
import { durationRow } from './durations.ts';

const RATE = '$__rate_interval';
const RANGE = '$__range';
/** Operations that failed are counted 10 minutes late: a shorter window would compare two different times. */
export const OPERATIONS_WINDOW = '30m';

export function hiddenBoard(q: Queries): Board {
  const m = measures(q);
  const bySize = (window: string, result?: 'bad') =>
    sum(
      ['size_class'],
      q.increase('parse_attempts', window, {
        of: ['result', 'message'],
        ...(result === undefined ? {} : { result: { not: 'ok' } }),
      }),
    );
  return {
    key: 'hidden',
    description:
      'Failures of MCP calls that no error rate counts. The first two numbers are the story: what a dashboard of call outcomes shows, and what it hides.',
    rows: [
      {
        title: null,
        panels: [
          {
            kind: 'stat',
            title: 'Error ratio as callers see it',
            description:
              'Operations that failed for their caller, of all operations in the time range. This is what dashboards of call outcomes count.',
            unit: 'percentunit',
            decimals: 2,
            width: 4,
            height: 5,
            noValue: 'no calls',
            targets: [{ expr: m.apparent([], RANGE), legend: 'apparent' }],
            steps: GOOD_BELOW(0.01, 0.05),
            to: 'retries',
          },
          {
            kind: 'stat',
            title: 'Failed, and nobody counted it',
            description:
              'Operations that failed at least once and were repeated until they worked, or whose unproven answer was taken for a success. Far above the number to its left: the error ratio cannot be trusted.',
            unit: 'percentunit',
            decimals: 2,
            width: 4,
            height: 5,
            noValue: 'no calls',
            targets: [{ expr: m.hidden([], RANGE), legend: 'hidden' }],
            steps: GOOD_BELOW(0.005, 0.02),
            to: 'retries',
          },
          {
            kind: 'stat',
            title: 'Streams that ended without proof',
            description:
              'Response streams that ended in an orderly way, with nothing that shows whether the answer was whole. Clients may have taken a part for all of it.',
            unit: 'percentunit',
            decimals: 2,
            width: 4,
            height: 5,
            noValue: 'no streams',
            targets: [{ expr: m.ambiguousShare([], RANGE), legend: 'ambiguous' }],
            steps: GOOD_BELOW(0.001, 0.01),
            to: 'streams',
          },
          {
            kind: 'stat',
            title: 'Masked by rotation',
            description:
              'Calls that failed on one endpoint and worked on another: the broken one goes on breaking calls, and no error shows it.',
            unit: 'locale',
            decimals: 0,
            width: 3,
            height: 5,
            noValue: 'no calls',
            targets: [{ expr: m.maskedCount([], RANGE), legend: 'masked_rotated' }],
            steps: NONE_ALLOWED,
            to: 'retries',
          },
          {
            kind: 'stat',
            title: 'Uncertain writes',
            description:
              'Calls that may have changed something, without proof whether they did. Confirm each at its destination; do not repeat it. `tailfin explain` names the calls.',
            unit: 'locale',
            decimals: 0,
            width: 3,
            height: 5,
            noValue: 'no calls',
            targets: [{ expr: sum([], q.increase('uncertain_writes', RANGE)), legend: 'uncertain writes' }],
            steps: NONE_ALLOWED,
            to: 'retries',
          },
          {
            kind: 'stat',
            title: 'Servers in regime C',
            description:
              'Servers whose contract mandates no terminal message and whose answers are not self-delimiting (regime C): an error of configuration. The table below names them.',
            unit: 'locale',
            decimals: 0,
            width: 3,
            height: 5,
            noValue: 'no contracts known',
            targets: [
              {
                expr: sum([], max([...LEVEL], q.series('stream_regime', { regime: 'C' }))),
                legend: 'servers in regime C',
              },
            ],
            steps: NONE_ALLOWED,
            to: 'protocol',
          },
          {
            kind: 'stat',
            title: 'Sidecars that answer',
            description:
              'Of those that Prometheus knows. Below 100 %: the numbers beside it are short, and a quiet board means nothing. Tailfin itself says more.',
            unit: 'percentunit',
            decimals: 0,
            width: 3,
            height: 5,
            noValue: 'none known',
            targets: [{ expr: `avg(${q.external('up')})`, legend: 'up' }],
            steps: ['red', [0.999, 'green']],
            to: 'tailfin',
          },
          {
            kind: 'lines',
            title: 'Error ratio: what is seen, what is hidden',
            description: `Both of all operations, over ${OPERATIONS_WINDOW}. A failed operation is counted up to 10 minutes after its end, so this lags.`,
            unit: 'percentunit',
            width: 12,
            noValue: 'no calls',
            targets: [
              { expr: m.apparent([], OPERATIONS_WINDOW), legend: 'apparent' },
              { expr: m.hidden([], OPERATIONS_WINDOW), legend: 'hidden' },
            ],
            to: 'retries',
          },
          {
            kind: 'lines',
            title: 'Ambiguous closes by server',
            description:
              'Share of response streams of 10 minutes that ended without proof. It moves at once: the first to look at. A step here with none in the error ratio is the pattern of a proxy that cuts streams.',
            unit: 'percentunit',
            width: 12,
            noValue: 'no streams',
            targets: [{ expr: m.ambiguousShare(['server'], '10m'), legend: '{{server}}' }],
            to: 'streams',
          },
        ],
      },
      {
        title: 'Which server, which call',
        panels: [
          {
            kind: 'table',
            title: 'Servers, worst first',
            description: 'Each ratio is of the time range. A click on a server opens its streams.',
            unit: 'short',
            width: 24,
            noValue: 'none',
            rows: { namespace: 'Namespace', server: 'Server' },
            columns: [
              {
                title: 'Hidden',
                expr: m.hidden(['namespace', 'server'], RANGE),
                unit: 'percentunit',
                decimals: 2,
                steps: GOOD_BELOW(0.005, 0.02),
              },
              {
                title: 'Seen by callers',
                expr: m.apparent(['namespace', 'server'], RANGE),
                unit: 'percentunit',
                decimals: 2,
                steps: GOOD_BELOW(0.01, 0.05),
              },
              {
                title: 'Ambiguous closes',
                expr: m.ambiguousShare(['namespace', 'server'], RANGE),
                unit: 'percentunit',
                decimals: 2,
                steps: GOOD_BELOW(0.001, 0.01),
              },
              {
                title: 'Parse failures',
                expr: m.parseFailure(['namespace', 'server'], RANGE),
                unit: 'percentunit',
                decimals: 2,
                steps: GOOD_BELOW(0.001, 0.01),
              },
              {
                title: 'Uncertain writes',
                expr: sum(['namespace', 'server'], q.increase('uncertain_writes', RANGE)),
                unit: 'locale',
                decimals: 0,
                steps: NONE_ALLOWED,
              },
              { title: 'Operations', expr: m.operations(['namespace', 'server'], RANGE), unit: 'locale', decimals: 0 },
              {
                title: 'Regime C',
                expr: max(['namespace', 'server'], q.series('stream_regime', { regime: 'C' })),
                unit: 'bool_yes_no',
                steps: NONE_ALLOWED,
              },
            ],
            to: 'streams',
          },
          {
            kind: 'lines',
            title: 'Masked by rotation, by server',
            description: `Share of operations over ${OPERATIONS_WINDOW} that failed on one endpoint and worked on another. Next: which endpoint, on Streams.`,
            unit: 'percentunit',
            width: 12,
            noValue: 'no calls',
            targets: [{ expr: m.maskedByRotation(['server'], OPERATIONS_WINDOW), legend: '{{server}}' }],
            to: 'streams',
          },
          {
            kind: 'lines',
            title: 'Parse failures by size of the payload',
            description: `Share of results and messages over ${OPERATIONS_WINDOW} that did not parse, by full length, where there are at least ${ENOUGH}. Lines that fan out, the largest on top: something cuts long answers.`,
            unit: 'percentunit',
            width: 12,
            noValue: 'nothing parsed',
            targets: [
              {
                expr: shareOfEnough(bySize(OPERATIONS_WINDOW, 'bad'), bySize(OPERATIONS_WINDOW)),
                legend: '{{size_class}}',
              },
            ],
            to: 'parsing',
          },
        ],
      },
      {
        title: 'Who was never told',
        panels: [
          {
            kind: 'lines',
            title: 'Uncertain writes, over time',
            description:
              'hint "declared": the tool only claims to be read-only or idempotent. "none" is the dangerous one. Counted about 10 minutes after the call.',
            unit: 'opm',
            width: 8,
            noValue: 'no calls',
            targets: [{ expr: perMinute(sum(['hint'], q.rate('uncertain_writes', RATE))), legend: 'hint: {{hint}}' }],
            exemplars: true,
            to: 'retries',
          },
          {
            kind: 'lines',
            title: 'Callers told nothing, or the wrong thing',
            description: `${UNDELIVERED.join(', ')}: see docs/findings.md for each. Callers hang or blame the wrong call.`,
            unit: 'opm',
            width: 8,
            noValue: 'none yet',
            targets: [{ expr: perMinute(sum(['signal'], q.rate('undelivered', RATE))), legend: '{{signal}}' }],
            exemplars: true,
            to: 'protocol',
          },
          {
            kind: 'lines',
            title: 'Calls that failed because another one broke',
            description:
              'sibling: in flight on the client when another call broke it. closed_client: sent on a client that was already gone. One fault, many errors: look for the first.',
            unit: 'opm',
            width: 8,
            noValue: 'none yet',
            targets: [{ expr: perMinute(sum(['kind'], q.rate('collateral_failures', RATE))), legend: '{{kind}}' }],
            exemplars: true,
            to: 'streams',
          },
        ],
      },
      durationRow(q),
    ],
  };
}
