/** Protocol and statelessness: what answers mean in their revision, which rules are broken, and what a mandated sentinel would cost. */
import { RULES } from '../../src/core/detectors/rules.ts';
import type { Board } from '../board.ts';
import { perMinute, type Queries, share, sum } from '../queries.ts';

const RATE = '$__rate_interval';
const RANGE = '$__range';

/** Rules of revision 2026-07-28: what it removed, and what every request has to say. */
const STATELESS = RULES.filter((rule) => /_on_2026_07_28$|^missing_meta_|^header_vs_meta_/.test(rule));
/** What breaks when discovery and sessions are not what the client takes them for. */
const DRIFT = [
  'list_drift',
  'list_changed_after_call',
  'era_downgrade',
  'missing_reinitialize',
  'resume_failed',
] as const;

export function protocolBoard(q: Queries): Board {
  const whatIf = (by: readonly string[], result?: 'would_reject_complete' | 'would_resolve') =>
    sum(by, q.increase('whatif_sentinel', RANGE, result === undefined ? {} : { result }));
  return {
    key: 'protocol',
    description:
      'What status codes mean in the revision they were sent in, which rules of MCP are broken and by whom, and whether a terminal message can be mandated.',
    rows: [
      {
        title: null,
        panels: [
          {
            kind: 'bars',
            title: 'Findings of the time range',
            description: 'By rule; what each means and what to do is in docs/findings.md. Longest first.',
            unit: 'locale',
            decimals: 0,
            width: 12,
            height: 12,
            noValue: 'none seen',
            steps: ['blue'],
            targets: [{ expr: `sort_desc(${sum(['rule'], q.increase('findings', RANGE))} > 0)`, legend: '{{rule}}' }],
          },
          {
            kind: 'table',
            title: 'Findings by server',
            description: 'Which server, which rule. A click on a server opens its streams.',
            unit: 'short',
            width: 12,
            height: 12,
            noValue: 'none',
            rows: { server: 'Server', rule: 'Rule' },
            columns: [
              {
                title: 'Findings',
                expr: `${sum(['server', 'rule'], q.increase('findings', RANGE))} > 0`,
                unit: 'locale',
                decimals: 0,
              },
            ],
            to: 'streams',
          },
          {
            kind: 'lines',
            title: 'What answers other than 2xx mean',
            description:
              'In the revision of the exchange: the same 404 is an expired session, a missing route or an unknown method.',
            unit: 'reqpm',
            width: 12,
            stack: true,
            noValue: 'none seen',
            targets: [{ expr: perMinute(sum(['meaning'], q.rate('status_meaning', RATE))), legend: '{{meaning}}' }],
          },
          {
            kind: 'lines',
            title: 'Operations by protocol revision',
            description:
              'unknown: the events do not say. A server that appears in two revisions is in the middle of a change.',
            unit: 'opm',
            width: 12,
            stack: true,
            noValue: 'no calls',
            targets: [
              {
                expr: perMinute(sum(['protocol_version'], q.rate('operations', RATE))),
                legend: '{{protocol_version}}',
              },
            ],
          },
        ],
      },
      {
        title: 'Statelessness',
        panels: [
          {
            kind: 'lines',
            title: 'Rules of revision 2026-07-28 that are broken',
            description:
              'Sessions, resumption and GET streams are gone in it, and every request says its version. Mixed clients or proxies show here.',
            unit: 'cpm',
            width: 12,
            noValue: 'none yet',
            targets: [
              { expr: perMinute(sum(['rule'], q.rate('findings', RATE, { rule: STATELESS }))), legend: '{{rule}}' },
            ],
          },
          {
            kind: 'lines',
            title: 'Answers that differ by endpoint, sessions that are gone',
            description:
              'list_drift: instances of one server offer different tools: a rollout that hangs, or instances that are configured differently.',
            unit: 'cpm',
            width: 12,
            noValue: 'none yet',
            targets: [
              { expr: perMinute(sum(['rule'], q.rate('findings', RATE, { rule: DRIFT }))), legend: '{{rule}}' },
            ],
          },
        ],
      },
      {
        title: 'What if a terminal message were mandated?',
        panels: [
          {
            kind: 'stat',
            title: 'Would be refused though complete',
            description:
              'Of the ambiguous closes: those that turned out to be whole. While this is 0, the sentinel can be mandated (servers.NAME.sentinel) at no cost.',
            unit: 'percentunit',
            decimals: 1,
            width: 5,
            noValue: 'no ambiguous closes',
            targets: [{ expr: share(whatIf([], 'would_reject_complete'), whatIf([])), legend: 'refused' }],
            steps: ['green', [0.0001, 'orange']],
          },
          {
            kind: 'lines',
            title: 'Ambiguous closes, had the sentinel been mandated',
            description:
              'would_resolve: they become plain failures that can be counted and repeated. would_reject_complete: good answers that would be lost.',
            unit: 'reqpm',
            width: 8,
            stack: true,
            noValue: 'no ambiguous closes',
            targets: [{ expr: perMinute(sum(['result'], q.rate('whatif_sentinel', RATE))), legend: '{{result}}' }],
          },
          {
            kind: 'table',
            title: 'The same by server and size',
            description:
              'Long answers that would be refused are the false alarms that a client without a contract would raise.',
            unit: 'short',
            width: 11,
            noValue: 'none',
            rows: { server: 'Server', result: 'Result', size_class: 'Size' },
            columns: [
              {
                title: 'Closes',
                expr: `${whatIf(['server', 'result', 'size_class'])} > 0`,
                unit: 'locale',
                decimals: 0,
              },
            ],
            to: 'streams',
          },
        ],
      },
      {
        title: 'Status codes',
        collapsed: true,
        panels: [
          {
            kind: 'table',
            title: 'Status and meaning by server and revision',
            description: 'All answers of the time range that were no plain 2xx.',
            unit: 'short',
            width: 24,
            noValue: 'none',
            rows: { server: 'Server', protocol_version: 'Revision', status: 'Status', meaning: 'Meaning' },
            columns: [
              {
                title: 'Answers',
                expr: `${sum(['server', 'protocol_version', 'status', 'meaning'], q.increase('status_meaning', RANGE))} > 0`,
                unit: 'locale',
                decimals: 0,
              },
            ],
            to: 'streams',
          },
        ],
      },
    ],
  };
}
