/**
 * The sidecar under load: 2,000 exchanges/s in four files, /metrics asked four times a second, and in the end every total equal
 * to what the generator says it wrote. 3 s by default, 60 s with TAILFIN_LONG=1.
 *
 * Event time ends 11 minutes ago: so every window closes once the files are quiet and the source follows the wall clock. The
 * files have lines before the sidecar starts: with nothing to read its time would be the wall clock's from the beginning.
 */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { differences, parseExposition, total } from '../bench/exposition.mjs';
import { writePaced } from '../bench/paced.mjs';
import { type Sidecar, startSidecar, tempFolder } from './support/cli.ts';
import { until } from './support/until.ts';

const SECONDS = process.env.TAILFIN_LONG === '1' ? 60 : 3;
const FILES = 4;
const RATE = 2000;
const POLL_MS = 250;
/** It must answer throughout; how fast is for the benchmark (bench/results.md) to say. */
const LATEST_ANSWER_MS = 15_000;
const STOP_MS = 5000;
/** Longer than the longest window (600 s after a failure) plus what is in flight at the end. */
const QUIET_MS = 11 * 60_000;

interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly text: string;
}

async function ask(sidecar: Sidecar): Promise<Answer> {
  const start = performance.now();
  const { status, body } = await sidecar.get('/metrics');
  return { status, ms: performance.now() - start, text: body };
}

test(`${RATE} exchanges/s for ${SECONDS} s: every total is the generator's, /metrics answers throughout`, {
  timeout: (SECONDS + 120) * 1000,
}, async (t) => {
  const folder = tempFolder(t);
  const startTs = Date.now() - QUIET_MS - SECONDS * 1000;
  const writing = writePaced({ folder, files: FILES, rate: RATE, seconds: SECONDS, startTs });
  const written = () => readdirSync(folder).filter((name) => statSync(join(folder, name)).size > 0);
  await until(() => written().length === FILES, { what: 'the first lines' });
  const sidecar = await startSidecar(t, join(folder, '*.ndjson'), { timeoutMs: (SECONDS + 120) * 1000 });
  // From its first answer on it answers always; before, it may still read what was there at the start (503).
  await sidecar.scrape();

  const answers: Answer[] = [];
  let isOver = false;
  const polling = (async () => {
    let closes = 0;
    while (!isOver) {
      const answer = await ask(sidecar);
      answers.push({ ...answer, text: '' });
      const now = total(parseExposition(answer.text), 'tailfin_stream_closes_total');
      assert.ok(now >= closes, `a counter went back: ${closes}, then ${now}`);
      closes = now;
      await sleep(POLL_MS);
    }
  })();

  const tally = await Promise.race([writing, polling.then(() => writing)]);
  assert.ok(tally.lines > RATE * SECONDS * 0.9, `the generator kept up: ${tally.lines} lines`);

  let found: string[] = [];
  const isEqual = async (): Promise<boolean> => {
    found = differences(parseExposition((await ask(sidecar)).text), tally);
    return found.length === 0;
  };
  await until(isEqual, { timeoutMs: 60_000, everyMs: POLL_MS, what: () => `equal totals:\n${found.join('\n')}` });
  isOver = true;
  await polling;

  const slowest = Math.max(...answers.map(({ ms }) => ms));
  t.diagnostic(`${tally.lines} lines, ${answers.length} answers, the slowest after ${slowest.toFixed(0)} ms`);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.ok(slowest <= LATEST_ANSWER_MS, `an answer came after ${slowest.toFixed(0)} ms`);

  const stoppedAt = performance.now();
  sidecar.child.kill('SIGTERM');
  const { code } = await sidecar.ended;
  assert.equal(code, 0, sidecar.stderr());
  assert.ok(performance.now() - stoppedAt <= STOP_MS, 'it stops within 5 s');
});
