/** Retries and rotation: how many attempts an operation takes, after what, where to, and at which risk. */
import type { Board } from '../board.ts';
import { GOOD_BELOW, NONE_ALLOWED } from '../look.ts';
import { measures } from '../measures.ts';
import { perMinute, type Queries, share, sum } from '../queries.ts';
import { OPERATIONS_WINDOW } from './hidden.ts';

const RATE = '$__rate_interval';
const RANGE = '$__range';

export function retriesBoard(q: Queries): Board {
  const m = measures(q);
  const retries = (by: readonly string[]) => perMinute(sum(by, q.rate('retries', RATE)));
  return {
    key: 'retries',
    description:
      'What it takes until calls work: attempts per operation, what they followed, where they went, and whether it was safe to repeat.',
    rows: [
      {
        title: null,
        panels: [
          {
            kind: 'stat',
            title: 'Attempts per operation',
            description:
              '1.00: nothing is repeated. 1.10: one call in ten is sent twice, which is also load on the servers.',
            unit: 'none',
            decimals: 3,
            width: 4,
            height: 5,
            noValue: 'no calls',
            targets: [{ expr: m.amplification([], RANGE), legend: 'attempts' }],
            steps: GOOD_BELOW(1.02, 1.1),
          },
          {
            kind: 'stat',
            title: 'Repeated though it was not safe',
            description:
              'Writes sent again after a failure that does not tell whether the first one took effect. Stop the retry in the client first.',
            unit: 'locale',
            decimals: 0,
            width: 4,
            height: 5,
            noValue: 'no calls',
            // Of the findings: 0 where there are calls, and none of them was repeated like this.
            targets: [{ expr: sum([], q.increase('findings', RANGE, { rule: 'unsafe_retry' })), legend: 'unsafe' }],
            steps: NONE_ALLOWED,
          },
          {
            kind: 'stat',
            title: 'Retries that worked',
            description: 'Near 100 % is no comfort: each of them hid a failure.',
            unit: 'percentunit',
            decimals: 0,
            width: 4,
            height: 5,
            noValue: 'no retries',
            targets: [
              {
                expr: share(
                  sum([], q.increase('retries', RANGE, { outcome: 'delivered' })),
                  sum([], q.increase('retries', RANGE)),
                ),
                legend: 'delivered',
              },
            ],
            steps: ['blue'],
          },
          {
            kind: 'stat',
            title: 'Operations by result',
            description:
              'masked*: failed, then worked. unproven: the caller took an answer without proof. surfaced: the error that everybody sees.',
            unit: 'locale',
            decimals: 0,
            width: 12,
            height: 5,
            noValue: 'no calls',
            targets: (['masked_rotated', 'masked', 'masked_unknown', 'unproven', 'surfaced'] as const).map(
              (result) => ({
                expr: sum([], q.increase('operations', RANGE, { result })),
                legend: result,
              }),
            ),
            steps: ['blue'],
          },
          {
            kind: 'lines',
            title: 'Operations by result, over time',
            description:
              'Without first_try and cancelled, which need no look. Counted when nothing can change them any more: up to 10 minutes late.',
            unit: 'opm',
            width: 12,
            stack: true,
            noValue: 'no calls',
            targets: [
              {
                expr: perMinute(
                  sum(['result'], q.rate('operations', RATE, { result: { not: ['first_try', 'cancelled'] } })),
                ),
                legend: '{{result}}',
              },
            ],
            exemplars: true,
          },
          {
            kind: 'lines',
            title: 'Attempts per operation by server',
            min: 1,
            description: `Over ${OPERATIONS_WINDOW}. A step up is a server that lives on its clients' retries.`,
            unit: 'none',
            decimals: 3,
            width: 12,
            noValue: 'no calls',
            targets: [{ expr: m.amplification(['server'], OPERATIONS_WINDOW), legend: '{{server}}' }],
          },
        ],
      },
      {
        title: 'What is repeated, and where',
        panels: [
          {
            kind: 'lines',
            title: 'After what',
            description:
              'How the attempt before had failed. ambiguous and parse_failure are the ones that no transport error announces.',
            unit: 'opm',
            width: 8,
            stack: true,
            noValue: 'no retries',
            targets: [{ expr: retries(['after']), legend: 'after {{after}}' }],
            exemplars: true,
          },
          {
            kind: 'lines',
            title: 'Where to',
            description:
              'rotated: to another endpoint, so that a broken one is hidden. unknown: one name may hide several instances.',
            unit: 'opm',
            width: 8,
            stack: true,
            noValue: 'no retries',
            targets: [{ expr: retries(['endpoint']), legend: '{{endpoint}}' }],
          },
          {
            kind: 'lines',
            title: 'At which risk',
            description:
              'unsafe: a write that may now have been carried out twice. declared: only the tool itself says it is harmless.',
            unit: 'opm',
            width: 8,
            stack: true,
            noValue: 'no retries',
            targets: [{ expr: retries(['safety']), legend: '{{safety}}' }],
            exemplars: true,
          },
          {
            kind: 'table',
            title: 'Retries: after x endpoint x safety',
            description: 'The combinations of the time range. Start with unsafe after ambiguous.',
            unit: 'short',
            width: 12,
            noValue: 'none',
            rows: { after: 'After', endpoint: 'Endpoint', safety: 'Safety' },
            columns: [
              {
                title: 'Retries',
                expr: `${sum(['after', 'endpoint', 'safety'], q.increase('retries', RANGE))} > 0`,
                unit: 'locale',
                decimals: 0,
              },
            ],
          },
          {
            kind: 'bars',
            title: 'What the evidence allows next',
            description:
              'confirm_outcome: look at the destination, do not repeat. retrieve_result: it was done, fetch it. reissue_bounded, send_normally: a repetition is harmless.',
            unit: 'locale',
            decimals: 0,
            width: 12,
            noValue: 'none seen',
            steps: ['blue'],
            targets: [
              {
                expr: `sort_desc(${sum(['next_action'], q.increase('next_actions', RANGE))} > 0)`,
                legend: '{{next_action}}',
              },
            ],
          },
        ],
      },
      {
        title: 'Loops of clients',
        collapsed: true,
        panels: [
          {
            kind: 'lines',
            title: 'Clients that ask too often',
            description:
              'Findings of request_amplification, open_close_loop, reconnect_loop and needless_reconnect per minute (docs/findings.md).',
            unit: 'cpm',
            width: 24,
            noValue: 'none yet',
            targets: [
              {
                expr: perMinute(
                  sum(
                    ['rule'],
                    q.rate('findings', RATE, {
                      rule: ['request_amplification', 'open_close_loop', 'reconnect_loop', 'needless_reconnect'],
                    }),
                  ),
                ),
                legend: '{{rule}}',
              },
            ],
          },
        ],
      },
    ],
  };
}
