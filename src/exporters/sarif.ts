/**
 * `check --format sarif`: SARIF 2.1.0, the subset that code scanning reads. Only rules of --fail-on are in it, each at level `error`:
 * that they fail the build is what the operator said. A function of the findings and of nothing else.
 */
import { createHash } from 'node:crypto';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findingText } from './check-text.ts';
import { type CheckedRule, type CheckResult, hitsOf, type ListedFinding, unlisted } from './finding-list.ts';
import { plain, plural, timeText } from './plain.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

interface SarifOptions {
  readonly version: string;
  /** Files below it are named relative to it, as code scanning wants them. */
  readonly folder: string;
}

/** A relative reference below the folder, else a file: URI (SARIF wants no `..` in a reference). */
function uriOf(file: string, folder: string): string {
  if (file === '-') return 'stdin';
  const path = relative(folder, resolve(folder, file));
  if (path === '' || isAbsolute(path) || path.split(sep)[0] === '..') return pathToFileURL(resolve(folder, file)).href;
  return path.split(sep).map(encodeURIComponent).join('/');
}

const digest = (parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);

/** The table is Markdown; readers that show plain text get it without its marks. */
const unmarked = (markdown: string): string => markdown.replaceAll('`', '');

/** When it fires, what that means, and what to do about it: each where code scanning shows it. */
const descriptor = ({ rule, fires, means, needs, action }: CheckedRule) => {
  const help = `${means}\n\nWhat to do: ${action}\n\nNeeds in the events: ${needs}.`;
  return {
    id: rule,
    shortDescription: { text: `Fires when ${unmarked(fires)}.` },
    fullDescription: { text: unmarked(means) },
    help: { text: unmarked(help), markdown: help },
    defaultConfiguration: { level: 'error' },
  };
};

function resultOf(rule: string, ruleIndex: number, finding: ListedFinding, number: number, folder: string) {
  const { server, exchange, file, line, evidence, ts } = finding;
  const name = exchange ?? server;
  return {
    ruleId: rule,
    ruleIndex,
    level: 'error',
    message: { text: `${rule}: ${findingText(finding)}` },
    locations: [
      {
        ...(file !== null && {
          physicalLocation: {
            artifactLocation: { uri: uriOf(file, folder) },
            ...(line > 0 && { region: { startLine: line } }),
          },
        }),
        logicalLocations: [
          {
            name: plain(name),
            fullyQualifiedName: plain(exchange === null ? server : `${server}/${exchange}`),
            kind: 'resource',
          },
        ],
      },
    ],
    partialFingerprints: {
      // Ids, ports and lines of recorded traffic differ in every run: the n-th finding of a rule on a server is the same alert.
      primaryLocationLineHash: `${digest([rule, server])}:${number}`,
      'tailfinFinding/v1': digest([rule, server, exchange ?? '', ts]),
    },
    properties: { server: plain(server), time: timeText(ts), evidence },
  };
}

export function renderSarif(result: CheckResult, { version, folder }: SarifOptions): string {
  const numbers = new Map<string, number>();
  const next = (key: string): number => {
    const number = (numbers.get(key) ?? 0) + 1;
    numbers.set(key, number);
    return number;
  };
  const results = result.rules.flatMap(({ rule, listed }, i) =>
    listed.map((finding) => resultOf(rule, i, finding, next(`${rule}\n${finding.server}`), folder)),
  );
  const left = result.rules.flatMap((hits) =>
    unlisted(hits) > 0 ? [`${hits.rule}: ${plural(unlisted(hits), 'more finding')} not listed here`] : [],
  );
  const notifications = [...result.warnings, ...left].map((text) => ({
    level: 'warning',
    message: { text: plain(text) },
  }));
  const run = {
    tool: {
      driver: { name: 'tailfin', version, rules: result.rules.map(descriptor) },
    },
    invocations: [
      {
        executionSuccessful: true,
        exitCode: hitsOf(result) > 0 ? 1 : 0,
        toolExecutionNotifications: notifications,
      },
    ],
    columnKind: 'utf16CodeUnits',
    results,
  };
  return `${JSON.stringify({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, null, 2)}\n`;
}
