/** The verdict table on whole lines (test/support/verdict-cases.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runLines } from '../support/build-event.ts';
import { CASES, linesOfCase } from '../support/verdict-cases.ts';

for (const [name, expected, x, more, policy] of CASES)
  test(`verdict table: ${name}`, () => {
    const lines = linesOfCase(x, more);
    const { outcome, cause, regime, cut, stage, row } = runLines(lines, policy ? { policy } : {}).verdict('x');
    assert.equal(`${row} ${outcome} ${cause} ${regime} ${cut} ${stage ?? '-'}`, expected);
  });

test('verdict table: every row is hit, and missed where another row could follow', () => {
  const rows = (what: string) =>
    new Set(CASES.flatMap(([name]) => (name.includes(what) ? [Number.parseInt(name, 10)] : [])));
  assert.deepEqual([...rows('hit')], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  // 7, 11 and 13 have no condition but `how` and the kind: their near misses are the rows before them.
  assert.deepEqual([...rows('miss')], [1, 2, 3, 4, 5, 6, 8, 9, 10, 12]);
});
