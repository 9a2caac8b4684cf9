/**
 * The scenario folders: what each says must hold (expect.txt), what it printed last time (expected.prom), and that the live run
 * by the file source, or by batches over HTTP, comes to the same numbers as the replay.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { loadConfig, toPolicy } from '../src/app/config.ts';
import { replay } from '../src/app/replay.ts';
import type { Policy } from '../src/core/model/policy.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { recordOf } from '../src/exporters/records.ts';
import { casesIn, checkLine, checksOf, parseProm } from './check-cases.mjs';
import { parseExposition, withoutFamilies } from './support/exposition.ts';
import { createIngestRig, type IngestRig } from './support/ingest-rig.ts';
import { runLive } from './support/live-run.ts';
import { SEED } from './support/property.ts';
import { random } from './support/random.ts';

const SCENARIOS = fileURLToPath(new URL('scenarios', import.meta.url));
const UPDATE = process.env.UPDATE_GOLDENS === '1';
/** Own health that tells how far a store was swept, not what happened. */
const OWN_GAUGES = ['tailfin_state_entries'];

const folder = mkdtempSync(join(tmpdir(), 'tailfin-scenarios-'));
after(() => rmSync(folder, { recursive: true }));

const policyOf = (scenario: string) => {
  const file = join(scenario, 'tailfin.yaml');
  return toPolicy(loadConfig(existsSync(file) ? { file } : {}));
};

async function replayed(scenario: string) {
  const records: Record<string, unknown>[] = [];
  const pipeline = await replay({
    files: [join(scenario, 'events.ndjson')],
    host: 'files',
    policy: policyOf(scenario),
    onFact(fact) {
      const record = recordOf(fact);
      if (record !== null) records.push(JSON.parse(JSON.stringify(record)) as Record<string, unknown>);
    },
  });
  pipeline.refresh();
  const text = await createPrometheusExporter(pipeline.cells, { process: false }).render();
  return { text, records };
}

const scenarios = casesIn(SCENARIOS);

for (const scenario of scenarios) {
  const name = basename(scenario);
  const checks = checksOf(readFileSync(join(scenario, 'expect.txt'), 'utf8'));

  test(`scenario ${name}: expectations and golden`, async () => {
    const { text, records } = await replayed(scenario);
    parseExposition(text);
    const exposition = parseProm(text);
    const problems = checks.flatMap((check) => {
      const problem = checkLine(check, exposition, records);
      return problem === null ? [] : [`${check}: ${problem}`];
    });
    assert.deepEqual(problems, []);

    const golden = join(scenario, 'expected.prom');
    if (UPDATE) writeFileSync(golden, text);
    const hint = `${relative(process.cwd(), golden)} differs; if the change is meant: UPDATE_GOLDENS=1 node test/run.mjs test/scenarios.test.ts`;
    assert.ok(existsSync(golden), hint);
    assertSameText(text, readFileSync(golden, 'utf8'), hint);
  });

  test(`scenario ${name}: a live run by the file source comes to the same`, async () => {
    const bytes = readFileSync(join(scenario, 'events.ndjson'));
    // A live file ends with a whole line or with one that its writer has not finished: here the writer finishes it.
    const content = bytes.at(-1) === 0x0a ? bytes : Buffer.concat([bytes, Buffer.from('\n')]);
    const policy = policyOf(scenario);
    const now = newestTime(content);
    const expected = inOrder((await replayed(scenario)).text);
    const live = async (file: string, parts: readonly Buffer[]) =>
      inOrder(await runLive({ path: join(folder, file), policy, parts, now }));
    assertSameText(await live(`${name}-whole.ndjson`, [content]), expected, 'the whole file at once');
    const parts = cutUp(content, name);
    const sizes = parts.map(({ length }) => length).join(', ');
    assertSameText(await live(`${name}-parts.ndjson`, parts), expected, `appended in ${sizes} bytes (seed ${SEED})`);
  });
}

