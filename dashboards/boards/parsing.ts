/** Parsing and length: do failures grow with the length of the payload, how surely, and what does it cost a long answer. */
import { SIZE_CLASSES } from '../../src/core/measures/domains.ts';
import type { Board } from '../board.ts';
import { GOOD_BELOW, NONE_ALLOWED } from '../look.ts';
import { measures } from '../measures.ts';
import { ENOUGH, perMinute, type Queries, shareOfEnough, sum } from '../queries.ts';
import type { Settings } from '../settings.ts';

const RATE = '$__rate_interval';
const RANGE = '$__range';
const WINDOW = '1h';
/** What comes from the server; arguments are short, and fail for other reasons. */
const ANSWERS = ['result', 'message'] as const;

export function parsingBoard(q: Queries, settings: Settings): Board {
  const m = measures(q);
  const whole = m.trend([], RANGE);
  const byServer = m.trend(['server', 'of'], WINDOW);
  const rows = m.trend(['server', 'of'], RANGE);
  const ofSize = (size_class: (typeof SIZE_CLASSES)[number], bad: boolean) =>
    sum(
      [],
      q.increase('parse_attempts', RANGE, { of: ANSWERS, ...(bad ? { result: { not: 'ok' } } : {}), size_class }),
    );
  // Of answers alone: arguments are a few bytes, so that one failure of them is hundreds per MiB.
  const hazard = m.hazard(['server', 'of'], RANGE, ANSWERS);
  return {
    key: 'parsing',
    description:
      'A payload that is cut looks like bad JSON. If failures grow with length, something on the way cuts long answers. r: how strongly (0 to 1). z: how surely (above 4 is no accident).',
    rows: [
      {
        title: null,
        panels: [
          {
            kind: 'stat',
            title: 'z: how surely failures grow with length',
            description:
              'Below 3: nothing to see. Above 4: not by chance, look for a limit of bytes or time on the way.',
            unit: 'none',
            decimals: 1,
            width: 5,
            height: 5,
            noValue: 'none of known length',
            targets: [{ expr: whole.z, legend: 'z' }],
            steps: GOOD_BELOW(3, 4),
          },
          {
            kind: 'stat',
            title: 'r: how strongly',
            description: "Pearson's correlation of log2(full length) and failing, over the time range.",
            unit: 'none',
            decimals: 2,
            width: 4,
            height: 5,
            noValue: 'none of known length',
            targets: [{ expr: whole.r, legend: 'r' }],
            steps: GOOD_BELOW(0.1, 0.3),
          },
          {
            kind: 'stat',
            title: 'Failures of unknown length',
            description:
              'Share of the failures whose full length never became known. They are not in r and z: above 50 % both say little.',
            unit: 'percentunit',
            decimals: 0,
            width: 5,
            height: 5,
            noValue: 'none seen',
            targets: [{ expr: whole.unknown, legend: 'unknown' }],
            steps: GOOD_BELOW(0.3, 0.5),
          },
          {
            kind: 'stat',
            title: 'Expected failure of 1 MiB (model)',
            description:
              '1 - exp(-hazard), were failures spread evenly over the bytes of results and messages. What was seen of answers that long is in the bars below, and may be less.',
            unit: 'percentunit',
            decimals: 1,
            width: 5,
            height: 5,
            noValue: 'nothing parsed',
            targets: [{ expr: `1 - exp(-(${m.hazard([], RANGE, ANSWERS)}))`, legend: 'of 1 MiB' }],
            steps: GOOD_BELOW(0.01, 0.1),
          },
          {
            kind: 'stat',
            title: 'Hard size limits found',
            description:
              'Findings of parse_failure_size_step: everything from some size on fails, everything below works. A body or buffer limit.',
            unit: 'locale',
            decimals: 0,
            width: 5,
            height: 5,
            noValue: 'no servers',
            targets: [
              { expr: sum([], q.increase('findings', RANGE, { rule: 'parse_failure_size_step' })), legend: 'steps' },
            ],
            steps: NONE_ALLOWED,
          },
          {
            kind: 'bars',
            title: 'Probability of failure by size',
            description: `Of the results and messages of the time range, by full length; sizes of which fewer than ${ENOUGH} came are left out. A staircase: failures grow with length. Nothing, then 100 %: a hard limit.`,
            unit: 'percentunit',
            decimals: 1,
            width: 12,
            height: 10,
            noValue: 'too few of this size',
            steps: GOOD_BELOW(0.001, 0.05),
            targets: SIZE_CLASSES.map((size) => ({
              expr: shareOfEnough(ofSize(size, true), ofSize(size, false)),
              legend: size,
            })),
          },
          {
            kind: 'lines',
            title: 'z by server and payload',
            description: `Over ${WINDOW}. The dashed line is where the alert looks.`,
            unit: 'none',
            decimals: 1,
            width: 12,
            height: 10,
            noValue: 'none of known length',
            limit: Number(settings.trend_z),
            targets: [{ expr: byServer.z, legend: '{{server}} {{of}}' }],
          },
        ],
      },
      {
        title: 'By server',
        panels: [
          {
            kind: 'table',
            title: 'Length trend by server and payload',
            description:
              'Of the time range. Failures: those of known length. Hazard: failures per MiB of results and messages.',
            unit: 'short',
            width: 24,
            noValue: 'none',
            rows: { server: 'Server', of: 'Payload' },
            columns: [
              { title: 'z', expr: rows.z, unit: 'none', decimals: 1, steps: GOOD_BELOW(3, 4) },
              { title: 'r', expr: rows.r, unit: 'none', decimals: 2, steps: GOOD_BELOW(0.1, 0.3) },
              { title: 'Failures', expr: rows.failed, unit: 'locale', decimals: 0 },
              { title: 'Samples', expr: rows.samples, unit: 'locale', decimals: 0 },
              {
                title: 'Unknown length',
                expr: rows.unknown,
                unit: 'percentunit',
                decimals: 0,
                steps: GOOD_BELOW(0.3, 0.5),
              },
              { title: 'Hazard per MiB', expr: hazard, unit: 'none', decimals: 3 },
              {
                title: 'Expected of 1 MiB',
                expr: `1 - exp(-(${hazard}))`,
                unit: 'percentunit',
                decimals: 1,
                steps: GOOD_BELOW(0.01, 0.1),
              },
            ],
            to: 'streams',
          },
          {
            kind: 'lines',
            title: 'r by server and payload',
            description: `Over ${WINDOW}. The dashed line is where the alert looks (together with z and a count).`,
            unit: 'none',
            decimals: 2,
            width: 8,
            noValue: 'none of known length',
            limit: Number(settings.trend_r),
            targets: [{ expr: byServer.r, legend: '{{server}} {{of}}' }],
          },
          {
            kind: 'lines',
            title: 'Failures of unknown length, by server',
            description: `Share of the failures of ${WINDOW} whose full length never became known.`,
            unit: 'percentunit',
            width: 8,
            max: 1,
            noValue: 'none seen',
            targets: [{ expr: byServer.unknown, legend: '{{server}} {{of}}' }],
          },
          {
            kind: 'lines',
            title: 'Hazard per MiB',
            description: `Parse failures per MiB of results and messages, over ${WINDOW}. It says something about long payloads where z is above 4; else failures have another cause than bytes.`,
            unit: 'none',
            decimals: 3,
            width: 8,
            noValue: 'nothing parsed',
            targets: [{ expr: m.hazard(['server', 'of'], WINDOW, ANSWERS), legend: '{{server}} {{of}}' }],
          },
        ],
      },
      {
        title: 'How much is parsed',
        collapsed: true,
        panels: [
          {
            kind: 'lines',
            title: 'Parse failures',
            description:
              'cut: the text ends too early. malformed: it is wrong before its end, which is a fault of the server.',
            unit: 'cpm',
            width: 8,
            stack: true,
            noValue: 'none seen',
            targets: [
              {
                expr: perMinute(sum(['of', 'result'], q.rate('parse_attempts', RATE, { result: { not: 'ok' } }))),
                legend: '{{of}}: {{result}}',
              },
            ],
            exemplars: true,
          },
          {
            kind: 'lines',
            title: 'Payloads parsed',
            description: 'Of every kind, whatever the result.',
            unit: 'cpm',
            width: 8,
            stack: true,
            noValue: 'nothing parsed',
            targets: [{ expr: perMinute(sum(['of'], q.rate('parse_attempts', RATE))), legend: '{{of}}' }],
          },
          {
            kind: 'lines',
            title: 'Bytes parsed',
            description: 'Bytes per second given to parsers.',
            unit: 'Bps',
            width: 8,
            stack: true,
            noValue: 'nothing parsed',
            targets: [{ expr: sum(['of'], q.rate('parse_bytes', RATE)), legend: '{{of}}' }],
          },
        ],
      },
    ],
  };
}
