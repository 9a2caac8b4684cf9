/** One attempt of an operation, or one exchange that stands alone, told with its evidence. It repeats decisions and makes none. */
import { LIMITS } from '../core/model/limits.ts';
import type { Attempt, EdgeFact, OperationFact } from '../core/model/operation.ts';
import { joinsWithoutDigest } from '../core/protocol/methods.ts';
import { failureClass, isDelivered, isHop, isRound, safetyReason } from '../core/stages/outcome.ts';
import { CLASS_TEXT, EXPIRED_TEXT, SAFETY_TEXT } from './explain-words.ts';
import type { ExchangeEnd, ExchangeStory, ToldLine } from './explanation.ts';
import { placeText } from './finding-list.ts';
import { plain, plural, timeText } from './plain.ts';
import { CAUSE_TEXT, seconds } from './story.ts';

const WIDTH = 11;
/** `  name      text`, further lines of it below the first. */
export const entry = (name: string, lines: readonly string[]): string =>
  lines.map((line, i) => `  ${(i === 0 ? name : '').padEnd(WIDTH)}${line}\n`).join('');

/** Places to the left, so that types and words stand below each other. */
function lineTexts(lines: readonly ToldLine[]): string[] {
  const places = lines.map((line) => plain(placeText(line)));
  const width = Math.max(0, ...places.map(({ length }) => length));
  const types = Math.max(0, ...lines.map(({ what }) => what.length));
  return lines.map(({ what, says }, i) =>
    `${(places[i] as string).padEnd(width)}  ${what.padEnd(types)}  ${says}`.trimEnd(),
  );
}

function evidence({ lines, left, context }: ExchangeStory): string {
  const own = lineTexts(lines);
  if (left > 0) own.push(`(${plural(left, 'more line')} of it)`);
  return entry('lines', own) + entry('also', lineTexts(context));
}

function timeOf({ openTs, openKnown, closeTs }: Pick<ExchangeEnd, 'openTs' | 'openKnown' | 'closeTs'>): string {
  if (Number.isNaN(closeTs)) return `${timeText(openTs)}, never closed`;
  if (!openKnown) return `ended ${timeText(closeTs)}, when it was opened is not known`;
  return `${timeText(openTs)}, open for ${seconds(Math.max(0, closeTs - openTs))}`;
}

const NO_VERDICT: Readonly<Record<string, string>> = {
  resume: 'none of its own: a resume GET is judged with the exchange that it resumes',
  none: 'none, there is no stream to judge: a notification, a DELETE, a redirect, or a refusal (401, 403; a GET without a stream), or an end that nobody saw',
};

function verdict(end: ExchangeEnd | null): string {
  if (end === null) return entry('verdict', ['none: it had not ended']);
  if (end.expired !== null) return entry('verdict', [`none: ${EXPIRED_TEXT[end.expired]}`]);
  if (end.verdict === null) return entry('verdict', [NO_VERDICT[end.kind] ?? 'none']);
  const { outcome, cause, row, regime, cut, stage, by, request } = end.verdict;
  const labels = [`stream ${end.kind}`, `regime ${regime}`, `cut ${cut}`, `ended by ${by}`, `request ${request}`];
  if (stage !== null) labels.push(`failed at ${stage}`);
  const others = end.counterfactuals.map(
    ({ says, decision }) => `${decision.outcome}, ${decision.cause} (row ${decision.row}), had ${says}`,
  );
  return (
    entry('verdict', [`${outcome}, ${cause}: ${CAUSE_TEXT[cause]}`]) +
    entry('because', [`row ${row} of the verdict table: ${end.rule ?? ''}`, labels.join(', ')]) +
    entry('otherwise', others)
  );
}

/** The exchange by itself: times, lines, verdict. */
export const exchangeBody = (story: ExchangeStory, end = story.end): string =>
  (end === null ? '' : entry('time', [timeOf(end)])) + evidence(story) + verdict(end);

