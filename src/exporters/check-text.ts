/** `check --format text`: one block per rule, with where its findings stand. It repeats what was found and judges nothing. */
import {
  type CheckResult,
  evidenceText,
  hitsOf,
  type ListedFinding,
  placeText,
  type RuleHits,
} from './finding-list.ts';
import { plain, plural } from './plain.ts';

/** Findings shown per rule: enough to start with; the machine formats list more. */
const MAX_SHOWN = 10;

/** One finding in words, without its rule and its place. */
export function findingText({ server, exchange, evidence }: ListedFinding): string {
  const about = exchange === null ? '' : `, exchange ${exchange}`;
  return plain(`${server}${about}: ${evidenceText(evidence)}`);
}

/** The same behind its place. */
export const findingLine = (finding: ListedFinding): string => `${plain(placeText(finding))}: ${findingText(finding)}`;

function block({ rule, fires, count, listed }: RuleHits): string {
  const shown = listed.slice(0, MAX_SHOWN).map((finding) => `    ${findingLine(finding)}\n`);
  const rest = count - shown.length;
  const more = rest > 0 ? `    and ${plural(rest, 'more finding')}\n` : '';
  return `\n${rule}: ${plural(count, 'finding')}\n  fires when ${fires}\n${shown.join('')}${more}`;
}

export function renderCheckText(result: CheckResult): string {
  const hit = result.rules.filter(({ count }) => count > 0);
  const silent = result.rules.filter(({ count }) => count === 0);
  const verdict = hit.length === 0 ? 'passed' : 'failed';
  const fired = `${hit.length} of ${plural(result.rules.length, 'rule')} fired`;
  let text = `check ${verdict}: ${fired}, ${plural(hitsOf(result), 'finding')} in ${plural(result.events, 'event')}\n`;
  for (const hits of hit) text += block(hits);
  if (silent.length > 0) text += `\nsilent: ${silent.map(({ rule }) => rule).join(', ')}\n`;
  const others = [...result.others].map(([rule, count]) => `${rule} ${count}`);
  if (others.length > 0) text += `\nfound too, but not in --fail-on: ${others.join(', ')}\n`;
  return text;
}
