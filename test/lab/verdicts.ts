/** Replays what the tap recorded by the command line, and says for each row what differs from the table. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf, MAIN, start } from '../support/cli.ts';
import { parseExposition, type Sample, sumOf } from '../support/exposition.ts';
import type { ClientName } from './clients.ts';
import { expectedOf, expectedText, verdictText } from './expected.ts';
import type { Row } from './rows.ts';
import { signsOf } from './signs.ts';

interface RecordLine {
  readonly record: string;
  readonly server: string;
  readonly target?: string | null;
  readonly stream?: string;
  readonly rule?: string;
  readonly outcome?: string;
  readonly cause?: string;
  readonly cut?: string;
  readonly stage?: string | null;
}

export interface Replay {
  readonly records: readonly RecordLine[];
  readonly samples: readonly Sample[];
  /** What callers received, by tool, in the order of the lines. */
  readonly settles: ReadonlyMap<string, readonly string[]>;
}

export interface Judged {
  readonly verdicts: string;
  readonly findings: readonly string[];
  readonly problems: readonly string[];
}

const CLEAN = 'clean terminal_seen boundary -';

/** Segment files of one host process. */
export async function replaySegments(node: string, folder: string): Promise<Replay> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .map((name) => join(folder, name));
  if (files.length === 0) throw new Error(`the tap wrote no file to ${folder}`);
  const print = async (format: string): Promise<string> => {
    const { code, stdout, stderr } = await start(node, [MAIN, 'replay', '--format', format, ...files]).ended;
    if (code !== 0 || stderr !== '') throw new Error(`tailfin replay --format ${format} ended with ${code}: ${stderr}`);
    return stdout;
  };
  const [json, prom] = await Promise.all([print('json'), print('prom')]);
  return {
    records: linesOf(json).map((line) => JSON.parse(line) as RecordLine),
    samples: parseExposition(prom),
    settles: settlesIn(files),
  };
}

/** No record of the replay shows them: they are read from the segments. */
function settlesIn(files: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of files.flatMap((file) => linesOf(readFileSync(file, 'utf8')))) {
    const { type, target, result } = JSON.parse(line) as { type: string; target?: string; result?: string };
    if (type !== 'settle' || target === undefined || result === undefined) continue;
    const results = found.get(target);
    if (results === undefined) found.set(target, [result]);
    else results.push(result);
  }
  return found;
}

/** What the table wants of all attempts of the row's calls: more than one where a call is sent again, or several are made. */
function wantedVerdicts(row: Row, client: ClientName): string[] {
  const own = expectedText(expectedOf(row.expected));
  if (row.host === 'four') return [own, CLEAN, CLEAN, CLEAN];
  if (row.host === 'closes') return [own, own, own];
  return row.id === 'o' && client === 'C2-2026' ? [own, own] : [own];
}

/** `servers`: the row's in the records. `received`: what its callers received, in the words of `settle` lines. */
export function judgeRow(
  row: Row,
  client: ClientName,
  { servers, received }: { readonly servers: readonly string[]; readonly received: readonly string[] },
  replay: Replay,
): Judged {
  const problems: string[] = [];
  const settles = replay.settles.get(row.id) ?? [];
  if (settles.join() !== received.join())
    problems.push(`settle lines: ${settles.join(', ') || 'none'}; the callers received: ${received.join(', ')}`);
  const like = expectedOf(row.expected);
  const records = replay.records.filter(({ server }) => servers.includes(server));
  const responses = records.filter(({ record, stream }) => record === 'verdict' && stream === 'response');
  const own = responses.filter(({ target }) => target === row.id).map((each) => verdictText(each, like));
  const wanted = wantedVerdicts(row, client);
  if ([...own].sort().join() !== [...wanted].sort().join())
    problems.push(`verdicts: ${own.join(', ') || 'none'}; expected: ${wanted.join(', ')}`);
  for (const other of responses.filter(({ target }) => target !== row.id)) {
    const text = verdictText(other, expectedOf('a'));
    if (text !== CLEAN) problems.push(`another exchange (${other.target ?? 'no tool'}): ${text}`);
  }

  const { findings, numbers } = signsOf(row, client);
  const found = [
    ...new Set(records.flatMap(({ record, rule }) => (record === 'finding' && rule !== undefined ? [rule] : []))),
  ].sort();
  if (found.join() !== findings.join())
    problems.push(`findings: ${found.join(', ') || 'none'}; expected: ${findings.join(', ') || 'none'}`);
  for (const { metric, labels, value } of numbers) {
    const sum = servers.reduce((all, server) => all + sumOf(replay.samples, metric, { ...labels, server }), 0);
    if (sum !== value) problems.push(`${metric} ${JSON.stringify(labels)} is ${sum}; expected: ${value}`);
  }
  return { verdicts: [...new Set(own)].sort().reverse().join(', '), findings: found, problems };
}