/** What made the two attempts one operation. */
function joinedBy(before: Attempt, attempt: Attempt): string {
  if (before.requestKey !== null && before.requestKey === attempt.requestKey) return 'the same request key';
  const call = 'the same server, method, target';
  if (attempt.argsDigest !== null) return `${call} and arguments digest`;
  return attempt.method !== null && joinsWithoutDigest(attempt.method)
    ? `${call} (${attempt.method} needs no digest)`
    : call;
}

function clientText(before: Attempt, attempt: Attempt): string {
  if (before.client === null || attempt.client === null) return 'the client is not known, on the same host';
  return before.client === attempt.client
    ? 'on the same client'
    : 'on the same host, whose earlier client was replaced';
}

function joined(before: Attempt, attempt: Attempt, edge: EdgeFact | undefined): string {
  const after = (since: number, what: string): string =>
    `${seconds(Math.max(0, attempt.openTs - since))} after ${what}`;
  const told = !(attempt.openTs >= before.closeTs);
  const since = told
    ? after(before.settledTs, 'the caller was told `timeout`')
    : after(before.closeTs, 'the attempt before it ended');
  const how = `${joinedBy(before, attempt)}; ${clientText(before, attempt)}`;
  if (edge !== undefined) return `as a retry, ${since} (at most ${LIMITS.retryWindowMs / 1000} s): ${how}`;
  const step = isRound(before)
    ? 'the server had asked for input (MRTR)'
    : isHop(before)
      ? 'a redirect, a re-authorisation or a re-send that the server asked for'
      : 'the attempt before it was no failure';
  return `as the next step, no retry, ${since}: ${step}; ${how}`;
}

function endpointText({ from, to, endpoint }: EdgeFact): string {
  if (from.endpoint === null || to.endpoint === null) return 'unknown: an endpoint is missing';
  if (endpoint === 'rotated') return plain(`rotated: ${from.endpoint} before, ${to.endpoint} now`);
  return endpoint === 'same'
    ? plain(`same: ${to.endpoint} is one instance (an IP address, or servers.NAME.endpoints: instance)`)
    : plain(`unknown: ${to.endpoint} may hide many instances (a DNS name, or servers.NAME.endpoints: virtual)`);
}

function classText(attempt: Attempt, operation: OperationFact): string {
  const followed = attempt !== operation.operation.attempts.at(-1);
  if (isDelivered(attempt))
    return isRound(attempt) && followed ? 'none: it asked for input, the call went on' : 'none: it delivered';
  if (isHop(attempt) && followed) return 'none: a step of the protocol, the call went on';
  if (Number.isNaN(attempt.closeTs) && attempt.settled === null) return 'unknown: it never ended';
  const edge = operation.edges.find(({ from }) => from === attempt);
  const failure = edge?.after ?? failureClass(attempt);
  const told = attempt.settled === null ? '' : `; the caller was told ${attempt.settled}`;
  return `${failure}: ${CLASS_TEXT[failure]}${told}`;
}

export function attemptText(operation: OperationFact, index: number, story: ExchangeStory | undefined): string {
  const { attempts } = operation.operation;
  const attempt = attempts[index] as Attempt;
  const before = attempts[index - 1];
  const edge = operation.edges.find(({ from }) => from === before);
  const where = attempt.endpoint ?? 'an unknown endpoint';
  let text = `\nAttempt ${index + 1}: ${plain(`${attempt.exchange} on ${where}`)}\n`;
  if (before !== undefined) text += entry('joined', [joined(before, attempt, edge)]);
  if (edge !== undefined && before !== undefined) {
    text += entry('endpoint', [endpointText(edge)]);
    text += entry('safety', [`${edge.safety}: ${SAFETY_TEXT[safetyReason(operation.operation, edge)]}`]);
  }
  text += story === undefined ? '' : exchangeBody(story);
  return text + entry('failure', [classText(attempt, operation)]);
}
