/** Names, documentation and scenarios of findings hold together: a rule that nobody can read about or see at work is none. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DETECTORS } from '../src/core/detectors/index.ts';
import { RULES } from '../src/core/detectors/rules.ts';
import { THRESHOLDS } from '../src/core/model/thresholds.ts';
import { casesIn, checksOf } from './check-cases.mjs';

const SCENARIOS = fileURLToPath(new URL('scenarios', import.meta.url));
const DOC = readFileSync(new URL('../docs/findings.md', import.meta.url), 'utf8');

/** What expect.txt says of one rule; test/scenarios.test.ts holds every line to be true. */
const checks = casesIn(SCENARIOS).flatMap((folder) => checksOf(readFileSync(join(folder, 'expect.txt'), 'utf8')));
const counted = (rule: string) => new RegExp(`^tailfin_findings_total\\{[^}]*rule="${rule}"[^}]*\\} (\\S+)$`);
const says = (rule: string, check: string, negated: boolean): boolean => {
  if (new RegExp(`^${negated ? 'no ' : ''}finding (?:\\S+ )*rule=${rule}(?: |$)`).test(check)) return true;
  const value = counted(rule).exec(check)?.[1];
  if (value === undefined || value.startsWith('<=')) return false;
  return (Number(value.replace(/^[>=~]+/, '')) === 0) === negated;
};

for (const rule of RULES) {
  test(`${rule}: a section of docs/findings.md, a scenario that fires it, one in which it stays silent`, () => {
    const section = DOC.split(`### \`${rule}\`\n`)[1]?.split('\n### ')[0] ?? '';
    for (const part of ['Fires when', 'Means:', 'Needs in the events:', 'What to do:', 'Source:'])
      assert.ok(section.includes(part), part);
    assert.ok(
      checks.some((check) => says(rule, check, false)),
      'no scenario says that it fires',
    );
    assert.ok(
      checks.some((check) => says(rule, check, true)),
      'no scenario says that it stays silent',
    );
  });
}

test('docs/findings.md holds the rules of the table, in its order, and no other', () => {
  assert.deepEqual(
    [...DOC.matchAll(/^### `(\w+)`$/gm)].map(([, rule]) => rule),
    DETECTORS.map(({ rule }) => rule),
  );
});

test('each threshold says which rules it belongs to', () => {
  for (const [name, { doc }] of Object.entries(THRESHOLDS)) {
    const named = (/^([\w, ]+):/.exec(doc)?.[1] ?? '').split(', ');
    for (const rule of named) assert.ok((RULES as readonly string[]).includes(rule), `${name}: ${rule}`);
  }
});
