/** `explain`: the story of one operation, or of one exchange that belongs to none, with everything that decided. It judges nothing. */
import type { Attempt, OperationFact } from '../core/model/operation.ts';
import { decidingAttempt, deliveredAttempt, failedAttempts } from '../core/stages/outcome.ts';
import { findingLine } from './check-text.ts';
import { attemptText, entry, exchangeBody } from './explain-attempt.ts';
import { ACTION_REASON } from './explain-words.ts';
import type { Candidate, ExchangeStory, Explanation } from './explanation.ts';
import { plain, plural, timeText } from './plain.ts';
import { ACTION_TEXT, RESULT_TEXT, seconds } from './story.ts';

export const whatOf = (method: string | null, target: string | null, server: string): string =>
  plain(`${method ?? 'unknown method'}${target === null ? '' : ` ${target}`} on ${server}`);

const operationTitle = ({ operation, result }: OperationFact): string =>
  `${whatOf(operation.method, operation.target, operation.server)}: ${result}`;

function head(fact: OperationFact, host: string): string {
  const { operation, result, durationMs } = fact;
  const first = operation.attempts[0] as Attempt;
  const over = durationMs === null ? '' : ` over ${seconds(durationMs)}`;
  const who = first.client === null ? 'an unknown client' : `client ${first.client}`;
  return `${operationTitle(fact)}, ${RESULT_TEXT[result]}
${entry('operation', [plain(operation.key)])}${entry('from', [plain(`${who} of host ${host}, protocol version ${fact.version}`)])}${entry(
  'attempts',
  [`${operation.attempts.length}${over}, first ${timeText(first.openTs)}`],
)}`;
}

/** A part of its own at the end. */
const section = (title: string, lines: readonly string[]): string =>
  `\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;

function end(fact: OperationFact): string {
  const { operation, result, nextAction } = fact;
  const numberOf = (attempt: Attempt): number => operation.attempts.indexOf(attempt) + 1;
  const delivered = deliveredAttempt(operation);
  const failed = failedAttempts(operation).map(numberOf);
  const who = delivered === undefined ? 'no attempt delivered' : `attempt ${numberOf(delivered)} delivered`;
  const others = failed.length === 0 ? 'none failed' : `failed: ${failed.join(', ')}`;
  const text = section('Result', [`${result}: ${RESULT_TEXT[result]} (${who}; ${others})`]);
  const deciding = decidingAttempt(operation);
  if (nextAction === null || deciding === null) return text + section('Next', ['nothing is known that calls for more']);
  return (
    text +
    section('Next', [
      `${nextAction}: ${ACTION_TEXT[nextAction]}`,
      `because of attempt ${numberOf(deciding.attempt)}: ${ACTION_REASON[deciding.reason]}`,
    ])
  );
}

function findings(explanation: Explanation): string {
  const lines = explanation.findings.map((finding) => `${finding.rule}: ${findingLine(finding)}`);
  return section('Findings', lines.length > 0 ? lines : ['none']);
}

function lone(story: ExchangeStory, host: string): string {
  const { id, end: known } = story;
  if (known === null) return `${plain(id)} of host ${plain(host)}: no end was seen\n${exchangeBody(story)}`;
  const { httpMethod, method, target, server, verdict, kind, client } = known;
  const what = method === null ? plain(`${httpMethod} on ${server}`) : whatOf(method, target, server);
  const outcome = verdict === null ? 'no verdict' : `${verdict.outcome}, ${verdict.cause}`;
  const who = client === null ? 'an unknown client' : `client ${client}`;
  return `${what}: ${outcome}
${entry('exchange', [plain(`${id}, stream ${kind}, no attempt of an operation`)])}${entry('from', [
  plain(`${who} of host ${host}`),
])}${exchangeBody(story)}`;
}

export function renderExplanation(explanation: Explanation): string {
  const { operation, exchanges, host } = explanation;
  let text = '';
  if (operation === null) text = exchanges.map((story) => lone(story, host)).join('\n');
  else {
    text = head(operation, host);
    for (const i of operation.operation.attempts.keys()) text += attemptText(operation, i, exchanges[i]);
    text += end(operation);
  }
  return text + findings(explanation);
}

/** What else could be explained. */
export function renderCandidates(title: string, candidates: readonly Candidate[], more: number): string {
  if (candidates.length === 0) return '';
  const lines = candidates.map(
    ({ exchange, host, what, result, count }) =>
      plain(`--exchange ${exchange}`) +
      `  ${plain(`(host ${host})`)} ${what}: ${result}${count > 1 ? `, ${plural(count, 'time')}` : ''}`,
  );
  if (more > 0) lines.push(`and ${more} more`);
  return section(title, lines);
}
