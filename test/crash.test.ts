/** 20 kills under load as two scrapers see them, 8 with a real Prometheus beside them; `npm run crashtest -- --nightly` is 200. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { crashRun, LIVES_PER_RISE, type ScraperAccount } from './crash/crash-run.ts';
import { Increase } from './crash/increase.ts';
import { ensureBuilt } from './support/cli.ts';
import { PROMETHEUS, prometheusVersion } from './support/prometheus.ts';
import { SEED } from './support/property.ts';

before(ensureBuilt);

/** It saw numbers move as the debuts were over, and in each life that waits for that. */
function isExact(
  account: Pick<ScraperAccount, 'answers' | 'rises' | 'resets' | 'lateDebuts' | 'errors'>,
  kills: number,
): void {
  const all = JSON.stringify(account);
  const rises = 1 + Math.floor(kills / LIVES_PER_RISE);
  assert.ok(account.rises >= rises, `${rises} rises: ${all}`);
  assert.deepEqual({ resets: account.resets, lateDebuts: account.lateDebuts }, { resets: 0, lateDebuts: 0 }, all);
  for (const [family, error] of Object.entries(account.errors)) assert.equal(error, 0, `${family}: ${all}`);
}

test('an account sees what is lost, what is counted twice, and a series that did not begin at 0', () => {
  const sumOf = (...values: readonly number[]) => {
    const seen = new Increase();
    for (const value of values) seen.take('tailfin_events_total', { a: 'b' }, value);
    seen.take('tailfin_events_dropped_total', {}, 9);
    const { tailfin_events_total: error } = seen.errors(5);
    return { error, resets: seen.resets, rises: seen.rises, lateDebuts: seen.lateDebuts };
  };
  assert.deepEqual(sumOf(0, 2, 2, 5), { error: 0, resets: 0, rises: 2, lateDebuts: 0 });
  assert.deepEqual(sumOf(1, 5), { error: -1, resets: 0, rises: 1, lateDebuts: 1 });
  assert.deepEqual(sumOf(0, 4, 3, 5), { error: 4, resets: 1, rises: 2, lateDebuts: 0 });
  assert.deepEqual(sumOf(0, 5, 0), { error: 0, resets: 1, rises: 1, lateDebuts: 0 });
});

test('SIGKILL after SIGKILL: both scrapers come to exactly what was written', async (t) => {
  const kills = 20;
  const report = await crashRun({ kills, seed: SEED });
  t.diagnostic(`${report.lines} lines, ${report.rotations} rotations`);
  assert.ok(report.lines > 5000, `${report.lines} lines`);
  assert.equal(report.scrapers.length, 2);
  for (const account of report.scrapers) isExact(account, kills);
});

test('SIGKILL after SIGKILL: what a real Prometheus stored comes to exactly what was written', async (t) => {
  const version = prometheusVersion();
  if (version === undefined) return t.skip('skipped: needs prometheus');
  const kills = 8;
  const { lines, scrapers, stored } = await crashRun({ kills, seed: SEED, prometheus: PROMETHEUS });
  assert.ok(stored !== undefined);
  const { answers, failures, longestGapSeconds } = stored;
  t.diagnostic(
    `Prometheus ${version}: ${lines} lines, ${answers} answers, ${failures} failed, gap ${longestGapSeconds} s`,
  );
  assert.ok(stored.samples > stored.series && stored.series > 50, JSON.stringify(stored));
  for (const account of [stored, ...scrapers]) isExact(account, kills);
});
