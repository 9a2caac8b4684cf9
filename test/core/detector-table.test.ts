/** The table of detectors and its test files: each rule once, each with cases that fire it and cases that do not. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DETECTORS } from '../../src/core/detectors/index.ts';
import { RULES } from '../../src/core/detectors/rules.ts';

const folder = new URL('.', import.meta.url);
/** Of two rules the cases are runs of many samples (trend-window.test.ts). */
const SAMPLED = ['parse_failure_trend', 'parse_failure_size_step'];

test('detectors: the table holds each rule once, and each has cases', () => {
  assert.deepEqual(DETECTORS.map(({ rule }) => rule).sort(), [...RULES].sort());
  const cased = readdirSync(folder)
    .filter((name) => name.startsWith('detectors'))
    .flatMap((name) => [...readFileSync(new URL(name, folder), 'utf8').matchAll(/^ {2}(\w+): \{$/gm)])
    .map(([, rule]) => rule as string);
  assert.deepEqual([...new Set(cased)].sort(), cased.sort(), 'cases of one rule stand in one place');
  assert.deepEqual([...cased, ...SAMPLED].sort(), [...RULES].sort());
});
