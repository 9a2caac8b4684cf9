/** The whole fault lab, as `npm run lab` runs it; and that the lab does notice a tap that changes or misses something. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/cli.ts';
import { EXPECTED } from './expected.ts';
import { type LabResult, runLab } from './lab.ts';
import { ROWS } from './rows.ts';

const node = process.env.TAILFIN_TEST_NODE ?? process.execPath;

const wrongOf = (results: readonly LabResult[]): string[] =>
  results.flatMap(({ row, client, problems }) => problems.map((problem) => `${row} ${client}: ${problem}`));

test('every row of the table has a fault, and no other', () => {
  const concurrent = ROWS.filter(({ host }) => host === 'four').map(() => 'p');
  const own = ROWS.filter(({ host }) => host !== 'four').map(({ expected }) => expected);
  const listed = EXPECTED.flatMap(({ row }) => row.split(','));
  assert.deepEqual([...new Set([...own, ...concurrent])].sort(), listed.sort());
});

test('every row with every client: verdicts and findings as the table says, nothing changed for the host', async () => {
  const results = await runLab({ node });
  assert.deepEqual(wrongOf(results), []);
  const ran = results.filter(({ not }) => not === null);
  assert.equal(ran.length, ROWS.length * 3 - 2);
});

/** A tap for one row: `code` stands before the host's own code and sees `original`, the fetch that it replaces. */
async function withTap(folder: string, code: string, row: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const tap = join(folder, 'tap.cjs');
  writeFileSync(tap, `const original = globalThis.fetch;\n${code}\n`);
  return wrongOf(await runLab({ node, tap, rows: [row], clients: ['C2-2026'] }));
}

test('a tap that sends twice, swallows an error, changes a body or writes nothing is noticed', async (t) => {
  const folder = tempFolder(t);
  const cases: readonly (readonly [row: string, code: string, problem: RegExp])[] = [
    [
      'a',
      'globalThis.fetch = async (u, i) => { await (await original(u, i)).text(); return original(u, i); };',
      /requests differs/,
    ],
    ['l-refused', 'globalThis.fetch = (u, i) => original(u, i).catch(() => new Response());', /host differs/],
    [
      'a',
      "globalThis.fetch = async (u, i) => { const r = await original(u, i); return new Response((await r.text()).replace('käse', 'k'), r); };",
      /host differs/,
    ],
    ['a', '', /the tap wrote no file/],
  ];
  for (const [index, [row, code, problem]] of cases.entries()) {
    const problems = await withTap(join(folder, String(index)), code, row);
    assert.ok(
      problems.some((each) => problem.test(each)),
      `${code}\n${problems.join('\n')}`,
    );
  }
});
