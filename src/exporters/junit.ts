/**
 * `check --format junit`: one suite, one test case per rule of --fail-on, a failure where the rule fired. The shape that Jenkins and
 * GitLab read; no time and no host name, so the same files give the same report.
 */
import { findingLine } from './check-text.ts';
import { type CheckResult, type RuleHits, unlisted } from './finding-list.ts';
import { plain, plural } from './plain.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** For attributes and text alike; the text is `plain` already, so it holds nothing that XML cannot. */
const escaped = (text: string): string => plain(text).replace(/[&<>"]/g, (char) => ENTITIES[char] as string);

/** Lines of text: each is escaped by itself, so that the line ends between them stay. */
const body = (lines: readonly string[]): string => lines.map((line) => `${escaped(line)}\n`).join('');

function testCase(hits: RuleHits): string {
  const { rule, fires, count, listed } = hits;
  const head = `    <testcase classname="tailfin" name="${rule}" time="0"`;
  if (count === 0) return `${head}/>\n`;
  const [first] = listed;
  const named = first !== undefined && first.file !== null && first.file !== '-';
  const file = named ? ` file="${escaped(first.file as string)}"` : '';
  const lines = [`fires when ${fires}`, ...listed.map(findingLine)];
  const rest = unlisted(hits);
  if (rest > 0) lines.push(`and ${plural(rest, 'more finding')}`);
  const message = `${plural(count, 'finding')} of ${rule}`;
  return `${head}${file}>\n      <failure message="${message}" type="${rule}">${body(lines)}</failure>\n    </testcase>\n`;
}

export function renderJunit(result: CheckResult): string {
  const failures = result.rules.filter(({ count }) => count > 0).length;
  const counts = `tests="${result.rules.length}" failures="${failures}" errors="0"`;
  const others = [...result.others].map(([rule, count]) => `not in --fail-on: ${rule} ${count}`);
  const said = [plural(result.events, 'event'), ...others];
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tailfin check" ${counts} time="0">
  <testsuite name="tailfin check" ${counts} skipped="0" time="0">
${result.rules.map(testCase).join('')}    <system-out>${body(said)}</system-out>
    <system-err>${body(result.warnings)}</system-err>
  </testsuite>
</testsuites>
`;
}
