/** A host without WebAssembly: every line takes the long way, to the same numbers. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ANSWERED, close } from '../support/build-event.ts';
import { ensureBuilt, start, stdoutOf, tailfin, tempFolder } from '../support/cli.ts';

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
