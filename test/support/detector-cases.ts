/** Runs a table of detector cases: what fires a rule (once, with its counter), and what narrowly does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleName } from '../../src/core/detectors/rules.ts';
import { type Fields, type Line, type RunOptions, runLines } from './build-event.ts';

export type Cases = Readonly<
  Partial<
    Record<
      RuleName,
      { fires: Readonly<Record<string, readonly Line[]>>; silent: Readonly<Record<string, readonly Line[]>> }
    >
  >
>;

/** Evidence is closed words and numbers, never a text of the wire. */
function checkEvidence(evidence: Fields): void {
  assert.ok(
    Object.values(evidence).some((value) => value !== null),
    'it says what decided',
  );
  for (const value of Object.values(evidence))
    assert.ok(value === null || typeof value !== 'object', JSON.stringify(evidence));
}

export function detectorCases(cases: Cases, options: RunOptions = {}): void {
  for (const [rule, { fires, silent }] of Object.entries(cases)) {
    for (const [name, lines] of Object.entries(fires))
      test(`${rule} fires: ${name}`, () => {
        const { findings, samples } = runLines(lines, options);
        assert.equal(findings(rule).length, 1);
        const [found] = findings(rule);
        assert.equal(found?.server, 'srv');
        assert.ok(Number.isFinite(found?.ts) && found?.at !== null, 'a time and a line to look at');
        checkEvidence(found?.evidence ?? {});
        assert.equal(samples('tailfin_findings_total', { server: 'srv', rule }), 1);
      });
    for (const [name, lines] of Object.entries(silent))
      test(`${rule} is silent: ${name}`, () => {
        assert.deepEqual(runLines(lines, options).findings(rule as RuleName), []);
      });
  }
}

/** `count` lines (or groups of them), `step` ms apart. */
export const times = (count: number, step: number, make: (at: number, n: number) => Line | readonly Line[]): Line[] =>
  Array.from({ length: count }, (_, n) => make(n * step, n)).flat();
