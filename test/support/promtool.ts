/** promtool, the linter of Prometheus itself; tests that need it are marked as skipped where it is not installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';

const missing = spawnSync('promtool', ['--version']).error !== undefined;

export const promtoolTest = (name: string, body: (t: TestContext) => Promise<void>): void => {
  test(name, async (t) => (missing ? t.skip('skipped: needs promtool') : body(t)));
};

export interface Answer {
  readonly status: number | null;
  /** stdout and stderr. */
  readonly text: string;
}

export function promtool(args: readonly string[], input = ''): Answer {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8', timeout: 60_000 });
  assert.equal(error, undefined);
  return { status, text: stdout + stderr };
}
