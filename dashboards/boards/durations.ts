/** How long operations take: the row that closes the first board. */
import type { Row } from '../board.ts';
import { FINE } from '../look.ts';
import { type Queries, sum } from '../queries.ts';

const RATE = '$__rate_interval';

export const durationRow = (q: Queries): Row => ({
  title: 'How long calls take',
  collapsed: true,
  panels: [
    {
      kind: 'lines',
      title: 'Duration of operations, 95th percentile',
      description:
        'From the first request to the end, retries included, by how it ended. Retries that mask a fault show here as calls that take twice as long.',
      unit: 's',
      width: 12,
      noValue: 'no calls',
      targets: [
        {
          expr: `label_replace(histogram_quantile(0.95, ${sum(['le', 'error_type'], q.buckets('operation_duration', RATE))}), "error_type", "${FINE}", "error_type", "")`,
          legend: 'ended: {{error_type}}',
        },
      ],
      exemplars: true,
    },
    {
      kind: 'lines',
      title: 'Duration of tools/call, median and 95th percentile',
      description: 'Of all calls of tools, whatever their end.',
      unit: 's',
      width: 12,
      noValue: 'no calls',
      targets: [0.5, 0.95].map((quantile) => ({
        expr: `histogram_quantile(${quantile}, ${sum(['le'], q.buckets('operation_duration', RATE, { mcp_method_name: 'tools/call' }))})`,
        legend: `${quantile * 100} %`,
      })),
    },
  ],
});
