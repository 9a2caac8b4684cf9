/**
 * A backlog of half a gigabyte, as a host leaves it that was busy for half an hour without its sidecar: nothing of it is lost, and memory
 * does not grow with it. How fast it is read is for the benchmark (bench/results.md) to say.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { readBacklog } from '../bench/backlog.mjs';
import { differences, parseExposition } from '../bench/exposition.mjs';
import { generateFile } from '../bench/generate.mjs';
import { ensureBuilt, MAIN, tempFolder } from './support/cli.ts';

before(ensureBuilt);

const MB = 1_000_000;
const LONG = process.env.TAILFIN_LONG === '1';
const BYTES = (LONG ? 2000 : 500) * MB;
/** Every store has come to its usual size by then: some are kept for 600 s of event time. */
const HALF = 250 * MB;
/** Peak RSS, MiB. The goal is that of Node 20; later ones have more of their own. */
const MOST = { 20: 128, 22: 144, 24: 168 };
const LATER = 176;
/** The last minutes of these are not decided yet: a writer that has just written may write on. */
const WAITS = /^tailfin_(operations|retries)_total/;
const isTooMany = (difference: string): boolean => {
  const [, measured, expected] = /: (\d+), expected (\d+)$/.exec(difference) ?? [];
  return measured === undefined || Number(measured) > Number(expected);
};
/** Where the garbage collector happens to stand at the peak; a machine with other work shifts that, so the better of two counts. */
const NOISE_MIB = 16;

test(`a backlog of ${BYTES / MB} MB: every line counted once, in bounded memory`, async (t) => {
  const folder = tempFolder(t);
  const read = async (name: string, bytes: number) => {
    const path = join(folder, name);
    const tally = generateFile({ path, bytes });
    const { text, maxRssMib } = await readBacklog(MAIN, path);
    const wrong = differences(parseExposition(text), tally).filter((each) => !WAITS.test(each) || isTooMany(each));
    assert.deepEqual(wrong, []);
    return maxRssMib;
  };
  const half = await read('half.ndjson', HALF);
  const first = await read('whole.ndjson', BYTES);
  const major = Number(process.versions.node.split('.')[0]) as keyof typeof MOST;
  const most = MOST[major] ?? LATER;
  const whole = first <= most ? first : Math.min(first, await read('whole.ndjson', BYTES));
  t.diagnostic(`peak RSS ${half.toFixed(1)} MiB of ${HALF / MB} MB, ${whole.toFixed(1)} MiB of ${BYTES / MB} MB`);
  assert.ok(whole <= most, `${whole} MiB`);
  assert.ok(whole - half <= NOISE_MIB, `${half} MiB, then ${whole} MiB`);
});