for (const scenario of scenarios) {
  const name = basename(scenario);

  test(`scenario ${name}: batches by HTTP come to the same`, async (t) => {
    const content = readFileSync(join(scenario, 'events.ndjson'));
    const policy = policyOf(scenario);
    const rig = await createIngestRig(t, { policy, startAt: newestTime(content) });
    const sizes: number[] = [];
    for (const [i, body] of batchesOf(linesIn(content), `${name} http`).entries()) {
      const gzip = i % 2 === 1;
      const headers = { 'content-type': 'application/x-ndjson', ...(gzip && { 'content-encoding': 'gzip' }) };
      const lines = Buffer.concat(body);
      const { status } = await rig.post(gzip ? gzipSync(lines) : lines, { headers });
      assert.equal(status, 200);
      sizes.push(body.length);
    }
    const message = `in batches of ${sizes.join(', ')} lines (seed ${SEED})`;
    assertSameText(inOrder(await rendered(rig)), inOrder((await replayed(scenario)).text), message);
  });

  test(`scenario ${name}: batches that are sent again count once`, async (t) => {
    const content = readFileSync(join(scenario, 'events.ndjson'));
    const policy = policyOf(scenario);
    const lines = linesIn(content).flatMap(numbered);
    const file = join(folder, `${name}-numbered.ndjson`);
    writeFileSync(file, Buffer.concat(lines));
    const expected = await replayedText(file, policy);

    const rig = await createIngestRig(t, { policy, startAt: newestTime(content) });
    const batches = batchesOf(lines, `${name} again`);
    let again = 0;
    const send = async (body: readonly Buffer[], isRepeat: boolean) => {
      const asArray = body.length % 2 === 1;
      const text = Buffer.concat(body).toString('utf8');
      const { json } = await rig.post(asArray ? `[${text.trimEnd().replaceAll('\n', ',')}]` : text, {
        headers: { 'content-type': asArray ? 'application/json' : 'application/x-ndjson' },
      });
      assert.equal(json.duplicates, isRepeat ? body.length : 0);
      if (isRepeat) again += body.length;
    };
    for (const [i, body] of batches.entries()) {
      await send(body, false);
      await send(body, true);
      // An earlier one, from far back in the writer's numbers.
      await send(batches[i >> 1] as Buffer[], true);
    }
    const text = await rendered(rig);
    const duplicates = `tailfin_events_rejected_total{source="files",reason="duplicate"} ${again}\n`;
    assert.ok(again === 0 || text.includes(duplicates), duplicates);
    assertSameText(inOrder(text.replace(duplicates, '')), inOrder(expected), `sent again (seed ${SEED})`);
  });
}

/** Equal texts, or a failure that names the lines which differ (an exposition is too long to be shown whole). */
function assertSameText(actual: string, expected: string, message: string): void {
  if (actual === expected) return;
  const only = (of: string, other: string): string[] =>
    of.split('\n').filter((line) => !other.split('\n').includes(line));
  const shown = [
    ...only(expected, actual).map((line) => `- ${line}`),
    ...only(actual, expected).map((line) => `+ ${line}`),
  ].slice(0, 20);
  assert.fail([message, ...(shown.length > 0 ? shown : ['the same lines in another order'])].join('\n'));
}

/** What happened, without the order in which series came to be: a tick per slice closes windows later than one per event. */
const inOrder = (text: string): string => withoutFamilies(text, OWN_GAUGES).split('\n').sort().join('\n');

/** Latest `ts` of a line: the wall clock of the live run. */
function newestTime(content: Buffer): number {
  const times = [...content.toString('latin1').matchAll(/"ts":("[^"]*"|\d+)/g)].map(([, raw]) => {
    const value: unknown = JSON.parse(raw as string);
    return typeof value === 'string' ? Date.parse(value) : Number(value);
  });
  return times.reduce((newest, time) => (Number.isFinite(time) ? Math.max(newest, time) : newest), 0);
}

/** Raw lines with their ends. */
const linesIn = (content: Buffer): Buffer[] =>
  (content.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => Buffer.from(line, 'latin1'));

/** The line of an object with a writer and, where it has none, a number in one sequence: now it can be told when it comes again. */
function numbered(line: Buffer, i: number): Buffer[] {
  try {
    const value: unknown = JSON.parse(line.toString('utf8').replaceAll('\0', ''));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    const { seq = i } = value as { seq?: unknown };
    return [Buffer.from(`${JSON.stringify({ ...value, writer: 'w', seq })}\n`)];
  } catch {
    return [];
  }
}

function batchesOf(lines: readonly Buffer[], seed: string): Buffer[][] {
  const next = random(`${SEED} ${seed}`);
  const batches: Buffer[][] = [];
  for (let at = 0; at < lines.length; ) {
    const size = 1 + Math.floor(next() * Math.max(1, lines.length / 3));
    batches.push(lines.slice(at, at + size));
    at += size;
  }
  return batches;
}

/** After everything was delivered and every window closed, as the file source would name it. */
async function rendered({ pipeline, stop }: IngestRig): Promise<string> {
  stop();
  pipeline.finish();
  pipeline.refresh();
  const text = await createPrometheusExporter(pipeline.cells, { process: false }).render();
  return text.replaceAll('source="http"', 'source="files"');
}

async function replayedText(file: string, policy: Policy): Promise<string> {
  const pipeline = await replay({ files: [file], host: 'files', policy });
  pipeline.refresh();
  return createPrometheusExporter(pipeline.cells, { process: false }).render();
}

function cutUp(content: Buffer, name: string): Buffer[] {
  const next = random(`${SEED} ${name}`);
  const cuts = Array.from({ length: 6 }, () => Math.floor(next() * (content.length + 1))).sort((a, b) => a - b);
  return [0, ...cuts].map((from, i) => content.subarray(from, cuts[i] ?? content.length));
}
