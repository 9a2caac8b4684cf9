/** 20 kills under load, as two scrapers see them; `npm run crashtest -- --nightly` is 200. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { crashRun } from './crash/crash-run.ts';
import { ensureBuilt } from './support/cli.ts';
import { SEED } from './support/property.ts';

before(ensureBuilt);

test('SIGKILL after SIGKILL: both scrapers come to exactly what was written', async (t) => {
  const report = await crashRun({ kills: 20, seed: SEED });
  t.diagnostic(`${report.lines} lines, ${report.rotations} rotations`);
  assert.ok(report.lines > 5000, `${report.lines} lines`);
  for (const { everyMs, answers, resets, errors } of report.scrapers) {
    assert.ok(answers > 20, `${answers} answers every ${everyMs} ms`);
    assert.equal(resets, 0);
    for (const [family, error] of Object.entries(errors)) assert.equal(error, 0, family);
  }
});
