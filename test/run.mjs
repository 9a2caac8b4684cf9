// Runs the test files with node's own test runner. `node test/run.mjs [FILE...]`; TAILFIN_TEST_NODE picks another Node binary.
// Node 20 takes no glob after --test, so the files are listed here. Checks that need a tool which this machine does not have
// print one line `skipped: needs X`; with TAILFIN_REQUIRE_TOOLS=1 (CI) such a line is a failure.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const walk = (dir) =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return ['scenarios', 'node_modules'].includes(entry.name) ? [] : walk(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
const files = process.argv.length > 2 ? process.argv.slice(2) : walk(join(root, 'test')).sort();
const node = process.env.TAILFIN_TEST_NODE ?? process.execPath;
const child = spawn(
  node,
  ['--import', 'tsx', '--test', '--test-concurrency=2', '--test-reporter=spec', ...files.map((f) => relative(root, f))],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, TAILFIN_TEST_NODE: node } },
);
const skipped = new Set();
let rest = '';
child.stdout.on('data', (chunk) => {
  process.stdout.write(chunk);
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const needs = /needs [\w.+ -]+/.exec(/skipped: (needs [\w.+ -]+)/.exec(line)?.[1] ?? '');
    if (needs) skipped.add(needs[0].trim());
  }
});
child.on('close', (code) => {
  for (const needs of skipped) console.log(`skipped: ${needs}`);
  if (skipped.size > 0 && process.env.TAILFIN_REQUIRE_TOOLS === '1') {
    console.error('TAILFIN_REQUIRE_TOOLS is set: a skipped check is a failure');
    process.exit(1);
  }
  process.exit(code ?? 1);
});
