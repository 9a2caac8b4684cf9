/** A host without WebAssembly: every line takes the long way, to the same numbers. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ANSWERED, close } from '../support/build-event.ts';
import { ensureBuilt, start, startSidecar, stdoutOf, tailfin, tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';

before(ensureBuilt);
const JITLESS = { env: { NODE_OPTIONS: '--jitless' } };

test('--jitless: a replay shows what it shows elsewhere', async (t) => {
  const asked = await start(process.execPath, ['-p', 'typeof WebAssembly'], JITLESS).ended;
  assert.equal(asked.stdout.trim(), 'undefined');
  const file = join(tempFolder(t), 'events.ndjson');
  const lines = Array.from({ length: 500 }, (_, i) =>
    JSON.stringify(
      close(`x${i}`, 1000 + 10 * i, { ...ANSWERED, ...(i % 5 === 0 && { terminal: false }), bytes: 100 * i }),
    ),
  );
  writeFileSync(file, `${lines.join('\n')}\n`);
  const args = ['replay', '--format', 'prom', file];
  const { code, stdout } = await tailfin(args, JITLESS);
  assert.equal(code, 0);
  assert.match(stdout, /^tailfin_events_total\{.*\} 500$/m);
  assert.equal(stdout, await stdoutOf(args));
});

/** As with too little address space. Node 22 cannot load its own `node:http` with --jitless. */
const NO_MEMORY = {
  env: { NODE_OPTIONS: '--import=data:text/javascript,WebAssembly.Memory=class{constructor(){throw(RangeError())}}' },
};

test('no memory to be had for it: a sidecar says so, and counts', async (t) => {
  const folder = tempFolder(t);
  const line = JSON.stringify(close('x1', 1000, ANSWERED));
  writeFileSync(join(folder, 'events.ndjson'), `${line}\n`);
  const args = ['--state-dir', '', '--scrape-interval-seconds', '0'];
  const slow = await startSidecar(t, join(folder, '*'), { ...NO_MEMORY, args });
  // What is new shows 0 at first.
  await until(async () => (await slow.scrape()).sum('tailfin_events_total') === 1, { timeoutMs: 30_000, everyMs: 50 });
  assert.match(slow.stderr(), /"kind":"scanner_missing"/);
  const fast = await startSidecar(t, join(folder, '*'), { args });
  await fast.scrape();
  assert.doesNotMatch(fast.stderr(), /scanner_missing/);
});
