/**
 * The fault lab: every row of lab-expected.tsv with every real client, once with the tap and once without. The two must look the
 * same to the host and to the server, and what the tap recorded must be judged as the table says.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/cli.ts';
import { CLIENTS, type ClientName } from './clients.ts';
import { type Drive, drive } from './drive.ts';
import { callsOf, callText, receivedWord } from './host-words.ts';
import { ROWS, type Row } from './rows.ts';
import { judgeRow, type Replay, replaySegments } from './verdicts.ts';

export interface LabOptions {
  readonly node: string;
  readonly rows?: readonly string[];
  readonly clients?: readonly ClientName[];
  /** false: only drive and judge, without the run that has no tap. */
  readonly compare?: boolean;
  /** How the host loads its SDK. */
  readonly modules?: 'cjs' | 'esm';
  /** Another tap than the built one. */
  readonly tap?: string;
  /** Where the recorded segments are left; a temporary folder otherwise. */
  readonly keep?: string;
}

export interface LabResult {
  readonly row: string;
  readonly client: ClientName;
  /** Why this client cannot bring the row about. */
  readonly not: string | null;
  readonly verdicts: string;
  readonly findings: readonly string[];
  /** What the host saw, short. */
  readonly host: string;
  /** The same in full, as JSON, and the requests as the server counted them. */
  readonly details: readonly string[];
  readonly problems: readonly string[];
}

export const BUILT_TAP = join(ROOT, 'dist/tailfin-tap.cjs');
/** Rows per host process: fewer servers than Tailfin keeps labels for. */
const SET = 30;
/** Processes at a time; most of their time is waiting. */
const PARALLEL = 3;

export async function runLab(options: LabOptions): Promise<LabResult[]> {
  await ensureBuilt();
  const { rows, clients, keep, tap = BUILT_TAP } = options;
  if (!existsSync(tap)) throw new Error(`${tap} is missing: run \`npm run build\``);
  const chosen = ROWS.filter(({ id }) => rows === undefined || rows.includes(id));
  const folder = keep ?? mkdtempSync(join(tmpdir(), 'tailfin-lab-'));
  const sets = CLIENTS.filter(({ name }) => clients === undefined || clients.includes(name)).flatMap(({ name }) => {
    const able = chosen.filter(({ not }) => not[name] === undefined);
    return Array.from({ length: Math.ceil(able.length / SET) }, (_, n) => ({
      client: name,
      rows: able.slice(n * SET, (n + 1) * SET),
      events: join(folder, `${name}-${n + 1}`),
    }));
  });
  try {
    const results = await atMost(PARALLEL, sets, (set) => runSet(set, tap, options));
    return inOrder(results.flat(), chosen, options);
  } finally {
    if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

interface RowSet {
  readonly client: ClientName;
  readonly rows: readonly Row[];
  readonly events: string;
}

async function runSet({ client, rows, events }: RowSet, tap: string, options: LabOptions): Promise<LabResult[]> {
  const { node, modules = 'cjs', compare = true } = options;
  mkdirSync(events, { recursive: true });
  const common = { node, client, rows, modules };
  const env = { NODE_OPTIONS: `--require ${JSON.stringify(tap)}`, TAILFIN_TAP_DIR: events, TAILFIN_TAP_HOST: client };
  const [tapped, bare] = await Promise.all([
    drive({ ...common, env }),
    compare ? drive({ ...common, env: {} }) : undefined,
  ]);
  const replay = await replaySegments(node, events).catch((error: Error) => error);
  return rows.map((row) => resultOf(row, client, tapped, bare, replay));
}

function resultOf(
  row: Row,
  client: ClientName,
  tapped: Drive,
  bare: Drive | undefined,
  replay: Replay | Error,
): LabResult {
  const seen = tapped.rows.get(row.id);
  const other = bare?.rows.get(row.id);
  const settled = callsOf(seen?.host ?? 'null', row.id);
  const problems = [...tapped.problems.map((each) => `with the tap: ${each}`)];
  for (const each of bare?.problems ?? []) problems.push(`without the tap: ${each}`);
  if (seen?.problem) problems.push(`with the tap: ${seen.problem}`);
  if (other?.problem) problems.push(`without the tap: ${other.problem}`);
  if (seen !== undefined && other !== undefined) {
    for (const side of ['host', 'requests'] as const)
      if (seen[side] !== other[side])
        problems.push(`${side} differs\n      with the tap:    ${seen[side]}\n      without the tap: ${other[side]}`);
    if (tapped.stderr !== bare?.stderr) problems.push(`stderr differs: ${tapped.stderr.slice(0, 500)}`);
  }
  const judged =
    replay instanceof Error
      ? { verdicts: '', findings: [], problems: [replay.message] }
      : judgeRow(row, client, { servers: seen?.servers ?? [], received: settled.map(receivedWord) }, replay);
  return {
    row: row.id,
    client,
    not: null,
    ...judged,
    host: settled.map(callText).join(', '),
    details: [seen?.host ?? 'null', seen?.requests ?? ''],
    problems: [...problems, ...judged.problems],
  };
}

/** The table's order, with a line for what a client cannot do. */
function inOrder(results: readonly LabResult[], rows: readonly Row[], { clients }: LabOptions): LabResult[] {
  return rows.flatMap((row) =>
    CLIENTS.filter(({ name }) => clients === undefined || clients.includes(name)).map(({ name }): LabResult => {
      const found = results.find((each) => each.row === row.id && each.client === name);
      if (found !== undefined) return found;
      const not = row.not[name] ?? null;
      const problems = not === null ? ['it was not run'] : [];
      return { row: row.id, client: name, not, verdicts: '', findings: [], host: '', details: [], problems };
    }),
  );
}

async function atMost<T, R>(limit: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
