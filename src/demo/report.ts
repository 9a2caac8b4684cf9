/** The demo's report: what the error rate says, what it hides, and whether an independent log agrees. Text only. */
import { percent } from '../exporters/plain.ts';
import type { Findings } from './compare.ts';
import type { Count } from './signals.ts';
import type { VerdictCheck } from './verdict-check.ts';

const MAX_LISTED = 5;
const ALARM_Z = 4;
/** Enough to say that the signal is there: by chance one run in a thousand. A slow machine makes fewer calls in the time. */
const PRESENT_Z = 3;
const row = (label: string, { tailfin, gateway }: Count): string =>
  `  ${label.padEnd(46)}${String(tailfin).padStart(8)}${String(gateway).padStart(10)}`;

export function renderReport({ signals, check, liveDifferences }: Findings, seconds: number): string {
  const { operations, surfaced, hidden, sizeClasses, fullLengths, trend } = signals;
  const width = Math.max(surfaced.tailfin, hidden).toString().length;
  const ratio = (part: number) =>
    `${percent(part, operations).padStart(7)}   ${String(part).padStart(width)} of ${operations} calls`;
  return [
    '',
    `${seconds} s of real MCP traffic: two hosts, two servers, a gateway that breaks some answers.`,
    '',
    `  your error rate says   ${ratio(surfaced.tailfin)} failed for their caller`,
    `  what it hides          ${ratio(hidden)} failed once and were repeated`,
    '',
    `  ${''.padEnd(46)}${'Tailfin'.padStart(8)}${'gateway'.padStart(10)}`,
    row('1. ambiguous closes', signals.ambiguous),
    row('     stopped inside an event', signals.ambiguousMid),
    row('2. retries masked by endpoint rotation', signals.masked),
    row('     of them sent a write a second time', signals.maskedUnsafe),
    row('3. parse failures, by bytes that arrived', signals.parseFailures),
    ...sizeClasses.map(({ name, answers, failed }) =>
      row(
        `     ${name.padEnd(13)}${percent(failed.tailfin, answers).padStart(7)} of ${String(answers).padStart(4)}`,
        failed,
      ),
    ),
    `     of full length  ${fullLengths.map(({ name, answers, broken }) => `${name} ${percent(broken, answers)}`).join(', ')} (gateway)`,
    `     grow with length: r = ${trend.r.toFixed(2)}, z = ${trend.z.toFixed(1)} over ${trend.samples} answers (alarm above ${ALARM_Z})`,
    '',
    ...agreement(check),
    liveDifferences.length === 0
      ? 'The live /metrics and the offline replay count the same stream closes.'
      : `The live /metrics and the offline replay differ: ${liveDifferences.slice(0, MAX_LISTED).join('; ')}`,
    '',
  ].join('\n');
}

function agreement({ compared, preempted, disagreements }: VerdictCheck): string[] {
  const slow = preempted === 0 ? '' : ` (${preempted} given up by the host before a slow answer)`;
  if (disagreements.length === 0) return [`Verdicts agree with the gateway's log on all ${compared} exchanges${slow}.`];
  const agreed = compared - disagreements.length;
  const listed = disagreements.slice(0, MAX_LISTED).map((line) => `  ${line}`);
  return [`Verdicts agree with the gateway's log on ${agreed} of ${compared} exchanges${slow}. Not on:`, ...listed];
}

/** What a `--once` run has to answer for; empty when all is as it should be. */
export function shortfalls({ signals, check, liveDifferences }: Findings): string[] {
  const missing: [boolean, string][] = [
    [signals.ambiguous.tailfin === 0, 'signal missing: no ambiguous close'],
    [signals.masked.tailfin === 0, 'signal missing: no retry masked by endpoint rotation'],
    [signals.parseFailures.tailfin === 0, 'signal missing: no parse failure'],
    [!(signals.trend.z > PRESENT_Z), 'signal missing: parse failures do not grow with length'],
    [check.disagreements.length > 0, "verdicts disagree with the gateway's log"],
    [liveDifferences.length > 0, 'live metrics and replay disagree'],
  ];
  return missing.flatMap(([is, line]) => (is ? [line] : []));
}
