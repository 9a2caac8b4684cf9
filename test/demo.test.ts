import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from './support/until.ts';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

function startDemo(...args: string[]) {
  assert.ok(existsSync(main), 'dist is not built: run npm run build');
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-demo-test-'));
  const child = spawn(process.execPath, [main, 'demo', ...args], { env: { ...process.env, TMPDIR: folder } });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk;
  });
  const ended = once(child, 'exit').then(([code]) => {
    const left = readdirSync(folder);
    rmSync(folder, { recursive: true, force: true });
    return { code, left };
  });
  return { child, said, ended };
}

test('demo --once: the three signals on real MCP traffic, agreeing with the gateway', {
  timeout: 120_000,
}, async () => {
  const { said, ended } = startDemo('--once');
  const { code, left } = await ended;
  const output = said.stdout + said.stderr;
  assert.equal(code, 0, output);
  assert.match(said.stdout, /your error rate says +\d+\.\d %/);
  assert.match(said.stdout, /what it hides +\d+\.\d %/);
  for (const signal of [
    /ambiguous closes +[1-9]\d*/,
    /masked by endpoint rotation +[1-9]\d*/,
    /parse failures.* +[1-9]\d*/,
  ]) {
    assert.match(said.stdout, signal);
  }
  assert.match(said.stdout, /Verdicts agree with the gateway's log on all \d{3,} exchanges/);
  assert.deepEqual(left, [], 'its folder is gone');
});

test('demo: Ctrl-C ends it, its children and its folder', { timeout: 60_000 }, async () => {
  const { child, said, ended } = startDemo();
  await until(() => said.stderr.includes('requests'), { timeoutMs: 30_000, what: () => said.stderr });
  child.kill('SIGINT');
  const { code, left } = await ended;
  assert.equal(code, 0, said.stderr);
  assert.deepEqual(left, []);
});
