/** Streams: how they ended, why, where, and on which endpoint. */
import type { Board } from '../board.ts';
import { GOOD_BELOW, PLAIN } from '../look.ts';
import { measures } from '../measures.ts';
import { ENOUGH, perMinute, type Queries, share, shareOfEnough, sum } from '../queries.ts';

const RATE = '$__rate_interval';
const RANGE = '$__range';

export function streamsBoard(q: Queries): Board {
  const m = measures(q);
  const closes = (by: readonly string[], where: Parameters<typeof q.rate<'stream_closes'>>[2] = {}) =>
    perMinute(sum(by, q.rate('stream_closes', RATE, where)));
  const atEndpoint = (outcome?: 'ambiguous' | 'abandoned' | { readonly not: 'clean' }) =>
    sum(['server', 'endpoint'], q.increase('endpoint_closes', RANGE, outcome === undefined ? {} : { outcome }));
  return {
    key: 'streams',
    description:
      'How response streams ended: the verdict, its cause, how far they had come, and which endpoint served them.',
    rows: [
      {
        title: null,
        panels: [
          {
            kind: 'stat',
            title: 'Ambiguous',
            description: 'Share of response streams of the time range that ended without proof.',
            unit: 'percentunit',
            decimals: 2,
            width: 8,
            height: 4,
            noValue: 'no streams',
            targets: [{ expr: m.ambiguousShare([], RANGE), legend: 'ambiguous' }],
            steps: GOOD_BELOW(0.001, 0.01),
          },
          {
            kind: 'stat',
            title: 'Abandoned',
            description: 'Share of response streams of the time range that are known to have been cut, or were left.',
            unit: 'percentunit',
            decimals: 2,
            width: 8,
            height: 4,
            noValue: 'no streams',
            targets: [
              {
                expr: share(
                  sum([], q.increase('stream_closes', RANGE, { stream: 'response', outcome: 'abandoned' })),
                  sum([], q.increase('stream_closes', RANGE, { stream: 'response' })),
                ),
                legend: 'abandoned',
              },
            ],
            steps: GOOD_BELOW(0.005, 0.02),
          },
          {
            kind: 'stat',
            title: 'Stopped inside an event or token',
            description:
              'Of the ambiguous closes: those whose bytes stop in the middle. A strong sign of a cut; near 0 % points at a server or proxy that closes between events.',
            unit: 'percentunit',
            decimals: 0,
            width: 8,
            height: 4,
            noValue: 'none ambiguous',
            targets: [
              {
                expr: share(
                  sum([], q.increase('stream_closes', RANGE, { stream: 'response', outcome: 'ambiguous', cut: 'mid' })),
                  m.ambiguousCount([], RANGE),
                ),
                legend: 'mid',
              },
            ],
            steps: PLAIN,
          },
          {
            kind: 'lines',
            title: 'Ends of response streams by verdict',
            description:
              'green: proven whole. orange: known to be cut. purple: nobody can know. Purple that grows while orange does not is what error rates hide.',
            unit: 'reqpm',
            width: 12,
            height: 10,
            stack: true,
            noValue: 'no streams',
            targets: [{ expr: closes(['outcome'], { stream: 'response' }), legend: '{{outcome}}' }],
            exemplars: true,
          },
          {
            kind: 'bars',
            title: 'Causes of what was not clean',
            description:
              'Response streams of the time range by the row of the verdict table that decided (docs/decisions/0001). no_evidence, not_resumed: ambiguous; the others: abandoned.',
            unit: 'locale',
            width: 12,
            height: 10,
            noValue: 'none seen',
            decimals: 0,
            steps: ['blue'],
            targets: [
              {
                expr: `sort_desc(${sum(['outcome', 'cause'], q.increase('stream_closes', RANGE, { stream: 'response', outcome: { not: 'clean' } }))} > 0)`,
                legend: '{{outcome}}: {{cause}}',
              },
            ],
          },
        ],
      },
      {
        title: 'Where it happens',
        panels: [
          {
            kind: 'table',
            title: 'Endpoints, worst first',
            description: `One endpoint far above the others: that instance. All alike: what lies in front of them (proxy, gateway, timeout). No share of fewer than ${ENOUGH} exchanges.`,
            unit: 'short',
            width: 24,
            noValue: 'none',
            rows: { server: 'Server', endpoint: 'Endpoint' },
            columns: [
              {
                title: 'Not clean',
                expr: shareOfEnough(atEndpoint({ not: 'clean' }), atEndpoint()),
                unit: 'percentunit',
                decimals: 2,
                steps: GOOD_BELOW(0.005, 0.02),
              },
              {
                title: 'Ambiguous',
                expr: shareOfEnough(atEndpoint('ambiguous'), atEndpoint()),
                unit: 'percentunit',
                decimals: 2,
                steps: GOOD_BELOW(0.001, 0.01),
              },
              {
                title: 'Abandoned',
                expr: shareOfEnough(atEndpoint('abandoned'), atEndpoint()),
                unit: 'percentunit',
                decimals: 2,
                steps: GOOD_BELOW(0.005, 0.02),
              },
              { title: 'Exchanges', expr: atEndpoint(), unit: 'locale', decimals: 0 },
            ],
          },
          {
            kind: 'lines',
            title: 'Ambiguous and abandoned by endpoint',
            description:
              'Exchanges per minute that did not end clean. Compare with rollouts and timers: 60 s, 125 s, 300 s.',
            unit: 'reqpm',
            width: 12,
            noValue: 'none seen',
            targets: [
              {
                expr: perMinute(
                  sum(['endpoint', 'outcome'], q.rate('endpoint_closes', RATE, { outcome: { not: 'clean' } })),
                ),
                legend: '{{endpoint}} {{outcome}}',
              },
            ],
          },
          {
            kind: 'lines',
            title: 'How far failed exchanges had come',
            description:
              'connect and before_headers: nothing of the answer arrived. mid_json, mid_event: bytes stop inside. between_events: the stream ended at a boundary.',
            unit: 'reqpm',
            width: 12,
            stack: true,
            noValue: 'none seen',
            targets: [{ expr: perMinute(sum(['stage'], q.rate('exchange_failures', RATE))), legend: '{{stage}}' }],
            exemplars: true,
          },
        ],
      },
      {
        title: 'What kind of end',
        panels: [
          {
            kind: 'lines',
            title: 'Who ended failed exchanges',
            description:
              'peer: server or something on the way. client: its own timeout or a user. request sent: it may have been carried out.',
            unit: 'reqpm',
            width: 8,
            stack: true,
            noValue: 'none seen',
            targets: [
              {
                expr: perMinute(sum(['by', 'request'], q.rate('exchange_failures', RATE))),
                legend: 'by {{by}}, request {{request}}',
              },
            ],
          },
          {
            kind: 'lines',
            title: 'Ambiguous closes: where the bytes stop',
            description: 'mid: inside an event or token. boundary: between two events. none: no bytes at all.',
            unit: 'reqpm',
            width: 8,
            stack: true,
            noValue: 'none ambiguous',
            targets: [{ expr: closes(['cut'], { stream: 'response', outcome: 'ambiguous' }), legend: 'cut: {{cut}}' }],
            exemplars: true,
          },
          {
            kind: 'lines',
            title: 'What proves the end (regime)',
            description:
              'A: terminal message seen or mandated. B: the payload proves itself. C: nothing does; each of these streams may have been cut.',
            unit: 'reqpm',
            width: 8,
            stack: true,
            noValue: 'no streams',
            targets: [{ expr: closes(['regime'], { stream: 'response' }), legend: '{{regime}}' }],
          },
        ],
      },
      {
        title: 'Sizes, and streams that stay open',
        collapsed: true,
        panels: [
          {
            kind: 'lines',
            title: 'Bytes of streams, 95th percentile by verdict',
            description: 'Ambiguous streams far longer than clean ones: a limit of bytes or time on the way.',
            unit: 'bytes',
            width: 8,
            noValue: 'no streams',
            targets: [
              {
                expr: `histogram_quantile(0.95, ${sum(['le', 'outcome'], q.buckets('stream_bytes', RATE))})`,
                legend: '{{outcome}}',
              },
            ],
          },
          {
            kind: 'lines',
            title: 'Streams open now',
            description: 'A line that only climbs: ends are not reported, or streams leak.',
            unit: 'short',
            width: 8,
            noValue: 'none known',
            targets: [{ expr: sum(['stream'], q.series('streams_open')), legend: '{{stream}}' }],
          },
          {
            kind: 'lines',
            title: 'Ends of listen and standalone streams',
            description: 'listen_dropped and transport_error at a steady period: an idle timer on the way.',
            unit: 'reqpm',
            width: 8,
            stack: true,
            noValue: 'none of them',
            targets: [
              { expr: closes(['stream', 'cause'], { stream: { not: 'response' } }), legend: '{{stream}}: {{cause}}' },
            ],
          },
        ],
      },
    ],
  };
}
